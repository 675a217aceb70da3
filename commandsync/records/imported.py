"""The commands that an import found, as `NAME.imported.yaml` beside a manifest has them.

The file is a value of its sources: `ImportedFile.digest` covers its content and not its layout, so
that a formatter changes nothing, and an edit by hand shows.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from typing import Any, NamedTuple

from commandsync.diagnostics import Location
from commandsync.records.snapshot import NESTING, Levels, Node, by_name, levels_of, together
from commandsync.records.texts import pattern

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
