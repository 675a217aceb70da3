"""Texts: the text of a command or an announcement, as compared and as sent.

A text is a named tuple: equality is equality of all fields. No YAML, HTTP or pydantic is needed.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_LINE_END = re.compile(r"\r+\n")


class CommandText(NamedTuple):
    """The text of a command; no category is `""`."""

    name: str
    description: str
    syntax: str
    category: str = ""


class AnnouncementText(NamedTuple):
    """The text of an announcement."""

    title: str
    description: str


Text = CommandText | AnnouncementText
"""The text of a record; its first field is the name or title."""


class Resource(StrEnum):
    """A kind of record: its fields, and what the listing service allows for it."""

    COMMAND = "command"
    ANNOUNCEMENT = "announcement"

    @property
    def collection(self) -> str:
        """The plural: the manifest's key and the last part of the service's path."""
        return f"{self.value}s"

    @property
    def with_article(self) -> str:
        """The singular with its article, for sentences."""
        return f"{'an' if self.value[0] in 'aeiou' else 'a'} {self.value}"

    @property
    def text(self) -> type[Text]:
        """The type of its text."""
        return _KINDS[self].text

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its fields; the first one is the name or title."""
        return self.text._fields

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the fields that must not be empty."""
        return tuple(field for field in self.fields if field not in self.text._field_defaults)

    @property
    def editable(self) -> bool:
        """Whether the service can edit a listed record.

        What cannot be edited is replaced, and only on request: readers see it as new each time.
        """
        return _KINDS[self].editable

    @property
    def schedulable(self) -> bool:
        """Whether the manifest can say from when and until when a record is listed."""
        return _KINDS[self].schedulable

    @property
    def unique(self) -> bool:
        """Whether a manifest may contain each text only once; an announcement may be repeated."""
        return _KINDS[self].unique


class _Kind(NamedTuple):
    text: type[Text]
    editable: bool
    schedulable: bool
    unique: bool


_KINDS = {
    Resource.COMMAND: _Kind(CommandText, editable=True, schedulable=False, unique=True),
    Resource.ANNOUNCEMENT: _Kind(AnnouncementText, editable=False, schedulable=True, unique=False),
}


def canonical(text: str) -> str:
    """Return a field as it is compared and sent: LF line ends, no surrounding whitespace.

    Nothing else is folded: case, inner spaces and Unicode forms are the author's. What is canonical
    stays as it is: of several CR before an LF none is left to be folded when the text is read back.
    """
    return _LINE_END.sub("\n", text).strip()


def by_category(commands: Iterable[CommandText]) -> dict[str, tuple[CommandText, ...]]:
    """Return commands by category, both in the order of their first appearance.

    Commands without a category come first, under `""`, so that a list can begin with them.
    """
    found: dict[str, list[CommandText]] = {"": []}
    for command in commands:
        found.setdefault(command.category, []).append(command)
    return {category: tuple(members) for category, members in found.items() if members}
