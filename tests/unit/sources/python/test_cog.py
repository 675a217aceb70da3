"""Why a command may not belong on a public list, as its code says it."""

import pytest

from commandsync.sources.entry import Trait
from tests.support.botcode import COMMANDS, ReadingOf

START = COMMANDS + "from discord import app_commands\ntree = app_commands.CommandTree(discord)\n"
IN_COG = START + "class Fun({}):\n    {}\n    @{}\n    async def ping(self, ctx): 'Pong'\n"

DECORATED = {
    "@commands.is_owner()\n@commands.command()": {Trait.OWNER_ONLY},
    "@commands.command(hidden=True)": {Trait.HIDDEN},
    "@commands.command(hidden=False)": set(),
    "@commands.command(enabled=False)": {Trait.HIDDEN},
    "@commands.is_nsfw()\n@commands.command()": {Trait.NSFW},
    "@commands.guild_only()\n@commands.command()": set(),
    "@commands.has_permissions(administrator=True)\n@commands.command()": {Trait.ADMIN_ONLY},
    "@commands.has_permissions(administrator=False)\n@commands.command()": set(),
    "@commands.has_permissions(ban_members=True)\n@commands.command()": set(),
    "@commands.has_permissions()\n@commands.command()": set(),
    "@commands.check(is_owner)\n@commands.command()": {Trait.OWNER_ONLY},
    "@app_commands.check(lambda it: it.client.is_owner(it.user))\n@app_commands.command()": {
        Trait.OWNER_ONLY
    },
    "@commands.check(is_moderator)\n@commands.command()": set(),
    "@commands.check_any(commands.is_owner(), x)\n@commands.command()": set(),
    "@app_commands.checks.has_permissions(administrator=True)\n@app_commands.command()": {
        Trait.ADMIN_ONLY
    },
    "@app_commands.default_permissions()\n@app_commands.command()": {Trait.ADMIN_ONLY},
    "@app_commands.default_permissions(None)\n@app_commands.command()": set(),
    "@app_commands.default_permissions(discord.Permissions(8))\n@app_commands.command()": {
        Trait.ADMIN_ONLY
    },
    "@app_commands.default_permissions(manage_guild=True)\n@app_commands.command()": set(),
    "@app_commands.guilds(1)\n@app_commands.command(nsfw=True)": {Trait.GUILD_ONLY, Trait.NSFW},
    "@tree.command(guild=discord.Object(1))": {Trait.GUILD_ONLY},
    "@tree.command(guild=None)": set(),
    "@commands.slash_command(guild_ids=[])": set(),
    "@commands.slash_command(default_member_permissions=0)": {Trait.ADMIN_ONLY},
    "@commands.slash_command(default_member_permissions=16)": set(),
    "@commands.slash_command(default_member_permissions=discord.Permissions())": {Trait.ADMIN_ONLY},
    "@commands.slash_command(default_member_permissions=discord.Permissions(ban_members=True))": (
        set()
    ),
}


@pytest.mark.parametrize(("decorators", "traits"), DECORATED.items())
def test_decorators_say_who_may_use_a_command(
    decorators: str, traits: set[Trait], reading_of: ReadingOf
) -> None:
    [entry] = reading_of(f"{START}{decorators}\nasync def ping(interaction): 'Pong'\n").entries

    assert entry.traits == traits


IN_COGS = {
    ("commands.Cog, command_attrs={'hidden': True}", "x = 1", "commands.command()"): "hidden",
    ("commands.Cog, command_attrs=dict(hidden=True)", "x = 1", "commands.command()"): "hidden",
    ("commands.Cog, command_attrs=ATTRS", "x = 1", "commands.command()"): "",
    ("commands.GroupCog, group_nsfw=True", "x = 1", "app_commands.command()"): "nsfw",
    (
        "commands.Cog",
        "async def cog_check(self, ctx): return await self.bot.is_owner(ctx.author)",
        "commands.command()",
    ): "owner-only",
    (
        "commands.Cog",
        "def cog_check(self, ctx): return is_owner(ctx.author)",
        "commands.command()",
    ): "owner-only",
    ("commands.Cog", "def cog_check(self, ctx): return True", "commands.command()"): "",
    ("commands.Cog", "async def cog_check(self, ctx): return a or b", "commands.command()"): "",
    (
        "app_commands.Group, default_permissions=discord.Permissions(administrator=True)",
        "x = 1",
        "app_commands.command()",
    ): "admin-only",
}


@pytest.mark.parametrize(("cog", "trait"), IN_COGS.items())
def test_a_class_says_it_of_all_its_commands(
    cog: tuple[str, str, str], trait: str, reading_of: ReadingOf
) -> None:
    [entry] = reading_of(IN_COG.format(*cog)).entries

    assert " ".join(entry.traits) == trait


def test_a_group_says_it_of_all_its_commands(reading_of: ReadingOf) -> None:
    reading = reading_of(
        START
        + "@commands.is_owner()\n@commands.group(hidden=True)\nasync def a(ctx): 'A'\n"
        + "@a.group()\nasync def b(ctx): 'B'\n@b.command()\nasync def c(ctx): 'C'\n"
        + "g = app_commands.Group(name='g', description='G', nsfw=True)\n"
        + "@g.command()\nasync def d(interaction): 'D'\n",
    )
    traits = {entry.name: " ".join(sorted(entry.traits)) for entry in reading.entries}

    assert traits == {
        "a": "hidden owner-only",
        "a b": "hidden owner-only",
        "a b c": "hidden owner-only",
        "g d": "nsfw",
    }
