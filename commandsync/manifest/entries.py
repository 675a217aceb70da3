"""What a manifest applies to its records, and a record with its place in the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from commandsync.manifest.source import MOST_BYTES
from commandsync.records.texts import canonical

if TYPE_CHECKING:
    from commandsync.manifest.nodes import Mapping
    from commandsync.manifest.problems import FileProblems
    from commandsync.manifest.source import Allowance
    from commandsync.records.snapshot import Entry

_PREFIX = re.compile(r"\{\{prefix\}\}|\{prefix\}")
_LITERAL = "{prefix}"


class UnfitError(Exception):
    """A record's field cannot be completed.

    Attributes:
        field: Its key.
        message: Why.
        hint: What to do; may be empty.
    """

    def __init__(self, field: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.field, self.message, self.hint = field, message, hint


class Settings(NamedTuple):
    """What a manifest defines for all of its commands.

    Attributes:
        allowance: What the manifest may still take up; what prefixes add is taken from it.
        prefix: What `{prefix}` stands for; None when there is none.
        category: The category of commands that have none.
    """

    allowance: Allowance
    prefix: str | None = None
    category: str = ""

    def filled(self, field: str, text: str) -> str:
        """Return a text with the prefix filled in.

        Raises:
            UnfitError: There is no prefix, nothing is left, or it becomes too much.
        """
        if _LITERAL not in text:
            return text
        prefix = self.prefix or ""
        uses = text.count(_LITERAL) - text.count("{{prefix}}")
        if uses and self.prefix is None:
            raise UnfitError(
                field,
                f"the {field} uses {{prefix}}, and the manifest has no prefix:",
                "add prefix: to the manifest, or write {{prefix}} for the literal text",
            )
        if self.allowance.characters < 0:
            return text  # reported already
        self.allowance.characters -= uses * max(len(prefix) - len(_LITERAL), 0)
        if self.allowance.characters < 0:
            raise UnfitError(
                field,
                f"the values of the manifest have more than {MOST_BYTES:,} characters once "
                "{prefix} is filled in",
                "shorten the prefix, or write it out where it is needed",
            )
        filled = _PREFIX.sub(lambda match: prefix if match[0] == _LITERAL else _LITERAL, text)
        filled = canonical(filled)
        if not filled:
            raise UnfitError(field, f"{field} is empty once {{prefix}} is filled in")
        return filled


class Placed(NamedTuple):
    """An entry with its node, for problems that only show beside other entries."""

    entry: Entry
    node: Mapping
    report: FileProblems

    @property
    def name_at(self) -> int:
        """Where its name or title is."""
        return self.node[self.entry.text._fields[0]].at
