"""What a YAML file says, as a tree that knows every place; text stays as it is spelled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Scalar(NamedTuple):
    """A single text.

    Attributes:
        text: What it says: the literal spelling of a plain text, the content of a quoted one.
        at: The index of its first character in the source.
        end: The index after its last character.
        plain: Whether it stands without quotes and is not a block.
        wrong: Whether it is not what it should be, which is noted already.
    """

    text: str
    at: int
    end: int
    plain: bool
    wrong: bool = False


@dataclass(slots=True)
class Sequence:
    """A list."""

    at: int
    end: int = 0
    items: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class Mapping:
    """Keys and values in their order; a key may be anything and stand twice."""

    at: int
    end: int = 0
    pairs: list[tuple[Node, Node]] = field(default_factory=list)


Node = Scalar | Sequence | Mapping


@dataclass(slots=True)
class Open:
    """A list or mapping whose end is not reached yet."""

    node: Sequence | Mapping
    anchor: str | None
    before: int  # nodes counted before it
    characters_before: int  # and characters
    children: list[Node] = field(default_factory=list)
    height: int = 1

    def finished(self, end: int) -> Sequence | Mapping:
        """Give the node what it holds."""
        self.node.end = end
        if isinstance(self.node, Mapping):
            values = iter(self.children)
            self.node.pairs = list(zip(values, values, strict=True))
        else:
            self.node.items = self.children
        return self.node

    def keep(self, end: int) -> None:
        """Drop what is not whole, or ends right there, where a syntax error is."""
        step = 2 if isinstance(self.node, Mapping) else 1
        whole = len(self.children) // step * step
        self.children = [
            node
            for first in range(0, whole, step)
            if self.children[first + step - 1].end < end
            for node in self.children[first : first + step]
        ]
