"""The part of discord.py that the documented cog uses, with its signatures."""

from __future__ import annotations


class TextChannel:
    """A channel that keeps what is said in it."""

    def __init__(self) -> None:
        self.said: list[str] = []

    async def send(self, content: str) -> None:
        self.said.append(content)
