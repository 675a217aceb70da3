"""Each simulated service replaces its list, shows it, and accepts what its documents allow."""

from typing import Any

import pytest

from commandsync.testing import SimulatedListing, serve_simulation
from tests.support.simulations import PING, TELEGRAM_PING, pings, send

SUCCESS = {
    "top.gg": (204, ""),
    "discordbotlist.com": (200, {"success": True}),
    "telegram": (200, {"ok": True, "result": True}),
    "bots.ondiscord.xyz": (204, ""),
    "disq.ink": (200, {"status": 200, "message": "OK"}),
    "radarcord.net": (200, {"message": "Success"}),
}
AS_DISCORD = ["top.gg", "discordbotlist.com", "disq.ink", "radarcord.net"]
BAN = {"name": "ban", "description": "Bans a user.", "type": 1}
SHOW = {"name": "show", "description": "Logs.", "type": 2, "options": [BAN]}
USER = {"name": "user", "description": "Who.", "type": 6, "required": True}
GROUP = {**PING, "name": "mod", "options": [{**BAN, "options": [USER]}, SHOW]}


def test_a_list_is_replaced_and_answered_as_documented(simulated: SimulatedListing) -> None:
    first, second = pings(simulated.service), pings(simulated.service, 2)
    replies = [send(simulated, records)[:2] for records in (first, second)]

    assert replies == [SUCCESS[simulated.service]] * 2
    assert simulated.commands == second
    assert simulated.writes == [("default", first), ("default", second)]


def test_a_list_has_a_limit(simulated: SimulatedListing) -> None:
    most = 200 if simulated.service in {"disq.ink", "bots.ondiscord.xyz"} else 100
    records = pings(simulated.service, most + 1)
    accepted, refused = send(simulated, records[:most]), send(simulated, records)

    assert accepted[:2] == SUCCESS[simulated.service]
    assert refused.status in {400, 422}
    assert len(simulated.commands) == most


@pytest.mark.parametrize("service", AS_DISCORD)
def test_sub_commands_menus_and_names_of_all_scripts_are_accepted(service: str) -> None:
    names = [{**PING, "name": name} for name in ("größe", "खोज", "ค้นหา", "a" * 32)]
    records = [GROUP, {"type": 2, "name": "Report User"}, *names]
    with serve_simulation(service) as listing:
        send(listing, records)

    assert listing.commands == records


WRONG: dict[str, dict[str, Any]] = {
    "no name": {"description": "Says pong."},
    "empty name": {**PING, "name": ""},
    "long name": {**PING, "name": "a" * 33},
    "upper case": {**PING, "name": "Ping"},
    "space": {**PING, "name": "mod ban"},
    "no description": {"name": "ping"},
    "long description": {**PING, "description": "a" * 101},
    "type": {**PING, "type": 5},
    "three levels": {**GROUP, "options": [{**SHOW, "options": [SHOW]}]},
    "26 options": {**PING, "options": [{**USER, "name": f"o{n}"} for n in range(26)]},
}


@pytest.mark.parametrize("entry", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("service", AS_DISCORD)
def test_entries_follow_the_rules_of_discord(service: str, entry: dict[str, Any]) -> None:
    with serve_simulation(service) as listing:
        reply = send(listing, [PING, entry])

    assert reply.status in {400, 422}
    assert listing.writes == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"command": "Ping"},
        {"command": "mod ban"},
        {"command": "a" * 33},
        {"command": None},
        {"description": ""},
        {"description": "a" * 257},
    ],
)
def test_one_wrong_entry_fails_the_whole_call_of_telegram(
    telegram: SimulatedListing, wrong: dict[str, Any]
) -> None:
    reply = send(telegram, [TELEGRAM_PING, TELEGRAM_PING | wrong])

    assert reply.content["description"] == "Bad Request: BOT_COMMAND_INVALID"
    assert telegram.writes == []


def test_ondiscord_has_longer_texts_and_no_list() -> None:
    entry = {"name": "Ping", "description": "a" * 1_000, "category": "Fun"}
    with serve_simulation("bots.ondiscord.xyz") as listing:
        bodies = [[entry], [{**entry, "description": "a" * 1_001}], None]
        statuses = [send(listing, body).status for body in bodies]

    assert statuses == [204, 400, 204]
    assert [records for _, records in listing.writes] == [[entry], []]
