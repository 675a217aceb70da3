"""The types of a manifest's values: how each is checked and completed, and its JSON Schema.

The values are the nodes of the file, in which each is a string as it is spelled. A time has a zone,
so that it means the same on every machine; its forms are those that RFC 3339 and YAML's timestamps
have in common.
"""

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args

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
from pydantic_core import PydanticCustomError

from commandsync.api.arguments import parse_address
from commandsync.diagnostics import Do, Hint
from commandsync.errors import PlainHttpError, UsageError
from commandsync.manifest.nodes import Node, Scalar, Sequence, called
from commandsync.manifest.source import MOST_BYTES, Allowance, quoted
from commandsync.manifest.syntax import typographic
from commandsync.plan import rules
from commandsync.records.texts import Resource, canonical, has_wildcard

FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_COMMENT = re.compile(r"[ \t]+#(?=\S)")
_LONGEST = 100  # characters of a value that is repeated in every command
_BOT = r"\s*(?=\S*[0-9])\S+\s*"
_TOKEN_ENV = "COMMANDSYNC_[A-Za-z0-9_]+"  # noqa: S105 - a variable's name
_LIMIT = r"^[ \t]*([0-9]{1,9}|(0?[0-9]{1,2}(\.[0-9]{1,6})?|100(\.0{1,6})?) ?%|[Aa][Ll][Ll])[ \t]*$"
_LITERAL, _ESCAPED = "{prefix}", "{{prefix}}"


class Table(BaseModel):
    """Keys and values of a manifest."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        field_title_generator=lambda name, field: field.alias or name,
    )


class Context(NamedTuple):
    """The context of a validation."""

    text: str  # of the file
    has_prefix: bool  # whether the manifest has a prefix, or may have lost it to a syntax error
    cut: list[Scalar]  # the strings that end before a `#`, which may belong to them
    has_import: bool = False  # whether imported commands complete the entries


class UnfitError(Exception):
    """A record's field cannot be completed: its key, a message, and perhaps a hint."""


class CommandDefaults(NamedTuple):
    """What a manifest defines for all of its commands."""

    allowance: Allowance  # what prefixes add is taken from it
    prefix: str
    category: str  # of commands that have none

    def filled(self, text: str) -> str:
        """Return a syntax with the prefix filled in; `UnfitError` if it is empty or too long."""
        if _LITERAL not in text or self.allowance.characters < 0:  # which is reported already
            return text
        self.allowance.characters -= uses_of_prefix(text) * max(len(self.prefix) - len(_LITERAL), 0)
        if self.allowance.characters < 0:
            raise UnfitError(
                "syntax",
                f"the values of the manifest have more than {MOST_BYTES:,} characters once "
                "{prefix} is filled in",
                "shorten the prefix, or write it out where it is needed",
            )
        filled = with_prefix(text, self.prefix)
        if not filled:
            raise UnfitError("syntax", "syntax is empty once {prefix} is filled in")
        return filled


def with_prefix(text: str, prefix: str) -> str:
    """Return a syntax with the prefix in it, canonical."""
    # What is doubled stays; the text around it has no brace that belongs to it.
    return canonical(_LITERAL.join(part.replace(_LITERAL, prefix) for part in text.split(_ESCAPED)))


def uses_of_prefix(text: str) -> int:
    """Return how often a syntax has the prefix."""
    return text.count(_LITERAL) - text.count(_ESCAPED)


def value_error(message: str, hint: str | Hint = "") -> PydanticCustomError:
    """Return an error with a message and a hint, for pydantic to collect."""
    return PydanticCustomError("refused", "{message}", {"message": message, "hint": hint})


def as_written(value: Node, info: ValidationInfo[Context]) -> Node:
    """Check how a string is written, and collect it where a comment may have cut it."""
    if isinstance(value, Scalar) and value.plain:
        if _COMMENT.match(info.context.text, value.end):
            info.context.cut.append(value)
        if problem := typographic(value):
            raise value_error(*problem)
    return value


def _text(value: Node, info: ValidationInfo[Context]) -> Node | str:
    if not isinstance(value, Scalar):
        return value
    text = canonical(value)
    if not text:
        raise PydanticCustomError("empty", "empty")
    if value.plain:
        as_written(value, info)
    return text


