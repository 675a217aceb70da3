"""The commands that a source declares, as values between its reader and the import."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from commandsync.diagnostics import Location, Notice
from commandsync.records.snapshot import Node

NO_DESCRIPTION = "…"
"""The description of a command that has none in its source, as discord.py writes it.

A listing requires a description, and the manifest warns about this one.
"""


def menu_description(kind: str) -> str:
    """Return the description of a command in the menu of a `user` or a `message`: it has none."""
    return f"In the menu of a {kind}, under Apps."


class Trait(StrEnum):
    """Why a command may not belong on a public list."""

    HIDDEN = "hidden"  # the bot's own help does not show it (`hidden=True`)
    OWNER_ONLY = "owner-only"  # only the bot's owner may use it (`is_owner()`, `ownerOnly`)
    DISABLED = "disabled"  # it is in a folder of this name
    # Only certain servers have it (`guild_id`, `@app_commands.guilds(...)`, `guild_ids=[...]`, a
    # folder whose name is a server's id). A command that every server has, and direct messages do
    # not (`guild_only()`, `contexts: [0]`), is a public one: most of a moderation bot are.
    GUILD_ONLY = "guild-only"
    # Only administrators may use it: its permissions are `"0"`, or include ADMINISTRATOR.
    ADMIN_ONLY = "admin-only"
    NSFW = "nsfw"  # it works only in age-restricted channels


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """One command that users can call, as a source declares it."""

    name: str  # its full name without prefix or slash: `config set`. Not empty
    description: str  # its description in one line or more; `NO_DESCRIPTION` if there is none
    # How it is called, as the manifest writes it: `{prefix}play <song>` for a prefix command,
    # `/config set <key> [value]` for a slash command, only the name for a command in a menu. A
    # literal `{prefix}` is written `{{prefix}}`.
    syntax: str
    category: str | None = None  # its cog, folder or group; None if the source has none
    key: str | None = None  # stays if it is renamed: `discord:<id>`; None for nothing
    place: Location | None = None  # where it is declared; None if the source is not a file
    traits: frozenset[Trait] = frozenset()  # why it may not belong on a public list


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReading:
    """What a source contains."""

    entries: tuple[SourceEntry, ...] = ()  # its commands, in its order
    notes: tuple[Notice, ...] = ()  # what was tolerated or could not be read, with its place
    complete: bool = True  # whether every file was read
    generated: tuple[str, ...] = ()  # files that are not read: a program wrote them
    objects: tuple[Node, ...] = ()  # what is kept of the platform's own objects


class Excluded(NamedTuple):
    """A command that is left out; the reason is the end of a sentence about it."""

    entry: SourceEntry
    reason: str
