"""What is compared and sent: the text of a command or an announcement, in one form.

Nothing here knows YAML, HTTP or pydantic: a text is a named tuple, so that equality is equality of
all fields.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

_LINE_END = re.compile(r"\r+\n")


class Resource(StrEnum):
    """A kind of record that can be managed."""

    COMMAND = "command"
    ANNOUNCEMENT = "announcement"

    @property
    def collection(self) -> str:
        """The name of the whole: the manifest's key and the last part of the service's path."""
        return f"{self.value}s"


class CommandText(NamedTuple):
    """What a command says, as compared and as sent; no category is `""`."""

    name: str
    description: str
    syntax: str
    category: str = ""


class AnnouncementText(NamedTuple):
    """What an announcement says, as compared and as sent."""

    title: str
    description: str


Text = CommandText | AnnouncementText
"""A record's text; its first field is what people call it by."""


def canonical(text: str) -> str:
    """Return a field as it is compared and sent: LF line ends, no surrounding blanks.

    Nothing else is folded: case, inner blanks and Unicode forms are the author's. What is canonical
    stays as it is: of several CR before an LF none is left to be folded when the text is read back.
    """
    return _LINE_END.sub("\n", text).strip()
