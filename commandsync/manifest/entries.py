"""The entries of a manifest -> records: a snapshot for lists, and the commands for Discord.

`snapshot_of` completes the entries, and reports the problems that only show when entries are
compared: duplicates, names that differ in case or are hidden, pins, former names, and names that
`sync.ignore` matches. `registrables` returns the commands as Discord gets them, which is more than
public lists show: the object of a group once, and the commands that an import leaves out of public
lists. Commands that it does not get, or must keep, are named, too.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import NamedTuple
from unicodedata import category

from commandsync.diagnostics import Do, Location
from commandsync.manifest import nodes
from commandsync.manifest.checks import CommandDefaults, UnfitError
from commandsync.manifest.overlay import Own
from commandsync.manifest.source import FileProblems, quoted
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry, Kind, Registrable, Snapshot, Standing, kind_of
from commandsync.records.texts import Resource, Text, canonical
from commandsync.services.abilities import PAGE_ABILITIES

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters that show nothing
_TAGS = frozenset(map(chr, range(0xE0020, 0xE0080)))  # of the flags of regions
_LONGEST_SHOWN = 1_000  # characters of a description: no service that commandsync knows shows more
_JOINED = frozenset({"So", "Sk", "Cf"})  # emoji, their colours of skin, and tags
_ELLIPSES = frozenset({"…", "...", ".."})
# How often a command was used, as a backup notes it behind its id.
_USES = re.compile(r"[ \t]+# uses: ([0-9]{1,15})[ \t]*(?=[\r\n]|\Z)")
_MOST_OF_PREFIX = 100  # characters: more than any name has
_REGISTERED = frozenset({"hidden", "owner-only", "admin-only", "nsfw"})
"""Why a command is on no public list, though it is registered as the others are."""


class Placed(NamedTuple):
    """An entry with its node, for problems that only show beside other entries."""

    entry: Entry
    node: nodes.Mapping
    report: FileProblems

    @property
    def name_at(self) -> int:
        """Where its name or title is."""
        return self.node[self.entry.text._fields[0]].at


def snapshot_of(
    own: Mapping[Resource, Sequence[Own]], defaults: CommandDefaults, rules: SyncRules
) -> Snapshot:
    """Return the records of all entries by their kinds; report their problems."""
    collections: dict[Resource, tuple[Entry, ...]] = {}
    for kind, entries in own.items():
        names = {getattr(each.model, kind.fields[0]) for each in entries}
        placed = [record for each in entries for record in _records(kind, each, defaults, names)]
        _check(kind, placed, rules)
        collections[kind] = tuple(each.entry for each in placed)
    return Snapshot(MappingProxyType(collections))


def _records(
    kind: Resource, own: Own, defaults: CommandDefaults, names: AbstractSet[str]
) -> Iterator[Placed]:
    """Yield the records of an entry: of a group, the sub-commands without entries of their own."""
    report, node, model = own.report, own.node, own.model
    for key in own.missing:
        report.error(node.at, f"{kind.with_article} needs a {key}")
    if own.missing:
        return
    if getattr(model, "description", None) in _ELLIPSES:
        message = "the description is only an ellipsis"
        report.warning(own.at("description"), message, "describe what it does")
    try:
        text, schedule = model.as_text(defaults), model.schedule
    except UnfitError as error:
        key, *problem = error.args
        report.error(own.at(key), *problem)
        return
    location = report.source.location(node.at)
    noted = _USES.match(report.source.text, node["id"].end) if "id" in node else None
    if members := getattr(model, "members", lambda _: ())(text):  # of commands alone
        if model.id:
            hint = "remove it; discord.id is the one that Discord has"
            report.error(own.at("id"), "a group is on no list itself, and has no id there", hint)
        parts = (Entry(each, location=location, formerly=old) for each, old in members)
        yield from (Placed(each, node, report) for each in parts if each.name not in names)
        return
    entry = Entry(
        text,
        id=model.id,
        location=location,
        formerly=model.formerly,
        uses=int(noted[1]) if noted else None,
        schedule=schedule,
    )
    yield Placed(entry, node, report)


def _check(kind: Resource, entries: Sequence[Placed], rules: SyncRules) -> None:
    """Report the problems between the entries of one kind, of a manifest and its includes."""
    _duplicates(kind, entries)
    if not PAGE_ABILITIES[kind].posts:  # posts may be equal in all fields
        _case_twins(entries)
        if kind.usage:
            _same_usage(kind, entries)
        _unshown_texts(entries)
    _former_names(kind, entries)
    _pins(entries)
    for placed in entries if rules.ignore else ():
        if rules.ignores(placed.entry.name):
            name, hint = quoted(placed.entry.name), "change the pattern, or remove the entry"
            message = f"sync.ignore matches {name}: it would be added again on every run"
            placed.report.error(placed.name_at, message, hint)


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
        if not PAGE_ABILITIES[kind].posts:
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


def _same_usage(kind: Resource, entries: Sequence[Placed]) -> None:
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


def _unshown_texts(entries: Sequence[Placed]) -> None:
    """Warn about names and descriptions that most services do not show, or not whole."""
    for placed in entries:
        name, shown = placed.entry.name, quoted(placed.entry.name)
        if not name.isascii() and (character := _invisible(name)):
            message = f"{shown} has an invisible character: U+{ord(character):04X}"
            placed.report.warning(placed.name_at, message, "remove it: users cannot type it")
        if not name.isascii() and any(category(character) == "So" for character in name):
            message = f"{shown} has an emoji or a symbol, which names at Discord cannot have"
            hint = "lists of Discord's commands, such as that of top.gg, leave the command out"
            placed.report.warning(placed.name_at, message, hint)
        if (length := len(placed.entry.text[1])) > _LONGEST_SHOWN:
            message = f"the description of {shown} has {length:,} characters"
            hint = "Discord shows 100 and Telegram 256: write one or two sentences"
            placed.report.warning(placed.name_at, message, hint)


def _invisible(name: str) -> str:
    """Return the first invisible character of a name, outside emoji; empty for none."""
    for at, character in enumerate(name):
        joins = at > 0 and (category(name[at - 1]) in _JOINED or name[at - 1] == "\ufe0f")
        is_hidden = category(character) == "Cf" or character in _BLANK
        if is_hidden and not (joins and (character == "\u200d" or character in _TAGS)):
            return character
    return ""


def _former_names(kind: Resource, entries: Sequence[Placed]) -> None:
    live = {placed.entry.name: placed for placed in reversed(entries)}  # the first of each name
    for placed in entries:
        for node in nodes.strings(placed.node.get("formerly")) if placed.entry.formerly else ():
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


def registrables(
    commands: Iterable[Own], left_out: Sequence[Own], *, prefix: str | None
) -> tuple[Registrable, ...]:
    """Return the commands of a manifest as they are registered.

    An entry that names a command which is left out of public lists makes it public, with the
    object that the import has.
    """
    rest: dict[tuple[str, Kind, object], Own] = {
        own.imported.command.key: own for own in left_out if own.imported
    }
    found: list[tuple[Own, str, Own]] = []
    for own in commands:
        syntax, key = _called(own, prefix or "")
        other = rest.pop(key, None)
        keeps_own = own.model.own or own.model.object
        found.append((own, syntax, own if keeps_own else other or own))
    found += (
        (own, own.model.syntax, own)
        for (_, kind, _), own in rest.items()
        if kind is not Kind.PREFIX
    )
    # Sub-commands are in the order of the code, whatever comes first on public lists.
    found.sort(key=lambda each: each[2].imported.number if each[2].imported else sys.maxsize)
    return tuple(_registrable(*each) for each in found)


def _called(own: Own, prefix: str) -> tuple[str, tuple[str, Kind, object]]:
    """Return the syntax of an entry with its prefix, and its key as an `ImportedCommand` has it."""
    name, syntax = own.model.name, own.model.syntax
    menu = (own.model.object or {}).get("type", 1)
    start, used, end = syntax.partition("{prefix}")
    if used and not start:
        # The prefix at the beginning decides how a command is called, and is filled in alone: a
        # long one that is often in the syntax would fill the memory again.
        syntax = prefix[:_MOST_OF_PREFIX] + end
    return syntax, (name, kind_of(name, syntax), None) if menu == 1 else (name, Kind.MENU, menu)


def _registrable(own: Own, syntax: str, whole: Own) -> Registrable:
    """Return a command with the object of an entry, which may be left out."""
    imported = own.imported or whole.imported
    left_out = own.imported.command.left_out if own.imported else ""
    is_registered = {*left_out.split(" and ")} <= {"", *_REGISTERED}
    return Registrable(
        name=own.model.name.removeprefix("/"),
        description=own.model.description,
        syntax=syntax,
        standing=Standing.REGISTERED if is_registered else Standing.UNTOUCHED,
        reason=left_out,
        discord=whole.model.object,
        id=own.pin,
        formerly=own.model.formerly,
        location=own.place,
        source=imported.command.source if imported else "",
        places=_Places(*whole.object_node) if whole.object_node else {},
    )


class _Places(Mapping[str, Location]):
    """Where the parts of an object are; few are asked for, so each is found when it is."""

    def __init__(self, report: FileProblems, node: nodes.Mapping) -> None:
        self._report, self._node = report, node

    def __getitem__(self, path: str) -> Location:
        part: nodes.Node = self._node
        for key in path.split("/") if path else ():
            match part:
                case nodes.Mapping() if key in part:
                    part = part[key]
                case nodes.Sequence() if key.isdecimal() and int(key) < len(part):
                    part = part[int(key)]
                case _:
                    raise KeyError(path)
        return self._report.source.location(part.at)

    def __iter__(self) -> Iterator[str]:
        waiting: list[tuple[str, nodes.Node]] = [("", self._node)]
        while waiting:
            path, part = waiting.pop()
            yield path
            pairs: Iterable[tuple[object, nodes.Node]] = ()
            if isinstance(part, nodes.Mapping):
                pairs = part.items()
            elif isinstance(part, nodes.Sequence):
                pairs = enumerate(part)
            waiting += ((f"{path}/{key}" if path else str(key), each) for key, each in pairs)

    def __len__(self) -> int:
        return sum(1 for _ in self)
