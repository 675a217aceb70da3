"""Discord and Telegram keep what a program registers, whatever it calls in which order."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.simulation import discord, telegram
from commandsync.simulation.exchange import Request

NOW = datetime(2026, 3, 4, tzinfo=UTC)
_NAMES = st.sampled_from(["ban", "help", "kick", "play"])
_COMMANDS = st.builds(
    lambda name, text: {"type": 1, "name": name, "description": text},
    _NAMES,
    st.text(min_size=1, max_size=9),
)
_LISTS = st.lists(_COMMANDS, max_size=4, unique_by=lambda command: command["name"])
_MENUS = _LISTS.map(
    lambda listed: [
        {"command": part["name"], "description": part["description"]} for part in listed
    ]
)
_SCOPES = st.sampled_from(["", "/guilds/77"])
_OWN_KEYS = {"id", "version", "application_id", "guild_id"}
_REQUIRED = {  # of a command in Discord's own description of its answers
    *("id", "application_id", "version", "default_member_permissions"),
    *("type", "name", "description"),
}
_PATH = "/api/v10/applications/42/commands"


class Discord:
    """A state of Discord that requests change, with what was answered."""

    def __init__(self) -> None:
        self.state = discord.ApplicationState("42")

    def call(self, method: str, path: str = _PATH, body: object = None) -> tuple[int, Any]:
        """Send a request; a body of bytes is sent as it is."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = Request(method=method, path=path, body=b"" if body is None else sent)
        response, self.state = discord.respond(request, self.state, now=NOW)
        return response.status, response.content

    @property
    def registered(self) -> dict[str, list[dict[str, Any]]]:
        """The commands that a recording has."""
        return self.state.registered()


@given(st.lists(st.tuples(_SCOPES, _LISTS), max_size=5))
def test_the_last_list_of_each_scope_is_recorded(calls: list[tuple[str, list[Any]]]) -> None:
    simulated = Discord()
    for scope, commands in calls:
        simulated.call("PUT", f"/api/v10/applications/42{scope}/commands", commands)

    last = {scope.removeprefix("/guilds/"): commands for scope, commands in calls}
    assert {scope: each for scope, each in simulated.registered.items() if each} == {
        scope: each for scope, each in last.items() if each
    }


@given(_LISTS, st.lists(st.tuples(st.sampled_from(["POST", "PATCH", "DELETE"]), _COMMANDS)))
def test_single_commands_are_recorded_as_a_list_with_an_upsert(
    start: list[Any], calls: list[tuple[str, dict[str, Any]]]
) -> None:
    simulated = Discord()
    simulated.call("PUT", body=start)
    model = {command["name"]: command for command in start}
    for method, command in calls:
        ids = {each["name"]: each["id"] for each in simulated.call("GET")[1]}
        if method == "POST":
            simulated.call("POST", body=command)
            model[command["name"]] = command
            continue
        path = f"{_PATH}/{ids.get(command['name'], '5')}"
        status, _ = simulated.call(method, path, command)
        if command["name"] not in model:
            assert status == 404
        elif method == "PATCH":
            model[command["name"]] = command
        else:
            del model[command["name"]]

    recorded = simulated.registered.get("", [])
    assert {command["name"]: command for command in recorded} == model


def test_ids_stay_over_a_replaced_list_and_never_leave_the_simulation() -> None:
    simulated = Discord()
    first = simulated.call("PUT", body=[{"name": "a", "description": "A"}])[1]
    new = [{"name": "b", "description": "B"}, {"name": "a", "description": "New"}]
    again = simulated.call("PUT", body=new)[1]

    assert again[1]["id"] == first[0]["id"]
    assert again[0].keys() >= _REQUIRED
    assert "default_member_permissions" not in simulated.registered[""][0]
    assert not _OWN_KEYS & {key for command in simulated.registered[""] for key in command}


def test_two_commands_of_one_name_and_different_types_are_two() -> None:
    simulated = Discord()
    both = [{"name": "a", "description": "A", "type": 1}, {"name": "a", "type": 3}]
    simulated.call("PUT", body=both)

    assert [(each["name"], each["type"]) for each in simulated.registered[""]] == [
        ("a", 1),
        ("a", 3),
    ]


def test_an_unknown_command_and_an_unknown_request_are_errors_of_discord() -> None:
    simulated = Discord()

    assert simulated.call("DELETE", f"{_PATH}/9")[1]["code"] == 10063
    assert simulated.call("GET", "/api/v10/galaxies")[0] == 404
    assert simulated.state.unknown == ("GET /galaxies",)


def test_any_id_of_an_application_is_accepted() -> None:
    simulated = Discord()
    path = "/api/v10/applications/YOUR_CLIENT_ID/commands"

    assert simulated.call("PUT", path, [{"name": "a", "description": "A"}])[0] == 200


def _option(**keys: object) -> dict[str, Any]:
    return {"type": 3, "name": "text", "description": "A text", **keys}


def _nested(levels: int) -> dict[str, Any]:
    command: dict[str, Any] = _option()
    for kind in (1, *[2] * levels):
        command = {"type": kind, "name": "a", "description": "A", "options": [command]}
    return command


