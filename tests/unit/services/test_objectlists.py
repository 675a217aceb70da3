"""The array as Discord has it, and the requests of the services that take it."""

from __future__ import annotations

import re
import sys
import unicodedata
from dataclasses import replace

import pytest

from commandsync.errors import ArgumentError, DecodeError, Invalid, NotFound, Reply, Unauthorized
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText, Resource
from commandsync.services.catalogue import DISCORD_BOT_LIST, TOP_GG, objects
from commandsync.services.discordobjects import NAME
from commandsync.services.service import ListService
from tests.support.destination import is_in_discord_names

LIST = Snapshot({Resource.COMMAND: (Entry(CommandText("ban", "Bans.", "")),)})
NEWS = AnnouncementText("Version 2", "Slash commands everywhere.")


def test_sub_commands_are_within_their_command() -> None:
    names = ["ban", "config set prefix", "config get", "help", "config set language"]
    commands = [CommandText(name, f"Does {name}.", "") for name in names]
    entries = map(Entry, [*commands, CommandText("config set", "Changes.", "")])

    assert objects(Snapshot({Resource.COMMAND: tuple(entries)})) == [
        {"name": "ban", "description": "Does ban.", "type": 1},
        {
            "name": "config",
            "description": "…",
            "type": 1,
            "options": [
                {
                    "name": "set",
                    "description": "Changes.",
                    "type": 2,
                    "options": [
                        {"name": "prefix", "description": "Does config set prefix.", "type": 1},
                        {"name": "language", "description": "Does config set language.", "type": 1},
                    ],
                },
                {"name": "get", "description": "Does config get.", "type": 1},
            ],
        },
        {"name": "help", "description": "Does help.", "type": 1},
    ]


def test_the_characters_of_a_name_are_discords() -> None:
    characters = "".join(map(chr, range(sys.maxunicode + 1)))
    allowed = set("".join(re.findall(NAME.pattern, characters)))

    # not of one script alone, or not in this version of Unicode
    other = {*"\u0951\u0952\u0953\u0954\u0964\u0965"}
    other |= {each for each in characters if unicodedata.category(each) == "Cn"}
    assert allowed - other == set(filter(is_in_discord_names, characters)) - other


@pytest.mark.parametrize(
    ("service", "method", "path", "authorization"),
    [
        (TOP_GG, "PUT", "/api/v1/projects/@me/commands", "Bearer {token}"),
        (DISCORD_BOT_LIST, "POST", "/api/v1/bots/42/commands", "Bot {token}"),
    ],
)
def test_a_list_is_replaced_in_one_request(
    service: ListService, method: str, path: str, authorization: str
) -> None:
    operation = service.replace("42", LIST)

    assert (operation.method, operation.path, operation.query) == (method, path, ())
    assert operation.body == [{"name": "ban", "description": "Bans.", "type": 1}]
    assert operation.idempotent
    assert service.authorization == authorization
    assert operation.read(Reply(204, b"")) is None
    assert service.replace("42", Snapshot({Resource.COMMAND: ()})).body == []


@pytest.mark.parametrize("service", [TOP_GG, DISCORD_BOT_LIST])
def test_a_list_that_is_not_managed_is_not_sent(service: ListService) -> None:
    for snapshot in (Snapshot(), Snapshot({Resource.ANNOUNCEMENT: ()})):
        with pytest.raises(ValueError, match="not managed"):
            service.replace("42", snapshot)


@pytest.mark.parametrize("service", [TOP_GG, DISCORD_BOT_LIST])
def test_a_list_cannot_be_read(service: ListService) -> None:
    with pytest.raises(ArgumentError, match="does not return its list of commands"):
        service.read("42", Resource.COMMAND)


def test_a_bot_is_one_part_of_the_path() -> None:
    assert (
        DISCORD_BOT_LIST.replace("4/2{token}", LIST).path
        == "/api/v1/bots/4%2F2%7Btoken%7D/commands"
    )
    with pytest.raises(ArgumentError, match="which bot"):
        DISCORD_BOT_LIST.replace("", LIST)


@pytest.mark.parametrize("status", [404, 405])
def test_top_gg_gets_a_post_once_where_it_has_no_put(status: int) -> None:
    operation = TOP_GG.replace("42", LIST)
    with pytest.raises((NotFound, Invalid)) as refusal:
        operation.read(Reply(status, b""))

    second = operation.after(refusal.value)
    assert second == replace(operation, method="POST", fallback=None)
    assert second.after(refusal.value) is None


@pytest.mark.parametrize("status", [400, 401, 403, 422, 429, 500])
def test_top_gg_gets_no_second_request_after_another_refusal(status: int) -> None:
    operation = TOP_GG.replace("42", LIST)
    with pytest.raises(Exception) as refusal:  # noqa: PT011 - which one is tested elsewhere
        operation.read(Reply(status, b""))

    assert operation.after(refusal.value) is None  # type: ignore[arg-type]  # of any kind
    assert operation.after(DecodeError("", reply=Reply(404, b""))) is None
    assert DISCORD_BOT_LIST.replace("42", LIST).after(NotFound("", reply=Reply(404, b""))) is None


def test_the_token_of_top_gg_is_checked_by_reading_its_project() -> None:
    assert TOP_GG.check is not None
    operation = TOP_GG.check()

    assert (operation.method, operation.path) == ("GET", "/api/v1/projects/@me")
    assert operation.read(Reply(200, b'{"id": "1", "name": "Lantern"}')) == "Lantern"
    assert operation.read(Reply(200, b'{"id": "1"}')) == ""
    assert operation.read(Reply(200, b"[]")) == ""
    with pytest.raises(Unauthorized):
        operation.read(Reply(401, b"{}"))
    with pytest.raises(DecodeError):
        operation.read(Reply(200, b"<html>"))


def test_an_announcement_is_posted_once() -> None:
    assert TOP_GG.announce is not None
    operation = TOP_GG.announce(NEWS, "new_feature")

    assert (operation.method, operation.path) == ("POST", "/api/v1/projects/@me/announcements")
    assert operation.body == {
        "title": "Version 2",
        "content": "Slash commands everywhere.",
        "category": "new_feature",
    }
    assert not operation.idempotent
    assert operation.read(Reply(200, b'{"title": "Version 2"}')) is None
    assert DISCORD_BOT_LIST.announce is None


@pytest.mark.parametrize(
    ("text", "category", "message"),
    [
        (NEWS._replace(title="v2"), "event", "title of an announcement at top.gg has 3 to 100"),
        (NEWS._replace(title="v" * 101), "event", "has 3 to 100 characters"),
        (NEWS._replace(description="Short."), "event", "description .* has 10 to 2,000"),
        (NEWS._replace(description="a" * 2001), "event", "has 10 to 2,000 characters"),
        (NEWS, "news", "'news' is not a category .*: announcement, event, new_feature"),
    ],
)
def test_a_long_announcement_fails(text: AnnouncementText, category: str, message: str) -> None:
    assert TOP_GG.announce is not None
    with pytest.raises(ArgumentError, match=message):
        TOP_GG.announce(text, category)
