import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from commandsync.api.operations import reading
from commandsync.errors import DecodeError, Reply
from commandsync.records.snapshot import Entry, Phase, Schedule, Snapshot, by_identity, shown_time
from commandsync.records.texts import AnnouncementText, CommandText, Resource
from tests.support.plans import day, post

TEXT = CommandText("help", "Shows the menu.", "/help")


def reply(records: object) -> Reply:
    return Reply(200, json.dumps({"success": True, "data": records}).encode())


def record(identifier: str | None, **changed: object) -> dict[str, object]:
    return {"id": identifier, **TEXT._asdict(), **changed}


def test_commands_are_read_as_they_are_compared() -> None:
    told = record("1", description=" Shows the menu.\r\n", category=None, uses=3)

    entries = reading("42", Resource.COMMAND).read(reply([told]))

    assert entries == (Entry(TEXT, id="1", uses=3),)


@pytest.mark.parametrize(
    ("sent", "uses"),
    [
        *((count, count) for count in (0, 1, 2**63 - 1)),
        *((odd, None) for odd in (None, -1, 2**63, 10**400, "many", True, [3])),
        ("1,840", 1840),
        (7.0, 7),
    ],
)
def test_uses_are_a_counter_or_not_known(sent: object, uses: int | None) -> None:
    entries = reading("42", Resource.COMMAND).read(reply([record("1", uses=sent)]))

    assert [entry.uses for entry in entries] == [uses]


def test_announcements_are_read_as_they_are_compared() -> None:
    operation = reading("42", Resource.ANNOUNCEMENT)

    entries = operation.read(reply([{"_id": "1", "title": " v1 ", "description": "Out.\r\nNow."}]))

    assert operation.path == "/bot/42/announcements"
    assert entries == (Entry(AnnouncementText("v1", "Out.\nNow."), id="1"),)


def test_two_records_with_one_id_are_one_but_two_without_are_two() -> None:
    same = [record("1"), record("1"), record(None), record(""), record("2")]

    entries = reading("42", Resource.COMMAND).read(reply(same))

    assert [one.id for one in entries] == ["1", "", "", "2"]


def test_what_is_no_list_is_an_error() -> None:
    with pytest.raises(DecodeError, match="no list of commands"):
        reading("42", Resource.COMMAND).read(reply(None))


@pytest.mark.parametrize(
    ("identifier", "writable"), [("", False), (".", False), ("..", False), ("...", True)]
)
def test_an_id_of_something_else_is_never_written_to(identifier: str, *, writable: bool) -> None:
    entry = Entry(TEXT, id=identifier)

    assert entry.writable is writable
    assert entry.name == "help"


def test_the_scope_is_what_is_present_in_a_fixed_order() -> None:
    both = Snapshot({Resource.ANNOUNCEMENT: (), Resource.COMMAND: ()})

    assert both.scope == (Resource.COMMAND, Resource.ANNOUNCEMENT)
    assert Snapshot().scope == ()


def test_records_without_an_id_are_distinct_by_text_and_number() -> None:
    entries = [Entry(TEXT), Entry(TEXT, id=".."), Entry(TEXT, id="1"), Entry(TEXT)]

    assert list(by_identity(entries)) == [(TEXT, 0), (TEXT, 1), "1", (TEXT, 2)]


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
