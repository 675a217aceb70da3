"""Tables of commands and announcements -> desired entries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from commandsync.manifest.source import MOST_BYTES
from commandsync.records.snapshot import Entry
from commandsync.records.texts import AnnouncementText, CommandText, canonical

if TYPE_CHECKING:
    from commandsync.manifest.nodes import Scalar
    from commandsync.manifest.reading import Reader, Table
    from commandsync.manifest.source import Allowance

_PREFIX = re.compile(r"\{\{prefix\}\}|\{prefix\}")
_LITERAL = "{prefix}"
_ELLIPSES = frozenset({"…", "...", ".."})


class Settings(NamedTuple):
    """What a manifest says about all of its commands.

    Attributes:
        prefix: What `{prefix}` stands for; None when there is none.
        category: The category of commands that name none.
        allowance: What the manifest may still take up; what prefixes add is taken from it.
    """

    allowance: Allowance
    prefix: str | None = None
    category: str = ""


class Stated(NamedTuple):
    """An entry with the table that states it, for problems that only show beside other entries."""

    entry: Entry
    table: Table
    reader: Reader


def read_command(table: Table, reader: Reader, settings: Settings) -> Stated | None:
    """Build a command; None when it is not whole, which is noted already."""
    name, description = table.scalar("name"), table.scalar("description")
    syntax = _syntax(table, reader, settings)
    if name is None or description is None or syntax is None:
        return None
    _warn_of_ellipsis(table, reader)
    text = CommandText(
        canonical(name.text),
        canonical(description.text),
        syntax,
        _category(table, settings),
    )
    entry = Entry(
        text,
        id=_id(table, reader),
        location=reader.source.location(table.at),
        formerly=tuple(canonical(old.text) for old in table.texts("formerly")),
    )
    return Stated(entry, table, reader)


def read_announcement(table: Table, reader: Reader) -> Stated | None:
    """Build an announcement; None when it is not whole, which is noted already."""
    title, description = table.scalar("title"), table.scalar("description")
    if title is None or description is None:
        return None
    _warn_of_ellipsis(table, reader)
    entry = Entry(
        AnnouncementText(canonical(title.text), canonical(description.text)),
        id=_id(table, reader),
        location=reader.source.location(table.at),
    )
    return Stated(entry, table, reader)


def _syntax(table: Table, reader: Reader, settings: Settings) -> str | None:
    node = table.scalar("syntax")
    filled = None if node is None else _filled(node, reader, settings)
    if node is None or filled is None:
        return None
    text = canonical(filled)
    if not text:
        reader.error(node.at, "syntax is empty once {prefix} is filled in")
        return None
    return text


def _filled(node: Scalar, reader: Reader, settings: Settings) -> str | None:
    """Put the prefix where a syntax wants it; None when that cannot be, which is noted."""
    text, prefix, allowance = node.text, settings.prefix, settings.allowance
    uses = text.count(_LITERAL) - text.count("{{prefix}}")
    if uses and prefix is None:
        reader.error(
            node.at,
            "the syntax uses {prefix}, and the manifest has no prefix:",
            "add prefix: to the manifest, or write {{prefix}} for the literal text",
        )
        return None
    before = allowance.characters
    allowance.characters -= uses * max(len(prefix or "") - len(_LITERAL), 0)
    if allowance.characters < 0:
        if before >= 0:  # said once
            reader.error(
                node.at,
                f"the values of the manifest have more than {MOST_BYTES:,} characters once "
                "{prefix} is filled in",
                "shorten the prefix, or write it out where it is needed",
            )
        return None
    return _PREFIX.sub(lambda m: (prefix or "") if m[0] == _LITERAL else _LITERAL, text)


def _category(table: Table, settings: Settings) -> str:
    node = table.scalar("category")
    return settings.category if node is None else canonical(node.text)


def _id(table: Table, reader: Reader) -> str:
    node = table.scalar("id")
    if node is None:
        return ""
    identifier = canonical(node.text)
    if identifier in {".", ".."}:
        reader.error(node.at, f'"{identifier}" is not an id', "copy it from commandsync pull --pin")
    return identifier


def _warn_of_ellipsis(table: Table, reader: Reader) -> None:
    node = table.scalar("description")
    if node is not None and node.text.strip() in _ELLIPSES:
        reader.warning(node.at, "the description is only an ellipsis", "say what it does")
