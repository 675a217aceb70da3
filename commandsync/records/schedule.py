"""Schedules: from which time and until which time an entry of the manifest is to be listed."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Self


class Phase(StrEnum):
    """Where in its schedule an entry is at a time."""

    DUE = "due"
    """It is to be listed, as an entry without a schedule always is."""

    ENDED = "ended"
    """Its `until` has passed: it is not to be listed any more."""

    WAITING = "waiting"
    """Its `publish` has not come: it is not to be listed yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When an entry is to be listed."""

    publish: datetime | None = None  # from this time on, in UTC; None for always
    # Up to this time, which is after `publish`, in UTC; None for no end.
    until: datetime | None = None

    def phase(self, now: datetime) -> Phase:
        """Return the phase at a time; each begins with its very second."""
        if self.until is not None and self.until <= now:
            return Phase.ENDED
        is_early = self.publish is not None and now < self.publish
        return Phase.WAITING if is_early else Phase.DUE

    def is_apart_from(self, other: Self) -> bool:
        """Whether one of the two has ended when the other begins."""
        pairs = (self.until, other.publish), (other.until, self.publish)
        return any(end is not None and begin is not None and end <= begin for end, begin in pairs)


def shown_time(time: datetime) -> str:
    """Return a time in UTC for people: `2026-12-01 18:00 UTC`, with its seconds if it has any."""
    return f"{time:%Y-%m-%d %H:%M:%S}".removesuffix(":00") + " UTC"
