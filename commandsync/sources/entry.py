"""The commands that a source declares, as values between its reader and the import."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commandsync.diagnostics import Location, Notice

NO_DESCRIPTION = "…"
"""The description of a command that has none in its source, as discord.py writes it.

A listing requires a description, and the manifest warns about this one.
"""


def menu_description(kind: str) -> str:
    """Return the description of a command in the menu of a `user` or a `message`: it has none."""
    return f"In the menu of a {kind}, under Apps."


class Trait(StrEnum):
    """Why a command may not belong on a public list."""

    HIDDEN = "hidden"
    """The bot's own help does not show it (`hidden=True`)."""

    OWNER_ONLY = "owner-only"
    """Only the bot's owner may use it (`is_owner()`, `ownerOnly`)."""

    GUILD_ONLY = "guild-only"
    """Only certain servers have it (`guild_id`, `@app_commands.guilds(...)`, `guild_ids=[...]`).

    A command that every server has, and direct messages do not (`guild_only()`, `contexts: [0]`),
    is a public one: most commands of a moderation bot are.
    """

    ADMIN_ONLY = "admin-only"
    """Only administrators may use it: its permissions are `"0"`, or include ADMINISTRATOR."""

    NSFW = "nsfw"
    """It works in age-restricted channels alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """One command that users can call, as a source declares it.

    Attributes:
        name: Its full name without prefix or slash: `config set`. Not empty.
        description: Its description in one line or more; `NO_DESCRIPTION` if there is none.
        syntax: How it is called, as the manifest writes it: `{prefix}play <song>` for a prefix
            command, `/config set <key> [value]` for a slash command, the name alone for a command
            in a menu. A literal `{prefix}` is written `{{prefix}}`.
        category: Its cog, folder or group; None if the source has none.
        key: What identifies it if it is renamed, such as `discord:<id>`; None if nothing does.
        place: Where it is declared; None if the source is not a file.
        traits: Why it may not belong on a public list.
    """

    name: str
    description: str
    syntax: str
    category: str | None = None
    key: str | None = None
    place: Location | None = None
    traits: frozenset[Trait] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReading:
    """What a source contains.

    Attributes:
        entries: Its commands, in its order.
        notes: What was tolerated or could not be read, with its place.
        complete: Whether every file was read; otherwise a command that is missing may not be gone.
    """

    entries: tuple[SourceEntry, ...] = ()
    notes: tuple[Notice, ...] = ()
    complete: bool = True
