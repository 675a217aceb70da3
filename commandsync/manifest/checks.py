"""What only shows when entries stand beside each other: doubles, pins, former and ignored names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commandsync.manifest.problems import quoted
from commandsync.records.texts import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.diagnostics import Location
    from commandsync.manifest.entries import Stated
    from commandsync.plan.rules import SyncRules
    from commandsync.records.texts import Text


def check_commands(commands: Sequence[Stated], rules: SyncRules) -> None:
    """Note what is wrong between the commands of a manifest and its includes."""
    _exact_doubles(commands)
    _case_twins(commands)
    _former_names(commands)
    _pins(commands)
    _ignored(commands, rules, field="name")


def check_announcements(announcements: Sequence[Stated], rules: SyncRules) -> None:
    """Note what is wrong between the announcements; doubles are legal, and hardly meant."""
    first: dict[Text, Stated] = {}
    for stated in announcements:
        earlier = first.setdefault(stated.entry.text, stated)
        if earlier is not stated:
            stated.reader.warning(
                stated.table.at,
                f"this announcement stands here twice, first at {_place(earlier)}",
                "it will be posted twice: remove one if that is not meant",
            )
    _pins(announcements)
    _ignored(announcements, rules, field="title")


def _exact_doubles(commands: Sequence[Stated]) -> None:
    first: dict[Text, Stated] = {}
    for stated in commands:
        earlier = first.setdefault(stated.entry.text, stated)
        if earlier is not stated:
            stated.reader.error(
                stated.table.at,
                f"the command {quoted(stated.entry.name)} stands here twice, equal in all fields, "
                f"first at {_place(earlier)}",
                "remove one; commands of one name are fine when any field differs",
            )


def _case_twins(commands: Sequence[Stated]) -> None:
    first: dict[str, Stated] = {}
    warned: set[str] = set()
    for stated in commands:
        name = stated.entry.name
        earlier = first.setdefault(name.casefold(), stated)
        if earlier.entry.name != name and name not in warned:
            warned.add(name)
            stated.reader.warning(
                _at(stated, "name"),
                f"{quoted(name)} and {quoted(earlier.entry.name)} at {_place(earlier)} differ only "
                "in upper and lower case",
            )


def _former_names(commands: Sequence[Stated]) -> None:
    live: dict[str, Stated] = {}
    for stated in commands:
        live.setdefault(stated.entry.name, stated)
    for stated in commands:
        for old in stated.table.texts("formerly") if stated.entry.formerly else ():
            name = canonical(old.text)
            other = live.get(name)
            if name == stated.entry.name:
                stated.reader.error(
                    old.at,
                    f"formerly names the command's own name {quoted(name)}",
                    "leave it out: a command is matched by its own name first",
                )
            elif other is not None:
                stated.reader.error(
                    old.at,
                    f"formerly names {quoted(name)}, which is still a command at {_place(other)}",
                    "remove one of the two: a rename that is done needs no formerly; where names "
                    "are swapped, pin the commands instead: commandsync pull --pin shows the ids",
                )


def _pins(entries: Sequence[Stated]) -> None:
    first: dict[str, Stated] = {}
    for stated in entries:
        pin = stated.entry.id
        earlier = first.setdefault(pin, stated) if pin else stated
        if earlier is not stated:
            stated.reader.error(
                _at(stated, "id"),
                f"the id {quoted(pin)} is pinned twice, first at {_location(earlier, 'id')}",
                "an id belongs to one entry: remove it here or there",
            )


def _ignored(entries: Sequence[Stated], rules: SyncRules, *, field: str) -> None:
    if not rules.ignore:
        return
    for stated in entries:
        if rules.ignores(stated.entry.name):
            stated.reader.error(
                _at(stated, field),
                f"sync.ignore matches {quoted(stated.entry.name)}: it would be added again on "
                "every run",
                "change the pattern, or remove the entry",
            )


def _at(stated: Stated, field: str) -> int:
    node = stated.table.scalar(field)
    return stated.table.at if node is None else node.at


def _location(stated: Stated, field: str) -> Location:
    return stated.reader.source.location(_at(stated, field))


def _place(stated: Stated) -> Location | None:
    return stated.entry.location
