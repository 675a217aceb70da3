"""A file's nodes -> its model, and the problems within its entries.

`validated` lets pydantic check a file, and reports each value that it refuses, in words and at the
place of its node. `entries.py` reports the problems between entries. `validated_import` checks an
imported file, which its first problem refuses as a whole.
"""

import re
from collections.abc import Collection
from typing import NamedTuple, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from commandsync.api.credentials import redacted
from commandsync.diagnostics import Hint
from commandsync.manifest.checks import ValidationContext
from commandsync.manifest.keys import MANIFEST, WRITE_AGAIN, ImportedValues, ManifestKeys
from commandsync.manifest.model import (
    TABLES,
    ImportedFileModel,
    IncludedModel,
    ManifestModel,
    keys_of,
)
from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence, called, scalar
from commandsync.manifest.source import FileProblems, UnreadableError, closest, did_you_mean, quoted
from commandsync.records.snapshot import ImportedCommand, ImportedPlace
from commandsync.records.texts import OF_MANIFEST

_COMMENT = re.compile(r"[ \t]*#")
_LINE = 200  # characters
_LONGEST = 80  # characters of the keys of an imported file that are shown
_KINDS = {
    "string_type": "a string",
    "tuple_type": "a list of strings",
    "list_type": "a list",
    "bool_type": "true or false",
    "dict_type": "keys and values",
    "model_type": "keys and values",
}
_SYNONYMS = {
    "base_url": "url",
    "category": "cog group module section",
    "description": "body content desc help summary text",
    "formerly": "alias aliases old_name previously",
    "name": "title",
    "syntax": "args arguments example format usage",
}  # keys of other formats, by the key here that has the same meaning
_MEANT = {word: key for key, words in _SYNONYMS.items() for word in words.split()}
# What messages call an entry of each list.
_ENTRIES = {kind.collection: kind.with_article for kind in OF_MANIFEST} | {"listings": "a listing"}
_VERSION = ("version", scalar("1", 0, 0, plain=True))


def validated(
    root: Mapping, report: FileProblems, context: ValidationContext, *, what: str, broken: bool
) -> tuple[Mapping, ManifestKeys]:
    """Check a file's nodes against its model, report each problem, and return both without these.

    `what` is the kind of file in messages ("a manifest"); a `broken` one may have lost keys.
    """
    model = ManifestModel if what == MANIFEST else IncludedModel
    checker = _Checker(report, context, broken)
    checker.correct_keys(model, root, what)
    try:
        checked = model.model_validate(root, context=context)
    except ValidationError:
        root = checker.without_errors(model, root, what)
        checked = model.model_validate(root, context=context)
    return root, checked.value()


def validated_import(
    root: Mapping, report: FileProblems, context: ValidationContext
) -> ImportedValues:
    """Return the values of an imported file; raises `UnreadableError` with its first problem."""
    try:
        model = ImportedFileModel.model_validate(root, context=context)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        where = redacted(".".join(map(str, detail["loc"])))[:_LONGEST] or "the file"
        message = detail.get("ctx", {}).get("message") or f"{where}: {detail['msg']}"
        at = report.source.location(getattr(detail["input"], "at", 0))
        raise UnreadableError(at, message, WRITE_AGAIN) from None
    return ImportedValues(
        tuple(ImportedCommand(**dict(command)) for command in model.commands),
        tuple(ImportedPlace(**dict(place)) for place in model.unread),
        model.gone,
        model.digest,
    )


