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
        plain: Whether it stands without quotes and is no block.
    """

    text: str
    at: int
    end: int
    plain: bool


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
