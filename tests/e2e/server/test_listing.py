"""What is listed is what was written, in its order, and nothing else; and how answers look."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from tests.support.bots import WRITABLE, Service
from tests.support.callers import COMMAND, NOTICE, OPERATIONS, ROOT, Caller

Record = dict[str, Any]

REAL = json.loads((ROOT / "tests" / "fixtures" / "listed.json").read_text(encoding="utf-8"))
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def test_a_body_of_a_read_or_a_delete_is_ignored(caller: Caller) -> None:
    """Published clients send one with every request."""
    record = caller.added()

    assert caller.ask("GET", "/commands", {})[1]["data"] == [record]
    assert caller.ask("DELETE", f"/commands/{record['id']}", {})[0] == 200
    assert caller.ask("GET", "/voters/7", {})[1]["voted"] is False


def test_the_whole_life_of_a_listing_is_as_described(caller: Caller) -> None:
    caller.ask("GET")
    caller.ask_anywhere("GET", "/v1/bots")
    caller.ask("POST", "/commands", {**COMMAND, "category": "Fun"})
    (command,) = caller.listed()
    caller.ask("POST", "/commands", {**COMMAND, "id": command["id"], "name": "pong"})
    caller.ask("PUT", "/commands", {**COMMAND, "id": command["id"], "category": ""})
    caller.ask("PUT", f"/commands/{command['id']}/uses", {"uses": 3})
    (edited,) = caller.listed()
    caller.ask("DELETE", f"/commands/{command['id']}")
    caller.ask("POST", "/announcements", NOTICE)
    (announcement,) = caller.listed("announcements")
    caller.ask("DELETE", f"/announcements/{announcement['id']}")
    caller.ask("POST", "/stats", {"servers": 1})
    caller.ask("POST", "/votes", {"user": {"id": "7"}})
    for voters in ("/voters", "/voters/7"):
        caller.ask("GET", voters)

    assert (edited["id"], edited["uses"], edited.get("category")) == (command["id"], 3, None)
    assert caller.listed() == caller.listed("announcements") == []
    assert caller.seen == {(method, path, 200) for method, path in OPERATIONS}
    assert len(OPERATIONS) == 14


# Reading


def test_a_bot_has_every_documented_field(caller: Caller) -> None:
    status, answer = caller.ask("GET")
    bot = answer["data"]

    assert status == 200
    assert set(bot) == {
        *("provider", "id", "profile", "prefix", "information", "statistics", "state"),
        *("certificate", "inviteURL", "ratings", "vanity", "theme", "status"),
        *("createdAt", "updatedAt"),
    }
    assert set(bot["profile"]) == {
        *("avatar", "avatarURL", "username", "discriminator", "tag", "banner")
    }
    assert set(bot["information"]) == {"description", "overview", "creator", "tags"}
    assert set(bot["information"]["creator"]) == {"isTeam", "id"}
    assert set(bot["statistics"]) == {
        *("servers", "dailyVotes", "weeklyVotes", "monthlyVotes", "totalVotes")
    }
    assert set(bot["theme"]) == {"enabled", "automatic", "color", "colorLighter"}
    assert bot["ratings"] == {"average": None, "total": 0}
    assert re.fullmatch(TIME, bot["createdAt"])


@pytest.mark.parametrize("path", ["", "/commands", "/announcements", "/voters", "/voters/7"])
@pytest.mark.parametrize("bot", ["4711", "%00", "%FF", "%F0%9F%A4%96", "%2e%2e"])
def test_an_unknown_bot_is_not_found(caller: Caller, bot: str, path: str) -> None:
    nobody = replace(caller, bot=bot)
    status, answer = nobody.ask("GET", path, Authorization=None)

    assert (status, "the bot is" in answer["error"]) == (404, True)


# Commands


def test_an_added_command_is_listed(caller: Caller) -> None:
    status, answer = caller.ask("POST", "/commands", {**COMMAND, "category": "Fun", "__v": 3})
    (command,) = caller.listed()

    assert (status, set(answer)) == (200, {"success", "message", "passingTime"})
    assert re.fullmatch("[0-9a-f]{24}", command["id"])
    assert re.fullmatch(TIME, command["createdAt"])
    assert command == {
        **COMMAND,
        "category": "Fun",
        "uses": 0,
        "id": command["id"],
        "createdAt": command["createdAt"],
        "updatedAt": command["createdAt"],
    }


def test_every_real_command_of_a_seed_is_listed_exactly_and_in_order(service: Service) -> None:
    bot = service.bot(REAL)
    listed = Caller(bot.url, bot.id, bot.token).listed()

    assert [_text(one) for one in listed] == [_text(one) for one in REAL]
    assert [one["uses"] for one in listed] == [one["uses"] for one in REAL]
    assert len({one["id"] for one in listed}) == len(REAL) == 656


def _text(record: Record) -> dict[str, str]:
    return {name: record[name] for name in WRITABLE if record.get(name)}


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_an_edit_keeps_id_place_uses_and_creation(caller: Caller, method: str) -> None:
    before = caller.added(category="Fun")
    caller.added(name="later")
    caller.ask("PUT", f"/commands/{before['id']}/uses", {"uses": 12})
    change = {"id": before["id"], "name": "pong", "description": "d", "syntax": "s"}
    status, _ = caller.ask(method, "/commands", {**change, "category": "Other"})
    after = caller.listed()[0]

    assert status == 200
    assert after["updatedAt"] >= before["updatedAt"]
    assert after == {
        **change,
        "category": "Other",
        "uses": 12,
        "createdAt": before["createdAt"],
        "updatedAt": after["updatedAt"],
    }


# Announcements


@pytest.mark.parametrize("uses", [0, 12, 12.0, 2**53 - 1, 2.0**53 - 1])
def test_setting_uses_is_not_an_edit(caller: Caller, uses: float) -> None:
    before = caller.added()

    assert caller.ask("PUT", f"/commands/{before['id']}/uses", {"uses": uses})[0] == 200
    assert caller.listed() == [{**before, "uses": int(uses)}]
