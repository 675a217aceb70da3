"""Games."""

import random
from typing import Literal

from discord.ext import commands


class Fun(commands.Cog):
    """Games for a channel."""

    @commands.hybrid_command()
    async def roll(self, ctx: commands.Context[commands.Bot], sides: int = 6) -> None:
        """Rolls a die."""
        await ctx.send(str(random.randint(1, max(sides, 1))))

    @commands.hybrid_command(name="flip", description="Flips a coin, and says whether you won.")
    async def flip_coin(
        self, ctx: commands.Context[commands.Bot], side: Literal["heads", "tails"]
    ) -> None:
        """Flip a coin."""
        won = random.choice(["heads", "tails"]) == side
        await ctx.send("You won." if won else "You lost.")

    @commands.command(usage="<question>")
    async def ask(self, ctx: commands.Context[commands.Bot], *, question: str) -> None:
        """Answers any question."""
        await ctx.send(f"{question} {random.choice(['Yes.', 'No.', 'Ask again.'])}")


async def setup(bot: commands.Bot) -> None:
    """Add the cog to the bot."""
    await bot.add_cog(Fun())
