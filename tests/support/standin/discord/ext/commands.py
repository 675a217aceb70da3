"""As discord.ext.commands."""

from __future__ import annotations

from .. import TextChannel  # noqa: TID252 - in the project it stands under another name


class Cog:
    """What is loaded into a bot, and unloaded."""

    async def cog_load(self) -> None:
        """Begin."""

    async def cog_unload(self) -> None:
        """End."""


class Bot:
    """A bot with one channel."""

    def __init__(self) -> None:
        self.channel = TextChannel()
        self.cogs: list[Cog] = []

    async def add_cog(self, cog: Cog) -> None:
        await cog.cog_load()
        self.cogs.append(cog)

    def get_channel(self, id: int, /) -> TextChannel | None:  # noqa: A002 - discord.py's own name
        return self.channel if id else None
