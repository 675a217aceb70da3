"""Commands for moderators."""

from datetime import timedelta

import discord
from discord import app_commands
from discord.ext import commands

LONGEST = 40320  # minutes


@app_commands.guild_only()
@app_commands.default_permissions(moderate_members=True)
class Moderation(commands.GroupCog, group_name="mod", group_description="Moderates members."):
    """Warnings and time-outs."""

    notes = app_commands.Group(name="notes", description="Notes about members.")

    @app_commands.command()
    @app_commands.describe(member="Who is sent out", minutes="For how long")
    async def timeout(
        self,
        interaction: discord.Interaction,
        member: discord.Member,
        minutes: app_commands.Range[int, 1, LONGEST] = 10,
    ) -> None:
        """Sends a member out for a while."""
        await member.timeout(timedelta(minutes=minutes))
        await interaction.response.send_message(f"{member} is out for {minutes} minutes.")

    @notes.command(name="add")
    async def add_note(
        self, interaction: discord.Interaction, member: discord.Member, note: str
    ) -> None:
        """Adds a note about a member."""
        await interaction.response.send_message(f"{member}: {note}", ephemeral=True)

    @notes.command(name="list")
    async def list_notes(self, interaction: discord.Interaction, member: discord.Member) -> None:
        """Lists the notes about a member."""
        await interaction.response.send_message(f"No notes about {member}.", ephemeral=True)

    @commands.group(invoke_without_command=True)
    async def slowmode(self, ctx: commands.Context[commands.Bot], seconds: int = 5) -> None:
        """Slows a channel down."""
        if isinstance(ctx.channel, discord.TextChannel):
            await ctx.channel.edit(slowmode_delay=seconds)

    @slowmode.command()
    async def off(
        self, ctx: commands.Context[commands.Bot], *channels: discord.TextChannel
    ) -> None:
        """Lets channels run again."""
        for channel in channels:
            await channel.edit(slowmode_delay=0)
        await ctx.send(f"{len(channels)} channels run again.")


async def setup(bot: commands.Bot) -> None:
    """Add the cog to the bot."""
    await bot.add_cog(Moderation())
