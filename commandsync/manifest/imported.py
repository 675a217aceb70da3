"""The imported file: `NAME.imported.yaml` beside a manifest, written whole and read with places.

`imported_text` writes it. `read_imported` reads it with the parser and the limits of a manifest.
It is one value: the first problem refuses it as a whole, since a part of it would look like deleted
commands. `laid_over` puts it below the entries of the manifest.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, cast

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_core import ErrorDetails

from commandsync.api.credentials import redacted
from commandsync.diagnostics import Location
from commandsync.manifest import fields
from commandsync.manifest.discordobject import WrittenObject
from commandsync.manifest.events import parse
from commandsync.manifest.fields import Context, Table
from commandsync.manifest.nodes import Mapping, Node, Sequence
from commandsync.manifest.scalars import flow, one_line, written
from commandsync.manifest.source import (
    Allowance,
    FileProblems,
    Origin,
    Problems,
    UnreadableError,
    read_source,
)
from commandsync.records.imported import ImportedCommand, ImportedFile, ImportedPlace

WRITE_AGAIN = "commandsync import writes it again"
SOLVE = "commandsync import solves it: it reads the code again, with both sides"
_HEAD = "# Written by `commandsync import`. Do not edit: entries of {} win."
_CONFLICT = re.compile(r"^(<{7}|>{7})( |$)", re.MULTILINE)
_LONGEST = 80  # characters of the keys that are shown


def imported_text(content: ImportedFile, *, manifest: str = "commands.yaml") -> str:
    """Return the text of the file: an entry for each command, in their order, and the digest."""
    lines = [_HEAD.format(one_line(manifest.rpartition("/")[2])), "imported: 1"]
    lines += _listed("commands", [command.values() for command in content.commands])
    if content.unread:
        lines += _listed("unread", [place.values() for place in content.unread])
    if content.gone:
        lines.append(f"gone: {flow(content.gone)}")
    lines.append(f"digest: {content.digest}")
    return "\n".join(lines) + "\n"


def _listed(key: str, entries: list[dict[str, Any]]) -> Iterator[str]:
    yield f"{key}:" if entries else f"{key}: []"
    for values in entries:
        yield from entry_lines(values)


def entry_lines(values: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of one entry of a list, whose keys are indented by four spaces."""
    dash = "  - "
    for name, value in values.items():
        if isinstance(value, str):
            line, below = written(value)
        else:
            line, below = flow(value), ()
        yield f"{dash}{name}: {line}"
        yield from (each and f"      {each}" for each in below)
        dash = "    "


_MAY_BE_EMPTY = Field("")


class _Command(Table):
    name: fields.AnyText
    description: fields.AnyText
    syntax: fields.AnyText
    category: fields.AnyText = _MAY_BE_EMPTY
    source: fields.AnyText = Field("", alias="from")
    formerly: fields.Texts = ()
    left_out: fields.AnyText = _MAY_BE_EMPTY
    kept: fields.Flag = False
    recorded: fields.Flag = False
    digest: fields.AnyText = Field("", alias="source")
    discord: WrittenObject = None


class _Place(Table):
    source: fields.AnyText = Field(alias="from")
    name: fields.AnyText = _MAY_BE_EMPTY
    reason: fields.AnyText


def _one(value: Node) -> Node:
    if value != "1":
        raise fields.value_error("it is written by another version of commandsync")
    return value


class _File(Table):
    imported: Annotated[Literal["1"], BeforeValidator(_one)]
    commands: list[_Command]
    unread: list[_Place] = Field([])
    gone: fields.Texts = ()
    digest: fields.AnyText = _MAY_BE_EMPTY


class ImportedPart(NamedTuple):
    """An imported file that was read: its content, and the places of its entries."""

    report: FileProblems
    nodes: tuple[Mapping, ...]  # of its commands
    content: ImportedFile
    is_edited: bool  # whether somebody edited it by hand


def read_imported(path: str, origin: Origin, later: Problems) -> ImportedPart:
    """Read an imported file; raises `UnreadableError` with its first problem.

    What is wrong with its commands beside the manifest's is reported `later`.
    """
    problems = Problems()
    report = FileProblems(read_source(path, origin=origin, allowance=Allowance()), problems)
    if marks := _CONFLICT.search(report.source.text):
        at = report.source.location(marks.start())
        raise UnreadableError(at, "the imported file has a merge conflict", SOLVE)
    file = parse(report, Allowance())
    if problem := next(iter(problems.errors), None):
        raise UnreadableError(problem.location, problem.message, WRITE_AGAIN)
    root = file.root
    if not isinstance(root, Mapping) or "imported" not in root:
        message = "this is not a file that commandsync import writes"
        raise UnreadableError(Location(path), message, "move it away, and run commandsync import")
    try:
        model = _File.model_validate(
            root, context=Context(report.source.text, has_prefix=True, cut=[])
        )
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        message = detail.get("ctx", {}).get("message") or f"{_where(detail)}: {detail['msg']}"
        at = report.source.location(getattr(detail["input"], "at", 0))
        raise UnreadableError(at, message, WRITE_AGAIN) from None
    commands = (dict(command) for command in model.commands)
    places = (dict(place) for place in model.unread)
    content = ImportedFile(
        tuple(ImportedCommand(**values) for values in commands),
        tuple(ImportedPlace(**values) for values in places),
        model.gone,
    )
    nodes = cast("tuple[Mapping, ...]", tuple(cast("Sequence", root["commands"])))
    later_report = FileProblems(report.source, later)
    return ImportedPart(later_report, nodes, content, model.digest != content.digest)


def _where(detail: ErrorDetails) -> str:
    return redacted(".".join(map(str, detail["loc"])))[:_LONGEST] or "the file"
