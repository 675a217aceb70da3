"""Snapshots: the records of one side, the manifest or a list of a service, at one moment.

A snapshot may also have Discord's own objects of its commands, and the commands that Discord alone
gets. Each sub-command has the object of its group with itself alone, so that it can be added,
removed and left out by itself. `joined` puts the sub-commands of a group together; `by_name`
returns the place of each command and group in such objects. A manifest has one entry for each
callable command; its imported file also has the commands that no public list shows.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from commandsync.diagnostics import Location
from commandsync.records.texts import CommandText, Resource, Text, object_of

Identity = str | tuple[Text, int]
"""The identity of a listed record: its id; without a usable one, its text and which of
the equal ones it is."""

Node = Mapping[str, Any]
"""An object of a platform: a command, or one of its options."""

Levels = tuple[Node, ...]
"""The platform's own objects of a command, from the outermost group down to itself."""


class Phase(StrEnum):
    """Where in its schedule an entry is at a time."""

    DUE = "due"  # it is to be listed, as an entry without a schedule always is
    ENDED = "ended"  # its `until` has passed: it is not to be listed any more
    WAITING = "waiting"  # its `publish` has not come: it is not to be listed yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When an entry is to be listed."""

    publish: datetime | None = None  # from this time on, in UTC; None for always
    until: datetime | None = None  # up to this time, after `publish`, in UTC; None for no end

    def phase(self, now: datetime) -> Phase:
        """Return the phase at a time; each begins with its very second."""
        if self.until is not None and self.until <= now:
            return Phase.ENDED
        is_early = self.publish is not None and now < self.publish
        return Phase.WAITING if is_early else Phase.DUE

    def is_apart_from(self, other: Self) -> bool:
        """Whether one of the two has ended when the other begins."""
        pairs = (self.until, other.publish), (other.until, self.publish)
        return any(end is not None and begin is not None and end <= begin for end, begin in pairs)


def shown_time(time: datetime) -> str:
    """Return a time in UTC for people: `2026-12-01 18:00 UTC`, with its seconds if it has any."""
    return f"{time:%Y-%m-%d %H:%M:%S}".removesuffix(":00") + " UTC"


@dataclass(frozen=True, slots=True)
class Entry:
    """One command or announcement on one side, every field `canonical`."""

    text: Text  # its text, every field `canonical`
    id: str = ""  # the service's identifier; on the desired side the pin; empty when there is none
    location: Location | None = None  # where the manifest defines it; None on the listed side
    formerly: tuple[str, ...] = ()  # names it had before, canonical (desired commands only)
    uses: int | None = None  # how often it was used (desired: as a backup notes it), if known
    schedule: Schedule | None = None  # when it is to be listed (desired side); None for always
    own: Levels = field(default=(), compare=False)  # as a service is sent it; empty for none

    def phase(self, now: datetime | None) -> Phase:
        """Return where in its schedule it is at a time; without a schedule it is always due.

        Raises `ValueError` if it has a schedule, and there is no time.
        """
        if self.schedule is None:
            return Phase.DUE
        if now is None:
            raise ValueError(f"{self.name!r} has a schedule: a time is necessary")
        return self.schedule.phase(now)

    @property
    def name(self) -> str:
        """The name for people: a command's name, an announcement's title."""
        return self.text[0]

    @property
    def writable(self) -> bool:
        """Whether its id can be part of a path: `""`, `.` and `..` would address something else."""
        return self.id.strip() not in {"", ".", ".."}


class Audience(NamedTuple):
    """The scope and the language of a list, if a service has a list for each of them."""

    scope: str
    language: str = ""  # two letters; empty for users of all languages without a list of their own


def labelled(service: str, audience: Audience | None) -> str:
    """Return the title of a list: `telegram`, or `telegram (all_private_chats, de)`."""
    words = ", ".join(word for word in audience or () if word not in {"", "default"})
    return f"{service} ({words})" if words else service


class Snapshot(NamedTuple):
    """The managed collections of one side, with their entries in order.

    A collection that is absent is not managed (desired side) or was not read (listed side).
    """

    collections: Mapping[Resource, tuple[Entry, ...]] = MappingProxyType({})

    @property
    def scope(self) -> tuple[Resource, ...]:
        """The collections that are present, in the order of `Resource`."""
        return tuple(resource for resource in Resource if resource in self.collections)

    @property
    def commands(self) -> tuple[CommandText, ...]:
        """The texts of the commands, in their order; none where commands are not managed."""
        entries = self.collections.get(Resource.COMMAND, ())
        return tuple(entry.text for entry in entries if isinstance(entry.text, CommandText))

    def due(self, now: datetime) -> "Snapshot":
        """Return the entries that are to be listed at a time."""
        return Snapshot(
            {
                resource: tuple(entry for entry in entries if entry.phase(now) is Phase.DUE)
                for resource, entries in self.collections.items()
            }
        )


