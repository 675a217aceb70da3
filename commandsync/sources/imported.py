"""`commands.imported.json`: what was imported last, read and written.

It is beside the manifest and in the repository with it: without it, an import could not tell an
edit of the manifest from a change of the source.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from commandsync.api.redaction import redacted
from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError
from commandsync.records.snapshot import Node
from commandsync.sources.entry import SourceEntry
from commandsync.sources.merge import Declared
from commandsync.sources.objects import kept, order_of

LARGEST = 10 * 1024 * 1024
"""Bytes of the file, as many as a manifest may have."""

_LONGEST = 80  # characters of the keys that are shown
_KEYS = ("name", "description", "syntax", "category", "key")
_HINT = "restore it from version control, or delete it and import again"

_Text = Annotated[str, Field(min_length=1)]


class _Command(BaseModel, extra="forbid", strict=True, frozen=True):
    name: _Text
    description: _Text
    syntax: _Text
    category: str | None = None
    key: str | None = None
    source: str


class _Document(BaseModel, extra="forbid", strict=True, frozen=True):
    version: Literal[1]
    commands: tuple[_Command, ...]
    objects: dict[str, tuple[dict[str, Any], ...]] = Field(default_factory=dict)


Objects = Mapping[str, Sequence[Node]]
"""What is kept of a platform's own objects, by source."""


class Imported(NamedTuple):
    """What was imported last."""

    declared: tuple[Declared, ...] = ()
    objects: Objects = MappingProxyType({})


def read_imported(text: str, *, path: str) -> Imported:
    """Read what was imported last; `ManifestError` if the text is not valid."""
    if len(text) > LARGEST:
        raise ManifestError([Problem(Location(path), "the file is too large", _HINT)])
    try:
        document = _Document.model_validate_json(text)
    except ValidationError as error:
        raise ManifestError([_problem(error, text, path)]) from error
    declared = (
        Declared(command.source, SourceEntry(**command.model_dump(exclude={"source"})))
        for command in document.commands
    )
    objects = {source: tuple(map(kept, each)) for source, each in document.objects.items()}
    return Imported(tuple(declared), objects)


def imported_text(imported: Iterable[Declared], objects: Objects = MappingProxyType({})) -> str:
    """Return the file of what is imported: sorted, so that an import changes few lines."""
    commands = [
        {key: getattr(entry, key) for key in _KEYS if getattr(entry, key) is not None}
        | {"source": source}
        for source, entry in imported
    ]
    commands.sort(key=itemgetter("name", "syntax", "source"))
    document: dict[str, Any] = {"version": 1, "commands": commands}
    if objects:
        document["objects"] = {
            source: sorted(objects[source], key=order_of) for source in sorted(objects)
        }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _problem(error: ValidationError, text: str, path: str) -> Problem:
    """Return the first problem of a file, at its line if it is not valid JSON."""
    try:
        known = json.loads(text)
    except (ValueError, RecursionError) as broken:  # without a place: a number with many digits
        message = "the file is not valid JSON"
        if "<<<<<<<" in text:
            message = "the file has the marks of a merge conflict"
        line, column = getattr(broken, "lineno", 1), getattr(broken, "colno", 1)
        return Problem(Location(path, line, column), message, _HINT)
    if isinstance(known, dict) and known.get("version", 1) != 1:
        message = "the file has another version than 1, the only one that is supported"
        return Problem(Location(path), message, "update commandsync")
    detail = error.errors(include_url=False)[0]
    where = redacted(".".join(map(str, detail["loc"])))[:_LONGEST] or "the file"
    return Problem(Location(path), f"{where} is not valid: {detail['msg']}", _HINT)
