"""The tree of a YAML file: strings, lists and mappings that carry their places.

They are what pydantic validates, so each of its errors holds the node that it is about, and no
second tree of places is needed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class Scalar(str):
    """A single value: the literal spelling of a plain one, the content of a quoted one."""

    __slots__ = ("at", "end", "plain", "reported")
    at: int  # the index of its first character in the source
    end: int  # and the index after its last one
    plain: bool  # whether it is written without quotes and is not a block
    reported: bool  # whether its problem is reported already

    @property
    def is_null(self) -> bool:
        """Whether YAML 1.2 reads it as nothing."""
        return self.plain and self in _NULLS


def scalar(text: str, at: int, end: int, *, plain: bool = False, reported: bool = False) -> Scalar:
    """Return a value with its place; a function, because `str` has no `__init__` to extend."""
    node = Scalar(text)
    node.at, node.end, node.plain, node.reported = at, end, plain, reported
    return node


class Sequence(list["Node"]):
    """A list."""

    __slots__ = ("at", "end")

    def __init__(self, at: int, end: int = 0, items: Iterable["Node"] = ()) -> None:
        super().__init__(items)
        self.at, self.end = at, end


class Mapping(dict[str, "Node"]):
    """Keys and values in their order; of equal keys it has the first."""

    __slots__ = ("at", "end")

    def __init__(self, at: int, end: int = 0, pairs: Iterable[tuple[str, "Node"]] = ()) -> None:
        super().__init__(pairs)
        self.at, self.end = at, end

    def written_keys(self) -> Iterator[Scalar]:
        """Yield the keys as they are written, with their places."""
        return (key for key in self if isinstance(key, Scalar))


Node = Scalar | Sequence | Mapping


def strings(node: Node | None) -> list[Scalar]:
    """Return the strings of a list, or the single one in its place."""
    items = node if isinstance(node, Sequence) else [node]
    return [item for item in items if isinstance(item, Scalar)]


def called(node: Node) -> str:
    """Return the name of a node's type for messages."""
    match node:
        case Scalar():
            return "a string" if node or not node.plain else "nothing"
        case Sequence():
            return "a list"
        case _:
            return "a mapping"


def size_of(node: Node) -> tuple[int, int, int]:
    """Return how many values a node is made of, their characters, and the levels below it."""
    if isinstance(node, Scalar):
        return 1, len(node), 0
    parts = node if isinstance(node, Sequence) else [*node.written_keys(), *node.values()]
    nodes, characters, heights = zip((1, 0, 0), *map(size_of, parts), strict=True)
    return sum(nodes), sum(characters), max(heights) + 1


@dataclass(slots=True)
class OpenNode:
    """A list or mapping whose end is not reached yet."""

    node: Sequence | Mapping
    anchor: str | None = None
    children: list[Node] = field(default_factory=list)

    def finished(self, end: int) -> Sequence | Mapping:
        """Fill the node with its children, without keys that are not scalars or duplicates."""
        node = self.node
        node.end = end
        if isinstance(node, Mapping):
            values = iter(self.children)
            for key, value in zip(values, values, strict=True):
                if isinstance(key, Scalar) and not key.reported:
                    node.setdefault(key, value)
        else:
            node[:] = self.children
        return node
