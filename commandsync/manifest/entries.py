"""The problems between the entries of a manifest and of its includes.

They only show when entries are compared: duplicates, names that differ in case or are hidden, pins,
former names, and names that `sync.ignore` matches.
"""

from collections.abc import Sequence as AnySequence
from typing import NamedTuple
from unicodedata import category

from commandsync.diagnostics import Do
from commandsync.manifest.nodes import Mapping, strings
from commandsync.manifest.source import FileProblems, quoted
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Resource, Text, canonical
from commandsync.services.abilities import PAGE_ABILITIES

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters that show nothing
_TAGS = frozenset(map(chr, range(0xE0020, 0xE0080)))  # of the flags of regions
_LONGEST_SHOWN = 1_000  # characters of a description: no service that commandsync knows shows more
_JOINED = frozenset({"So", "Sk", "Cf"})  # emoji, their colours of skin, and tags


class Placed(NamedTuple):
    """An entry with its node, for problems that only show beside other entries."""

    entry: Entry
    node: Mapping
    report: FileProblems

    @property
    def name_at(self) -> int:
        """Where its name or title is."""
        return self.node[self.entry.text._fields[0]].at


def check(kind: Resource, entries: AnySequence[Placed], rules: SyncRules) -> None:
    """Report the problems between the entries of one kind, of a manifest and its includes."""
    _duplicates(kind, entries)
    if not may_repeat(kind):
        _case_twins(entries)
        if kind.usage:
            _same_usage(kind, entries)
        _unshown_texts(entries)
    _former_names(kind, entries)
    _pins(entries)
    if rules.ignore:
        _ignored(entries, rules)


def may_repeat(kind: Resource) -> bool:
    """Whether entries of a kind may be equal in all fields, as posts may."""
    return PAGE_ABILITIES[kind].posts


def _duplicates(kind: Resource, entries: AnySequence[Placed]) -> None:
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


def _case_twins(entries: AnySequence[Placed]) -> None:
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


def _same_usage(kind: Resource, entries: AnySequence[Placed]) -> None:
    """Warn about entries of one name and one usage; equal ones are reported already."""
    seen: dict[tuple[str, str], dict[Text, Placed]] = {}
    for placed in entries:
        text = placed.entry.text
        usage = getattr(text, kind.usage)
        if usage == text[0]:  # the menus of users and of messages may have one name
            continue
        alike = seen.setdefault((text[0], usage), {})
        if text not in alike and alike:
            first = next(iter(alike.values())).entry.location
            message = f"{quoted(placed.entry.name)} has the {kind.usage} of the entry at {first}"
            placed.report.warning(placed.node.at, message, "remove one, or correct its syntax")
        alike.setdefault(text, placed)


def _invisible_characters(entries: AnySequence[Placed]) -> None:
    """Warn about characters in names that nobody sees and nobody types, but for those of emoji."""
    for placed in entries:
        name = placed.entry.name
        for at, character in enumerate(name if not name.isascii() else ""):
            joins = at > 0 and (category(name[at - 1]) in _JOINED or name[at - 1] == "\ufe0f")
            is_hidden = category(character) == "Cf" or character in _BLANK
            if is_hidden and not (joins and (character == "\u200d" or character in _TAGS)):
                message = f"{quoted(name)} has an invisible character: U+{ord(character):04X}"
                hint = "remove it: users cannot type it"
                placed.report.warning(placed.name_at, message, hint)
                break


def _unshown_texts(entries: AnySequence[Placed]) -> None:
    """Warn about names and descriptions that most services do not show, or not whole."""
    _invisible_characters(entries)
    for placed in entries:
        name = placed.entry.name
        if not name.isascii() and any(category(character) == "So" for character in name):
            message = f"{quoted(name)} has an emoji or a symbol, which names at Discord cannot have"
            hint = "lists of Discord's commands, such as that of top.gg, leave the command out"
            placed.report.warning(placed.name_at, message, hint)
        if (length := len(placed.entry.text[1])) > _LONGEST_SHOWN:
            message = f"the description of {quoted(name)} has {length:,} characters"
            hint = "Discord shows 100 and Telegram 256: write one or two sentences"
            placed.report.warning(placed.name_at, message, hint)


def _former_names(kind: Resource, entries: AnySequence[Placed]) -> None:
    live = {placed.entry.name: placed for placed in reversed(entries)}  # the first of each name
    for placed in entries:
        for node in strings(placed.node.get("formerly")) if placed.entry.formerly else ():
            name = canonical(node)
            if name not in placed.entry.formerly:  # of an import: another entry has it today
                continue
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


def _pins(entries: AnySequence[Placed]) -> None:
    first: dict[str, Placed] = {}
    for placed in entries:
        pin = placed.entry.id
        earlier = first.setdefault(pin, placed) if pin else placed
        if earlier is not placed:
            at = earlier.report.source.location(earlier.node["id"].at)
            message = f"the id {quoted(pin)} is pinned twice (first at {at})"
            hint = "an id belongs to one entry: remove it here or there"
            placed.report.error(placed.node["id"].at, message, hint)


def _ignored(entries: AnySequence[Placed], rules: SyncRules) -> None:
    for placed in entries:
        if rules.ignores(placed.entry.name):
            name, hint = quoted(placed.entry.name), "change the pattern, or remove the entry"
            message = f"sync.ignore matches {name}: it would be added again on every run"
            placed.report.error(placed.name_at, message, hint)
