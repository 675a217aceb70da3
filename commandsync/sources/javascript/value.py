"""The values that the code of a bot states, and the scopes in which names have them."""

from collections import ChainMap
from dataclasses import dataclass
from typing import Any, TypeAlias

from commandsync.diagnostics import Location
from commandsync.sources.javascript.parsedfile import Node, ParsedFile, field

REST = "..."
"""The key of what else an object has, if only a run can tell."""

Value: TypeAlias = Any
"""Text, a number, a boolean, None, a list, a `Record`, a `Function` or `Computed`."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of a block and of those around it, in a file."""

    file: ParsedFile
    names: ChainMap[str, Value]

    def text(self, node: Node | None, of: str = "") -> str:
        """Return the text of a node, or of one of its fields; empty without it."""
        part = node.child_by_field_name(of) if node and of else node
        return self.file.data[part.start_byte : part.end_byte].decode() if part else ""

    def get(self, name: str, otherwise: Value) -> Value:
        """Return what a name is bound to."""
        for names in self.names.maps:  # quicker than the map's own
            if name in names:
                return names[name]
        return otherwise

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

    def parameters(self) -> list[str]:
        """Return how the parameters of its functions are written."""
        functions = [value for value in self.values() if isinstance(value, Function)]
        return [each.scope.text(field(each.node, "parameters", "parameter")) for each in functions]
