"""Commands from a bot's JavaScript and TypeScript code, read and never run.

Builders of discord.js, plain objects, and the objects and classes of command handlers; the handlers
and menus of grammY and Telegraf.

The statements of each file that may declare commands are followed (`program`) as far as their
values are certain (`expression`); values and builders are those of `value`. The `Inventory` looks
at exports, classes, decorators (`framework`), registrations and builders: the keys of an object
tell whether it is a slash command, which is read as Discord's, a prefix command, or no command
(`handler`). Last, `candidate` finds what looks like a command and is none of these: it is not read.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from commandsync.diagnostics import Location, Notice
from commandsync.errors import FileError
from commandsync.sources.applicationcommands import CommandReader
from commandsync.sources.entry import (
    PartlyRead,
    SourceEntry,
    SourceReading,
    Trait,
    Unread,
    as_list,
    traits_by_key,
    traits_of,
)
from commandsync.sources.javascript.candidate import BELOW, BROKEN, candidates_in, frameworks_in
from commandsync.sources.javascript.framework import Telegram, decorated
from commandsync.sources.javascript.handler import data_of, described, kind_of
from commandsync.sources.javascript.program import Program
from commandsync.sources.javascript.value import (
    MOST_BYTES,
    REST,
    Computed,
    Function,
    MissingText,
    Record,
    Value,
    fields_of,
)
from commandsync.sources.listfile import USUAL, row_entry
from commandsync.sources.objects import spelled
from commandsync.sources.sourcefile import (
    BY_HAND,
    SCRIPTS,
    code_files,
    code_reading,
    declaring,
    without_collector,
)

_TESTS = {"tests", "test", "__tests__"}
_DECLARING = re.compile(
    rb"[cC]ommand|telegraf|grammy|gramio|description|aliases|usage|args|\.setName\(|@Slash"
)
_BUILT = re.compile(r"/(dist|build|out|coverage)/|\.min\.[cm]?js$|\.d\.[cm]?ts$")
_GENERATED, _HEAD = b"@generated", 1000
_SHAPE = re.compile(
    rb"\.setName\(|CommandBuilder|extends\s+\w*Command|\b(aliases|execute|setMyCommands)\b|\.command\("
)
_REST = "the rest of the file is read, and no command of it is removed"
_LONGEST_LINE = 5000  # bytes, of code that is not minified


@without_collector()
def read(
    path: str,
    inside: Sequence[Path] | None = None,
    *,
    locale: str = "",
    texts: Mapping[str, str] | None = None,
) -> SourceReading:
    """Read the commands that a file, or the files of a folder, declare.

    `inside` are the files of the folder, by default all without those in hidden folders, tests and
    installed packages. The `locale` is the language of Discord's texts, such as `de`, and `texts`
    are the bot's own by their keys. The commands
    are in the order of the files and their lines, and their keys are their files, if no other
    command has the same. The notes name the parts that cannot be read without running
    the code. Raises `FileError` if the path cannot be read.
    """
    root = Path(path) if Path(path).is_dir() else Path(path).parent
    scripts = list(code_files(Path(path), inside, SCRIPTS, _TESTS))
    files = [file for file in scripts if not _BUILT.search(file.removeprefix(root.as_posix()))]
    program, generated = Program(files, texts), {*scripts} - {*files}

    def may_declare(file: str, data: bytes) -> bool:
        if not _DECLARING.search(data) and not BELOW.search(file):
            return False
        longest = max(map(len, data.split(b"\n")))
        if _GENERATED in data[:_HEAD] or longest > max(_LONGEST_LINE, len(data) // 2):
            generated.add(file)
            return False
        if len(data) <= MOST_BYTES:
            program.contents[file] = data
        return True

    inventory = Inventory(program, root.as_posix(), locale)
    wanted = list(declaring(files, Path(path).as_posix(), may_declare))
    entries = list(inventory.of(wanted))
    telegram = Telegram(program)
    covered = inventory.covered | telegram.covered
    candidates = candidates_in(program, covered, with_handlers=not telegram.menus.is_closed)
    missed = [*inventory.unread, *telegram.unread, *candidates]
    known, errors = {part.place for part in missed}, _error_places(program)
    broken = (Notice(BROKEN, _REST, place) for place in errors if place not in known)
    reading = code_reading(
        root,
        files,
        entries=entries,
        menus=telegram.menus,
        unread=missed,
        notes=[*broken, *inventory.notes],
        problems=program.notes,
        partly=[
            *(PartlyRead(place, BROKEN) for place in errors),
            *(PartlyRead(Location(file), "it was generated") for file in generated & {*files}),
        ],
        shape=_SHAPE,
        frameworks=frameworks_in(program.files),
    )
    modules = {f"{root.as_posix()}/node_modules"} if (root / "node_modules").is_dir() else set()
    return replace(
        reading,
        generated=tuple(sorted(modules | generated)),
        text_keys=tuple(sorted(inventory.text_keys)) if texts is None else (),
    )


def _error_places(program: Program) -> list[Location]:
    """Return where the parser could not read a part of a file."""
    return [file.place(file.error) for file in program.files if file.error]


_WHOLE = "command"  # as the reasons of unread parts call a whole command, not an option of it
_TEXT_KEY = re.compile(r"""\(\s*(?:[\w.]+\s*,\s*)?["'`]([\w./:-]+)["'`]""")  # in a call
_OWN_DESCRIPTION = re.compile(r"\bdescription\s*[=:]\s*([\"'`]|[\w.]+\()")
_MOST_PARTS = 2000  # of a command
_DEEPEST = 4  # command > group > sub-command > option > choice
_NESTING = {1, 2, "Subcommand", "SubcommandGroup", "SUB_COMMAND", "SUB_COMMAND_GROUP"}
_TEXTS = {"name_localizations", "description_localizations"}
_LISTS = {"options", "choices"}
_KEYS = {"name", "description", "type", "required", "category"} | _TEXTS | _LISTS
_FURTHER: dict[str, type | tuple[type, ...]] = {  # other keys, with the types of their values
    **dict.fromkeys(("autocomplete", "nsfw"), bool),
    **dict.fromkeys(("min_value", "max_value", "min_length", "max_length"), (int, float)),
}
_BELOW = re.compile(r"(?:^|/)commands/([^/]+)/", re.IGNORECASE)  # a folder, which is a category


class Inventory:
    """The commands of all files, notes on tolerated parts, and the commands that are not read."""

    def __init__(self, program: Program, root: str, locale: str) -> None:
        self._program = program
        self._root = root
        self._reader = CommandReader(locale)
        self._keys = _KEYS if locale else _KEYS - _TEXTS
        self._read: set[Computed] = set()  # where the commands are that were read
        self._stems: Counter[str] = Counter()  # names of files below a folder of commands
        self._without_suffix: set[str] = set()  # the paths of files
        self.notes: list[Notice] = []
        self.text_keys: set[str] = set()  # that computed descriptions name
        self.unread: list[Unread] = []

    @property
    def covered(self) -> set[Computed]:
        """The declarations of the commands that are read, or known as not read."""
        return self._read

    def of(self, files: Sequence[str]) -> Iterator[SourceEntry]:
        """Yield the commands that files of a bot declare."""
        program = self._program
        self._stems.update(PurePosixPath(path).stem for path in files if BELOW.search(path))
        self._without_suffix |= {PurePosixPath(path).with_suffix("").as_posix() for path in files}
        exported = {path: program.exports(path) for path in files}
        program.notes |= {value for value in exported.values() if isinstance(value, Notice)}
        program.finish()
        for path, value in exported.items():
            yield from self._of(value, named=path, deep=2)
        yield from self._of_classes(program)
        for value, arguments in program.registered + program.built:
            yield from self._slash(value, arguments)
        self.notes += self._reader.notes()

    def _of_classes(self, program: Program) -> Iterator[SourceEntry]:
        for owner in program.classes:
            fields = program.fields(owner)
            is_command = fields.bases.strip() or isinstance(fields.get("name"), str)
            program.add_options(fields)
            commands = decorated(program, owner)
            for command in commands or ():
                yield from self._slash(command, command)
            if owner.node in program.bases:
                self._base(owner, fields)
            elif is_command and commands is None:
                yield from self._of(fields, named=fields.bases)

    def _base(self, owner: Function, fields: Record) -> None:
        """Count a class that others extend, if it has a base and a description as commands have."""
        is_own = fields.bases.strip() and _OWN_DESCRIPTION.search(owner.text)
        if is_own and BELOW.search(owner.place.path):
            self._read.add(owner)
            name = fields.get("name", PurePosixPath(owner.place.path).stem)
            self._skip("other classes extend this class", owner, name)

    def _of(self, value: Value, *, named: str, deep: int = 0) -> Iterator[SourceEntry]:
        """Yield the commands that an object declares, or those that are in it or in a list."""
        if isinstance(value, list):
            for part in value:
                yield from self._of(part, named=named) if isinstance(part, Record) else ()
        elif isinstance(value, Record):
            handler = described(self._with_name(value, is_whole=deep != 1))
            kind = kind_of(handler, f"{named} {handler.bases}")
            yield from self._declared(kind, handler)
            for key, part in handler.items() if deep and not kind else ():
                yield from self._of(part, named=f"{named} {key}", deep=deep - 1)

    def _with_name(self, handler: Record, *, is_whole: bool) -> Record:
        """Return a handler with its name: that of its file, if it is below a folder of commands.

        A name that several folders have is not guessed.
        """
        path = PurePosixPath(handler.at.scope.file.path)
        about = handler.get("description")
        has_text = isinstance(about, (str, Computed)) and not isinstance(about, Function)
        is_named = {"name", REST} & {*handler} or data_of(handler)
        if not (is_whole and has_text) or is_named or not BELOW.search(str(path)):
            return handler
        runs = any(isinstance(member, Function) for member in handler.values())
        if not runs or handler.at in self._read:
            return handler
        if reason := self._unsure(path):
            self._skip(reason, handler.at)
            self._read.add(handler.at)
            return handler
        named = Record({"options": handler.get("flags", []), **handler}, handler.at)
        named["name"], named.bases = path.stem, handler.bases
        return named

    def _unsure(self, path: PurePosixPath) -> str:
        """Return why the name of a file may not be that of its command; empty if it is."""
        if self._stems[path.stem] > 1 or path.stem == "index":
            return f"several folders have a file named {path.stem!r}, which is its name"
        if path.parent.as_posix() in self._without_suffix:
            return f"it may be a sub-command of {path.parent.name!r}, which is beside its folder"
        return ""

    def _declared(self, kind: str, handler: Record) -> Iterator[SourceEntry]:
        if kind == "either":
            message = "cannot tell whether this is a slash command or a prefix command"
            if handler.at not in self._read:
                self._read.add(handler.at)
                self._skip(message, handler.at, handler.get("name"))
        elif kind == "prefix":
            yield from self._prefix(handler)
        elif kind:
            for command in data_of(handler) or [handler]:
                yield from self._slash(command, handler)

    def _slash(self, value: Value, handler: Record) -> Iterator[SourceEntry]:
        at, self._left, noted = getattr(value, "at", handler.at), _MOST_PARTS, len(self.notes)
        document = None if at in self._read else self._part(value, at)
        self._read |= {at, *_sub_commands(value)}
        if document is None:
            return
        traits = frozenset(self._traits(document["name"], {**fields_of(value), **handler}))
        try:
            category = self._category(handler, at)
            entries = list(self._reader.entries(document, at.place, folder=category))
        except FileError as error:
            self._skip(error.message, at, document["name"])
            return
        is_literal = len(self.notes) == noted
        for entry in entries:
            inner, node = _traits_below(value, entry.name), entry.discord if is_literal else None
            yield replace(entry, discord=node, traits=traits | inner)

    def _prefix(self, handler: Record) -> Iterator[SourceEntry]:
        named, at = next(iter(as_list(handler.get("name"))), None), handler.at
        name = named.strip() if isinstance(named, str) else ""
        if at in self._read:
            return
        self._read.add(at)
        description = handler.get("description")
        if not name and isinstance(named, Computed):
            self._skip("the name of this command is computed at run time", named)
        elif name and isinstance(description, MissingText):
            self._skip(f"the texts have no {description.text}", description, name)
        elif name:
            row = {key: self._text(handler, key) for key in ("name", "description", "usage")}
            own = rf"^\S{{0,8}}{re.escape(name)}(?=\s|$)"  # with a prefix that the bot may not have
            row["usage"] = re.sub(own, name, row["usage"], flags=re.IGNORECASE)
            entry = row_entry(row, USUAL, at.place, self._category(handler, at))
            yield replace(entry, traits=frozenset(self._traits(name, handler)))

    def _text(self, handler: Record, key: str) -> str:
        """Return a text of an object, or the first of a list of them; empty without one."""
        value = self._plain(next(iter(as_list(handler.get(key))), None), key)
        return self._program.text_of(value).strip() if isinstance(value, str) else ""

    def _traits(self, name: str, handler: dict[str, Value]) -> Iterator[Trait]:
        fields = spelled(handler)
        for key, trait in traits_by_key(fields):
            if trait:
                yield trait
            for part in () if trait else as_list(fields[key]):
                self._plain(part, key, f"the command {name!r}")

    def _category(self, handler: Record, at: Computed) -> str | None:
        """Return the category that it names, else the folder under the folder `commands`."""
        below = _BELOW.search(at.scope.file.path)
        return self._text(handler, "category") or (below[1] if below else None)

    def _note(self, message: str, at: Computed) -> None:
        self.notes.append(Notice(message, BY_HAND, at.place))

    def _skip(self, reason: str, at: Computed, name: Value = "") -> None:
        self.unread.append(Unread(at.place, reason, name if isinstance(name, str) else ""))

    def _plain(self, value: Value, key: str, whole: str = "this command") -> Value:
        """Return a text, a number or a boolean; None for anything else, with a note if computed."""
        if isinstance(value, Computed):
            part = f"the {key}" if key != REST else "a part"
            self._note(f"{part} of {whole} is computed at run time", value)
            if key == "description" and (named := _TEXT_KEY.search(value.text)):
                self.text_keys.add(named[1])
        return value if isinstance(value, (str, int)) else None

    def _part(self, value: Value, at: Computed, what: str = _WHOLE, depth: int = 0) -> Value:
        """Return a command or a part as Discord has it; None if its name or type is not read."""
        fields, at = {**spelled(fields_of(value))}, getattr(value, "at", at)
        name, kind = fields.get("name", fields.get(REST, value)), fields.get("type")
        is_callable = what == _WHOLE or kind in _NESTING
        for key, member in (("type", kind), ("name", name)):
            if isinstance(member, Computed):
                if is_callable:
                    reason = f"the {key} of this {what} is computed at run time"
                    self._skip(reason, member, fields.get("name"))
                    return None
                return self._plain(member, key, f"this {what}")
        if not fields or not isinstance(name, str) or not name.strip():
            problem = f"the name of this {what} is missing"
            self._skip(problem, at) if is_callable else self._note(problem, at)
            return None
        text = fields.get("description")
        if isinstance(text, str):
            fields["description"] = self._program.text_of(text)
        if isinstance(text, MissingText):
            self._skip(f"the texts have no {text.text}", text, name)
            return None
        whole = f"the {what.partition(' of ')[0]} {name!r}"
        self._plain(fields.get(REST), REST, whole)
        members = self._members(fields, whole, at, depth)
        return {**_further(fields, is_choice=what.startswith("choice")), **members}

    def _members(
        self, fields: Mapping[str, Value], whole: str, at: Computed, depth: int
    ) -> dict[str, Value]:
        keys = [key for key in fields if key in self._keys]
        return {key: self._member(key, fields[key], whole, at, depth) for key in keys}

    def _member(self, key: str, value: Value, whole: str, at: Computed, depth: int) -> Value:
        if key in _TEXTS and isinstance(value, Record):
            return {part: self._plain(text, f"{key} {part}", whole) for part, text in value.items()}
        if key not in _LISTS or not isinstance(value, list):
            return self._plain(value, key, whole)
        most = 0 if depth == _DEEPEST else self._left
        self._left -= len(value)
        if len(value) > most:
            self._note(f"{whole} has too many {key}", at)
            return []
        what = f"{key.removesuffix('s')} of {whole}"
        parts = [self._part(part, at, what, depth + 1) for part in value]
        return [*filter(None, parts)] if key == "options" or all(parts) else []


def _sub_commands(command: Value, depth: int = 0) -> Iterator[Computed]:
    """Yield where the sub-commands of a command are declared."""
    for option in as_list(fields_of(command).get("options", [])) if depth < _DEEPEST else ():
        if fields_of(option).get("type") in _NESTING:
            yield option.at
            yield from _sub_commands(option, depth + 1)


def _traits_below(command: Value, name: str) -> frozenset[Trait]:
    """Return the traits of the sub-commands that a full name leads to."""
    traits: frozenset[Trait] = frozenset()
    for word in name.split(" ")[1:]:
        inner = map(fields_of, as_list(fields_of(command).get("options", [])))
        command = next((option for option in inner if option.get("name") == word), None)
        traits |= traits_of(spelled(fields_of(command)))
    return traits


def _further(fields: Mapping[str, Value], *, is_choice: bool) -> dict[str, Value]:
    """Return the literal members that only the platform's own object has."""
    value, permissions = fields.get("value"), str(fields.get("default_member_permissions"))
    if is_choice:
        return {"value": value} if isinstance(value, (str, int, float)) else {}
    members = {key: fields[key] for key in _FURTHER if isinstance(fields.get(key), _FURTHER[key])}
    for key in _TEXTS & fields.keys():
        texts = fields_of(fields[key])
        members |= {key: dict(texts)} if all(isinstance(texts[part], str) for part in texts) else {}
    permissions = "8" if permissions.upper() == "ADMINISTRATOR" else permissions
    if permissions.isdecimal():
        members["default_member_permissions"] = permissions
    return members
