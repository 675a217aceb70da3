"""`discord:` of an entry: a command in Discord's own words, as nodes -> an object of JSON.

Names, descriptions and texts in languages are strings as they are spelled; the value of a choice
follows the type of its option. Discord adds keys every year, so unknown ones are kept at every
level, read as JSON. The tables of keys at the end define the checks, and also the JSON Schema by
which editors complete an object and check it. How long a text may be is for the service to say.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

from pydantic import PlainValidator, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from commandsync.diagnostics import Hint
from commandsync.manifest.checks import (
    FLAGS,
    ValidationContext,
    as_json,
    as_written,
    shown,
    written_object,
)
from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence, called
from commandsync.manifest.source import quoted
from commandsync.records.texts import canonical

_WHOLE = re.compile("-?(0|[1-9][0-9]{0,16})")  # more digits than JSON's numbers can have
_BLOCK = ("|", ">")
_STRING, _INTEGER, _NUMBER = 3, 4, 10  # the types of options that may have choices
_COMMAND, _OPTION, _CHOICE = "discord", "an option", "a choice"
_WORDS: dict[str, tuple[str, ...]] = {  # types as libraries call them, from 1 on
    _COMMAND: ("chatinput", "user", "message", "primaryentrypoint"),
    _OPTION: (
        *("subcommand", "subcommandgroup", "string", "integer", "boolean", "user"),
        *("channel", "role", "mentionable", "number", "attachment"),
    ),
}


class _WrongError(Exception):
    """A value is not valid."""

    def __init__(self, message: str, hint: str | Hint = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class _Place(NamedTuple):
    """The place of a value: its key, the key's owner, and the type of the option around it."""

    key: str
    what: str
    kind: int | None = None

    def must_be(self, expected: str, node: Node, hint: str = "") -> _WrongError:
        """Return the error of a value that is not the expected one."""
        is_null = isinstance(node, Scalar) and node.is_null
        found = ("null" if node else "nothing") if is_null else shown(node)
        return _WrongError(f"{self.key} of {self.what} must be {expected}, not {found}", hint)


@dataclass(slots=True)
class _Reading:
    """Reads one object, and collects its problems: the place, the message, and a hint of each."""

    info: ValidationInfo[ValidationContext]
    problems: list[tuple[int, str, str | Hint]] = field(default_factory=list)

    def table(
        self, node: Node, keys: "_Keys", what: str, *, kind: int | None = None
    ) -> dict[str, Any]:
        """Read keys and values; those that are not known are read as JSON, and null is absent."""
        if not isinstance(node, Mapping):
            message = f"{what} must be keys and values, not {called(node)}"
            self.problems.append((node.at, message, "as Discord's documents write them"))
            return {}
        for key, rule in keys.items():
            if rule.needed and key not in node:
                self.problems.append((node.at, f"{what} needs a {key}", ""))
        kind = kind or _number(node.get("type"))
        values = {}
        for key, part in node.items():
            if key not in keys:
                values[str(key)] = as_json(part)
            elif not (keys[key].may_be_null and isinstance(part, Scalar) and part and part.is_null):
                values[str(key)] = self.value(keys[key].read, part, _Place(key, what, kind))
        return values

    def value(self, read: "_Read", node: Node, place: _Place) -> Any:  # noqa: ANN401 - of JSON
        """Read one value; None if it is wrong."""
        try:
            return read(self, node, place)
        except _WrongError as error:
            self.problems.append((node.at, error.message, error.hint))
            return None


_Read = Callable[[_Reading, Node, _Place], Any]


class _Key(NamedTuple):
    """A key: how its value is read, and its JSON Schema."""

    read: _Read
    schema: dict[str, Any]
    description: str
    needed: bool = False

    @property
    def may_be_null(self) -> bool:
        """Whether null is as good as leaving the key out."""
        return "null" in self.schema["type"]


_Keys = dict[str, _Key]


def _text(reading: _Reading, node: Node, place: _Place) -> str:
    """Read a string as it is spelled; a block is one without the line end behind it."""
    if not isinstance(node, Scalar) or node.is_null:
        is_null = isinstance(node, Scalar) and node
        raise place.must_be("a string", node, "quote it if the string is meant" if is_null else "")
    try:
        as_written(node, reading.info)
    except PydanticCustomError as error:
        context = error.context or {}
        raise _WrongError(context["message"], context["hint"]) from None
    is_block = not node.plain and reading.info.context.text.startswith(_BLOCK, node.at)
    return canonical(node) if is_block else str(node)


def _filled(reading: _Reading, node: Node, place: _Place) -> str:
    text = _text(reading, node, place)
    if not text.strip():
        raise _WrongError(f"{place.key} of {place.what} is empty")
    return text


