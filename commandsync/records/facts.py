"""What is known of a listing service: its abilities and limits, each with its source."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple


class Answer(StrEnum):
    """Whether a service has an ability; unknown where no source says it."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Reads(StrEnum):
    """What a service returns of a list of commands."""

    NO = "no"
    LIST = "whole list"
    RECORDS = "records"


class Limit(NamedTuple):
    """What a service accepts as the text of a field, or as a number of records.

    Lengths are counted in UTF-16 code units, as JavaScript does: of the ways in which services
    count, none counts more, so that a text that fits here fits everywhere.
    """

    least: int = 0
    most: int | None = None  # the greatest length or number; None for any
    pattern: str = ""  # a regular expression for the whole text; empty for any text
    lower_case: bool = False  # whether letters must be lower-case where they have a lower case
    allowed: str = ""  # the characters of the pattern in words; empty for any

    def is_short(self, text: str) -> bool:
        """Whether a text is shorter than the least length."""
        return _units(text) < self.least

    def is_long(self, text: str) -> bool:
        """Whether a text is longer than the greatest length."""
        return self.most is not None and _units(text) > self.most

    def allows(self, text: str) -> bool:
        """Whether the characters of a text are allowed, whatever its length."""
        if self.lower_case and text != text.lower():
            return False
        return not self.pattern or re.fullmatch(self.pattern, text) is not None

    def shortened(self, text: str) -> str:
        """Return a text that is not longer: cut after a word, with `…`; one long word is cut."""
        if self.most is None or not self.is_long(text):
            return text
        start = text[: self.most - 1]
        while _units(start) >= self.most:
            start = start[: len(start) - (_units(start) - self.most + 2) // 2]
        whole = re.match(r"(?s:.*\S)(?=\s)", text[: len(start) + 1])
        return f"{whole[0] if whole else start}…"


class Source(NamedTuple):
    """Where facts are from: a document's title and URL, and the month in which it was read."""

    title: str
    url: str = ""
    checked: str = ""

    def says(self, value: Answer | Reads | Limit | int) -> "Fact":
        """Return a fact with this source."""
        return Fact(value, self)


class Fact(NamedTuple):
    """One fact of a service."""

    # An answer, a number, or what is accepted; `Answer.UNKNOWN` where the source does not say it.
    value: Answer | Reads | Limit | int
    source: Source  # where it is from

    @property
    def number(self) -> int | None:
        """The number; None if it is not known."""
        return self.value if isinstance(self.value, int) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a service's lists of commands."""

    read: Fact  # what it returns of a list
    replace: Fact  # whether one request replaces the whole list
    write: Fact  # whether records are written one by one
    clear: Fact  # whether a list may be empty
    ids: Fact  # whether records have ids
    uses: Fact  # whether it counts how often a command is used
    order: Fact  # whether it keeps the order of a list
    options: Fact  # whether it takes options as Discord's commands have them
    announcements: Fact  # whether it takes announcements
    # How many records a list may have; of commands with sub-commands, how many commands.
    most_records: Fact
    most_sub_commands: Fact  # how many sub-commands and groups a command or a group may have
    levels: Fact  # how many levels of sub-commands a command may have
    wait: Fact  # how many seconds a 429 costs
    fields: Mapping[str, Fact]  # whether it takes each field of a command
    # What it accepts as the text of a field.
    limits: Mapping[str, Fact] = field(default_factory=lambda: MappingProxyType({}))

    def takes(self, name: str) -> bool:
        """Whether the service takes a field."""
        return name in self.fields and self.fields[name].value is Answer.YES

    def limit(self, name: str) -> Limit:
        """Return what the service accepts as the text of a field; any text if that is not known."""
        fact = self.limits.get(name)
        return fact.value if fact and isinstance(fact.value, Limit) else Limit()


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
