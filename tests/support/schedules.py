"""Scheduled announcements, and the clock of runs in this process."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from commandsync.diagnostics import Location
from commandsync.records.snapshot import Entry, Schedule
from commandsync.records.texts import AnnouncementText
from commandsync.sync import settings

_FIRST = datetime(2026, 12, 1, 18, tzinfo=UTC)


def day(number: int) -> datetime:
    """Return 18:00 UTC of a day of December 2026, the first being 1."""
    return _FIRST + timedelta(days=number - 1)


def post(
    title: str,
    text: str = "Out.",
    *,
    publish: int | None = None,
    until: int | None = None,
    id: str = "",  # noqa: A002 - the field's own name
) -> Entry:
    """Return an announcement of the manifest, with the days of its schedule."""
    schedule = Schedule(
        publish=None if publish is None else day(publish),
        until=None if until is None else day(until),
    )
    return Entry(
        AnnouncementText(title, text),
        id,
        Location("commands.yaml", 3, 5),
        schedule=None if schedule == Schedule() else schedule,
    )


def posted(title: str, text: str = "Out.", *, id: str) -> Entry:  # noqa: A002 - as above
    """Return a listed announcement."""
    return Entry(AnnouncementText(title, text), id)


def set_clock(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let runs in this process begin at 18:00 UTC of a day of December 2026.

    It replaces the clock in the one place where a run reads it.
    """
    monkeypatch.setattr(settings, "datetime", SimpleNamespace(now=lambda _zone: day(number)))
