"""The types of a manifest's values for pydantic: the check of each, and its JSON Schema.

`checks.py` has the checks. A time has a zone, so that it means the same on every machine;
its forms are those that RFC 3339 and YAML's timestamps have in common.
"""

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
)

from commandsync.manifest import checks
from commandsync.manifest.checks import ValidationContext, as_written, value_error
from commandsync.manifest.keys import FieldName
from commandsync.manifest.nodes import Node, Scalar, called
from commandsync.manifest.source import quoted
from commandsync.plan import rules
from commandsync.records.texts import Resource

_LIMIT = r"^[ \t]*([0-9]{1,9}|(0?[0-9]{1,2}(\.[0-9]{1,6})?|100(\.0{1,6})?) ?%|[Aa][Ll][Ll])[ \t]*$"


class Table(BaseModel):
    """Keys and values of a manifest."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        field_title_generator=lambda name, field: field.alias or name,
    )

    def value(self) -> Any:  # noqa: ANN401 - as each model says
        """Return the values as the package uses them; without a type of their own, the model."""
        return self


def keyed(names: dict[str, Any], values: dict[str, Any]) -> WithJsonSchema:
    """Return the JSON Schema of a mapping, given the schemas of its keys and values."""
    return WithJsonSchema(
        {"type": "object", "propertyNames": names, "additionalProperties": values}
    )


def one_or_more(names: list[str]) -> WithJsonSchema:
    """Return the JSON Schema of a list of words, or of a single one."""
    return WithJsonSchema({"anyOf": [{"type": "array", "items": {"enum": names}}, {"enum": names}]})


# Editors see off, 247 and ~ as a boolean, a number and null, where the loader sees strings.
_SCALAR = ["string", "number", "boolean", "null"]
TEXT: dict[str, Any] = {"type": _SCALAR, "pattern": r"\S"}
_NOT_NULL = {"type": _SCALAR[:-1]}
_ANY_LIMIT = [
    {"type": "integer", "minimum": 0, "maximum": 999_999_999},
    {"type": "string", "pattern": _LIMIT},
]

AnyText = Annotated[str, BeforeValidator(checks.text_of), WithJsonSchema(TEXT)]
"""A string that is not empty."""

Syntax = Annotated[AnyText, AfterValidator(checks.prefixed)]

Texts = Annotated[
    tuple[AnyText, ...],
    BeforeValidator(checks.items_of),
    WithJsonSchema({"anyOf": [{"type": "array", "items": TEXT}, TEXT | _NOT_NULL]}),
]
"""A list of strings, or a single one."""

Categories = Annotated[dict[AnyText, AnyText], keyed({"pattern": r"\S"}, TEXT)]
"""The category of each pattern, all strings that are not empty."""

Columns = Annotated[dict[FieldName, AnyText], keyed({"enum": list(Resource.COMMAND.fields)}, TEXT)]
"""The name of the column of each field."""

Trait = Literal["hidden", "owner-only", "disabled", "guild-only", "admin-only", "nsfw"]
"""The traits of commands, which `sources` knows by the same names."""

Word = TypeVar("Word")
Words = Annotated[
    tuple[Annotated[Word, BeforeValidator(as_written)], ...], BeforeValidator(checks.items_of)
]
"""A list of words, or a single one."""

Traits = Annotated[Words[Trait], one_or_more(list(get_args(Trait)))]
"""Traits of commands, or a single one."""

Patterns = Annotated[Texts, AfterValidator(checks.few_wildcards)]

Id = Annotated[
    AnyText,
    AfterValidator(checks.identifier),
    WithJsonSchema(TEXT | {"not": {"enum": [".", ".."]}}),
    Field(
        description="Optional pin: the service's own id of this very entry.",
        examples=["64f0c2a91be34d5a7c0e8812"],
    ),
]

Category = Annotated[str | None, BeforeValidator(checks.not_null), WithJsonSchema(_NOT_NULL)]
"""A string that may be empty, not yet canonical; None if left out."""

_Short = Annotated[str, Field(max_length=checks.LONGEST)]

DefaultCategory = Annotated[
    _Short,
    BeforeValidator(checks.not_null),
    WithJsonSchema(_NOT_NULL | {"maxLength": checks.LONGEST}),
]

Prefix = Annotated[
    _Short | None,
    BeforeValidator(as_written),
    WithJsonSchema({"type": _SCALAR, "maxLength": checks.LONGEST}),
]
"""A string that is kept to the letter; None if left out."""

Bot = Annotated[
    AnyText,
    AfterValidator(checks.bot),
    WithJsonSchema({"type": ["string", "number"], "pattern": f"^{checks.BOT}$"}),
]

# Whether plain http is allowed is for the command line to decide.
BaseUrl = Annotated[AnyText, AfterValidator(lambda text: checks.address(text, insecure_http=True))]

TokenEnv = Annotated[
    AnyText,
    BeforeValidator(checks.token_env),  # before any other check, which might show a pasted secret
    WithJsonSchema({"type": "string", "pattern": f"^{checks.TOKEN_ENV}$"}),
]

Version = Annotated[Literal["1"], BeforeValidator(checks.version), WithJsonSchema({"const": 1})]

Flag = Annotated[bool, BeforeValidator(checks.flag)]

Limit = Annotated[
    rules.DeleteLimit | None, PlainValidator(checks.limit), WithJsonSchema({"anyOf": _ANY_LIMIT})
]

Policy = Annotated[Literal["append", "mirror"], BeforeValidator(as_written)]
CommandForm = Annotated[Literal["slash", "prefix"], BeforeValidator(as_written)]


_DAY = r"2[0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_OF_DAY = r"([01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = f"{_DAY}[T ]{_OF_DAY}(:[0-5][0-9])?"
_WITH_ZONE = f"{_TIME}(Z|[+-]{_OF_DAY})"
_EXAMPLE = "2026-12-01T18:00Z"


def _time(value: Node, info: ValidationInfo[ValidationContext]) -> datetime:
    key = info.field_name
    if not isinstance(value, Scalar) or value.is_null:
        kind = "null" if value and isinstance(value, Scalar) else called(value)
        raise value_error(f"{key} must be a time, not {kind}", f"write it like {_EXAMPLE}")
    if re.fullmatch(_DAY, value):
        hint = f"write {value}T00:00Z for the beginning of that day in UTC"
        raise value_error(f"{key} has no time of day: {quoted(value)}", hint)
    if re.fullmatch(_TIME, value):
        hint = f"write {value}Z for UTC, or the offset of your zone, as in {value}+01:00"
        raise value_error(f"{key} has no time zone: {quoted(value)}", hint)
    with suppress(ValueError):  # the month does not have that day
        if re.fullmatch(_WITH_ZONE, value):
            return datetime.fromisoformat(value).astimezone(UTC)
    raise value_error(f"{key} is not a valid time: {quoted(value)}", f"write it like {_EXAMPLE}")


Time = Annotated[
    datetime | None,
    PlainValidator(_time),
    WithJsonSchema({"type": "string", "pattern": f"^{_WITH_ZONE}$"}),
]
"""A time with a zone, read as UTC; None if left out."""
