"""A list that Telegram does not take for its size: said by a plan, and never sent."""

from __future__ import annotations

import pytest

from tests.support.destination import Destination
from tests.support.home import checked
from tests.support.rawserver import Request

INVALID = 4
LISTED = [f"old{number}" for number in range(95)]
NEW = [f"new{number}" for number in range(10)]
KEPT = {
    "prune": (NEW, "sync: {prune: false}\n", ()),
    "ignore": (NEW, 'sync: {ignore: ["old*"]}\n', ()),
    "only": ([*NEW, *LISTED[:90]], "", ("--only", "new*")),
}


def sized(description: int) -> list[dict[str, str]]:
    """Return 63 commands with descriptions of a length: 123 bytes each with one of 78."""
    return [
        {"command": f"command_{number:05}", "description": "d" * description}
        for number in range(63)
    ]


def described(description: int) -> list[tuple[str, str]]:
    return [(each["command"], each["description"]) for each in sized(description)]


def sends(request: Request) -> bool:
    return "setMyCommands" in request.path


@pytest.mark.parametrize("by", KEPT)
def test_more_commands_than_the_service_takes_are_refused(telegram: Destination, by: str) -> None:
    telegram.sent(*LISTED)
    wanted, policy, options = KEPT[by]
    telegram.write(*wanted, more=policy)

    planned = telegram.home.run("plan", *options)
    as_json = telegram.home.run("plan", "--format", "json", *options)
    applied = telegram.apply(*options, form="text")

    message = "would send 105 commands to telegram, which takes at most 100 commands"
    assert (planned.code, applied.code) == (0, INVALID)
    assert f"refused: this plan {message}" in planned.said
    assert checked(as_json, "plan")["refused"]["message"] == message
    assert message in applied.said
    assert "prune: false, ignore" in applied.said
    assert not any(map(sends, telegram.proxy.requests))
    assert telegram.names == LISTED
    assert telegram.secret not in planned.said + applied.said


def test_as_many_commands_as_the_service_takes_are_sent(telegram: Destination) -> None:
    telegram.sent(*LISTED)
    telegram.write(*NEW[:5], more="sync: {prune: false}\n")

    telegram.apply(exits=0)

    assert telegram.names == [*LISTED, *NEW[:5]]


@pytest.mark.parametrize("description", [79, 80, 256])
def test_more_bytes_than_the_service_takes_are_refused(
    telegram: Destination, description: int
) -> None:
    telegram.write(*described(description))

    planned, applied = telegram.home.run("plan"), telegram.apply(form="text")

    size = 63 * (description + 45) + 1
    message = f"would send {size:,} bytes to telegram, which takes at most 7,750 bytes"
    assert (planned.code, applied.code) == (0, INVALID)
    assert f"refused: this plan {message}" in planned.said
    assert message in applied.said
    assert "limits: {description: 60}" in applied.said
    assert not any(map(sends, telegram.proxy.requests))
    assert telegram.secret not in planned.said + applied.said


def test_as_many_bytes_as_the_service_takes_are_sent(telegram: Destination) -> None:
    telegram.write(*described(78))

    telegram.apply(exits=0)

    assert len(telegram.names) == 63


def test_the_size_counts_letters_as_they_are_and_not_their_escapes(telegram: Destination) -> None:
    telegram.write(*[(name, "д" * 39) for name, _ in described(0)])

    telegram.apply(exits=0)

    assert len(telegram.names) == 63


def test_the_way_out_that_is_named_works(telegram: Destination) -> None:
    telegram.write(*described(256), more="    limits: {description: 60}\n")

    telegram.apply(exits=0)

    assert {len(each["description"]) for each in telegram.listing.commands} == {60}


def test_a_list_that_is_already_shown_is_not_refused(telegram: Destination) -> None:
    telegram.sent(*LISTED)
    telegram.write(*LISTED[:3], more="    limits: {commands: 3}\nsync: {prune: false}\n")

    telegram.apply(exits=0)

    assert telegram.names == LISTED


def test_the_simulation_refuses_what_the_service_refused(telegram: Destination) -> None:
    accepted = telegram.post("setMyCommands", commands=sized(78))
    refused = telegram.post("setMyCommands", commands=sized(80))

    assert accepted == {"ok": True, "result": True}
    assert refused["error_code"] == 400
    assert refused["description"] == "Bad Request: BOT_COMMANDS_TOO_MUCH"
