"""Commands for the bot's owner: they belong on no public list."""

from discord.ext import commands


class Owner(commands.Cog, command_attrs={"hidden": True}):
    """What only the owner may do."""

    async def cog_check(self, ctx: commands.Context[commands.Bot]) -> bool:
        """Let nobody else use these commands."""
        return await ctx.bot.is_owner(ctx.author)

    @commands.command()
    async def reload(self, ctx: commands.Context[commands.Bot], name: str) -> None:
        """Loads a file of commands again."""
        await ctx.bot.reload_extension(f"cogs.{name}")
        await ctx.send(f"Loaded {name} again.")


async def setup(bot: commands.Bot) -> None:
    """Add the cog to the bot."""
    await bot.add_cog(Owner())
