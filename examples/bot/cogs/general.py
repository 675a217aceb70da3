"""Commands for everybody."""

import discord
from discord import app_commands
from discord.ext import commands


class General(commands.Cog):
    """What the bot is and does."""

    @commands.hybrid_command()
    async def ping(self, ctx: commands.Context[commands.Bot]) -> None:
        """Shows how quickly the bot answers."""
        await ctx.send(f"Pong: {ctx.bot.latency * 1000:.0f} ms")

    @commands.command(aliases=["h"])
    async def help(self, ctx: commands.Context[commands.Bot], command: str | None = None) -> None:
        """Lists the commands, or explains one of them."""
        names = [item.qualified_name for item in ctx.bot.walk_commands() if not item.hidden]
        await ctx.send(f"`!{command}`" if command else ", ".join(sorted(names)))

    @app_commands.command()
    @app_commands.rename(member="user")
    async def avatar(
        self, interaction: discord.Interaction, member: discord.Member | None = None
    ) -> None:
        """Shows the picture of a user in full size."""
        await interaction.response.send_message((member or interaction.user).display_avatar.url)


@app_commands.context_menu(name="Report message")
async def report(interaction: discord.Interaction, message: discord.Message) -> None:
    """Shows a message to the moderators."""
    await interaction.response.send_message(f"Reported: {message.jump_url}", ephemeral=True)


async def setup(bot: commands.Bot) -> None:
    """Add the commands to the bot."""
    await bot.add_cog(General())
    bot.tree.add_command(report)
