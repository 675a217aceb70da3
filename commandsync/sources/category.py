"""The category of an imported command: the first of four sources that has one."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commandsync.sources.entry import SourceEntry


def category_of(
    entry: SourceEntry, *, written: str | None, patterns: Mapping[str, str], default: str
) -> str:
    """Return the category of a command; `""` for none.

    Args:
        entry: The command, as its source declares it.
        written: The category in the manifest; None if the manifest does not have the command yet,
            or writes no category.
        patterns: Patterns (`*`, `?`, `[...]`, upper and lower case alike) and their categories. The
            first one counts that matches the name, or the cog, folder or group.
        default: The category of all other commands.
    """
    if written is not None:
        return written
    for pattern, category in patterns.items():
        if matches(pattern, entry.name) or matches(pattern, entry.category or ""):
            return category
    return entry.category or default


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern (`*`, `?`, `[...]`) matches a text, in upper or lower case."""
    return fnmatchcase(text.casefold(), pattern.casefold())