def by_identity(entries: Iterable[Entry]) -> dict[Identity, Text]:
    """Return the texts of listed records by their identity, in their order."""
    texts: dict[Identity, Text] = {}
    without_id: Counter[Text] = Counter()
    for entry in entries:
        if entry.writable:
            texts[entry.id] = entry.text
        else:
            texts[entry.text, without_id[entry.text]] = entry.text
            without_id[entry.text] += 1
    return texts


NESTING = (1, 2)
"""The types of options that are sub-commands, or groups of them."""


def together(objects: Iterable[Node]) -> list[Node]:
    """Return each command once, with the sub-commands that several objects have of it."""
    wholes: dict[tuple[object, object], Node] = {}
    for part in objects:
        key = part.get("type", 1), part.get("name")
        wholes[key] = joined(wholes[key], part) if key in wholes else part
    return list(wholes.values())


def joined(whole: Node, part: Node) -> Node:
    """Return an object with the sub-commands of another part of it."""
    options = {option["name"]: option for option in whole.get("options", ())}
    for option in part.get("options", ()):
        if option["type"] in NESTING:
            known = options.get(option["name"])
            options[option["name"]] = joined(known, option) if known else option
    return {**part, **whole, **({"options": [*options.values()]} if options else {})}


def by_name(objects: Iterable[Node]) -> dict[str, Levels]:
    """Return where each command and group of objects is, by its name in any language.

    Of equal names the name in the default language counts, and then the name of a slash command.
    """
    slash_first = sorted(objects, key=lambda node: (str(node.get("type", 1)), _text(node, "name")))
    commands = [levels for node in slash_first for levels in levels_of(node)]
    locales = {
        locale
        for levels in commands
        for node in levels
        for locale in node.get("name_localizations", ())
    }
    names: dict[str, Levels] = {}
    for locale in ("", *sorted(locales)):
        for levels in commands:
            name = " ".join(
                _text(node.get("name_localizations", {}), locale) or _text(node, "name")
                for node in levels
            )
            names.setdefault(name, levels)
    return names


def levels_of(node: Node, above: Levels = ()) -> Iterator[Levels]:
    """Yield the levels down to a node, and to all below it; a group has `options` without any."""
    options = node.get("options")
    nested = [
        option
        for option in (options if isinstance(options, list | tuple) else ())
        if isinstance(option, Mapping) and option.get("type") in NESTING
    ]
    levels = (*above, {**node, "options": ()} if nested else node)
    yield levels
    for option in nested:
        yield from levels_of(option, levels)


def callables(text: Text) -> tuple[str, ...]:
    """Return the names of the commands that users call in a record: of a group, its sub-commands.

    Each has the names of its groups: `queue add`.
    """
    node = object_of(text)
    if node is None:
        return (text[0],)
    return tuple(
        " ".join(_text(part, "name") for part in levels)
        for levels in levels_of(node)
        if levels[-1].get("options") != ()  # a group cannot be called
    )


def lost_callables(before: Text, after: Text) -> int:
    """Count the commands that users call in a record before an edit of it, and not after it.

    A new name of the record itself takes none of them away.
    """
    own, new = (len(text[0].split()) for text in (before, after))
    left = {tuple(name.split()[new:]) for name in callables(after)}
    return sum(tuple(name.split()[own:]) not in left for name in callables(before))


def _text(values: Mapping[str, object], key: str) -> str:
    value = values.get(key)
    return value.strip() if isinstance(value, str) else ""


class Standing(StrEnum):
    """How a command of a manifest is treated at Discord."""

    REGISTERED = "registered"  # it is written there
    UNTOUCHED = "untouched"  # it is neither written nor deleted there


@dataclass(frozen=True, slots=True, kw_only=True)
class Registrable:
    """One callable command of a manifest; every text is canonical."""

    name: str  # with the names of its groups: `queue add`
    description: str
    syntax: str  # with the prefix filled in
    standing: Standing = Standing.REGISTERED
    reason: str = ""  # why no public list shows it; empty if they do
    discord: Node | None = field(default=None, hash=False)  # its own object; None if not known
    id: str = ""  # the pin at Discord, `id` of that object; empty for none
    formerly: tuple[str, ...] = ()  # names that it had before, the newest first
    location: Location | None = None  # where the manifest or the imported file has it
    source: str = ""  # the file of the code that declares it; empty if not known
    # Where the manifest has the parts of the object: by their keys and the numbers of their
    # options and choices, joined by `/`, as in `options/0/choices/2/name`. `""` is the whole.
    places: Mapping[str, Location] = field(default_factory=dict, hash=False)