class _Checker(NamedTuple):
    """Checks a file table by table, and explains the errors of pydantic."""

    report: FileProblems
    context: ValidationContext
    broken: bool

    def correct_keys(self, model: type[BaseModel], root: Mapping, what: str) -> None:
        """Report the unknown keys of the top level; values of misspelt ones are checked, too."""
        known = keys_of(model)
        for key in [key for key in root.written_keys() if key not in known]:
            value = root.pop(key)
            name = self.unknown_key(key, what, known)
            above = root.get(name) if name else None  # an empty key is one that was written
            if isinstance(above, Sequence) and isinstance(value, Sequence):
                above.extend(value)
            elif above is not None:
                self.without_errors(model, Mapping(0, 0, [_VERSION, (name, value)]), what)
            elif _table(name):
                root[name] = value

    def without_errors(self, model: type[BaseModel], root: Mapping, what: str) -> Mapping:
        """Report the problems of all tables, and return the rest."""
        for key, node in list(root.items()):
            table = _table(key)
            if table and key in _ENTRIES and isinstance(node, Sequence):
                root[key] = self.right_entries(table, node, _ENTRIES[key])
            elif table and key not in _ENTRIES and isinstance(node, Mapping):
                root[key] = self.right(table, node, key)
        root = self.right(model, root, what)
        root.setdefault(*_VERSION)
        return root

    def right_entries(self, model: type[BaseModel], entries: Sequence, what: str) -> Sequence:
        """Report the problems of entries, and return the complete ones."""
        needed = {name for name, field in model.model_fields.items() if field.is_required()}
        texts = {"<<", "description", "syntax"}
        usable: list[Node] = []
        for entry in entries:
            right = self.right(model, entry, what)
            if what == _ENTRIES["listings"]:  # what a key means there depends on the others
                is_usable = right is entry
            else:  # one of the texts may be there, and wrong: then it is not missing
                written = entry.keys() if isinstance(entry, Mapping) else ()
                is_usable = needed.union(texts.intersection(written)) <= right.keys()
            if is_usable:
                usable.append(right)
        return Sequence(entries.at, entries.end, usable)

    def right(self, model: type[BaseModel], table: Node, what: str) -> Mapping:
        """Report the problems of a table, and return the rest."""
        try:
            model.model_validate(table, context=self.context)
        except ValidationError as error:
            details = error.errors(include_url=False)
            for detail in details:
                is_key = detail["type"] == "extra_forbidden"
                if detail["type"] == "parts":
                    for problem in detail["ctx"]["problems"]:
                        self.report.error(*problem)
                elif is_key or not getattr(detail["input"], "reported", False):
                    self.report_detail(detail, model, table, what)
            self.report_missing(model, table, what)
            wrong = {key for detail in details for key in detail["loc"][:1]}
            pairs = table.items() if isinstance(table, Mapping) else ()
            return Mapping(table.at, table.end, (pair for pair in pairs if pair[0] not in wrong))
        return cast("Mapping", table)

    def report_missing(self, model: type[BaseModel], table: Node, what: str) -> None:
        """Report the texts that an entry needs where no imported command has them."""
        optional = {name for name, field in model.model_fields.items() if not field.is_required()}
        is_command = "category" in optional and not self.context.has_import
        if is_command and isinstance(table, Mapping) and "<<" not in table:
            for key in sorted({"description", "syntax"} & optional - table.keys()):
                self.report.error(table.at, f"{what} needs a {key}")

    def report_detail(
        self, detail: ErrorDetails, model: type[BaseModel], table: Node, what: str
    ) -> None:
        """Report one error of a table: at the table, at one of its keys, or at a value."""
        node, key = detail["input"], str(detail["loc"][0]) if detail["loc"] else what
        inner = _table(key) if detail["loc"][1:] else None
        if inner:  # of a table inside this one
            model, table, what = inner, cast("Mapping", table)[key], key
            key = str(detail["loc"][1])
        match detail["type"]:
            case "missing" if key == "version":
                if not self.broken:
                    self.report.error(0, "version is missing", "begin the file with version: 1")
            case "missing":
                if "<<" not in node:
                    self.report.error(node.at, f"{what} needs a {key}")
            case "extra_forbidden":
                written = cast("Mapping", table).written_keys()
                self.unknown_key(
                    next(name for name in written if name == key), what, keys_of(model)
                )
            case _:
                self.report.error(node.at, *self.value_problem(detail, key))

    def value_problem(self, detail: ErrorDetails, key: str) -> tuple[str, str | Hint]:
        """Return the message about a value, and its hint."""
        node, context = detail["input"], detail.get("ctx", {})
        match detail["type"]:
            case "refused":
                return context["message"], context["hint"]
            case "empty":
                return f"{key} is empty", self.empty_hint(node)
            case "string_too_long":
                return f"{key} is longer than {context['max_length']} characters", ""
            case "literal_error":
                expected = context["expected"].replace("'", "")
                return f"{key} must be {expected}", did_you_mean(
                    str(node), re.split(", | or ", expected)
                )
            case "model_type" if not detail["loc"]:
                return f"{key} must be keys and values, not {called(node)}", ""
            case kind:
                found = called(node)
                if isinstance(node, Scalar) and kind != "string_type":
                    found = "null" if node.is_null and kind != "bool_type" else quoted(node)
                message = f"{key} must be {_KINDS[kind]}, not {found}"
                return message, self.kind_hint(kind, key, node)

    def unknown_key(self, key: Scalar, what: str, known: Collection[str]) -> str:
        """Report an unknown key; return the key that was probably meant."""
        line = self.report.source.text[key.end :].partition("\n")[0]
        is_anchored = line.lstrip(": ").startswith("&")
        meant = _MEANT.get(key.lower(), "")
        meant = meant if meant in known else closest(key, known)
        hint = f"did you mean {meant}?" if meant else f"it may have {', '.join(known)}"
        if key == "<<":
            hint = "merging is not supported: write the keys out, or use defaults"
        elif (not meant or key.startswith(("x-", "."))) and is_anchored:
            hint = "an anchor belongs to a value that is used: set it where the value is used first"
            meant = ""
        elif meant == "formerly" and key.lower() in _MEANT:
            hint = "list each alias as a command; put old names under formerly"
        self.report.error(key.at, f"{what} has no key {quoted(key)}", hint)
        return meant

    def kind_hint(self, kind: str, key: str, node: Node) -> str:
        """Return the hint for a value of another type."""
        match kind, node:
            case "bool_type", Scalar():
                return "write true or false, without quotes"
            case "string_type", _:
                text = self.report.source.text[node.at : node.end]
                is_short = text[:1] in {"[", "{"} and "\n" not in text and len(text) < _LINE
                return f"quote this: YAML reads {text} as {called(node)}" if is_short else ""
            case "list_type", Mapping():
                first = next(iter(cast("type[BaseModel]", _table(key)).model_fields))
                return f"begin each entry with - {first}:" if node else "write [] for none"
            case "list_type" | "tuple_type", Scalar(is_null=True):
                return "leave the key out, or write [] for none"
            case "dict_type" | "model_type", Scalar(is_null=True):
                return "leave the key out, or write its keys below"
            case _:
                return ""

    def empty_hint(self, node: Node) -> str:
        """Return the hint for an empty value where a string seems to be."""
        text = self.report.source.text
        if isinstance(node, Scalar) and node.plain and _COMMENT.match(text, node.at):
            return "quote the string: YAML reads the text after # as a comment"
        if text.startswith("&", node.at):
            return "quote the string: YAML reads the text after & as an anchor"
        return ""


def _table(key: str) -> type[BaseModel] | None:
    """Return the model of a key that holds keys and values, or a list of them."""
    if key in {"listings", "replace"}:
        from commandsync.manifest import listingmodel  # noqa: PLC0415 - seldom needed

        return listingmodel.TABLES[key]
    return TABLES.get(key)
