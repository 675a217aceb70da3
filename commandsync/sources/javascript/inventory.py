"""The commands that the files of a bot declare, as entries."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from commandsync.diagnostics import Notice
from commandsync.errors import FileError
from commandsync.sources.applicationcommands import CommandReader, spelled
from commandsync.sources.code import BY_HAND
from commandsync.sources.entry import NO_DESCRIPTION, SourceEntry, Trait
from commandsync.sources.javascript.handlers import data_of, described, kind_of, traits_of
from commandsync.sources.javascript.parsedfile import ParsedFile
from commandsync.sources.javascript.program import Program
from commandsync.sources.javascript.value import (
    REST,
    Computed,
    Record,
    Value,
    Written,
    fields_of,
    flat,
)
from commandsync.sources.syntax import prefix_syntax

_COMMAND = re.compile("command", re.IGNORECASE)
_MOST_PARTS = 2000  # of a command
_DEEPEST = 4  # command > group > sub-command > option > choice
_TEXTS = {"name_localizations", "description_localizations"}
_LISTS = {"options", "choices"}
_KEYS = {"name", "description", "type", "required", "nsfw", "category", "guild_id", REST}
_KEYS |= _TEXTS | _LISTS | {"default_permission", "default_member_permissions"}


class Inventory:
    """The commands of all files; what cannot be read is in the notes."""

    def __init__(self, root: str, program: Program, locale: str) -> None:
        self._root = root
        self._program = program
        self._reader = CommandReader(locale)
        self._keys = _KEYS if locale else _KEYS - _TEXTS
        self._notes: list[Notice] = []

    def notes(self) -> list[Notice]:
        """Return what was tolerated or could not be read."""
        return [*self._notes, *self._reader.notes()]

    def of(self, files: Iterable[ParsedFile]) -> Iterator[SourceEntry]:
        """Yield the commands that files declare."""
        program = self._program
        exported = [(file, program.exports(file)) for file in files]
        program.finish()
        for file, value in exported:
            yield from self._of(value, named=bool(_COMMAND.search(file.path)), deep=2)
        for owner in program.classes:
            head = owner.text.removesuffix(owner.scope.text(owner.node, "body"))
            fields, base = program.fields(owner), head.rpartition("extends ")[2]
            if base != head or isinstance(fields.get("name"), str):
                yield from self._of(fields, named=bool(_COMMAND.search(base)))
        for value, said in (*program.registered, *zip(program.built, program.built, strict=True)):
            yield from self._slash(value, said)

    def _of(self, value: Value, *, named: bool, deep: int = 0) -> Iterator[SourceEntry]:
        """Yield the commands that an object declares, or those that are in it or in a list."""
        if isinstance(value, list):
            for each in value:
                yield from self._of(each, named=named) if isinstance(each, Record) else ()
        elif isinstance(value, Record):
            handler = described(value)
            kind = "slash" if data_of(handler) else kind_of(handler, named=named)
            yield from self._declared(kind, handler)
            for key, each in handler.items() if deep and not kind else ():
                is_named = named or _COMMAND.search(key) is not None
                yield from self._of(each, named=is_named, deep=deep - 1)

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
        at = handler.at
        if isinstance(value, Record):
            known, value.is_read, at = value.is_read, True, value.at
            if known:
                return
        self._left = _MOST_PARTS
        document = self._part(value, at)
        if document is None:
            return
        traits = self._traits(handler, document["name"])
        category = self._category(handler, at)
        try:
            entries = list(self._reader.entries(document, at.place, folder=category))
        except FileError as error:
            self._note(error.message, at)
            return
        for entry in entries:
            key = f"{self._key(at)} {entry.name.partition(' ')[2]}".rstrip()
            yield replace(entry, key=key, traits=entry.traits | traits)

    def _prefix(self, handler: Record) -> Iterator[SourceEntry]:
        name = self._text(handler, "name")
        if name and not handler.is_read:
            handler.is_read = True
            yield SourceEntry(
                name=name,
                description=self._text(handler, "description") or NO_DESCRIPTION,
                syntax=prefix_syntax(name, self._usage(handler, name)),
                category=self._category(handler, handler.at),
                key=self._key(handler.at),
                place=handler.at.place,
                traits=self._traits(handler, name),
            )

    def _usage(self, handler: Record, name: str) -> str:
        """Return what a prefix command is given, as its usage says."""
        usage = " ".join(self._text(handler, "usage").split())
        before = rf"^\S{{0,8}}{re.escape(name)}(?=\s|$)"
        return re.sub(before, "", usage, flags=re.IGNORECASE).strip()

    def _text(self, handler: Record, key: str) -> str:
        """Return a text of an object, or the first of a list of them; empty without one."""
        value = self._plain(next(flat([handler.get(key)]), None), key)
        return value.strip() if isinstance(value, str) else ""

    def _traits(self, handler: Record, name: str) -> frozenset[Trait]:
        said = list(traits_of(handler))
        for key, value in said:
            self._plain(value, key, f"the command {name!r}")
        return frozenset(trait for _, trait in said if isinstance(trait, Trait))

    def _category(self, handler: Record, at: Written) -> str | None:
        """Return the category that it names, else the folder under the folder `commands`."""
        *folders, _ = PurePosixPath(at.scope.file.path).parts
        names = [folder.casefold() for folder in folders]
        below = folders[names.index("commands") + 1 :] if "commands" in names else []
        return self._text(handler, "category") or next(iter(below), None)

    def _key(self, at: Written) -> str:
        path = PurePosixPath(at.scope.file.path)
        inside = path.relative_to(self._root) if path.is_relative_to(self._root) else path
        return f"javascript:{inside.with_suffix('').as_posix()}"

    def _note(self, what: str, at: Written) -> None:
        """Remember what cannot be read."""
        self._notes.append(Notice(what, BY_HAND, at.place))

    def _plain(self, value: Value, key: str, whole: str = "this command") -> Value:
        """Return a text, a number or a boolean; None for anything else, with a note if computed."""
        if isinstance(value, Computed):
            what = f"the {key}" if key != REST else "a part"
            self._note(f"{what} of {whole} is computed at run time", value)
        return value if isinstance(value, (str, int)) else None

    def _part(self, value: Value, at: Written, what: str = "command", depth: int = 0) -> Value:
        """Return a command or a part as Discord has it; None if its name or type is not read."""
        fields, at = spelled(fields_of(value)), getattr(value, "at", at)
        named = {"type": fields.get("type"), "name": fields.get("name", fields.get(REST, value))}
        self._left -= 1
        for key, each in named.items():
            if isinstance(each, Computed):
                return self._plain(each, key, f"this {what}")
        if not fields or not isinstance(name := named["name"], str) or not name.strip():
            self._note(f"the name of this {what} is missing", at)
        elif depth > _DEEPEST or self._left < 0:
            self._note(f"the {what} {name!r} has too many parts", at)
        else:
            whole = f"the {what.partition(' of ')[0]} {name!r}"
            keys = sorted(self._keys & set(fields))
            known = {key: self._member(key, fields[key], whole, at, depth) for key in keys}
            return {key: member for key, member in known.items() if key != REST}
        return None

    def _member(self, key: str, value: Value, whole: str, at: Written, depth: int) -> Value:
        if key in _TEXTS and not isinstance(value, Computed):
            texts = fields_of(value).items()
            return {each: self._plain(text, f"{key} {each}", whole) for each, text in texts}
        if key not in _LISTS or not isinstance(value, list):
            return self._plain(value, key, whole)
        what, most = f"{key.removesuffix('s')} of {whole}", max(self._left, 0) + 1
        parts = [self._part(each, at, what, depth + 1) for each in value[:most]]
        return [*filter(None, parts)] if key == "options" or all(parts) else []
