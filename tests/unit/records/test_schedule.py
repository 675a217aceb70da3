from datetime import UTC, datetime, timedelta, timezone

import pytest

from commandsync.records.schedule import Phase, Schedule, shown_time
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from tests.support.schedules import day, post

SECOND = timedelta(seconds=1)


def test_a_phase_begins_with_its_very_second() -> None:
    schedule = Schedule(publish=day(2), until=day(4))

    assert schedule.phase(day(2) - SECOND) is Phase.WAITING
    assert schedule.phase(day(2)) is schedule.phase(day(4) - SECOND) is Phase.DUE
    assert schedule.phase(day(4)) is Phase.ENDED


def test_a_time_that_is_left_out_has_no_effect() -> None:
    far = [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]

    assert [Schedule(publish=day(2)).phase(now) for now in far] == [Phase.WAITING, Phase.DUE]
    assert [Schedule(until=day(2)).phase(now) for now in far] == [Phase.DUE, Phase.ENDED]


def test_an_instant_is_the_same_in_every_zone() -> None:
    there = day(2).astimezone(timezone(timedelta(hours=-11)))

    assert Schedule(publish=day(2)).phase(there) is Phase.DUE


def test_an_entry_without_a_schedule_is_due_without_a_time() -> None:
    assert post("always").phase(None) is Phase.DUE
    with pytest.raises(ValueError, match="'v2' has a schedule: a time is necessary"):
        post("v2", publish=2).phase(None)


def test_a_snapshot_knows_what_is_due() -> None:
    entries = (post("a"), post("b", publish=2), post("c", until=2), post("d", publish=1, until=3))
    snapshot = Snapshot({Resource.ANNOUNCEMENT: entries})

    due = snapshot.due(day(2)).collections[Resource.ANNOUNCEMENT]

    assert [entry.name for entry in due] == ["a", "b", "d"]


def test_a_time_is_shown_with_its_seconds_if_it_has_any() -> None:
    assert shown_time(day(1)) == "2026-12-01 18:00 UTC"
    assert shown_time(day(1) + 7 * SECOND) == "2026-12-01 18:00:07 UTC"


def test_two_schedules_are_apart_if_one_has_ended_when_the_other_begins() -> None:
    early, late = Schedule(until=day(2)), Schedule(publish=day(2))

    assert early.is_apart_from(late)
    assert late.is_apart_from(early)
    assert not early.is_apart_from(Schedule(publish=day(2) - SECOND))
    assert not early.is_apart_from(early)
    assert not late.is_apart_from(late)
    assert not Schedule().is_apart_from(late)
