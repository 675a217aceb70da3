"""Nodes -> values, by the grammar: every value is checked at its place, and all problems noted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from commandsync.manifest.foreign import is_typographic, typographic
from commandsync.manifest.grammar import MEANT, VERSION, Key, Kind
from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence
from commandsync.manifest.problems import closest, did_you_mean, quoted
from commandsync.plan.rules import parse_delete_limit

if TYPE_CHECKING:
    from collections.abc import Mapping as Dict

    from commandsync.manifest.problems import Problems
    from commandsync.manifest.source import Source

FLAGS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
"""How YAML 1.2 spells what is true and what is false."""

NULLS = frozenset({"", "~", "null", "Null", "NULL"})
"""How YAML 1.2 spells what is nothing."""

_CUT = re.compile(r"[ \t]+#(?=\S)")
_COMMENT = re.compile(r"[ \t]*#")
_LIMIT_HINT = "leave the key out for 30 % and always 3, or write 0 for none"
_KINDS = {
    Kind.TEXT: "a text",
    Kind.TEXTS: "a list of texts",
    Kind.VERSION: "a number",
    Kind.FLAG: "true or false",
    Kind.LIMIT: "a number, a percentage or all",
    Kind.TABLE: "keys and values",
    Kind.TABLES: "a list",
}


class Table(NamedTuple):
    """A mapping whose keys are known and whose values are of the right kind.

    Attributes:
        at: Where it begins.
        values: The values of the keys that are there and right.
        broken: Whether a syntax error has cost some keys, so that none is known to be missing.
    """

    at: int
    values: Dict[str, Node]
    broken: bool = False

    def scalar(self, name: str) -> Scalar | None:
        """The single value of a key; None when it is not there."""
        node = self.values.get(name)
        return node if isinstance(node, Scalar) else None

    def texts(self, name: str) -> tuple[Scalar, ...]:
        """The texts of a list, or the single one that stands in its place."""
        node = self.values.get(name)
        if isinstance(node, Sequence):
            return tuple(item for item in node.items if isinstance(item, Scalar))
        return (node,) if isinstance(node, Scalar) else ()


class Reader:
    """Reads the tables of one file.

    Args:
        source: The file.
        problems: Where problems are noted.
    """

    def __init__(self, source: Source, problems: Problems) -> None:
        self.source = source
        self.problems = problems

    def error(self, at: int, message: str, hint: str = "") -> None:
        """Note what makes the manifest invalid, at a character of this file."""
        self.problems.error_at(self.source, at, message, hint)

    def warning(self, at: int, message: str, hint: str = "") -> None:
        """Note what is valid and yet hardly meant, at a character of this file."""
        self.problems.warning_at(self.source, at, message, hint)

    def table(
        self, node: Node, keys: Dict[str, Key], *, what: str, broken: bool = False
    ) -> Table | None:
        """Check a mapping; what is wrong in it is noted and left out.

        Args:
            node: What should be the mapping.
            keys: The keys it may have.
            what: What it is, as messages call it ("a command").
            broken: Whether a syntax error has cost some keys.
        """
        if not isinstance(node, Mapping):
            if not _is_wrong(node):
                self.error(node.at, f"{what} must be keys and values, not {_called(node)}")
            return None
        values: dict[str, Node] = {}
        seen: dict[str, int] = {}
        for name, value in node.pairs:
            key = self._key(name, keys, seen, what=what)
            if key is not None and self._fits(key, value):
                values[key.name] = _with(values.get(key.name), value)
        for key in keys.values():
            if key.required and not broken and key.name not in seen and "<<" not in seen:
                self.error(0 if key.kind is Kind.VERSION else node.at, *_missing(key, what))
        return Table(node.at, values, broken)

    def tables(self, node: Node, keys: Dict[str, Key], *, what: str) -> list[Table]:
        """Check a list of mappings."""
        assert isinstance(node, Sequence)  # noqa: S101 - checked as its key's kind
        found = (self.table(item, keys, what=what) for item in node.items)
        return [table for table in found if table is not None]

    def _key(
        self, name: Node, keys: Dict[str, Key], seen: dict[str, int], *, what: str
    ) -> Key | None:
        if not isinstance(name, Scalar):
            self.error(name.at, f"a key must be a text, not {_called(name)}")
            return None
        word = name.text
        if word in seen:
            first = self.source.location(seen[word])
            self.error(name.at, f"the key {quoted(word)} stands twice, first in line {first.line}")
            return None
        seen[word] = name.at
        if word not in keys:
            meant = keys.get(MEANT.get(word.lower(), "") or closest(word, keys))
            self.error(name.at, f"{what} has no key {quoted(word)}", _unknown(word, meant, keys))
            # What is under a misspelt commands: is checked as its entries would be.
            return meant if meant and meant.keys else None
        return keys[word]

    def _fits(self, key: Key, value: Node) -> bool:
        if _is_wrong(value):
            return False
        match key.kind:
            case Kind.TEXT:
                return self._text(key, value)
            case Kind.TEXTS:
                return self._texts(key, value)
            case Kind.TABLE | Kind.TABLES:
                return self._collection(key, value)
            case _:
                return self._special(key, value)

    def _text(self, key: Key, value: Node) -> bool:
        if not isinstance(value, Scalar):
            self.error(
                value.at,
                f"{key.name} must be a text, not {_called(value)}",
                self._quote_hint(value),
            )
            return False
        if value.wrong:
            return False
        text = value.text
        if value.plain and _CUT.match(self.source.text, value.end):
            self.warning(
                value.end,
                f'the text ends before the " #": {quoted(text)}',
                "quote the text if the # belongs to it",
            )
        if not key.blank and not text.strip():
            self.error(value.at, f"{key.name} is empty", self._empty_hint(value))
            return False
        if value.plain and text in NULLS and not key.null:
            hint = 'write "" for none, or the text in quotes if it is meant'
            self.error(value.at, f"{key.name} must be a text, not null", hint)
            return False
        if value.plain and is_typographic(text):
            self.error(value.at, *typographic(text))
            return False
        return self._allowed(key, value)

    def _allowed(self, key: Key, value: Scalar) -> bool:
        text = value.text
        if key.longest and len(text) > key.longest:
            self.error(value.at, f"{key.name} is longer than {key.longest} characters")
            return False
        if key.choices and text not in key.choices:
            hint = did_you_mean(text, key.choices)
            self.error(value.at, f"{key.name} must be {' or '.join(key.choices)}", hint)
            return False
        if key.pattern and not re.fullmatch(key.pattern, text):
            # It may be a pasted secret: it is not shown.
            self.error(value.at, f"{key.name} must look like {key.examples[0]}", key.hint)
            return False
        return True

    def _texts(self, key: Key, value: Node) -> bool:
        if isinstance(value, Scalar):
            if value.plain and value.text in NULLS:
                self.error(value.at, *_null(key))
                return False
            return self._text(key, value)
        if not isinstance(value, Sequence):
            return self._wrong(key, value)
        fits = [self._text(key, item) for item in value.items]
        return all(fits)

    def _collection(self, key: Key, value: Node) -> bool:
        if isinstance(value, Scalar) and value.plain and value.text in NULLS:
            self.error(value.at, *_null(key))
            return False
        if key.kind is Kind.TABLE:
            return isinstance(value, Mapping) or self._wrong(key, value)
        return isinstance(value, Sequence) or self._wrong(key, value, _list_hint(key, value))

    def _special(self, key: Key, value: Node) -> bool:
        if not isinstance(value, Scalar):
            return self._wrong(key, value)
        if key.kind is Kind.LIMIT:
            try:
                parse_delete_limit(value.text)
            except ValueError:
                return self._wrong(key, value, "" if value.text.strip() else _LIMIT_HINT)
        elif key.kind is Kind.FLAG:
            if not value.plain or value.text not in FLAGS:
                return self._wrong(key, value, "write true or false, without quotes")
        elif not value.plain or value.text != VERSION:
            self.error(value.at, f"version must be the number 1, not {quoted(value.text)}")
            return False
        return True

    def _wrong(self, key: Key, value: Node, hint: str = "") -> bool:
        said = quoted(value.text) if isinstance(value, Scalar) else _called(value)
        self.error(value.at, f"{key.name} must be {_KINDS[key.kind]}, not {said}", hint)
        return False

    def _quote_hint(self, value: Sequence | Mapping) -> str:
        """Say how to write what YAML takes for a list; a block list has nothing to quote."""
        said = self.source.text[value.at : value.end]
        if said[:1] not in {"[", "{"} or "\n" in said:
            return ""
        return f"quote this: YAML reads {said} as {_called(value)}" if len(said) < 200 else ""  # noqa: PLR2004 - a line's worth

    def _empty_hint(self, value: Scalar) -> str:
        if value.plain and _COMMENT.match(self.source.text, value.at):
            return "quote the text: YAML reads what follows # as a comment"
        if self.source.text.startswith("&", value.at):
            return "quote the text: YAML reads what follows & as an anchor"
        return ""


def _list_hint(key: Key, value: Node) -> str:
    if not isinstance(value, Mapping):
        return ""
    return f"begin each entry with - {key.keys[0].name}:" if value.pairs else "write [] for none"


def _with(above: Node | None, node: Node) -> Node:
    """Put the entries under a misspelt key and under the right one together, to check them all."""
    if isinstance(above, Sequence) and isinstance(node, Sequence):
        return Sequence(above.at, node.end, [*above.items, *node.items])
    return node


def _is_wrong(node: Node) -> bool:
    """Whether it is noted already what is wrong with a value."""
    return isinstance(node, Scalar) and node.wrong


def _called(node: Node) -> str:
    match node:
        case Scalar():
            return "a text" if node.text or not node.plain else "nothing"
        case Sequence():
            return "a list"
        case _:
            return "a mapping"


def _unknown(word: str, meant: Key | None, keys: Dict[str, Key]) -> str:
    if word == "<<":
        return "merging is not supported: write the keys out, or use defaults"
    if meant is None:
        return f"it may have {', '.join(keys)}"
    if meant.name == "formerly" and word.lower() in MEANT:
        return "names the command had before go under formerly"
    return f"did you mean {meant.name}?"


def _missing(key: Key, what: str) -> tuple[str, str]:
    if key.kind is Kind.VERSION:
        return "version is missing", "begin the file with version: 1"
    return f"{what} needs a {key.name}", ""


def _null(key: Key) -> tuple[str, str]:
    kind = _KINDS[key.kind]
    if key.kind is Kind.TABLE:
        return f"{key.name} must be {kind}, not null", "leave the key out, or write its keys below"
    return f"{key.name} must be {kind}, not null", "leave the key out, or write [] for none"
