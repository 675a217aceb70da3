"""Problems that only show when entries are compared: duplicates, pins, former and ignored names."""

from collections.abc import Sequence
from typing import NamedTuple

from commandsync.diagnostics import Do
from commandsync.manifest.nodes import Mapping, strings
from commandsync.manifest.source import FileProblems, quoted
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Resource, Text, canonical
from commandsync.services.abilities import PAGE_ABILITIES


class Placed(NamedTuple):
    """An entry with its node, for problems that only show beside other entries."""

    entry: Entry
    node: Mapping
    report: FileProblems

    @property
    def name_at(self) -> int:
        """Where its name or title is."""
        return self.node[self.entry.text._fields[0]].at


def check(kind: Resource, entries: Sequence[Placed], rules: SyncRules) -> None:
    """Report what is wrong between the entries of one kind, of a manifest and its includes."""
    _duplicates(kind, entries)
    if not may_repeat(kind):
        _case_twins(entries)
    _former_names(kind, entries)
    _pins(entries)
    if rules.ignore:
        _ignored(entries, rules)


def may_repeat(kind: Resource) -> bool:
    """Whether entries of a kind may be equal in all fields, as posts may."""
    return PAGE_ABILITIES[kind].posts


def _duplicates(kind: Resource, entries: Sequence[Placed]) -> None:
    first: dict[Text, Placed] = {}
    for placed in entries:
        earlier = first.setdefault(placed.entry.text, placed)
        if earlier is placed:
            continue
        former, latter = earlier.entry.schedule, placed.entry.schedule
        if former and latter and latter.is_apart_from(former):  # an event that comes each year
            first[placed.entry.text] = placed
            continue
        where = f"(first at {earlier.entry.location})"
        message = f"duplicate {kind} {quoted(placed.entry.name)}"
        if not may_repeat(kind):
            hint = f"remove one; {kind.collection} of one name are fine when any field differs"
            placed.report.error(placed.node.at, f"{message}, equal in all fields {where}", hint)
        else:
            hint = "it will be posted twice: remove one if that is not meant"
            placed.report.warning(placed.node.at, f"{message} {where}", hint)


def _case_twins(entries: Sequence[Placed]) -> None:
    first: dict[str, Placed] = {}
    warned: set[str] = set()
    for placed in entries:
        name = placed.entry.name
        earlier = first.setdefault(name.casefold(), placed)
        if earlier.entry.name != name and name not in warned:
            warned.add(name)
            both = f"{quoted(name)} and {quoted(earlier.entry.name)} at {earlier.entry.location}"
            message = f"{both} differ only in upper and lower case"
            placed.report.warning(placed.name_at, message)


def _former_names(kind: Resource, entries: Sequence[Placed]) -> None:
    live = {placed.entry.name: placed for placed in reversed(entries)}  # the first of each name
    for placed in entries:
        for node in strings(placed.node.get("formerly")) if placed.entry.formerly else ():
            name = canonical(node)
            other = live.get(name)
            if name == placed.entry.name:
                message = f"formerly contains the {kind}'s own name {quoted(name)}"
                hint = "remove it: an entry is matched by its own name first"
                placed.report.error(node.at, message, hint)
            elif other is not None:
                placed.report.error(
                    node.at,
                    f"formerly contains {quoted(name)}, which is still a {kind} at "
                    f"{other.entry.location}",
                    Do.SHOW_IDS(
                        first="remove one of the two: a finished rename needs no formerly; where "
                        "names are swapped, pin the entries instead: "
                    ),
                )


def _pins(entries: Sequence[Placed]) -> None:
    first: dict[str, Placed] = {}
    for placed in entries:
        pin = placed.entry.id
        earlier = first.setdefault(pin, placed) if pin else placed
        if earlier is not placed:
            at = earlier.report.source.location(earlier.node["id"].at)
            message = f"the id {quoted(pin)} is pinned twice (first at {at})"
            hint = "an id belongs to one entry: remove it here or there"
            placed.report.error(placed.node["id"].at, message, hint)


def _ignored(entries: Sequence[Placed], rules: SyncRules) -> None:
    for placed in entries:
        if rules.ignores(placed.entry.name):
            name, hint = quoted(placed.entry.name), "change the pattern, or remove the entry"
            message = f"sync.ignore matches {name}: it would be added again on every run"
            placed.report.error(placed.name_at, message, hint)
