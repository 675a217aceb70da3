import json

import pytest

from commandsync.api.listing import reading
from commandsync.errors import DecodeError, Reply
from commandsync.records.snapshot import Entry, Snapshot, by_identity
from commandsync.records.texts import AnnouncementText, CommandText, Resource

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
def test_an_id_that_would_address_something_else_is_never_written_to(
    identifier: str, *, writable: bool
) -> None:
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