def _digits(_: _Reading, node: Node, place: _Place) -> str:
    if isinstance(node, Scalar) and re.fullmatch("[0-9]+", node):
        return str(node)
    raise place.must_be("digits", node)


def _number(node: Node | None) -> int | None:
    is_whole = isinstance(node, Scalar) and node.plain and _WHOLE.fullmatch(node)
    return int(str(node)) if is_whole else None


def _whole(_: _Reading, node: Node, place: _Place) -> int:
    number = _number(node)
    if number is None:
        word = re.sub("[-_ ]", "", node).lower() if isinstance(node, Scalar) else ""
        words = _WORDS.get(place.what, ()) if place.key == "type" else ()
        hint = f"write {words.index(word) + 1}" if word in words else ""
        raise place.must_be("a whole number", node, hint)
    return number


def _decimal(_: _Reading, node: Node, place: _Place) -> int | float:
    value = as_json(node) if isinstance(node, Scalar) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise place.must_be("a number", node)
    return value


def _flag(_: _Reading, node: Node, place: _Place) -> bool:
    if isinstance(node, Scalar) and node.plain and node in FLAGS:
        return FLAGS[node]
    raise place.must_be("true or false", node)


def _numbers(reading: _Reading, node: Node, place: _Place) -> list[int]:
    if not isinstance(node, Sequence):
        raise place.must_be("a list of numbers", node)
    of_list = place._replace(key=f"each of the {place.key}")
    return [reading.value(_whole, part, of_list) for part in node]


def _languages(reading: _Reading, node: Node, place: _Place) -> dict[str, str]:
    if not isinstance(node, Mapping):
        raise place.must_be("a string for each language", node)
    of_texts = f"{place.key} of {place.what}"
    return {
        str(key): reading.value(_filled, part, _Place(key, of_texts)) for key, part in node.items()
    }


def _choice_value(reading: _Reading, node: Node, place: _Place) -> Any:  # noqa: ANN401 - by a type
    """Read the value of a choice, by the type of the option that has it."""
    match place.kind:
        case 3:
            return _text(reading, node, place)
        case 4:
            return _whole(reading, node, place)
        case 10:
            return _decimal(reading, node, place)
        case _ if isinstance(node, Scalar) and not node.is_null:
            return as_json(node)
        case _:
            raise place.must_be("a string or a number", node)


def _tables(keys: _Keys, what: str) -> _Read:
    """Return the reader of a list of options or of choices, which have different names."""

    def read(reading: _Reading, node: Node, place: _Place) -> list[dict[str, Any]]:
        if not isinstance(node, Sequence):
            raise place.must_be("a list", node)
        kind = place.kind if what == _CHOICE else None
        tables = [reading.table(part, keys, what, kind=kind) for part in node]
        names = set[object]()
        for part, table in zip(node, tables, strict=True):
            if (name := table.get("name")) is not None and name in names:
                message = f"{what} before it has the name {quoted(name)}, too"
                reading.problems.append((part.at, message, ""))
            names.add(name)
        return tables

    return read


_SCALAR = ["string", "number", "boolean"]
_FILLED = {"type": _SCALAR, "pattern": r"\S"}
_MAYBE_INTEGER: dict[str, Any] = {"type": ["integer", "null"]}
_MAYBE_NUMBER: dict[str, Any] = {"type": ["number", "null"]}
_MAYBE_FLAG: dict[str, Any] = {"type": ["boolean", "null"]}
_INTEGERS = {"type": ["array", "null"], "items": {"type": "integer"}}
_IN_LANGUAGES = {"type": ["object", "null"], "additionalProperties": _FILLED}