def _prefixed(text: str, info: ValidationInfo[Context]) -> str:
    if not info.context.has_prefix and uses_of_prefix(text):
        raise value_error(
            "the syntax uses {prefix}, and the manifest has no prefix:",
            "add prefix: to the manifest, or write {{prefix}} for the literal text",
        )
    return text


def _not_null(value: Node, info: ValidationInfo[Context]) -> Node:
    if isinstance(value, Scalar) and value.is_null:
        hint = 'write "" for none, or the string in quotes if it is meant'
        raise value_error("category must be a string, not null", hint)
    return as_written(value, info)


def items_of(value: Node) -> Node | tuple[Node, ...]:
    """Return the nodes of a list, or of a single string in its place."""
    if isinstance(value, Scalar) and not value.is_null:
        return (value,)
    return tuple(value) if isinstance(value, Sequence) else value


def shown(value: Node) -> str:
    """Return a value for a message."""
    return quoted(value) if isinstance(value, Scalar) else called(value)


def _version(value: Node) -> Node:
    if not (isinstance(value, Scalar) and value.plain and value == "1"):
        newer = isinstance(value, Scalar) and value.plain and value.isdecimal()
        hint = "write version: 1, or upgrade commandsync if the file is for a newer one"
        message = f"version must be the number 1, not {shown(value)}"
        raise value_error(message, hint if newer else "")
    return value


def _flag(value: Node) -> Node | bool:
    return FLAGS.get(value, value) if isinstance(value, Scalar) and value.plain else value


def _limit(value: Node) -> rules.DeleteLimit:
    try:
        return rules.parse_delete_limit(value if isinstance(value, Scalar) else "-")
    except ValueError:
        empty = isinstance(value, Scalar) and not value.strip()
        raise value_error(
            f"max_deletes must be a number, a percentage or all, not {shown(value)}",
            "leave the key out for 30 % and always 3, or write 0 for none" if empty else "",
        ) from None


def _few_wildcards(patterns: tuple[str, ...]) -> tuple[str, ...]:
    wild = [pattern for pattern in patterns if has_wildcard(pattern)]
    if len(wild) > rules.MOST_WILDCARDS or sum(map(len, wild)) > rules.MOST_WILD_CHARACTERS:
        raise value_error(
            f"ignore has more than {rules.MOST_WILDCARDS} patterns with a wildcard, or more than "
            f"{rules.MOST_WILD_CHARACTERS:,} characters in them",
            "one pattern can match many names: beta-*",
        )
    return patterns


def matching(
    pattern: str,
    message: str,
    hint: str,
    kind: type[AfterValidator | BeforeValidator] = AfterValidator,
) -> AfterValidator | BeforeValidator:
    """Return a validator that refuses strings which do not match, without showing them."""

    def check(text: Node | str) -> Node | str:
        if not isinstance(text, str) or re.fullmatch(pattern, text):
            return text
        raise value_error(message, hint)

    return kind(check)


def keyed(names: dict[str, Any], values: dict[str, Any]) -> WithJsonSchema:
    """Return the JSON Schema of a mapping by those of its keys and of its values."""
    return WithJsonSchema(
        {"type": "object", "propertyNames": names, "additionalProperties": values}
    )


def one_or_more(names: list[str]) -> WithJsonSchema:
    """Return the JSON Schema of a list of words, or of a single one."""
    return WithJsonSchema({"anyOf": [{"type": "array", "items": {"enum": names}}, {"enum": names}]})


def address(text: str, *, insecure_http: bool = False) -> str:
    """Return an address in its one spelling."""
    try:
        return str(parse_address(text, insecure_http=insecure_http))
    except PlainHttpError as error:
        raise value_error(error.message, "use https://") from None
    except UsageError as error:
        raise value_error(error.message, error.hint) from None


def _id(text: str) -> str:
    if text in {".", ".."}:
        raise value_error(f'"{text}" is not a valid id', Do.SHOW_IDS(first=""))
    return text


# Editors see off, 247 and ~ as a boolean, a number and null, where the loader sees strings.
_SCALAR = ["string", "number", "boolean", "null"]
TEXT: dict[str, Any] = {"type": _SCALAR, "pattern": r"\S"}
_NOT_NULL = {"type": _SCALAR[:-1]}
_ANY_LIMIT = [
    {"type": "integer", "minimum": 0, "maximum": 999_999_999},
    {"type": "string", "pattern": _LIMIT},
]

