"""What a program registers is what is recorded, whatever it calls in which order."""

from __future__ import annotations

import asyncio
import json
import zlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.errors import UsageError
from commandsync.record import Ending, Recording, reading_of
from commandsync.record.discordrest import Asked, Discord
from commandsync.record.hosts import Resolver, parse_allowed
from commandsync.record.programenv import (
    application_of,
    discord_token,
    telegram_token,
    without_tokens,
)
from commandsync.record.standins import zlib_stream, zstd_stream
from commandsync.record.telegrambot import Telegram

RECORDING = Recording({}, {}, Ending.ENDED, seconds=1, registrations=1)
_NAMES = st.sampled_from(["ban", "help", "kick", "play"])
_COMMANDS = st.builds(
    lambda name, text: {"type": 1, "name": name, "description": text}, _NAMES, st.text(max_size=9)
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


def _put(discord: Discord, scope: str, commands: list[dict[str, Any]]) -> list[dict[str, Any]]:
    answered: list[dict[str, Any]] = discord.answer(
        Asked("PUT", f"/applications/42{scope}/commands", commands)
    )[1]
    return answered


@given(st.lists(st.tuples(_SCOPES, _LISTS), max_size=5))
def test_the_last_list_of_each_scope_is_recorded(calls: list[tuple[str, list[Any]]]) -> None:
    discord = Discord("42")
    for scope, commands in calls:
        _put(discord, scope, commands)

    last = {scope.removeprefix("/guilds/"): commands for scope, commands in calls}
    assert {scope: each for scope, each in discord.registered().items() if each} == {
        scope: each for scope, each in last.items() if each
    }


@given(_LISTS, st.lists(st.tuples(st.sampled_from(["POST", "PATCH", "DELETE"]), _COMMANDS)))
def test_single_commands_are_recorded_as_a_list_with_an_upsert(
    start: list[Any], calls: list[tuple[str, dict[str, Any]]]
) -> None:
    discord = Discord("42")
    _put(discord, "", start)
    model = {command["name"]: command for command in start}
    for method, command in calls:
        path = "/applications/42/commands"
        ids = {each["name"]: each["id"] for each in discord.answer(Asked("GET", path))[1]}
        if method == "POST":
            discord.answer(Asked("POST", path, command))
            model[command["name"]] = command
            continue
        status, _ = discord.answer(
            Asked(method, f"{path}/{ids.get(command['name'], '5')}", command)
        )
        if command["name"] not in model:
            assert status == 404
        elif method == "PATCH":
            model[command["name"]] = command
        else:
            del model[command["name"]]

    recorded = discord.registered().get("", [])
    assert {command["name"]: command for command in recorded} == model


def test_ids_stay_over_a_replaced_list_and_never_leave_the_stand_in() -> None:
    discord = Discord("42")
    first = _put(discord, "", [{"name": "a", "description": "A"}])
    again = _put(discord, "", [{"name": "b"}, {"name": "a", "description": "New"}])

    assert again[1]["id"] == first[0]["id"]
    assert again[0].keys() >= _REQUIRED
    assert "default_member_permissions" not in discord.registered()[""][0]
    assert not _OWN_KEYS & {key for command in discord.registered()[""] for key in command}


def test_an_unknown_command_and_an_unknown_request_are_errors_of_discord() -> None:
    discord = Discord("42")

    assert discord.answer(Asked("DELETE", "/applications/42/commands/9"))[1]["code"] == 10063
    assert discord.answer(Asked("GET", "/galaxies"))[0] == 404
    assert discord.unknown == ["GET /galaxies"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["command", "description", "name"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(method=st.sampled_from(["PUT", "POST", "PATCH"]), body=_JSON)
def test_a_body_that_is_no_command_is_an_error_of_discord(method: str, body: object) -> None:
    discord = Discord("42")
    (listed,) = _put(discord, "", [{"name": "ban", "description": ""}])
    path = "/applications/42/commands" + (f"/{listed['id']}" if method == "PATCH" else "")
    status, answer = discord.answer(Asked(method, path, body))

    assert status in {200, 201} or (status, answer["code"]) == (400, 50035)
    assert all(isinstance(each["name"], str) for each in discord.registered()[""])


@given(st.dictionaries(st.just("commands"), _JSON | _JSON.map(json.dumps)))
def test_what_is_no_list_of_commands_is_refused_and_not_recorded(given: dict[str, Any]) -> None:
    telegram = Telegram()
    status, _ = asyncio.run(telegram.answer("7", "setMyCommands", given))
    recording = Recording({}, telegram.menus, Ending.ENDED, seconds=1, registrations=1)

    assert (status == 200) == bool(telegram.menus)
    listed = [part for menu in telegram.menus.values() for part in menu]
    names = {entry.name for entry in reading_of(recording).entries}
    assert names == {part["command"] for part in listed}


@given(st.lists(st.tuples(st.sampled_from(["default", "all_group_chats"]), _NAMES, _MENUS)))
def test_each_menu_has_its_scope_and_language(calls: list[tuple[str, str, list[Any]]]) -> None:
    telegram = Telegram()

    async def call() -> None:
        for number, (scope, language, commands) in enumerate(calls):
            given: dict[str, Any] = {"commands": commands, "scope": {"type": scope}}
            if number % 2:  # as a form has them
                given = {name: json.dumps(value) for name, value in given.items()}
            await telegram.answer("7", "setMyCommands", {**given, "language_code": language})

    asyncio.run(call())

    assert telegram.menus == {(scope, language): each for scope, language, each in calls}


def test_menus_of_other_scopes_and_languages_are_kept_apart() -> None:
    menus = {
        ("default", ""): ({"command": "a", "description": "A"},),
        ("default", "de"): ({"command": "a", "description": "B"},),
        ("all_group_chats", ""): ({"command": "g", "description": "G"},),
        ("all_private_chats", "fr"): (),
    }
    reading = reading_of(replace(RECORDING, telegram=menus))

    assert [entry.name for entry in reading.entries] == ["a"]
    assert [(tuple(menu.audience), dict(menu.texts)) for menu in reading.menus] == [
        (("default", "de"), {"a": "B"}),
        (("all_group_chats", ""), {"g": "G"}),
    ]


@given(st.lists(st.text(max_size=200_000 // 50), min_size=1, max_size=4))
def test_a_stream_of_zlib_is_read_by_one_decompressor(payloads: list[str]) -> None:
    encode, reader = zlib_stream(), zlib.decompressobj()

    assert [reader.decompress(encode(each)).decode() for each in payloads] == payloads


def test_a_stream_of_zstd_is_one_frame_of_raw_blocks() -> None:
    encode = zstd_stream()
    first, second = encode("a" * 70_000), encode("b")

    assert first[:4] == b"\x28\xb5\x2f\xfd"
    assert second == b"\x08\x00\x00b"
    assert len(first) == 6 + 2 * 3 + 70_000


@pytest.mark.promise("program-tokens")
@given(st.integers(10**16, 10**19), st.integers(10**6, 10**10))
def test_tokens_keep_their_id_and_lose_their_secret(application: int, bot: int) -> None:
    token = discord_token(str(application)).replace("recording", "Xs3cr3tvX")
    menu = telegram_token(str(bot)).replace("recording", "Xs3cr3tvX")
    text = without_tokens(f"a {token} b {menu} c")

    assert "Xs3cr3tvX" not in text
    assert application_of(text.split()[1]) == str(application)
    assert text.split()[3].startswith(f"{bot}:")


def _query(host: str, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in host.split("."))
    return b"\x12\x34\x01\x00\x00\x01" + bytes(6) + labels + b"\x00" + bytes([0, kind, 0, 1])


def test_the_name_server_knows_the_platforms_and_counts_the_others() -> None:
    resolver = Resolver({".discord.com": "127.0.0.1", "db.internal": "127.0.1.1"})

    assert resolver.answer(_query("canary.discord.com"))[-4:] == b"\x7f\x00\x00\x01"
    assert resolver.answer(_query("db.internal"))[-4:] == b"\x7f\x00\x01\x01"
    assert resolver.answer(_query("db.internal", 28))[3] & 15 == 0
    assert resolver.answer(_query("top.gg"))[3] & 15 == 3
    assert resolver.refused == {"top.gg": 1}


@given(st.binary(max_size=40))
def test_no_query_stops_the_name_server(query: bytes) -> None:
    assert len(Resolver({}).answer(query)) >= 12


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("127.0.0.1", "is not a valid service"),
        ("db:0", "is not a valid service"),
        ("db:65536", "is not a valid service"),
        ("gateway.discord.gg:443", "the stand-ins answer"),
        ("api.telegram.org:443", "the stand-ins answer"),
        ("top.gg:443", "the stand-ins answer"),
    ],
)
def test_a_wrong_service_is_refused(value: str, part: str) -> None:
    with pytest.raises(UsageError, match=part):
        parse_allowed([value], ["top.gg"])


def test_each_allowed_service_has_an_address_inside() -> None:
    allowed = parse_allowed(["localhost:5432", "10.1.2.3:80", "db:1", "db:1", "two:2"], [])

    assert [service.inside for service in allowed] == [
        "127.0.0.1",
        "10.1.2.3",
        "127.0.1.3",
        "127.0.1.4",
    ]
