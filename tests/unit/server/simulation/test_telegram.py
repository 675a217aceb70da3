"""Telegram's list can be read, and has a scope and a language."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from commandsync.testing import SimulatedListing, serve_simulation
from tests.support.simulations import TELEGRAM_PING as PING
from tests.support.simulations import ask, call

HELP = {"command": "help", "description": "Zeigt die Hilfe."}


def test_a_list_is_set_read_and_deleted(telegram: SimulatedListing) -> None:
    stored = call(telegram, "setMyCommands", commands=[PING, HELP])
    read = call(telegram, "getMyCommands")
    deleted = call(telegram, "deleteMyCommands")
    after = call(telegram, "getMyCommands")

    assert stored.content == deleted.content == {"ok": True, "result": True}
    assert read.content == {"ok": True, "result": [PING, HELP]}
    assert after.content == {"ok": True, "result": []}
    assert telegram.writes == [("default", [PING, HELP]), ("default", [])]


def test_every_scope_and_language_has_a_list_of_its_own(telegram: SimulatedListing) -> None:
    chat = {"type": "chat", "chat_id": 42}
    lists: dict[str, dict[str, Any]] = {
        "default": {"scope": {"type": "default"}, "language_code": ""},
        "default de": {"language_code": "de"},
        "chat 42 de": {"scope": chat, "language_code": "de"},
    }
    for number, parameters in enumerate(lists.values()):
        command = {**PING, "command": f"c{number}"}
        call(telegram, "setMyCommands", commands=[command], **parameters)
        assert call(telegram, "getMyCommands", **parameters).content["result"] == [command]

    assert [key for key, _ in telegram.writes] == [*lists]
    assert [command["command"] for command in telegram.commands] == ["c0"]


def test_parameters_may_be_a_query_or_a_form(telegram: SimulatedListing) -> None:
    form = urlencode({"commands": json.dumps([PING]), "language_code": "fr"}).encode()
    path = f"/bot{telegram.token}/"
    media_type = "application/x-www-form-urlencoded"
    ask(telegram, "POST", f"{path}setmycommands", form, Content_Type=media_type)
    read = [
        ask(telegram, "GET", f"{path}getMyCommands?language_code={code}", Content_Type="")
        for code in ("fr", "it")
    ]

    assert [reply.content["result"] for reply in read] == [[PING], []]


@pytest.mark.parametrize("parameters", [{}, {"commands": [PING], "scope": "x"}])
def test_wrong_parameters_are_a_bad_request(
    telegram: SimulatedListing, parameters: dict[str, object]
) -> None:
    reply = call(telegram, "setMyCommands", **parameters)

    assert reply.status == 400
    assert telegram.writes == []


def test_the_bot_describes_itself(telegram: SimulatedListing) -> None:
    me = call(telegram, "getMe").content["result"]

    assert str(me["id"]) == telegram.bot == telegram.token.partition(":")[0]
    assert me["is_bot"] is True


def test_reads_show_a_write_late() -> None:
    with serve_simulation("telegram", lag=3_600) as listing:
        call(listing, "setMyCommands", commands=[PING])
        read = call(listing, "getMyCommands")

    assert read.content["result"] == listing.commands == []
    assert listing.writes == [("default", [PING])]
