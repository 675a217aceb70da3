"""How far a sync may go: the manifest's `sync:` policy as values, read by plan."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from commandsync.records.texts import Abilities, Patterns, Resource

MOST_WILDCARDS = 100  # patterns with a wildcard to ignore by; each is tried on every name
MOST_WILD_CHARACTERS = 2_000  # of these together: each is compared with those of every name
LIMIT_DECIMALS = 6  # of a percentage, at most
_TRAILING_ZEROS = re.compile(r"\.?0+$")
_PERCENTAGE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%")
_COUNT = re.compile(r"[0-9]{1,9}")
_WHOLE = 100.0


def shortest(value: float, decimals: int) -> str:
    """Write a number with at most so many decimals, without the zeros at its end."""
    return _TRAILING_ZEROS.sub("", f"{value:.{decimals}f}")


@dataclass(frozen=True, slots=True)
class DeleteLimit:
    """How many deletes one run may make. At most one of the two is set; neither means `all`."""

    count: int | None = None  # a number of records; 0 means none
    percent: float | None = None  # a percentage of what is listed, 0 to 100

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

    Raises `ValueError` if it is none of these, or more than 100 %.
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
    """What a sync may do beyond adding and editing."""

    prune: bool = True  # delete listed commands that the manifest does not have
    # Patterns (`*`, `?`, `[...]`) of names and titles that are never touched, in any case.
    ignore: tuple[str, ...] = ()
    max_deletes: DeleteLimit | None = None  # the guard's limit; None when nothing was configured
    # `append` adds what is missing; `mirror` also replaces and deletes.
    announcements: Literal["append", "mirror"] = "append"

    def manages(self, resource: Resource, abilities: Abilities) -> bool:
        """Whether listed records are changed and deleted: posts only where a policy says so."""
        posts = abilities[resource].posts
        return not posts or getattr(self, resource.collection, "append") == "mirror"

    def ignores(self, name: str) -> bool:
        """Whether a listed name or title (canonical) is never to be touched."""
        return self._ignored.match(name)

    @cached_property
    def _ignored(self) -> Patterns:
        return Patterns(self.ignore)
