"""`commands.imported.json`: the last import, read and written, and the proof of removals.

It is beside the manifest and in the repository with it: without it, an import could not tell an
edit of the manifest from a change of the source. Beside the commands it has the platform's own
objects, for services that take them: the keys of a request that creates a command in Discord's
documentation, and the id.

It notes the file of each command, for the proof without which an import removes nothing: the file
was read completely and has the command no more; or the file is gone, and no file that is new or not
read completely contains its name. A file of an older version holds back each removal once.
"""

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from commandsync.api.credentials import redacted
from commandsync.diagnostics import Location, Problem
from commandsync.errors import FileError, ManifestError
from commandsync.records.snapshot import Levels, Node
from commandsync.sources.applicationcommands import KEYS, NESTING, spelled, type_number
from commandsync.sources.changeset import Declared
from commandsync.sources.entry import SourceEntry, Unread, text_of
from commandsync.sources.sourcefile import read_bytes

_TEXTS = frozenset({"name", "description"})
_LANGUAGES = frozenset(f"{text}_localizations" for text in _TEXTS)
_SHOWN = {f"{text}_localized" for text in _TEXTS}  # to one user
_COMMAND = KEYS["command"] - _SHOWN - {"application_id", "category", "guild_id", "version"}
_OPTION = KEYS["option"] - _SHOWN - {"nsfw"}
_MEMBERS = {"options": _OPTION, "choices": frozenset({"name", "name_localizations", "value"})}
_COMMAND_TYPES, _MENU_TYPES, _OPTION_TYPES = range(1, 5), range(2, 4), range(1, 12)
_DEEPEST = 4  # command > group > sub-command > option > choice


def kept(content: Node) -> dict[str, Any]:
    """Return the kept part of an object: Discord's keys in their order, types as numbers."""
    return {"type": type_number(None, "command"), **_kept(content, _COMMAND, 0)}


def _kept(content: Node, keys: frozenset[str], depth: int) -> dict[str, Any]:
    node: dict[str, Any] = {}
    for key, value in sorted(spelled(content).items()):
        if key not in keys or value is None:
            continue
        if key in _MEMBERS:
            node |= _members(key, value, depth + 1)
        elif key == "type":
            node[key] = type_number(value, "option" if depth else "command")
        elif _is_sound(key, value):
            node[key] = value
    return node


def _members(key: str, value: object, depth: int) -> dict[str, Any]:
    objects = value if isinstance(value, list) and depth <= _DEEPEST else []
    members = [_kept(part, _MEMBERS[key], depth) for part in objects if isinstance(part, dict)]
    return {key: members} if members else {}


def _is_sound(key: str, value: object) -> bool:
    """Whether a value is of the type that its key has at Discord, as far as that is simple."""
    if key in _LANGUAGES:
        return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
    if key in _TEXTS:
        return isinstance(value, str)
    return all(
        isinstance(part, str | int) or (isinstance(part, float) and math.isfinite(part))
        for part in (value if isinstance(value, list) else [value])
    )


class LiteralObjects:
    """The platform's own objects of commands in code; the sub-commands of one may be apart."""

    def __init__(self) -> None:
        self._parts: dict[Location, Node] = {}  # by the places of the commands
        self._computed: set[str] = set()  # the names of those that are not all literal

    def add(self, entry: SourceEntry, content: Node | None) -> None:
        """Add the object of a command, or of a part of it; None if it is not all literal."""
        if content is None or entry.place is None:
            self._computed.add(entry.name.partition(" ")[0])
        else:
            self._parts[entry.place] = kept(content)

    def of(self, entries: Iterable[SourceEntry]) -> tuple[Node, ...]:
        """Return the objects of commands, each once."""
        wholes: dict[tuple[str, object], Node] = {}
        for place in dict.fromkeys(entry.place for entry in entries if entry.place):
            if part := self._parts.get(place):
                key = part["name"], part["type"]
                wholes[key] = _joined(wholes[key], part) if key in wholes else part
        return tuple(
            whole
            for (name, _), whole in wholes.items()
            if name not in self._computed and _is_complete(whole)
        )


def _joined(whole: Node, part: Node) -> Node:
    """Return an object with the sub-commands of another part of it."""
    options = {option["name"]: option for option in whole.get("options", ())}
    for option in part.get("options", ()):
        if option["type"] in NESTING:
            known = options.get(option["name"])
            options[option["name"]] = _joined(known, option) if known else option
    return {**part, **whole, **({"options": [*options.values()]} if options else {})}


def _is_complete(node: Node, depth: int = 0) -> bool:
    """Whether an object has all that Discord requires of a command, or of an option in it."""
    kind = node.get("type")
    return (
        kind in (_OPTION_TYPES if depth else _COMMAND_TYPES)
        and bool(node.get("description") or (not depth and kind in _MENU_TYPES))
        and all("value" in choice for choice in node.get("choices", ()))
        and all(_is_complete(option, depth + 1) for option in node.get("options", ()))
    )


def order_of(content: Node) -> tuple[str, str]:
    """Return the place of an object in a sorted list: slash commands first, by name."""
    return str(content["type"]), text_of(content, "name")