def _schema(keys: _Keys, *rules: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of keys and values; others are allowed beside them."""
    properties = {
        key: rule.schema | {"title": key, "description": rule.description}
        for key, rule in keys.items()
    }
    needed = [key for key, rule in keys.items() if rule.needed]
    return {
        "type": "object",
        "properties": properties,
        **({"required": needed} if needed else {}),
        **({"allOf": [*rules]} if rules else {}),
    }


def _list_of(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": ["array", "null"], "items": schema}


def _in_languages(text: str) -> _Key:
    return _Key(_languages, _IN_LANGUAGES, f"The {text} in other languages, such as de or en-US.")


_CHOICES: _Keys = {
    "name": _Key(
        _filled, _FILLED, "The text that users choose, of at most 100 characters.", needed=True
    ),
    "name_localizations": _in_languages("name"),
    "value": _Key(
        _choice_value,
        {"type": _SCALAR},
        "The value that the bot gets: of the same type as the option.",
        needed=True,
    ),
}


def _choices_of(kind: int, value: str) -> dict[str, Any]:
    """Return the rule that the choices of an option have values of its type."""
    values = {"properties": {"value": {"type": value}}}
    return {
        "if": {"properties": {"type": {"const": kind}}, "required": ["type"]},
        "then": {"properties": {"choices": {"items": values}}},
    }


_VALUES = _choices_of(_INTEGER, "integer"), _choices_of(_NUMBER, "number")
_OPTIONS: _Keys = {
    "type": _Key(
        _whole,
        {"type": "integer"},
        "1 sub-command, 2 group of sub-commands, 3 string, 4 integer, 5 boolean, 6 user, "
        "7 channel, 8 role, 9 user or role, 10 number, 11 attachment.",
        needed=True,
    ),
    "name": _Key(
        _filled, _FILLED, "The name, of at most 32 characters, in lower case.", needed=True
    ),
    "name_localizations": _in_languages("name"),
    "description": _Key(
        _filled, _FILLED, "The description, of at most 100 characters.", needed=True
    ),
    "description_localizations": _in_languages("description"),
    "required": _Key(
        _flag, _MAYBE_FLAG, "Whether users must give it. Required options come before the others."
    ),
    "choices": _Key(
        _tables(_CHOICES, _CHOICE),
        _list_of(_schema(_CHOICES)),
        "The only values that it takes, at most 25: of a string, an integer or a number.",
    ),
    "autocomplete": _Key(_flag, _MAYBE_FLAG, "Whether the bot suggests values; not with choices."),
    "min_value": _Key(_decimal, _MAYBE_NUMBER, "The smallest integer or number."),
    "max_value": _Key(_decimal, _MAYBE_NUMBER, "The largest integer or number."),
    "min_length": _Key(_whole, _MAYBE_INTEGER, "The fewest characters of a string."),
    "max_length": _Key(_whole, _MAYBE_INTEGER, "The most characters of a string."),
    "channel_types": _Key(
        _numbers,
        _INTEGERS,
        "The types of channels that it takes, such as 0 for text and 2 for voice.",
    ),
}
_OPTIONS["options"] = _Key(
    _tables(_OPTIONS, _OPTION),
    _list_of({"$ref": "#/definitions/option"}),
    "The options of a sub-command, or the sub-commands of a group; at most 25.",
)
_KEYS: _Keys = {
    "name": _Key(_filled, _FILLED, "The name at Discord; that of the entry wins."),
    "name_localizations": _in_languages("name"),
    "description": _Key(
        _text, {"type": _SCALAR}, "The description at Discord; that of the entry wins."
    ),
    "description_localizations": _in_languages("description"),
    "type": _Key(
        _whole,
        _MAYBE_INTEGER,
        "1 slash command (the default), 2 in the menu of a user, 3 in the menu of a message.",
    ),
    "id": _Key(
        _digits,
        {"type": ["string", "integer"], "pattern": "^[0-9]+$", "minimum": 0},
        "Optional pin: the id of the registered command.",
    ),
    "default_member_permissions": _Key(
        _digits,
        {"type": ["string", "integer", "null"], "pattern": "^[0-9]+$", "minimum": 0},
        'The permissions that members need, as a number; "0" for administrators alone.',
    ),
    "contexts": _Key(
        _numbers,
        _INTEGERS,
        "Where it can be used: 0 servers, 1 direct messages with the bot, 2 other ones.",
    ),
    "integration_types": _Key(
        _numbers,
        _INTEGERS,
        "For which installations it is there: 0 of servers, 1 of users.",
    ),
    "dm_permission": _Key(_flag, _MAYBE_FLAG, "Outdated: contexts say where it can be used."),
    "nsfw": _Key(_flag, _MAYBE_FLAG, "Whether it is for channels with an age restriction."),
    "handler": _Key(
        _whole, _MAYBE_INTEGER, "Only for an Entry Point command, which is left alone."
    ),
    "options": _OPTIONS["options"]._replace(
        description="The options, or the sub-commands and groups of them; at most 25."
    ),
}
OBJECT_SCHEMA = _schema(_KEYS)
DEFINITIONS = {"option": _schema(_OPTIONS, *_VALUES)}
"""The JSON Schema of an object, and of the options that it refers to, which may nest."""


def _checked(node: Node, info: ValidationInfo[ValidationContext]) -> dict[str, Any]:
    reading = _Reading(info)
    values = reading.table(node, _KEYS, _COMMAND)
    if reading.problems:
        raise PydanticCustomError("parts", "parts", {"problems": reading.problems})
    return values


DiscordObject = Annotated[
    dict[str, Any] | None, PlainValidator(_checked), WithJsonSchema({"type": "object"})
]
"""Discord's own object of a command, as people write it; None if left out."""

WrittenObject = Annotated[dict[str, Any] | None, PlainValidator(written_object)]
"""The same as an import writes it, in JSON: every key of the platform or the code is kept."""
