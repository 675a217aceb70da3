"""The values that the code of a bot states, what its builders have built, and scopes of names."""

import re
from collections import ChainMap
from dataclasses import dataclass
from typing import Any, TypeAlias

from commandsync.diagnostics import Location
from commandsync.sources.applicationcommands import spelled
from commandsync.sources.javascript.parsedfile import Node, ParsedFile
from commandsync.sources.jsonfile import listed

REST = "..."  # the key of what else an object has, if only a run can tell
Value: TypeAlias = Any
"""Text, a number, a boolean, None, a list, a `Record`, a `Function` or `Computed`."""

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
class Computed:
    """A value that only a run of the code can tell."""

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


class Function(Computed):
    """A function, a method or a class."""


class Record(dict[str, Value]):
    """An object."""

    def __init__(self, fields: dict[str, Value], at: Computed, level: int = 0) -> None:
        super().__init__(fields)
        self.at = at
        self.level = level  # how many conditions there are around it


class Builder(Record):
    """What a builder has built so far."""

    def apply(self, method: str, given: list[Value], at: Computed) -> None:
        """Do what a method does; the members of lists are given one by one."""
        (key,), added = spelled({method[3:]: None}), _ADDED.fullmatch(method)
        first, second = [*given, at, at][:2]
        if added:
            key = "options"
            for each in given:
                fields_of(each)["type"] = added[1]
        if added or method == "addChoices":
            self[key] = [*listed(self.get(key, [])), *given]
        elif key.endswith("localization"):
            texts = fields_of(self.get(f"{key}s"))
            self[f"{key}s"] = Record({**texts, str(first): second}, at)
        elif method.startswith("set"):
            self[key] = given if given[1:] or key == "choices" else first
        elif not _OTHER.fullmatch(method):
            self[REST] = at


def fields_of(value: Value) -> dict[str, Value]:
    """Return what an object has; nothing of what is not an object."""
    return value if isinstance(value, Record) else {}
