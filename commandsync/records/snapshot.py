"""The records of one side at one moment: the manifest, its imported file, or a list of a service.

A `Snapshot` may also have Discord's own objects of its commands, and the commands that Discord
alone gets. Each sub-command has the object of its group with itself alone, so that it can be added,
removed and left out by itself. `joined` puts the sub-commands of a group together; `by_name`
returns the place of each command and group in such objects. A manifest has one entry for each
callable command; its imported file also has the commands that no public list shows.

An `ImportedFile` has the commands that an import found, as `NAME.imported.yaml` beside a manifest
has them. It is a value of its sources: `ImportedFile.digest` covers its content and not its layout,
so that a formatter changes nothing, and an edit by hand shows.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from commandsync.diagnostics import Location
from commandsync.records.texts import CommandText, Resource, Text, object_of, pattern

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


def objects_by_name(objects: Iterable[tuple[str, Node]]) -> Mapping[str, Levels]:
    """Return where each command and group is in the objects of commands, by name.

    A sub-command comes with its full name, and the object of its group or its own.
    """
    return by_name(together(_of_group(name.split(), node) for name, node in objects))


def members(name: str, node: Node) -> tuple[tuple[str, Node], ...]:
    """Return the sub-commands below a group, by the rest of their names; none for another command.

    The object of a sub-command has a group around it, and is not one.
    """
    path = name.removeprefix("/").split()
    if not (path and node.get("options")):
        return ()
    return tuple(
        (" ".join(each["name"] for each in levels[len(path) :]), levels[-1])
        for levels in levels_of(_of_group(path, node))
        if len(levels) > len(path) and levels[-1].get("options") != ()
    )


def _of_group(path: Sequence[str], node: Node) -> Node:
    """Return the object of a command, or of the group around a sub-command."""
    *groups, own = path
    nested = [option for option in node.get("options", ()) if option.get("type") in NESTING]
    if not groups or nested or node.get("name") != own:
        return node
    for depth, group in reversed([*enumerate(groups)]):
        kind = NESTING[min(depth, 1)]
        node = {"type": kind, "name": group, "description": group, "options": [node]}
    return node


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


SUFFIX = ".imported.yaml"
_SUFFIXES = (SUFFIX, ".imported.yml")


def imported_path(manifest: str) -> str:
    """Return the path of the imported file of a manifest: `NAME.imported.yaml` beside it."""
    return PurePath(manifest).with_suffix(SUFFIX).as_posix()


def is_imported(path: str) -> bool:
    """Whether a file is one that `commandsync import` writes, by its name."""
    return path.endswith(_SUFFIXES)


class Kind(StrEnum):
    """How users call a command."""

    SLASH = "slash"  # `/ping`, at Discord or Telegram
    MENU = "menu"  # by its name in the menu of a user or a message
    PREFIX = "prefix"  # `{prefix}ping`, or `!ping`


def kind_of(name: str, syntax: str) -> Kind:
    """Return how a command is called, by its syntax as an import writes it."""
    if syntax.startswith("/"):
        return Kind.SLASH
    return Kind.MENU if syntax.replace("{{prefix}}", "{prefix}") == name else Kind.PREFIX


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCommand:
    """One command of a source; every text is canonical."""

    name: str
    description: str
    syntax: str  # as a manifest writes it, with `{prefix}`
    category: str = ""  # empty for that of the manifest's defaults
    source: str = ""  # the file that declares it, relative to the manifest, or a source by its name
    formerly: tuple[str, ...] = ()  # names that it had in the code before
    left_out: str = ""  # why it is on no public list; empty if it is
    kept: bool = False  # whether it was there before, and its source was not read completely
    recorded: bool = False  # whether a run of the bot registered its object
    digest: str = ""  # of its source file when it was recorded
    discord: Node | None = field(default=None, hash=False)  # the platform's own object

    @property
    def kind(self) -> Kind:
        """How it is called."""
        return kind_of(self.name, self.syntax)

    @property
    def key(self) -> tuple[str, Kind, Any]:
        """The identity of a command: its name, and how it is called.

        The menus of users and of messages may have commands of one name.
        """
        is_menu = self.discord is not None and self.kind is Kind.MENU
        return self.name, self.kind, self.discord["type"] if is_menu and self.discord else None

    def values(self) -> dict[str, Any]:
        """Return the keys of its entry in the file, without empty ones."""
        every = {
            "name": self.name,
            "description": self.description,
            "syntax": self.syntax,
            "category": self.category,
            "from": self.source,
            "formerly": self.formerly,
            "left_out": self.left_out,
            "kept": self.kept,
            "recorded": self.recorded,
            "source": self.digest,
            "discord": self.discord,
        }
        return {key: value for key, value in every.items() if value}


class ImportedPlace(NamedTuple):
    """A place that declares a command and is not read."""

    source: str  # its file
    reason: str
    name: str = ""  # the command's name, where the code states it

    def values(self) -> dict[str, str]:
        """Return the keys of its entry in the file, without empty ones."""
        every = {"from": self.source, "name": self.name, "reason": self.reason}
        return {key: value for key, value in every.items() if value}


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """The content of an imported file."""

    commands: tuple[ImportedCommand, ...] = ()  # in the order of the sources
    unread: tuple[ImportedPlace, ...] = ()
    gone: tuple[str, ...] = ()  # names that were there before: an entry may still have one

    @property
    def public(self) -> tuple[ImportedCommand, ...]:
        """The commands that public lists show."""
        return tuple(command for command in self.commands if not command.left_out)

    @property
    def digest(self) -> str:
        """The digest over the values."""
        content = {
            "commands": [command.values() for command in self.commands],
            "unread": [place.values() for place in self.unread],
            "gone": list(self.gone),
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def names_place(patterns: Iterable[str], file: str, name: str) -> bool:
    """Whether patterns name a place that is not read: its command, its file or its path."""
    names = {name, file.rpartition("/")[2]} - {""}
    return bool(path_pattern(file, patterns)) or any(
        pattern(text).match(each) for text in patterns for each in names
    )


def path_pattern(path: str, patterns: Iterable[str]) -> str:
    """Return the first pattern with a `/` that fits the end of a path, or of a folder above it."""
    parts = path.split("/")
    for text in patterns:
        count = text.strip("/").count("/") + 1
        ends = ("/".join(parts[:end][-count:]) for end in range(count, len(parts) + 1))
        if "/" in text and any(map(pattern(text.strip("/")).match, ends)):
            return text
    return ""


class Override(NamedTuple):
    """An entry of a manifest that means an imported command."""

    name: str
    place: Location
    fields: Mapping[str, tuple[str, str]]  # that it wins: the imported text, and its own
    repeated: tuple[str, ...]  # that are equal, so that it need not have them
    adds: bool  # whether it says more than the imported command: former names, an id, an object

    @property
    def only_repeats(self) -> bool:
        """Whether it could be removed."""
        return not (self.fields or self.adds)
