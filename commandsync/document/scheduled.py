"""The entries with a schedule, as a plan's document lists them."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from commandsync.document import part
from commandsync.plan.scheduled import Scheduled
from commandsync.records.schedule import Phase, Schedule
from commandsync.services.abilities import PAGE_ABILITIES


class ScheduledEntry(part.Model):
    """An entry of the manifest with a schedule."""

    resource: Annotated[
        part.ResourceField, part.one_of(kind for kind, can in PAGE_ABILITIES.items() if can.posts)
    ]
    name: str
    publish: part.TimeField | None
    until: part.TimeField | None
    phase: Phase = Field(
        strict=False,
        description="Where in its schedule it is: it waits for publish, is due, or has ended.",
    )
    listed: bool = Field(
        description="Whether a listed record matches it; after its end, only its own record."
    )
    location: part.LocationField | None

    def scheduled(self, now: datetime) -> Scheduled:
        """Return the entry at the time of the plan."""
        schedule = Schedule(publish=self.publish, until=self.until)
        return Scheduled(
            resource=self.resource,
            name=self.name,
            schedule=schedule,
            phase=schedule.phase(now),
            listed=self.listed,
            location=self.location,
        )


def scheduled_part(entry: Scheduled) -> ScheduledEntry:
    """Return the part for an entry with a schedule."""
    schedule = entry.schedule
    return ScheduledEntry.of(entry, publish=schedule.publish, until=schedule.until)
