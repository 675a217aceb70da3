"""The imported file: `NAME.imported.yaml` beside a manifest, written whole and read with places.

`imported_text` writes it. `read_imported` reads it with the parser and the limits of a manifest.
It is one value: the first problem refuses it as a whole, since a part of it would look like deleted
commands. `laid_over` puts it below the entries of the manifest.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from commandsync.diagnostics import Location
from commandsync.manifest.checks import ValidationContext
from commandsync.manifest.keys import WRITE_AGAIN
from commandsync.manifest.nodes import Mapping, Sequence, parse
from commandsync.manifest.plain import imported_values
from commandsync.manifest.scalars import flow, one_line, written
from commandsync.manifest.source import (
    Allowance,
    FileProblems,
    Origin,
    Problems,
    UnreadableError,
    read_source,
)
from commandsync.records.imported import ImportedFile

SOLVE = "commandsync import solves it: it reads the code again, with both sides"
_HEAD = "# Written by `commandsync import`. Do not edit: entries of {} win."
_CONFLICT = re.compile(r"^(<{7}|>{7})( |$)", re.MULTILINE)


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
    context = ValidationContext(report.source.text, has_prefix=True, cut=[])
    values = imported_values(root, context)
    if values is None:
        from commandsync.manifest.importedmodel import validated  # noqa: PLC0415 - loads pydantic

        values = validated(root, report, context)
    content = ImportedFile(values.commands, values.unread, values.gone)
    nodes = cast("tuple[Mapping, ...]", tuple(cast("Sequence", root["commands"])))
    later_report = FileProblems(report.source, later)
    return ImportedPart(later_report, nodes, content, values.digest != content.digest)
