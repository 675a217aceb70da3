"""A small bot of discord.py: `DISCORD_TOKEN=... python bot.py`.

Its commands are in `cogs/`. `commandsync import examples/bot --prefix "!"` reads them there.
"""

import os
from pathlib import Path

import discord
from discord.ext import commands

COGS = Path(__file__).parent / "cogs"


class Helper(commands.Bot):
    """The bot: it loads each file of `cogs/` when it starts."""

    def __init__(self) -> None:
        intents = discord.Intents.default()
        intents.message_content = True
        super().__init__(command_prefix="!", intents=intents, help_command=None)

    async def setup_hook(self) -> None:
        """Load the cogs, and tell Discord their slash commands."""
        for file in sorted(COGS.glob("*.py")):
            await self.load_extension(f"cogs.{file.stem}")
        await self.tree.sync()


if __name__ == "__main__":
    Helper().run(os.environ["DISCORD_TOKEN"])
