"""A JSON file with the places of its values; every problem with it is one error with its place."""

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from commandsync.api.content import TooLargeError, decode_json
from commandsync.diagnostics import Hint, Location
from commandsync.errors import FileError

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_REASONS: dict[type[Exception], str] = {
    RecursionError: "it is nested too deeply",
    UnicodeDecodeError: "it is not UTF-8, UTF-16 or UTF-32",
}


class JsonFile:
    """The text of a JSON file; without a path its values have no place.

    Raises:
        FileError: It is not valid JSON, is nested too deep, or has too many values.
    """

    def __init__(self, data: bytes, path: str) -> None:
        self.path, name = path, path or "the answer"
        try:
            self.text = decode_json(data)
            content = json.loads(self.text)
        except json.JSONDecodeError as error:
            place = Location(name, error.lineno, error.colno)
            raise FileError(f"{place}: not valid JSON: {error.msg.lower()}") from error
        except TooLargeError as error:
            raise FileError(f"{name} is too large: {error}") from error
        except (ValueError, RecursionError) as error:
            why = _REASONS.get(type(error), "a number has too many digits")
            raise FileError(f"{name} is not valid JSON: {why}") from error
        self.root = JsonValue(content, _skip(self.text, 0), self)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def location(self, at: int) -> Location | None:
        """Return the place of a character, given its index in the text."""
        if not self.path:
            return None
        line = bisect_right(self._line_starts, at)
        return Location(self.path, line, at - self._line_starts[line - 1] + 1)


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A value of a JSON file: its content, and the index of its first character."""

    content: Any
    at: int
    file: JsonFile

    @property
    def place(self) -> Location | None:
        """Where it begins."""
        return self.file.location(self.at)

    def members(self) -> dict[Any, "JsonValue"]:
        """Return the members of an object by their keys, or of a list by their indices."""
        text, at = self.file.text, _skip(self.file.text, self.at + 1)
        members: dict[Any, JsonValue] = {}
        while text[at] not in "]}":
            key: Any = len(members)
            if text[self.at] == "{":
                key, at = _DECODER.raw_decode(text, at)
                at = _skip(text, _skip(text, at) + 1)  # the colon
            if key in members:
                raise self.problem(f"the key {key!r} is defined twice")
            content, end = _DECODER.raw_decode(text, at)
            members[key] = JsonValue(content, at, self.file)
            at = _skip(text, end)
            if text[at] == ",":
                at = _skip(text, at + 1)
        return members

    def problem(self, message: str, hint: str | Hint = "") -> FileError:
        """Return an error about it."""
        return FileError(f"{self.place or 'the answer'}: {message}", hint=hint)


def text_of(values: Mapping[str, Any], key: str) -> str:
    """Return a text of an object without the space around it; empty for any other value."""
    value = values.get(key)
    return value.strip() if isinstance(value, str) else ""


def as_list(value: Any) -> list[Any]:  # noqa: ANN401 - of JSON, or of code
    """Return the members of a list; anything else as the only one."""
    return value if isinstance(value, list) else [value]


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
