"""A file's nodes -> its model; what pydantic refuses becomes problems at the nodes' places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from commandsync.manifest.fields import Cut
from commandsync.manifest.model import TABLES
from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence, called, scalar
from commandsync.manifest.problems import closest, did_you_mean, quoted
from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core import ErrorDetails

    from commandsync.manifest.problems import FileProblems

    Loc = tuple[int | str, ...]

_COMMENT = re.compile(r"[ \t]*#")
_LONGEST_EXAMPLE = 200  # characters
_KINDS = {
    "string_type": "a string",
    "tuple_type": "a list of strings",
    "list_type": "a list",
    "bool_type": "true or false",
    "model_type": "keys and values",
}
_FORMERLY = "a name it has today is an entry of its own; one it no longer has goes under formerly"
_SYNONYMS = {
    "alias": "formerly",
    "aliases": "formerly",
    "args": "syntax",
    "arguments": "syntax",
    "body": "description",
    "botid": "bot",
    "cog": "category",
    "content": "description",
    "desc": "description",
    "example": "syntax",
    "format": "syntax",
    "group": "category",
    "help": "description",
    "includes": "include",
    "module": "category",
    "old_name": "formerly",
    "previously": "formerly",
    "section": "category",
    "summary": "description",
    "text": "description",
    "title": "name",
    "token": "token_env",
    "url": "base_url",
    "usage": "syntax",
}
"""Keys of other formats, and the key here that has the same meaning."""


Model = TypeVar("Model", bound=BaseModel)


def validated(
    model: type[Model], root: Mapping, report: FileProblems, *, what: str, broken: bool
) -> tuple[Mapping, Model]:
    """Check a file's nodes against its model, and note each problem.

    Args:
        model: The model.
        root: The top level.
        report: The file, and where its problems are noted.
        what: What the file is, as messages call it ("a manifest").
        broken: Whether a syntax error has cost some keys, so that none is known to be missing.

    Returns:
        The nodes and the model: both without what is wrong.
    """
    reporter = _Reporter(model, root, report, what, broken)
    reporter.correct_keys()
    cut = Cut(report.source.text, [])
    try:
        checked = model.model_validate(root, context=cut)
    except ValidationError as error:
        reporter.note(error)
        root, checked = _rest(model, root, error)
    for node in cut.nodes:
        message = f'the string ends before the " #": {quoted(node)}'
        report.warning(node.end, message, "quote the string if the # belongs to it")
    return root, checked


def _rest(model: type[Model], root: Mapping, error: ValidationError) -> tuple[Mapping, Model]:
    """Leave out what is wrong; an entry without a required field is left out as a whole."""
    root.setdefault(scalar("version", 0, 0), scalar("1", 0, 0, plain=True))
    root = _without(root, {_wrong(detail) for detail in error.errors(include_url=False)}, ())
    try:
        return root, model.model_validate(root)
    except ValidationError as left:
        return _rest(model, root, left)


def _wrong(detail: ErrorDetails) -> Loc:
    """Return the path of what an error makes unusable."""
    loc = detail["loc"]
    is_part = detail["type"] == "missing" or isinstance(loc[-1], int)
    return loc[:-1] if is_part and detail["type"] != "model_type" else loc


def _without(node: Node, wrong: set[Loc], path: Loc) -> Any:  # noqa: ANN401 - a node of its type
    match node:
        case Mapping():
            kept = (
                (key, _without(value, wrong, (*path, key)))
                for key, value in node.items()
                if (*path, key) not in wrong
            )
            return Mapping(node.at, node.end, kept)
        case Sequence():
            paths = ((item, (*path, number)) for number, item in enumerate(node))
            items = (_without(item, wrong, here) for item, here in paths if here not in wrong)
            return Sequence(node.at, node.end, items)
        case _:
            return node


@dataclass(frozen=True, slots=True)
class _Reporter:
    """Puts what pydantic refuses into words, each at its place."""

    model: type[BaseModel]
    root: Mapping
    report: FileProblems
    what: str
    broken: bool

    def correct_keys(self) -> None:
        """Note the unknown keys of the top level; what a misspelt one holds is checked as well."""
        known = self.model.model_fields
        for key in [key for key in self.root.written_keys() if key not in known]:
            value = self.root.pop(key)
            name = self.unknown_key(key, self.what, known)
            above = self.root.get(name)
            if isinstance(above, Sequence) and isinstance(value, Sequence):
                value = Sequence(above.at, value.end, [*above, *value])
            if name in TABLES:
                self.root[scalar(name, key.at, key.end)] = value

    def unknown_key(self, key: Scalar, what: str, known: Iterable[str]) -> str:
        """Note an unknown key; return the one that was probably meant."""
        meant = _SYNONYMS.get(key.lower(), "")
        meant = meant if meant in known else closest(key, known)
        hint = f"did you mean {meant}?" if meant else f"it may have {', '.join(known)}"
        if key == "<<":
            hint = "merging is not supported: write the keys out, or use defaults"
        elif meant == "formerly" and key.lower() in _SYNONYMS:
            hint = _FORMERLY
        self.report.error(key.at, f"{what} has no key {quoted(key)}", hint)
        return meant

    def note(self, error: ValidationError) -> None:
        """Note all that pydantic found."""
        for detail in error.errors(include_url=False):
            node = detail["input"]
            if not (isinstance(node, Scalar) and node.reported):
                self.note_one(detail, node)

    def note_one(self, detail: ErrorDetails, node: Node) -> None:
        loc = detail["loc"]
        key = next(part for part in reversed(loc) if isinstance(part, str))
        context = detail.get("ctx", {})
        match detail["type"]:
            case "missing":
                self.missing(key, node, self.called(loc[:-1]))
                return
            case "extra_forbidden":
                keys = self.table(loc[:-1]).written_keys()
                unknown = next(written for written in keys if written == key)
                self.unknown_key(unknown, self.called(loc[:-1]), TABLES[str(loc[0])].model_fields)
                return
            case "refused":
                problem = context["message"], context["hint"]
            case "empty":
                problem = f"{key} is empty", self.empty_hint(node)
            case "string_too_long":
                problem = f"{key} is longer than {context['max_length']} characters", ""
            case "literal_error":
                expected = context["expected"].replace("'", "")
                close = isinstance(node, Scalar) and did_you_mean(node, expected.split(" or "))
                problem = f"{key} must be {expected}", close or ""
            case kind:
                what = self.called(loc) if kind == "model_type" else key
                message = f"{what} must be {_KINDS[kind]}, not {_shown(kind, loc, node)}"
                problem = message, self.kind_hint(kind, loc, node)
        self.report.error(node.at, *problem)

    def missing(self, key: str, table: Node, what: str) -> None:
        if key == "version" and not self.broken:
            self.report.error(0, "version is missing", "begin the file with version: 1")
        elif key != "version" and not (isinstance(table, Mapping) and "<<" in table):
            self.report.error(table.at, f"{what} needs a {key}")

    def called(self, loc: Loc) -> str:
        """Return what messages call a table: the file, an entry, or a key."""
        if not loc:
            return self.what
        if isinstance(loc[-1], int):
            (kind,) = (resource for resource in Resource if resource.collection == loc[0])
            return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
        return loc[-1]

    def table(self, loc: Loc) -> Mapping:
        node: Any = self.root
        for part in loc:
            node = node[part]
        return cast("Mapping", node)

    def kind_hint(self, kind: str, loc: Loc, node: Node) -> str:
        match kind, node:
            case "bool_type", Scalar():
                return "write true or false, without quotes"
            case "string_type", Sequence() | Mapping():
                return self.quote_hint(node)
            case "list_type", Mapping():
                first = next(iter(TABLES[str(loc[-1])].model_fields))
                return f"begin each entry with - {first}:" if node else "write [] for none"
            case "list_type" | "tuple_type", Scalar(is_null=True):
                return "leave the key out, or write [] for none"
            case "model_type", Scalar(is_null=True) if isinstance(loc[-1], str):
                return "leave the key out, or write its keys below"
            case _:
                return ""

    def quote_hint(self, node: Node) -> str:
        """Return how to write what YAML takes for a list; a block list has nothing to quote."""
        text = self.report.source.text[node.at : node.end]
        if text[:1] not in {"[", "{"} or "\n" in text or len(text) > _LONGEST_EXAMPLE:
            return ""
        return f"quote this: YAML reads {text} as {called(node)}"

    def empty_hint(self, node: Node) -> str:
        text = self.report.source.text
        if isinstance(node, Scalar) and node.plain and _COMMENT.match(text, node.at):
            return "quote the string: YAML reads what follows # as a comment"
        if text.startswith("&", node.at):
            return "quote the string: YAML reads what follows & as an anchor"
        return ""


def _shown(kind: str, loc: Loc, node: Node) -> str:
    if kind == "string_type" or isinstance(loc[-1], int) or not isinstance(node, Scalar):
        return called(node)
    return "null" if node.is_null and kind != "bool_type" else quoted(node)
