"""Scheduled entries of the manifest at the time of a plan: what is due, waits and has ended."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from commandsync.diagnostics import Location
from commandsync.records.rewrites import text_agrees
from commandsync.records.schedule import Phase, Schedule
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """An entry with a schedule, as a plan found it."""

    resource: Resource
    name: str
    schedule: Schedule  # when it is to be listed
    phase: Phase  # where in its schedule it is at the time of the plan
    listed: bool  # whether a listed record matches it; of one that has ended, only its own record
    location: Location | None = None


def by_phase(entries: Sequence[Entry], now: datetime | None) -> tuple[Sequence[Entry], int]:
    """Return entries in the order of their phases, and how many are due.

    Of equal entries the first one matches a listed record. One that has ended would delete the
    record of one that is due, and one that waits would never be posted after one that has ended.
    """
    if all(entry.schedule is None for entry in entries):  # as nearly always
        return entries, len(entries)
    phases = [entry.phase(now) for entry in entries]
    order = list(Phase)
    ordered = sorted(range(len(entries)), key=lambda n: order.index(phases[n]))
    return [entries[n] for n in ordered], phases.count(Phase.DUE)


def scheduled(
    resource: Resource,
    wanted: Sequence[Entry],
    matched: Mapping[int, Entry],
    *,
    now: datetime | None,
) -> Iterator[Scheduled]:
    """Yield the entries with a schedule; `matched` has the listed entry for each wanted index."""
    for index, entry in enumerate(wanted):
        if entry.schedule is not None:
            phase, listed = entry.phase(now), matched.get(index)
            yield Scheduled(
                resource=resource,
                name=entry.name,
                schedule=entry.schedule,
                phase=phase,
                listed=listed is not None and (phase is not Phase.ENDED or is_own(entry, listed)),
                location=entry.location,
            )


def is_own(entry: Entry, listed: Entry) -> bool:
    """Whether a listed record that matches an entry is its own: by its pin, or all of its text.

    A service may have rewritten the text. One that shares only the name may be somebody's new one.
    """
    return bool(entry.id and entry.id == listed.id) or text_agrees(listed.text, sent=entry.text)
