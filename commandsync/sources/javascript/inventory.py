"""The commands that the files of a bot declare, as entries."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from commandsync.diagnostics import Notice
from commandsync.errors import FileError
from commandsync.sources.applicationcommands import CommandReader, spelled
from commandsync.sources.code import BY_HAND
from commandsync.sources.entry import SourceEntry, Trait
from commandsync.sources.javascript.handlers import data_of, described, kind_of
from commandsync.sources.javascript.program import Program
from commandsync.sources.javascript.value import REST, Computed, Record, Value, fields_of
from commandsync.sources.jsonfile import listed
from commandsync.sources.listfile import USUAL, row_entry
from commandsync.sources.traits import traits_by_key

_MOST_PARTS = 2000  # of a command
_DEEPEST = 4  # command > group > sub-command > option > choice
_TEXTS = {"name_localizations", "description_localizations"}
_LISTS = {"options", "choices"}
_KEYS = {"name", "description", "type", "required", "category"} | _TEXTS | _LISTS
_BELOW = re.compile(r"(?:^|/)commands/([^/]+)/", re.IGNORECASE)  # a folder, which is a category


class Inventory:
    """The commands of all files; what cannot be read is in the notes."""

    def __init__(self, root: str, locale: str) -> None:
        self._root = root
        self._reader = CommandReader(locale)
        self._keys = _KEYS if locale else _KEYS - _TEXTS
        self._read: set[Computed] = set()  # where the commands are that were read
        self.notes: list[Notice] = []

    def of(self, program: Program, files: Iterable[str]) -> Iterator[SourceEntry]:
        """Yield the commands that files of a bot declare."""
        exported = {path: program.exports(path) for path in files}
        program.notes |= {value for value in exported.values() if isinstance(value, Notice)}
        program.finish()
        for path, value in exported.items():
            yield from self._of(value, named=path, deep=2)
        for owner in program.classes:
            head = owner.text.removesuffix(owner.scope.text(owner.node, "body"))
            fields, base = program.fields(owner), head.rpartition("extends ")[2]
            if base != head or isinstance(fields.get("name"), str):
                yield from self._of(fields, named=base)
        for value, said in program.registered + program.built:
            yield from self._slash(value, said)
        self.notes += self._reader.notes()

    def _of(self, value: Value, *, named: str, deep: int = 0) -> Iterator[SourceEntry]:
        """Yield the commands that an object declares, or those that are in it or in a list."""
        if isinstance(value, list):
            for each in value:
                yield from self._of(each, named=named) if isinstance(each, Record) else ()
        elif isinstance(value, Record):
            handler = described(value)
            kind = kind_of(handler, named)
            yield from self._declared(kind, handler)
            for key, each in handler.items() if deep and not kind else ():
                yield from self._of(each, named=f"{named} {key}", deep=deep - 1)

    def _declared(self, kind: str, handler: Record) -> Iterator[SourceEntry]:
        if kind == "either":
            message = "cannot tell whether this is a slash command or a prefix command"
            self._note(message, handler.at)
        elif kind == "prefix":
            yield from self._prefix(handler)
        elif kind:
            for each in data_of(handler) or [handler]:
                yield from self._slash(each, handler)

    def _slash(self, value: Value, handler: Record) -> Iterator[SourceEntry]:
        at, self._left = getattr(value, "at", handler.at), _MOST_PARTS
        document = None if at in self._read else self._part(value, at)
        self._read.add(at)
        if document is None:
            return
        traits = frozenset(self._traits(document["name"], {**fields_of(value), **handler}))
        try:
            category = self._category(handler, at)
            entries = list(self._reader.entries(document, at.place, folder=category))
        except FileError as error:
            self._note(error.message, at)
            return
        for entry in entries:
            key = f"{self._key(at)} {entry.name.partition(' ')[2]}".rstrip()
            yield replace(entry, key=key, traits=traits)

    def _prefix(self, handler: Record) -> Iterator[SourceEntry]:
        name, at = self._text(handler, "name"), handler.at
        if name and at not in self._read:
            self._read.add(at)
            row = {key: self._text(handler, key) for key in ("name", "description", "usage")}
            own = rf"^\S{{0,8}}{re.escape(name)}(?=\s|$)"  # with a prefix that the bot may not have
            row["usage"] = re.sub(own, name, row["usage"], flags=re.IGNORECASE)
            entry = row_entry(row, USUAL, at.place, self._category(handler, at))
            yield replace(entry, key=self._key(at), traits=frozenset(self._traits(name, handler)))

    def _text(self, handler: Record, key: str) -> str:
        """Return a text of an object, or the first of a list of them; empty without one."""
        value = self._plain(next(iter(listed(handler.get(key))), None), key)
        return value.strip() if isinstance(value, str) else ""

    def _traits(self, name: str, handler: dict[str, Value]) -> Iterator[Trait]:
        fields = spelled(handler)
        for key, trait in traits_by_key(fields):
            if trait:
                yield trait
            for each in () if trait else listed(fields[key]):
                self._plain(each, key, f"the command {name!r}")

    def _category(self, handler: Record, at: Computed) -> str | None:
        """Return the category that it names, else the folder under the folder `commands`."""
        below = _BELOW.search(at.scope.file.path)
        return self._text(handler, "category") or (below[1] if below else None)

    def _key(self, at: Computed) -> str:
        inside = PurePosixPath(at.scope.file.path).relative_to(self._root)
        return f"javascript:{inside.with_suffix('').as_posix()}"

    def _note(self, what: str, at: Computed) -> None:
        self.notes.append(Notice(what, BY_HAND, at.place))

    def _plain(self, value: Value, key: str, whole: str = "this command") -> Value:
        """Return a text, a number or a boolean; None for anything else, with a note if computed."""
        if isinstance(value, Computed):
            what = f"the {key}" if key != REST else "a part"
            self._note(f"{what} of {whole} is computed at run time", value)
        return value if isinstance(value, (str, int)) else None

    def _part(self, value: Value, at: Computed, what: str = "command", depth: int = 0) -> Value:
        """Return a command or a part as Discord has it; None if its name or type is not read."""
        fields, at = spelled(fields_of(value)), getattr(value, "at", at)
        name, kind = fields.get("name", fields.get(REST, value)), fields.get("type")
        for key, each in (("type", kind), ("name", name)):
            if isinstance(each, Computed):
                return self._plain(each, key, f"this {what}")
        if not fields or not isinstance(name, str) or not name.strip():
            self._note(f"the name of this {what} is missing", at)
            return None
        whole = f"the {what.partition(' of ')[0]} {name!r}"
        self._plain(fields.get(REST), REST, whole)
        keys = [key for key in fields if key in self._keys]
        return {key: self._member(key, fields[key], whole, at, depth) for key in keys}

    def _member(self, key: str, value: Value, whole: str, at: Computed, depth: int) -> Value:
        if key in _TEXTS and isinstance(value, Record):
            return {each: self._plain(text, f"{key} {each}", whole) for each, text in value.items()}
        if key not in _LISTS or not isinstance(value, list):
            return self._plain(value, key, whole)
        most = 0 if depth == _DEEPEST else self._left
        self._left -= len(value)
        if len(value) > most:
            self._note(f"{whole} has too many {key}", at)
            return []
        what = f"{key.removesuffix('s')} of {whole}"
        parts = [self._part(each, at, what, depth + 1) for each in value]
        return [*filter(None, parts)] if key == "options" or all(parts) else []
