"""A command as Discord has it, or with a prefix, of the object or the builder that declares it.

Names, types, options and choices are read as far as they are literal. What only a run can tell is a
note, and makes the command partly read; a command whose own name or type is computed is not read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from commandsync.diagnostics import Notice
from commandsync.errors import FileError
from commandsync.sources.entry import (
    PartlyRead,
    SourceEntry,
    Trait,
    UnreadPart,
    as_list,
    traits_by_key,
    traits_of,
)
from commandsync.sources.javascript.handler import PARENT, settings_of
from commandsync.sources.javascript.program import Program
from commandsync.sources.javascript.value import (
    REST,
    Computed,
    MissingText,
    ObjectValue,
    Value,
    fields_of,
    is_broken,
    whole_of,
)
from commandsync.sources.listfile import USUAL, row_entry
from commandsync.sources.objects import CommandReader, spelled
from commandsync.sources.sourcefile import BY_HAND

BROKEN = "a part of the file cannot be parsed"
_WHOLE = "command"  # as the reasons of unread parts call a whole command, not an option of it
_TEXT_KEY = re.compile(r"""\(\s*(?:[\w.]+\s*,\s*)?["'`]([\w./:-]+)["'`]""")  # in a call
_IS_KEY = re.compile(
    r"[A-Za-z][\w-]*(?:[.:/][\w-]+)*[.:][A-Za-z][\w-]*"
)  # commands.ban.description
_MOST_PARTS = 2000  # of a command
_DEEPEST = 4  # command > group > sub-command > option > choice
NESTING: set[object] = {1, 2, "Subcommand", "SubcommandGroup", "SUB_COMMAND", "SUB_COMMAND_GROUP"}
"""The types of sub-commands and their groups."""

_GROUPS: set[object] = {2, "SubcommandGroup", "SUB_COMMAND_GROUP"}
_TEXTS = {"name_localizations", "description_localizations"}
_OF_SUB = re.compile(r"\btype[\"']?\s*:\s*(1\b|[\w.\"']*sub_?command)|addSubcommand", re.IGNORECASE)
_NAME = re.compile(r"(name[\"']?\s*:|setName\()\s*[\"'`]")
_LISTS = {"options", "choices"}
_KEYS = {"name", "description", "type", "required", "category"} | _TEXTS | _LISTS
_FURTHER: dict[str, type | tuple[type, ...]] = {  # other keys, with the types of their values
    **dict.fromkeys(("autocomplete", "nsfw"), bool),
    **dict.fromkeys(("min_value", "max_value", "min_length", "max_length"), (int, float)),
}
_BELOW = re.compile(r"(?:^|/)commands/([^/]+)/", re.IGNORECASE)  # a folder, which is a category


class Documents:
    """Reads commands one by one; gathers those that are not read, and parts not followed."""

    def __init__(self, program: Program, locale: str) -> None:
        self._program = program
        self._reader = CommandReader(locale)
        self._keys = _KEYS if locale else _KEYS - _TEXTS
        self._left = 0  # parts that a command may still have
        self._notes: list[Notice] = []
        self._hides = False  # whether the last command may have further sub-commands
        self._lost = False  # whether a sub-command of it is not read
        self.read: set[Computed] = set()  # where the commands are that are read, or not
        self.text_keys: set[str] = set()  # that computed descriptions name
        self.unread: list[UnreadPart] = []
        self.partly: list[PartlyRead] = []

    def notes(self) -> list[Notice]:
        """Return the notes on tolerated parts."""
        return [*self._notes, *self._reader.notes()]

    def skip(self, reason: str, at: Computed, name: Value = "") -> None:
        """Remember a command that is not read."""
        self.read.add(at)
        self.unread.append(UnreadPart(at.place, reason, name if isinstance(name, str) else ""))

    def slash(self, value: Value, handler: ObjectValue) -> Iterator[SourceEntry]:
        """Yield the commands that an object as Discord has it declares; its handler says more."""
        at = value if isinstance(value, Computed) else getattr(value, "at", handler.at)
        if at in self.read or self._is_broken(at, fields_of(value).get("name")):
            return
        if _is_of(fields_of(value).get("type"), NESTING - {1, 2}):
            self.skip(PARENT, at, fields_of(value).get("name"))
            return
        self._left, self._hides, self._lost = _MOST_PARTS, False, False
        noted = len(self._notes)
        document = self._part(value, at)
        self.read |= {at, handler.at, *sub_commands(value)}
        if document is None or (self._lost and not _has_nesting(document)):
            return  # without its sub-commands, it would look like a command that can be called
        traits = frozenset(self._traits(document["name"], settings_of(handler) | fields_of(value)))
        entries = self._entries(document, at, self._category(handler, at))
        is_literal = len(self._notes) == noted
        self._mark(self._notes[noted:], [entry.name for entry in entries], at)
        for entry in entries:
            inner, node = _traits_below(value, entry.name), entry.discord if is_literal else None
            yield replace(entry, discord=node, traits=traits | inner)

    def _entries(
        self, document: dict[str, Value], at: Computed, category: str | None
    ) -> list[SourceEntry]:
        """Return the commands that users can call of one as Discord has it."""
        try:
            return list(self._reader.entries(document, at.place, folder=category))
        except FileError as error:
            self.skip(error.message, at, document["name"])
            return []

    def _is_broken(self, at: Computed, name: Value) -> bool:
        """Whether a command is around an error: its readable parts may be another's."""
        if not at.scope.file.error or not is_broken(whole_of(at.node)):
            return False
        self.skip(BROKEN, at, name)
        return True

    def _mark(self, notes: Iterable[Notice], names: Iterable[str], at: Computed) -> None:
        """Mark commands as partly read; all of the file where further ones may be hidden."""
        for note in notes:
            place = note.location or at.place
            named = [""] if self._hides else names
            self.partly += [PartlyRead(place, note.message, name) for name in named]

    def prefix(self, handler: ObjectValue, above: str = "") -> Iterator[SourceEntry]:
        """Yield the command with a prefix that an object declares; `above` is its parent's name."""
        named, at = next(iter(as_list(handler.get("name"))), None), handler.at
        name = named.strip() if isinstance(named, str) else ""
        if at in self.read:
            return
        self.read.add(at)
        description, noted = handler.get("description"), len(self._notes)
        if not name and isinstance(named, Computed):
            self.skip("the name of this command is computed at run time", named)
        elif self._is_broken(at, name):
            pass
        elif name and isinstance(description, MissingText):
            self.skip(f"the texts have no {description.text}", description, name)
        elif name:
            row = {key: self._text(handler, key) for key in ("name", "description", "usage")}
            own = rf"^\S{{0,8}}{re.escape(name)}(?=\s|$)"  # with a prefix that the bot may not have
            row["usage"] = re.sub(own, name, row["usage"], flags=re.IGNORECASE)
            row["name"] = f"{above} {name}".strip()
            entry = row_entry(row, USUAL, at.place, self._category(handler, at))
            traits = frozenset(self._traits(name, settings_of(handler)))
            self._mark(self._notes[noted:], [entry.name], at)
            yield replace(entry, traits=traits)

    def _text(self, handler: Mapping[str, Value], key: str) -> str:
        """Return a text of an object, or the first of a list of them; empty without one."""
        value = self._plain(self._said(key, next(iter(as_list(handler.get(key))), None)), key)
        return value.strip() if isinstance(value, str) else ""

    def _said(self, key: str, value: Value) -> Value:
        """Return the text that a literal means: a key of a table of texts is not one itself."""
        if key != "description" or not isinstance(value, str):
            return value
        if (text := self._program.text_of(value)) is not None:
            return text
        if not _IS_KEY.fullmatch(value.strip()):
            return value
        self.text_keys.add(value.strip())
        return None

    def _traits(self, name: str, handler: Mapping[str, Value]) -> Iterator[Trait]:
        fields = spelled(dict(handler))
        for key, trait in traits_by_key(fields):
            if trait:
                yield trait
            for part in () if trait else as_list(fields[key]):
                self._plain(part, key, f"the command {name!r}")

    def _category(self, handler: ObjectValue, at: Computed) -> str | None:
        """Return the category that it names, else the folder under the folder `commands`."""
        below = _BELOW.search(at.scope.file.path)
        return self._text(handler, "category") or (below[1] if below else None)

    def _note(self, message: str, at: Computed) -> None:
        self._notes.append(Notice(message, BY_HAND, at.place))

    def _plain(self, value: Value, key: str, whole: str = "this command") -> Value:
        """Return a text, a number or a boolean; None for anything else, with a note if computed."""
        if isinstance(value, Computed):
            part = f"the {key}" if key != REST else "a part"
            self._note(f"{part} of {whole} is computed at run time", value)
            if key == "description" and (named := _TEXT_KEY.search(value.text)):
                self.text_keys.add(named[1])
        return value if isinstance(value, (str, int)) else None

    def _part(self, value: Value, at: Computed, what: str = _WHOLE, depth: int = 0) -> Value:
        """Return a command or a part as Discord has it; None if it is not read."""
        fields, at = {**spelled(fields_of(value))}, getattr(value, "at", at)
        name, text = fields.get("name", fields.get(REST, value)), fields.get("description")
        for key, member in (("type", fields.get("type")), ("name", name)):
            if isinstance(member, Computed):
                self._hides = self._hides or what != _WHOLE
                reason = f"the {key} of this {what} is computed at run time"
                return self._unread_part(fields, reason, member, what, fields.get("name"))
        if not isinstance(name, str) or not name.strip():
            reason = f"the name of this {what} is missing"
            return self._unread_part(fields, reason, at, what, "")
        whole = f"the {what.partition(' of ')[0]} {name!r}"
        if isinstance(text, MissingText):
            self.skip(f"the texts have no {text.text}", text, name)
            return None
        if _is_of(fields.get("type"), _GROUPS) and isinstance(fields.get("options"), Computed):
            reason = f"the sub-commands of {whole} are computed at run time"
            return self._unread_part(fields, reason, at, what, name)
        fields["name"] = name
        fields["description"] = said = self._said("description", text)
        if said is None and isinstance(text, str):
            self._note(f"the description of {whole} is a key of a table of texts", at)
        self._hides = self._hides or REST in fields
        self._plain(fields.get(REST), REST, whole)
        members = self._members(fields, whole, at, depth)
        return {**_further(fields, is_choice=what.startswith("choice")), **members}

    def _unread_part(
        self, fields: Mapping[str, Value], reason: str, at: Computed, what: str, name: Value
    ) -> None:
        """Remember a command or a sub-command that is not read; of another part, make a note."""
        if what != _WHOLE and not _is_of(fields.get("type"), NESTING):
            self._note(reason, at)
            return
        self._lost = True
        self.skip(reason, at, name)

    def _members(
        self, fields: Mapping[str, Value], whole: str, at: Computed, depth: int
    ) -> dict[str, Value]:
        members: dict[str, Value] = {}
        for key in (key for key in fields if key in self._keys):
            value = fields[key]
            if key in _TEXTS and isinstance(value, ObjectValue):
                members[key] = {
                    part: self._plain(text, f"{key} {part}", whole) for part, text in value.items()
                }
            elif key not in _LISTS or not isinstance(value, list):
                self._hides = self._hides or (key == "options" and isinstance(value, Computed))
                members[key] = self._plain(value, key, whole)
            else:
                members[key] = self._list(key, value, whole, at, depth)
        return members

    def _list(
        self, key: str, value: list[Value], whole: str, at: Computed, depth: int
    ) -> list[Value]:
        most = 0 if depth == _DEEPEST else self._left
        self._left -= len(value)
        if len(value) > most:
            self._note(f"{whole} has too many {key}", at)
            return []
        what = f"{key.removesuffix('s')} of {whole}"
        parts = [self._part(part, at, what, depth + 1) for part in value]
        return [*filter(None, parts)] if key == "options" or all(parts) else []


def _is_of(kind: Value, types: set[object]) -> bool:
    """Whether a type, which may be any value, is one of some types."""
    return isinstance(kind, (int, str)) and kind in types


def _has_nesting(document: Mapping[str, Value]) -> bool:
    options = as_list(document.get("options"))
    return any(isinstance(part, dict) and _is_of(part.get("type"), NESTING) for part in options)


def sub_commands(command: Value, depth: int = 0) -> Iterator[Computed]:
    """Yield where the sub-commands of a command are declared."""
    for option in as_list(fields_of(command).get("options", [])) if depth < _DEEPEST else ():
        if _is_of(fields_of(option).get("type"), NESTING):
            yield option.at
            yield from sub_commands(option, depth + 1)


def has_open_sub_commands(command: ObjectValue) -> bool:
    """Whether a command has sub-commands whose names are computed, such as from a folder."""
    for part in (*as_list(command.get("options", [])), command.get(REST)):
        fields = fields_of(part)
        name = fields.get("name", fields.get(REST, part))
        if isinstance(name, Computed) and (
            _is_of(fields.get("type"), NESTING) or (not fields and _is_open_sub(name.text))
        ):
            return True
    return False


def _is_open_sub(code: str) -> bool:
    """Whether code makes sub-commands, and states no name of one."""
    return bool(_OF_SUB.search(code)) and not _NAME.search(code)


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