AnyText = Annotated[str, BeforeValidator(_text), WithJsonSchema(TEXT)]
"""A string that is not empty."""

Syntax = Annotated[AnyText, AfterValidator(_prefixed)]

Texts = Annotated[
    tuple[AnyText, ...],
    BeforeValidator(items_of),
    WithJsonSchema({"anyOf": [{"type": "array", "items": TEXT}, TEXT | _NOT_NULL]}),
]
"""A list of strings, or a single one."""

Categories = Annotated[dict[AnyText, AnyText], keyed({"pattern": r"\S"}, TEXT)]
"""The category of each pattern, all strings that are not empty."""

FieldName = Literal["name", "description", "syntax", "category"]
"""The fields of a command."""

Columns = Annotated[dict[FieldName, AnyText], keyed({"enum": list(Resource.COMMAND.fields)}, TEXT)]
"""The name of the column of each field."""

Trait = Literal["hidden", "owner-only", "disabled", "guild-only", "admin-only", "nsfw"]
"""The traits of commands, which `sources` knows by the same names."""

Word = TypeVar("Word")
Words = Annotated[
    tuple[Annotated[Word, BeforeValidator(as_written)], ...], BeforeValidator(items_of)
]
"""A list of words, or a single one."""

Traits = Annotated[Words[Trait], one_or_more(list(get_args(Trait)))]
"""Traits of commands, or a single one."""

Patterns = Annotated[Texts, AfterValidator(_few_wildcards)]

Id = Annotated[
    AnyText,
    AfterValidator(_id),
    WithJsonSchema(TEXT | {"not": {"enum": [".", ".."]}}),
    Field(
        description="Optional pin: the service's own id of this very entry.",
        examples=["64f0c2a91be34d5a7c0e8812"],
    ),
]

Category = Annotated[str | None, BeforeValidator(_not_null), WithJsonSchema(_NOT_NULL)]
"""A string that may be empty, not yet canonical; None if left out."""

_Short = Annotated[str, Field(max_length=_LONGEST)]

DefaultCategory = Annotated[
    _Short, BeforeValidator(_not_null), WithJsonSchema(_NOT_NULL | {"maxLength": _LONGEST})
]

Prefix = Annotated[
    _Short | None,
    BeforeValidator(as_written),
    WithJsonSchema({"type": _SCALAR, "maxLength": _LONGEST}),
]
"""A string that is kept to the letter; None if left out."""

Bot = Annotated[
    AnyText,
    matching(
        _BOT,
        "bot must look like 779641401482805289",
        "an id has a digit and no space: copy it from the address of the bot's page, or leave the "
        "key out where the bot's token is set, which holds the id",
    ),
    WithJsonSchema({"type": ["string", "number"], "pattern": f"^{_BOT}$"}),
]

# Whether plain http is allowed is for the command line to decide.
BaseUrl = Annotated[AnyText, AfterValidator(lambda text: address(text, insecure_http=True))]

TokenEnv = Annotated[
    AnyText,
    matching(
        _TOKEN_ENV,
        "token_env must look like COMMANDSYNC_TOKEN_MYBOT",
        "it names a variable of your environment; never write the token itself here",
        BeforeValidator,  # before any other check, which might show a pasted secret
    ),
    WithJsonSchema({"type": "string", "pattern": f"^{_TOKEN_ENV}$"}),
]

Version = Annotated[Literal["1"], BeforeValidator(_version), WithJsonSchema({"const": 1})]

Flag = Annotated[bool, BeforeValidator(_flag)]

Limit = Annotated[
    rules.DeleteLimit | None, PlainValidator(_limit), WithJsonSchema({"anyOf": _ANY_LIMIT})
]

Policy = Annotated[Literal["append", "mirror"], BeforeValidator(as_written)]
CommandForm = Annotated[Literal["slash", "prefix"], BeforeValidator(as_written)]


_DAY = r"2[0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_OF_DAY = r"([01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = f"{_DAY}[T ]{_OF_DAY}(:[0-5][0-9])?"
_WITH_ZONE = f"{_TIME}(Z|[+-]{_OF_DAY})"
_EXAMPLE = "2026-12-01T18:00Z"


def _time(value: Node, info: ValidationInfo[Context]) -> datetime:
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
