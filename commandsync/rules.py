"""How far a sync may go: the manifest's `sync:` policy as values, read by plan."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from commandsync.texts import Resource

if TYPE_CHECKING:
    from collections.abc import Iterable

_PERCENTAGE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%")
_COUNT = re.compile(r"[0-9]{1,9}")
_WHOLE = 100.0
_WILDCARD = re.compile(r"[*?[]")

MOST_ALIKE = 100
"""Patterns to ignore that may have the same text before their first wildcard: a name that begins
with it is compared with each of them."""


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
            return f"{self.percent:.6f}".rstrip("0").rstrip(".") + "%"
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
        raise ValueError(f"{text!r} is no limit: give a number, a percentage up to 100%, or all")
    return DeleteLimit(percent=float(match[1]))


@dataclass(frozen=True)
class SyncRules:
    """What a sync may do beyond adding and editing.

    Attributes:
        prune: Delete listed commands that the manifest does not have.
        ignore: Patterns (`*`, `?`, `[...]`, upper and lower case differ) of names and titles that
            are never touched.
        max_deletes: The guard's limit; None when nothing was configured.
        announcements: `append` adds what is missing; `mirror` also replaces and deletes.
    """

    prune: bool = True
    ignore: tuple[str, ...] = ()
    max_deletes: DeleteLimit | None = None
    announcements: Literal["append", "mirror"] = "append"

    def prunes(self, resource: Resource) -> bool:
        """Whether listed records of this kind that the manifest does not have are deleted."""
        return self.prune and (resource is Resource.COMMAND or self.announcements == "mirror")

    def ignores(self, name: str) -> bool:
        """Whether a listed name or title (canonical) is never to be touched."""
        return bool(self.ignore) and self._ignored.match(name)

    def crowded(self) -> int | None:
        """Return the index of the first pattern that is one too many of its start."""
        seen: Counter[str] = Counter()
        for index, pattern in enumerate(self.ignore):
            start = _start(pattern)
            if start is not None:
                seen[start] += 1
                if seen[start] > MOST_ALIKE:
                    return index
        return None

    @cached_property
    def _ignored(self) -> _Patterns:
        return _Patterns(self.ignore)


class _Patterns:
    """Patterns by the text before their first wildcard: a name is compared with few of many.

    Args:
        patterns: As `SyncRules.ignore` has them.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._names: set[str] = set()
        self._by_start: defaultdict[str, list[str]] = defaultdict(list)
        for pattern in patterns:
            start = _start(pattern)
            if start is None:
                self._names.add(pattern)
            else:
                self._by_start[start].append(pattern)
        self._lengths = sorted({len(start) for start in self._by_start})
        self._compiled: dict[str, re.Pattern[str]] = {}

    def match(self, name: str) -> bool:
        """Whether one of the patterns matches the whole name."""
        return name in self._names or any(
            self._expression(start).match(name)
            for start in dict.fromkeys(name[:length] for length in self._lengths)
            if start in self._by_start
        )

    def _expression(self, start: str) -> re.Pattern[str]:
        if start not in self._compiled:
            some = map(translate, self._by_start[start])
            self._compiled[start] = re.compile("|".join(some))
        return self._compiled[start]


def _start(pattern: str) -> str | None:
    """Return the text before the first wildcard; None for a pattern that has no wildcard."""
    wildcard = _WILDCARD.search(pattern)
    return None if wildcard is None else pattern[: wildcard.start()]
