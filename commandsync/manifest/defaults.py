"""What a manifest defines for all of its commands: the prefix in their syntax, and a category."""

from typing import NamedTuple

from commandsync.manifest.source import MOST_BYTES, Allowance
from commandsync.records.texts import canonical

_LITERAL, _ESCAPED = "{prefix}", "{{prefix}}"


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
