from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.api import operations
from commandsync.api.operations import Operation
from commandsync.records.texts import AnnouncementText, CommandText, Resource

TEXT = CommandText("help", "Shows the menu.", "/help [command]", "General")
BARE = CommandText("help", "Shows the menu.", "/help [command]")
NEWS = AnnouncementText("v2.0 is out", "Slash commands everywhere.")

TABLE: list[tuple[Operation[Any], str, str, dict[str, Any] | None, bool, bool]] = [
    (operations.list_bots(), "GET", "/bots", None, True, False),
    (operations.get_bot("42"), "GET", "/bot/42", None, True, False),
    (operations.list_voters("42"), "GET", "/bot/42/voters", None, True, False),
    (operations.check_vote("42", "7"), "GET", "/bot/42/voters/7", None, True, False),
    (
        operations.list_records("42", Resource.ANNOUNCEMENT),
        *("GET", "/bot/42/announcements", None, True, False),
    ),
    (
        operations.add("42", Resource.ANNOUNCEMENT, NEWS),
        *("POST", "/bot/42/announcements"),
        {"title": "v2.0 is out", "description": "Slash commands everywhere."},
        *(False, False),
    ),
    (
        operations.delete("42", Resource.ANNOUNCEMENT, "a1"),
        *("DELETE", "/bot/42/announcements/a1", None, True, True),
    ),
    (operations.list_records("42", Resource.COMMAND), "GET", "/bot/42/commands", None, True, False),
    (
        operations.add("42", Resource.COMMAND, TEXT),
        *("POST", "/bot/42/commands", TEXT._asdict(), False, False),
    ),
    (
        operations.edit("42", Resource.COMMAND, "c1", TEXT),
        *("POST", "/bot/42/commands", {"id": "c1", **TEXT._asdict()}, True, False),
    ),
    (
        operations.delete("42", Resource.COMMAND, "c1"),
        *("DELETE", "/bot/42/commands/c1", None, True, True),
    ),
    (
        operations.set_uses("42", "c1", 12),
        "PUT",
        "/bot/42/commands/c1/uses",
        {"uses": 12},
        True,
        False,
    ),
    (
        operations.post_stats("42", servers=12, shards=0),
        "POST",
        "/bot/42/stats",
        {"servers": 12, "shards": 0},
        True,
        False,
    ),
    (
        operations.cast_vote("42", "7", username="Ann"),
        "POST",
        "/bot/42/votes",
        {"user": {"id": "7", "username": "Ann"}},
        False,
        False,
    ),
]


@pytest.mark.parametrize(
    ("operation", "method", "path", "body", "idempotent", "gone_is_done"),
    TABLE,
    ids=[row[0].name for row in TABLE],
)
def test_every_call_is_what_the_interface_says(
    operation: Operation[Any],
    method: str,
    path: str,
    body: dict[str, Any] | None,
    *,
    idempotent: bool,
    gone_is_done: bool,
) -> None:
    assert (operation.method, operation.path, operation.query) == (method, path, ())
    assert operation.body == body
    assert (operation.idempotent, operation.gone_is_done) == (idempotent, gone_is_done)


def test_a_new_command_without_a_category_leaves_it_out() -> None:
    added = operations.add("42", Resource.COMMAND, BARE)

    assert added.body is not None
    assert "category" not in added.body


def test_a_cleared_category_is_sent_as_empty() -> None:
    edited = operations.edit("42", Resource.COMMAND, "c1", BARE)

    assert edited.body is not None
    assert edited.body["category"] == ""


def test_what_is_not_known_of_a_bot_or_a_user_is_left_out() -> None:
    assert operations.post_stats("42", servers=0).body == {"servers": 0}
    assert operations.cast_vote("42", 7).body == {"user": {"id": "7"}}


def test_bots_are_asked_for_with_what_is_given_and_nothing_else() -> None:
    asked = operations.list_bots(
        limit=100, page=2, q="a&b", sort="votes", ids=("1", "2"), certified=True, tags=("fun",)
    )
    some = operations.list_bots(certified=False, q="")

    assert asked.query == (
        ("limit", "100"),
        ("page", "2"),
        ("q", "a&b"),
        ("sort", "votes"),
        ("ids", "1,2"),
        ("certified", "true"),
        ("tags", "fun"),
    )
    assert some.query == (("q", ""), ("certified", "false"))


def test_voters_are_asked_for_by_page() -> None:
    asked = operations.list_voters("42", page=1, limit=10)

    assert asked.query == (("page", "1"), ("limit", "10"))


@pytest.mark.parametrize("identifier", ["", ".", ".."])
@pytest.mark.parametrize(
    "make",
    [
        operations.get_bot,
        lambda given: operations.delete("42", Resource.COMMAND, given),
        lambda given: operations.delete("42", Resource.ANNOUNCEMENT, given),
        lambda given: operations.edit("42", Resource.COMMAND, given, TEXT),
        lambda given: operations.set_uses("42", given, 1),
        lambda given: operations.check_vote("42", given),
        lambda given: operations.cast_vote("42", given),
    ],
    ids=["bot", "delete", "delete announcement", "edit", "uses", "vote check", "vote"],
)
def test_a_wrong_identifier_is_refused(make: Callable[[str], object], identifier: str) -> None:
    with pytest.raises(ValueError, match=r"is not a valid identifier|which bot"):
        make(identifier)


@given(st.text(min_size=1).filter(lambda text: text.strip() not in {"", ".", ".."}))
def test_any_identifier_stays_one_part_of_the_path(identifier: str) -> None:
    path = operations.delete("42", Resource.COMMAND, identifier).path
    last = path.removeprefix("/bot/42/commands/")

    assert not set("/?#\\ ") & set(last)
    assert last.isascii()
    assert unquote(last, errors="strict") == identifier


def test_half_a_surrogate_can_be_addressed() -> None:
    assert operations.get_bot("\ud83d").path == "/bot/%ED%A0%BD"
