"""How far a sync may go: the manifest's `sync:` policy as values, read by plan."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from commandsync.records.texts import Resource

MOST_WILDCARDS = 100
"""Patterns with a wildcard that a manifest may ignore by; each is tried on every name."""

MOST_WILD_CHARACTERS = 2_000
"""Of these patterns together: each may be compared with every character of every name."""

MOST_COMPARED = 1_000
"""Characters of a name that these patterns are compared with: of a longer one, both ends."""

LIMIT_DECIMALS = 6
"""Of a percentage, at most."""

_TRAILING_ZEROS = re.compile(r"\.?0+$")
_WILDCARDS = re.compile(r"[*?[]")
_PERCENTAGE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%")
_COUNT = re.compile(r"[0-9]{1,9}")
_WHOLE = 100.0


def shortest(value: float, decimals: int) -> str:
    """Write a number with at most so many decimals, without the zeros at its end."""
    return _TRAILING_ZEROS.sub("", f"{value:.{decimals}f}")


@dataclass(frozen=True, slots=True)
class DeleteLimit:
    """How many deletes one run may make. At most one of the two is set; neither means `all`.

    Attributes:
        count: A number of records; 0 means none.
        percent: A percentage of what is listed, 0 to 100.
    """

    count: int | None = None
    percent: float | None = None

    @property
    def unlimited(self) -> bool:
        """Whether every delete is allowed."""
        return self.count is None and self.percent is None

    def __str__(self) -> str:
        if self.percent is not None:
            return shortest(self.percent, LIMIT_DECIMALS) + "%"
        return "all" if self.count is None else str(self.count)


def parse_delete_limit(text: str) -> DeleteLimit:
    """Read a limit as users write it: `12`, `30%`, `12.5%` or `all`.

    Raises:
        ValueError: It is none of these, or more than 100 %.
    """
    stripped = text.strip()
    if stripped.lower() == "all":
        return DeleteLimit()
    if _COUNT.fullmatch(stripped):
        return DeleteLimit(count=int(stripped))
    match = _PERCENTAGE.fullmatch(stripped)
    if match is None or float(match[1]) > _WHOLE:
        raise ValueError(f"{text!r} is not a limit: give a number, a percentage up to 100%, or all")
    return DeleteLimit(percent=float(match[1]))


@dataclass(frozen=True)
class SyncRules:
    """What a sync may do beyond adding and editing.

    Attributes:
        prune: Delete listed commands that the manifest does not have.
        ignore: Patterns (`*`, `?`, `[...]`) of names and titles that are never touched, in upper
            or lower case: a service may change that.
        max_deletes: The guard's limit; None when nothing was configured.
        announcements: `append` adds what is missing; `mirror` also replaces and deletes.
    """

    prune: bool = True
    ignore: tuple[str, ...] = ()
    max_deletes: DeleteLimit | None = None
    announcements: Literal["append", "mirror"] = "append"

    def manages(self, resource: Resource) -> bool:
        """Whether listed records are changed and deleted: all that can be edited, or by policy."""
        return resource.editable or bool(getattr(self, resource.collection) == "mirror")

    def ignores(self, name: str) -> bool:
        """Whether a listed name or title (canonical) is never to be touched."""
        names, patterns = self._ignored
        if name.casefold() in names:
            return True
        if len(name) > MOST_COMPARED:
            name = name[: MOST_COMPARED // 2] + name[-MOST_COMPARED // 2 :]
        return patterns is not None and patterns.match(name) is not None

    @cached_property
    def _ignored(self) -> tuple[frozenset[str], re.Pattern[str] | None]:
        """The patterns without a wildcard, case-folded, and the others as one expression."""
        wild = [translate(pattern) for pattern in self.ignore if has_wildcard(pattern)]
        names = (pattern.casefold() for pattern in self.ignore if not has_wildcard(pattern))
        # To the letter as well: "[!A]" matches an "a", and not where case is ignored.
        either = "|".join(f"{pattern}|(?i:{pattern})" for pattern in wild)
        return frozenset(names), re.compile(either) if wild else None


def has_wildcard(pattern: str) -> bool:
    """Whether a pattern may match more than one name."""
    return _WILDCARDS.search(pattern) is not None
