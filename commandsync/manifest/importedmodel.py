"""The keys of an imported file as pydantic models, for one that is not plain.

The first problem refuses the file as a whole.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_core import ErrorDetails

from commandsync.api.credentials import redacted
from commandsync.manifest import fields
from commandsync.manifest.checks import ValidationContext, value_error
from commandsync.manifest.discordobject import WrittenObject
from commandsync.manifest.fields import Table
from commandsync.manifest.keys import WRITE_AGAIN
from commandsync.manifest.nodes import Mapping, Node
from commandsync.manifest.plain import ImportedValues
from commandsync.manifest.source import FileProblems, UnreadableError
from commandsync.records.imported import ImportedCommand, ImportedPlace

_LONGEST = 80  # characters of the keys that are shown
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


class _SourcePlace(Table):
    source: fields.AnyText = Field(alias="from")
    name: fields.AnyText = _MAY_BE_EMPTY
    reason: fields.AnyText


def _one(value: Node) -> Node:
    if value != "1":
        raise value_error("it is written by another version of commandsync")
    return value


class _File(Table):
    imported: Annotated[Literal["1"], BeforeValidator(_one)]
    commands: list[_Command]
    unread: list[_SourcePlace] = Field([])
    gone: fields.Texts = ()
    digest: fields.AnyText = _MAY_BE_EMPTY


def validated(root: Mapping, report: FileProblems, context: ValidationContext) -> ImportedValues:
    """Return the values of an imported file; raises `UnreadableError` with its first problem."""
    try:
        model = _File.model_validate(root, context=context)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        message = detail.get("ctx", {}).get("message") or f"{_where(detail)}: {detail['msg']}"
        at = report.source.location(getattr(detail["input"], "at", 0))
        raise UnreadableError(at, message, WRITE_AGAIN) from None
    return ImportedValues(
        tuple(ImportedCommand(**dict(command)) for command in model.commands),
        tuple(ImportedPlace(**dict(place)) for place in model.unread),
        model.gone,
        model.digest,
    )


def _where(detail: ErrorDetails) -> str:
    return redacted(".".join(map(str, detail["loc"])))[:_LONGEST] or "the file"
