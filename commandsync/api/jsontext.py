"""Untrusted JSON as values; refused before parsing if its values would take too much memory."""

import json
import re
import sys
from typing import Any

MOST_VALUES = 1_000_000
"""Counted by the characters between values, those in strings too; 20,000 commands have half."""

MOST_MEMORY = 64 * 2**20
"""Bytes of the decoded text: with one emoji, every character takes four."""


class TooLargeError(ValueError):
    """The values would take too much memory; the message names the limit."""


_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_ESCAPES = re.compile(
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"  # whole
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|[\ud800-\udfff]"
)


def decode(data: bytes) -> str:
    """Decode JSON in any of its encodings.

    Half of a surrogate pair, escaped or not, becomes U+FFFD: it cannot be written to a file.
    Services leave one where they cut a text in the middle of an emoji. Raises `TooLargeError` if
    the text takes too much memory, and `UnicodeDecodeError` if it is not in an encoding of JSON.
    """
    text = data.decode(json.detect_encoding(data), "surrogatepass")
    check_size(text)
    if _HALF.search(text):
        text = _ESCAPES.sub(lambda match: match[1] or "\ufffd", text)
    return text.removeprefix("\ufeff")


def check_size(text: str) -> None:
    """Raise `TooLargeError` for a text that is too large, or has too many values."""
    if sys.getsizeof(text) > MOST_MEMORY:
        raise TooLargeError(f"it takes more than {MOST_MEMORY // 2**20} MiB of memory")
    if sum(map(text.count, ",[{")) > MOST_VALUES:
        raise TooLargeError(f"it contains more than {MOST_VALUES:,} values")


def parse(data: bytes) -> Any:  # noqa: ANN401 - JSON is anything
    """Return the values of an answer's body.

    Raises `TooLargeError`, `ValueError` if it is not JSON, and `RecursionError` for deep nesting.
    """
    return json.loads(decode(data))