def by_name(objects: Iterable[Node]) -> dict[str, Levels]:
    """Return where each command and group of objects is, by its name in any language.

    Of equal names that of the default language counts, and then that of a slash command.
    """
    commands = [levels for node in sorted(objects, key=order_of) for levels in _levels(node)]
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
                text_of(node.get("name_localizations", {}), locale) or text_of(node, "name")
                for node in levels
            )
            names.setdefault(name, levels)
    return names


def _levels(node: Node, above: Levels = ()) -> Iterator[Levels]:
    """Yield the levels down to a node, and to all below it; a group has `options` without any."""
    options = node.get("options", ())
    nested = [option for option in options if option.get("type") in NESTING]
    levels = (*above, {**node, "options": ()} if nested else node)
    yield levels
    for option in nested:
        yield from _levels(option, levels)


LARGEST = 10 * 1024 * 1024
"""Bytes of the file, as many as a manifest may have."""

_LONGEST = 80  # characters of the keys that are shown
_KEYS = ("name", "description", "syntax", "category", "key")
_HINT = "restore it from version control, or delete it and import again"

_Text = Annotated[str, Field(min_length=1)]


class _Command(BaseModel, extra="forbid", strict=True, frozen=True):
    name: _Text
    description: _Text
    syntax: _Text
    category: str | None = None
    key: str | None = None
    source: str
    file: str = ""


class _Document(BaseModel, extra="forbid", strict=True, frozen=True):
    version: Literal[1]
    commands: tuple[_Command, ...]
    objects: dict[str, tuple[dict[str, Any], ...]] = Field(default_factory=dict)


Objects = Mapping[str, Sequence[Node]]
"""The kept parts of a platform's own objects, by source."""


class Imported(NamedTuple):
    """The last import."""

    declared: tuple[Declared, ...] = ()
    objects: Objects = MappingProxyType({})


def read_imported(text: str, *, path: str) -> Imported:
    """Read the last import; `ManifestError` if the text is not valid."""
    if len(text) > LARGEST:
        raise ManifestError([Problem(Location(path), "the file is too large", _HINT)])
    try:
        document = _Document.model_validate_json(text)
    except ValidationError as error:
        raise ManifestError([_problem(error, text, path)]) from error
    declared = (
        Declared(
            command.source,
            SourceEntry(**command.model_dump(exclude={"source", "file"})),
            command.file,
        )
        for command in document.commands
    )
    objects = {source: tuple(map(kept, nodes)) for source, nodes in document.objects.items()}
    return Imported(tuple(declared), objects)


def imported_text(imported: Iterable[Declared], objects: Objects = MappingProxyType({})) -> str:
    """Return the text of the file: sorted, so that an import changes few lines."""
    commands = [
        {key: getattr(entry, key) for key in _KEYS if getattr(entry, key) is not None}
        | {"source": source}
        | ({"file": file} if file else {})
        for source, entry, file in imported
    ]
    commands.sort(key=itemgetter("name", "syntax", "source"))
    document: dict[str, Any] = {"version": 1, "commands": commands}
    if objects:
        document["objects"] = {
            source: sorted(objects[source], key=order_of) for source in sorted(objects)
        }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _problem(error: ValidationError, text: str, path: str) -> Problem:
    """Return the first problem of a file."""
    detail = error.errors(include_url=False)[0]
    where = redacted(".".join(map(str, detail["loc"])))[:_LONGEST] or "the file"
    message, hint = f"{where} is not valid: {detail['msg']}", _HINT
    if "<<<<<<<" in text:
        message = "the file has the marks of a merge conflict"
    elif detail["type"] == "literal_error":  # of a newer version
        hint = "update commandsync"
    return Problem(Location(path), message, hint)


@dataclass(frozen=True, slots=True)
class Removals:
    """What the sources say about commands that are not in them."""

    files: Mapping[str, str]  # that were searched: the paths, by the names in the last import
    partial: Collection[str]  # those that were not read completely
    known: Collection[str]  # those that declared a command at the last import
    unread: Iterable[Unread] = ()
    _texts: dict[str, bytes] = field(default_factory=dict)

    def held_back(self, command: Declared) -> str:
        """Return why nothing proves that a command is gone; empty with a proof."""
        name, source = command.entry.name, command.source
        file = command.file or (source if source in self.files else "")
        own = name.rpartition(" ")[2]
        if not file:
            return "the last import did not note where it was declared"
        if again := next((part for part in self.unread if part.name in {name, own}), None):
            return f"{again.place} may declare it, and is not read"
        if file in self.partial:
            return f"{file} is not read completely"
        if file in self.files:
            return ""
        return self._moved(own, was_noted=file != source)

    def _moved(self, name: str, *, was_noted: bool) -> str:
        """Return why a command may be in another file; one that was not noted is held back once."""
        for other in self.files:
            is_new = other not in self.known and was_noted
            if (is_new or other in self.partial) and self._contains(other, name):
                return f"{other} contains its name, and {'is new' if is_new else 'is not read'}"
        return ""

    def _contains(self, file: str, name: str) -> bool:
        """Whether a file contains a name as a literal, as a function, or has it itself."""
        if PurePosixPath(file).stem == name:
            return True
        if file not in self._texts:
            try:
                self._texts[file] = read_bytes(self.files[file])
            except FileError:
                return True
        word = re.escape(name.encode())
        pattern = rb"[\"'`]" + word + rb"[\"'`]|\bdef\s+" + word + rb"\b"
        return re.search(pattern, self._texts[file]) is not None
