"""The values that the code of a bot states, what its builders have built, and the scopes of names.

A method of a builder of discord.js adds what Discord has for it.
"""

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from commandsync.diagnostics import Location
from commandsync.sources.javascript.parsedfile import Node, ParsedFile

REST = "..."
"""The key of what else an object has, if only a run can tell."""

Value: TypeAlias = Any
"""Text, a number, a boolean, None, a list, a `Record`, a `Function` or `Computed`."""

Call: TypeAlias = Callable[["Function", list[Value]], Value]

_CLASS = re.compile(
    r"(?:\w+\.)*(?:SlashCommand|ChatInputCommand|(\w*)ContextMenuCommand)"
    r"(Subcommand(?:Group)?|\w+(?=Option))?(?:Option)?(?:Builder)?"
)
_ADDED = re.compile(r"add(Subcommand(?:Group)?|\w+(?=Option))(?:Option)?s?")
_OTHER = re.compile(r"add(ChannelTypes|Contexts|IntegrationTypes)|toJSON")


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of a block and of those around it, in a file."""

    file: ParsedFile
    names: ChainMap[str, Value]

    def text(self, node: Node | None, of: str = "") -> str:
        """Return the text of a node, or of one of its fields; empty without it."""
        part = node.child_by_field_name(of) if node and of else node
        return self.file.data[part.start_byte : part.end_byte].decode() if part else ""

    def inner(self, **names: Value) -> "Scope":
        """Return a scope inside of this one."""
        return Scope(self.file, self.names.new_child(names))


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """Something that is written in a file."""

    node: Node
    scope: Scope

    @property
    def place(self) -> Location:
        """Where it begins."""
        return self.scope.file.place(self.node)

    @property
    def text(self) -> str:
        """How it is written."""
        return self.scope.text(self.node)


class Computed(Written):
    """A value that only a run of the code can tell."""


class Function(Written):
    """A function, a method or a class."""


class Record(dict[str, Value]):
    """An object."""

    is_read = False  # whether a command was made of it

    def __init__(self, fields: dict[str, Value], at: Written, level: int = 0) -> None:
        super().__init__(fields)
        self.at = at
        self.level = level  # how many conditions there are around it


class Builder(Record):
    """What a builder has built so far."""

    is_command = False  # not a part of one

    @classmethod
    def named(cls, name: str, given: list[Value], at: Written, level: int) -> "Builder | None":
        """Return what the constructor of a builder makes; None if it is not one."""
        match = _CLASS.fullmatch(name)
        if match is None:
            return None
        builder = cls(fields_of(given[0] if given else None), at, level)
        if kind := match[1] or match[2]:
            builder["type"] = kind
        builder.is_command = not match[2]
        return builder

    def apply(self, method: str, given: list[Value], at: Computed, call: Call) -> None:
        """Do what a method does; `call` calls a function with values."""
        first, key = given[0] if given else None, f"{method[3:4].lower()}{method[4:]}"
        if match := _ADDED.fullmatch(method):
            self._add("options", (_option(each, match[1], call) for each in flat(given)))
        elif key in {"choice", "choices"}:
            self["choices"] = self.get("choices") if method.startswith("add") else []
            self._add("choices", flat(given))
        elif key.endswith("Localization"):
            text, known = given[1] if given[1:] else at, fields_of(self.get(f"{key}s"))
            self[f"{key}s"] = Record({**known, str(first): text}, at)
        elif method.startswith("set"):
            self["nsfw" if key == "nSFW" else key] = first
        elif not _OTHER.fullmatch(method):
            self[REST] = at

    def _add(self, key: str, values: Iterable[Value]) -> None:
        known = self.get(key) or []
        self[key] = [*flat([known]), *values]


def _option(value: Value, kind: str, call: Call) -> Value:
    built = call(value, [Builder({}, value)]) if isinstance(value, Function) else value
    return Record({**built, "type": kind}, built.at) if isinstance(built, Record) else built


def fields_of(value: Value) -> dict[str, Value]:
    """Return what an object has; nothing of what is not an object."""
    return value if isinstance(value, Record) else {}


def flat(values: Iterable[Value]) -> Iterator[Value]:
    """Yield values, and the members of the lists among them."""
    for value in values:
        yield from value if isinstance(value, list) else [value]