_WRONG: dict[str, object] = {
    "no name": {"name": None},
    "a number as its name": {"name": 7},
    "a name in capitals": {"name": "Ban"},
    "a space in a name": {"name": "ban it"},
    "a long name": {"name": "a" * 33},
    "no description": {"description": ""},
    "a long description": {"description": "a" * 101},
    "an unknown type": {"type": 9},
    "a description of a menu": {"type": 2},
    "too many options": {"options": [_option(name=f"o{n}") for n in range(26)]},
    "an unknown option": {"options": [_option(type=12)]},
    "two options of a name": {"options": [_option(), _option()]},
    "a required option last": {"options": [_option(), _option(name="b", required=True)]},
    "a group in a group": {"options": [_nested(2)]},
    "too many choices": {"options": [_option(choices=[{"name": "a", "value": "a"}] * 26)]},
    "too many characters": {
        "options": [
            _option(name=f"o{n}", choices=[{"name": "a" * 90, "value": "b" * 90}] * 25)
            for n in range(2)
        ]
    },
}


@pytest.mark.parametrize("wrong", _WRONG.values(), ids=_WRONG)
@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_registration_that_is_not_valid_changes_nothing(wrong: Any, method: str) -> None:  # noqa: ANN401 - any JSON
    simulated = Discord()
    simulated.call("PUT", body=[{"name": "ban", "description": "Bans"}])
    before = simulated.registered
    command = {"name": "kick", "description": "Kicks", **wrong}
    status, answer = simulated.call(method, body=[command] if method == "PUT" else command)

    assert (status, answer["code"]) == (400, 50035)
    assert answer["errors"]
    assert simulated.registered == before
    assert [refusal.status for refusal in simulated.state.refused] == [400]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[" * 100_000, b"null", b'{"a": 1}', b"[null]", b"\xff"]
)
def test_a_list_that_is_not_valid_json_does_not_clear_the_list(body: bytes) -> None:
    simulated = Discord()
    simulated.call("PUT", body=[{"name": "ban", "description": "Bans"}])
    status, _ = simulated.call("PUT", body=body)

    assert status == 400
    assert [command["name"] for command in simulated.registered[""]] == ["ban"]


def test_a_list_is_refused_with_too_many_or_equal_commands() -> None:
    simulated = Discord()
    many = [{"name": f"c{number}", "description": "A"} for number in range(101)]
    equal = [{"name": "a", "description": "A"}] * 2

    assert simulated.call("PUT", body=many)[0] == 400
    assert simulated.call("PUT", body=equal)[1]["errors"]["1"]
    assert simulated.call("PUT", body=many[:100])[0] == 200
    assert simulated.call("POST", body=many[100])[0] == 400


@pytest.mark.parametrize("name", ["ban", "größe", "ประกาศ", "नमस्ते", "コマンド", "a-b_c'd", "1"])
def test_names_of_all_scripts_are_valid(name: str) -> None:
    assert Discord().call("POST", body={"name": name, "description": "A"})[0] == 201


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["command", "description", "name", "options", "type"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(method=st.sampled_from(["PUT", "POST", "PATCH"]), body=_JSON)
def test_any_body_is_answered(method: str, body: object) -> None:
    simulated = Discord()
    listed = simulated.call("PUT", body=[{"name": "ban", "description": "Bans"}])[1][0]
    path = f"{_PATH}/{listed['id']}" if method == "PATCH" else _PATH
    status, answer = simulated.call(method, path, json.dumps(body).encode())

    assert status in {200, 201} or (status, answer["code"]) == (400, 50035)
    assert all(isinstance(each["name"], str) for each in simulated.registered[""])


def _telegram(
    state: telegram.BotState, method: str, **given: object
) -> tuple[telegram.BotResponse, telegram.BotState]:
    return telegram.respond(telegram.BotCall("7", method, given), state)


@given(st.dictionaries(st.just("commands"), _JSON | _JSON.map(json.dumps)))
def test_a_menu_that_is_not_valid_is_refused(given: dict[str, Any]) -> None:
    response, state = _telegram(telegram.BotState(), "setMyCommands", **given)

    assert (response.status == 200) == bool(state.menus)
    assert (response.status == 200) != bool(state.refused)


@given(st.lists(st.tuples(st.sampled_from(["default", "all_group_chats"]), _NAMES, _MENUS)))
def test_each_menu_has_its_scope_and_language(calls: list[tuple[str, str, list[Any]]]) -> None:
    state = telegram.BotState()
    for number, (scope, language, commands) in enumerate(calls):
        given: dict[str, Any] = {"commands": commands, "scope": {"type": scope}}
        if number % 2:  # as a form has them
            given = {name: json.dumps(value) for name, value in given.items()}
        _, state = _telegram(state, "setMyCommands", **given, language_code=language)

    assert state.menus == {(scope, language): each for scope, language, each in calls}


def test_a_poll_gets_the_message_once_and_then_waits() -> None:
    first, state = _telegram(telegram.BotState(say="/start"), "getUpdates")
    second, _ = _telegram(state, "getUpdates", offset=2, timeout="9000")

    assert isinstance(first.body, dict)
    assert first.body["result"][0]["message"]["text"] == "/start"
    assert second == (200, {"ok": True, "result": []}, 50.0)


def test_a_deleted_menu_is_gone_and_can_be_read() -> None:
    menu = [{"command": "a", "description": "A"}]
    _, state = _telegram(telegram.BotState(), "setMyCommands", commands=menu)
    response, _ = _telegram(state, "getMyCommands")
    _, after = _telegram(state, "deleteMyCommands")

    assert response.body == {"ok": True, "result": menu}
    assert (after.menus, after.registrations) == ({}, 2)
    assert replace(state, menus={}) == replace(after, registrations=1)
