"""Renames that were not declared: the exact `formerly:` line to write; never applied by itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from commandsync.changes import Add, Delete
from commandsync.location import Notice
from commandsync.matching import similarity
from commandsync.texts import CommandText

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from commandsync.changes import Change
    from commandsync.snapshot import Entry

_NEAR = 0.8  # share of words in common
_MOST_COMPARISONS = 10_000  # beyond this the changes are no renames but another listing


def rename_hints(changes: Sequence[Change], *, wanted: Sequence[Entry] = ()) -> list[Notice]:
    """Name the pairs of one added and one deleted command that say nearly the same.

    Args:
        changes: The changes of one collection.
        wanted: The manifest's entries: what is still a name there cannot stand under `formerly`.
    """
    added = [c for c in changes if isinstance(c, Add) and isinstance(c.after, CommandText)]
    deleted = [c for c in changes if isinstance(c, Delete) and isinstance(c.before, CommandText)]
    if len(added) * len(deleted) > _MOST_COMPARISONS:
        return []
    ranked = sorted(
        (-_likeness(add, delete), a, d)
        for a, add in enumerate(added)
        for d, delete in enumerate(deleted)
    )
    hints: dict[int, int] = {}
    for negative, a, d in ranked:
        if -negative >= _NEAR and a not in hints and d not in hints.values():
            hints[a] = d
    live = {entry.name for entry in wanted}
    stated = {entry.location: entry.formerly for entry in wanted if entry.formerly}
    return [
        _hint(add, delete, pins=delete.name in live, formerly=stated.get(add.location, ()))
        for add, delete in ((added[a], deleted[d]) for a, d in sorted(hints.items()))
    ]


def lost_renames(
    wanted: Sequence[Entry], matched: Mapping[int, Entry], deleted: Iterable[Entry]
) -> list[Notice]:
    """Name the declared renames that do not happen while something is deleted.

    Args:
        wanted: The manifest's entries.
        matched: The listed entry that each matched one means, by its index.
        deleted: The listed entries that the manifest does not have.
    """
    going = {entry.name for entry in deleted}
    hints = []
    for index, entry in enumerate(wanted) if going else ():
        if index not in matched and entry.formerly:
            hints.append(_not_renamed(entry))
        hints += [_left_behind(entry, old) for old in entry.formerly if old in going]
    return hints


def _not_renamed(entry: Entry) -> Notice:
    names = ", ".join(map(repr, entry.formerly))
    return Notice(
        f"{entry.name!r} was formerly {names}, but no such command is there to be renamed: it is "
        "added, with no uses",
        "check the spelling of formerly against commandsync pull, upper and lower case too",
        entry.location,
    )


def _left_behind(entry: Entry, old: str) -> Notice:
    return Notice(
        f"{old!r} is deleted with its uses, though {entry.name!r} was formerly called so",
        "only one command can be renamed to it: pin its id (commandsync pull --pin) to choose",
        entry.location,
    )


def _likeness(add: Add, delete: Delete) -> float:
    """Compare what the two do, leaving out what they are called."""
    mine, theirs = (
        CommandText("", text[1], text[2].replace(text[0], ""), text[3])
        for text in (add.after, delete.before)
        if isinstance(text, CommandText)
    )
    return similarity(mine, theirs)[1]


def _hint(add: Add, delete: Delete, *, pins: bool, formerly: Sequence[str]) -> Notice:
    """Print the line to write: a pin where others keep the old name, else all former names."""
    names = ", ".join(map(_in_quotes, (*formerly, delete.name)))
    line = f"id: {_in_quotes(delete.id)}" if pins else f"formerly: [{names}]"
    where = "in place of its formerly" if formerly and not pins else "below its name"
    return Notice(
        f"{add.name!r} looks like {delete.name!r} under a new name: as planned, the old one is "
        "deleted with its uses",
        f"if it is a rename, write {where}:  {line}",
        add.location,
    )


def _in_quotes(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
