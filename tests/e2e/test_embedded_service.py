"""The embedded service over real HTTP: what each endpoint answers."""

import http.client
import json
import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jwt
import pytest

from commandsync.server import RunningService, running
from commandsync.server.bodies import LARGEST_BODY

COMMAND = {"name": "ping", "description": "Says pong.", "syntax": "/ping"}
NOTICE = {"title": "v2", "description": "It is out."}
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@dataclass(frozen=True)
class Caller:
    url: str
    bot: str
    token: str
    database: Path
    headers: dict[str, str] = field(default_factory=dict)

    def ask(
        self, method: str, path: str = "", body: object = None, **headers: str
    ) -> tuple[int, Any]:
        """Ask below the bot's own path; bytes go as they are, anything else as JSON."""
        status, content, _ = self.raw(
            method,
            f"/v1/bot/{self.bot}{path}",
            body if isinstance(body, bytes) or body is None else json.dumps(body).encode(),
            {"Authorization": f"Bot {self.token}", "Content-Type": "application/json", **headers},
        )
        return status, json.loads(content)

    def raw(
        self,
        method: str,
        path: str,
        body: bytes | Iterator[bytes] | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, bytes, dict[str, str]]:
        with closing(http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=30)) as line:
            line.request(method, path, body, headers or {})
            answer = line.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, answer.read(), names

    def listed(self, collection: str = "commands") -> list[dict[str, Any]]:
        status, answer = self.ask("GET", f"/{collection}")
        assert (status, answer["success"]) == (200, True)
        return list(answer["data"])

    def added(self, **fields: str) -> dict[str, Any]:
        assert self.ask("POST", "/commands", {**COMMAND, **fields})[0] == 200
        return self.listed()[-1]


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RunningService, Path]]:
    folder = tmp_path_factory.mktemp("service")
    bots = [{"id": f"{n}", "profile": {"username": f"Bot {n}"}} for n in range(1000, 1200)]
    (folder / "seed.json").write_text(json.dumps({"bots": bots}))
    database = folder / "listing.db"
    with running(str(database), seed=folder / "seed.json") as service:
        yield service, database


@pytest.fixture(scope="module")
def unused(service: tuple[RunningService, Path]) -> Iterator[Any]:
    return iter(service[0].bots)


@pytest.fixture
def caller(service: tuple[RunningService, Path], unused: Iterator[Any]) -> Caller:
    """A bot that no other test uses."""
    bot = next(unused)
    return Caller(service[0].url, bot.id, bot.token, service[1])


@pytest.fixture
def stranger(service: tuple[RunningService, Path], unused: Iterator[Any]) -> Caller:
    bot = next(unused)
    return Caller(service[0].url, bot.id, bot.token, service[1])


# Reading


def test_a_bot_has_every_documented_field(caller: Caller) -> None:
    status, answer = caller.ask("GET")
    bot = answer["data"]

    assert status == 200
    assert set(bot) == {
        "provider",
        "id",
        "profile",
        "prefix",
        "information",
        "statistics",
        "state",
        "certificate",
        "inviteURL",
        "ratings",
        "vanity",
        "theme",
        "status",
        "createdAt",
        "updatedAt",
    }
    assert set(bot["profile"]) == {
        "avatar",
        "avatarURL",
        "username",
        "discriminator",
        "tag",
        "banner",
    }
    assert set(bot["information"]) == {"description", "overview", "creator", "tags"}
    assert set(bot["information"]["creator"]) == {"isTeam", "id"}
    assert set(bot["statistics"]) == {
        "servers",
        "dailyVotes",
        "weeklyVotes",
        "monthlyVotes",
        "totalVotes",
    }
    assert set(bot["theme"]) == {"enabled", "automatic", "color", "colorLighter"}
    assert bot["ratings"] == {"average": None, "total": 0}
    assert re.fullmatch(TIME, bot["createdAt"])


def test_answers_carry_the_envelope(caller: Caller) -> None:
    status, body, headers = caller.raw("GET", f"/v1/bot/{caller.bot}/commands")
    answer = json.loads(body)

    assert (status, headers["content-type"]) == (200, "application/json")
    assert list(answer) == ["success", "message", "data", "passingTime"]
    assert re.fullmatch(r"\d+\.\d\dms", answer["passingTime"])


@pytest.mark.parametrize("path", ["", "/commands", "/announcements"])
def test_an_unknown_bot_is_not_found(service: tuple[RunningService, Path], path: str) -> None:
    nobody = Caller(service[0].url, "4711", "", service[1])

    assert nobody.ask("GET", path) == (404, {"error": "the bot is not known"})


def test_other_paths_and_methods_are_refused_in_the_envelope(caller: Caller) -> None:
    unknown = caller.raw("GET", "/v0/bot/1")
    method = caller.raw("PATCH", f"/v1/bot/{caller.bot}/commands")

    assert unknown[0] == 404
    assert "/v1/bot" in json.loads(unknown[1])["error"]
    assert method[0] == 405
    assert list(json.loads(method[1])) == ["error"]
    assert "allow" in method[2]


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


@pytest.mark.parametrize("fields", [{}, {"category": None}, {"category": ""}])
def test_no_category_is_an_absent_field(caller: Caller, fields: dict[str, Any]) -> None:
    caller.ask("POST", "/commands", {**COMMAND, **fields})

    assert "category" not in caller.listed()[0]


def test_equal_commands_are_kept_apart_in_the_order_they_came(caller: Caller) -> None:
    for name in ("b", "a", "b", "a"):
        caller.added(name=name)
    listed = caller.listed()

    assert [command["name"] for command in listed] == ["b", "a", "b", "a"]
    assert len({command["id"] for command in listed}) == 4


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


@pytest.mark.parametrize(
    ("fields", "category"),
    [({}, "Fun"), ({"category": ""}, None), ({"category": None}, None)],
)
def test_an_edit_keeps_a_category_left_out_and_clears_an_empty_one(
    caller: Caller, fields: dict[str, Any], category: str | None
) -> None:
    before = caller.added(category="Fun")
    caller.ask("POST", "/commands", {**COMMAND, "id": before["id"], **fields})

    assert caller.listed()[0].get("category") == category


def test_setting_uses_is_no_edit(caller: Caller) -> None:
    before = caller.added()
    status, _ = caller.ask("PUT", f"/commands/{before['id']}/uses", {"uses": 2**53 - 1})

    assert status == 200
    assert caller.listed() == [{**before, "uses": 2**53 - 1}]


def test_a_deleted_command_is_gone_and_the_others_stay(caller: Caller) -> None:
    first, second = caller.added(name="a"), caller.added(name="b")
    status, _ = caller.ask("DELETE", f"/commands/{first['id']}")

    assert status == 200
    assert caller.listed() == [second]
    assert caller.ask("DELETE", f"/commands/{first['id']}")[0] == 404


@pytest.mark.parametrize(
    "text",
    [
        "  blanks around \r\n and\tlines\n\n",
        "\x00 control \x1b[31m",
        "عربى 日本語 ✔️ 👩‍👩‍👧 e\u0301",
        "{0} %user% <b>&amp;</b> `x` @everyone \\ '; DROP TABLE commands; --",
        "x" * 20_000,
        "👩" * 20_000,
    ],
    ids=["blanks", "control", "letters", "markup", "long", "long-and-wide"],
)
def test_text_is_stored_exactly(caller: Caller, text: str) -> None:
    caller.added(description=text, name=text[:1000], syntax=text[:5000], category=text[:1000])
    (command,) = caller.listed()

    assert command["description"] == text
    assert command["name"] == command["category"] == text[:1000]
    assert command["syntax"] == text[:5000]


# Announcements


def test_announcements_are_listed_in_the_order_they_came(caller: Caller) -> None:
    status, answer = caller.ask("POST", "/announcements", NOTICE)
    caller.ask("POST", "/announcements", NOTICE)
    first, second = caller.listed("announcements")

    assert (status, set(answer)) == (200, {"success", "message", "passingTime"})
    assert first == {**NOTICE, "id": first["id"], "createdAt": first["createdAt"]}
    assert re.fullmatch("[0-9a-f]{24}", first["id"])
    assert first["id"] != second["id"]


def test_a_deleted_announcement_is_gone(caller: Caller) -> None:
    caller.ask("POST", "/announcements", NOTICE)
    (record,) = caller.listed("announcements")
    status, _ = caller.ask("DELETE", f"/announcements/{record['id']}")

    assert status == 200
    assert caller.listed("announcements") == []
    assert caller.ask("DELETE", f"/announcements/{record['id']}") == (
        404,
        {"error": "the bot has no such announcement"},
    )


# Who may write

WRITES: list[tuple[str, str, Any]] = [
    ("POST", "/commands", COMMAND),
    ("POST", "/commands", {**COMMAND, "id": "f" * 24}),
    ("PUT", "/commands", {**COMMAND, "id": "f" * 24}),
    ("DELETE", "/commands/ffffffffffffffffffffffff", None),
    ("PUT", "/commands/ffffffffffffffffffffffff/uses", {"uses": 1}),
    ("POST", "/announcements", NOTICE),
    ("DELETE", "/announcements/ffffffffffffffffffffffff", None),
]


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_a_write_needs_this_bots_token(
    caller: Caller,
    stranger: Caller,
    method: str,
    path: str,
    body: Any,  # noqa: ANN401
) -> None:
    statuses = [
        caller.ask(method, path, body, Authorization=header)[0]
        for header in ("", "Bot", caller.token, "Bot x.y.z", f"Bot {stranger.token}")
    ]

    assert statuses == [401, 401, 401, 401, 403]
    assert caller.listed() == caller.listed("announcements") == []


@pytest.mark.parametrize(("method", "path", "body"), WRITES[1:5] + WRITES[6:])
def test_an_unknown_record_is_not_found(
    caller: Caller,
    method: str,
    path: str,
    body: Any,  # noqa: ANN401
) -> None:
    assert caller.ask(method, path, body)[0] == 404


def test_a_write_to_an_unknown_bot_is_not_found(caller: Caller) -> None:
    nobody = Caller(caller.url, "4711", caller.token, caller.database)

    assert nobody.ask("POST", "/commands", COMMAND) == (404, {"error": "the bot is not known"})


def test_a_record_of_another_bot_cannot_be_reached_through_ones_own(
    caller: Caller, stranger: Caller
) -> None:
    theirs = stranger.added()
    statuses = [
        caller.ask("POST", "/commands", {**COMMAND, "id": theirs["id"], "name": "mine"})[0],
        caller.ask("DELETE", f"/commands/{theirs['id']}")[0],
        caller.ask("PUT", f"/commands/{theirs['id']}/uses", {"uses": 1})[0],
    ]

    assert statuses == [404, 404, 404]
    assert stranger.listed() == [theirs]


def test_a_refused_token_says_the_scheme(caller: Caller) -> None:
    status, body, headers = caller.raw("DELETE", f"/v1/bot/{caller.bot}/commands/x")

    assert (status, headers["www-authenticate"]) == (401, "Bot")
    assert "Bot <token>" in json.loads(body)["error"]


def test_a_token_signed_elsewhere_is_refused(caller: Caller) -> None:
    forged = jwt.encode({"id": caller.bot, "iat": 1}, "guess " * 10, algorithm="HS256")
    status, answer = caller.ask("POST", "/commands", COMMAND, Authorization=f"Bot {forged}")

    assert (status, answer) == (401, {"error": "the bot token is invalid"})


# Bad bodies

BAD: dict[str, tuple[Any, str]] = {
    "nothing": (b"", "is missing"),
    "not-json": (b"{", "no valid JSON"),
    "not-utf-8": (b'{"name": "\xff"}', "no valid JSON in UTF-8"),
    "deep": (b"[" * 200_000, "nested too deeply"),
    "endless-number": (b'{"id": 1' + b"0" * 6000 + b"}", "no valid JSON"),
    "list": ([COMMAND], "must be a JSON object"),
    "null": (b"null", "must be a JSON object"),
    "empty-object": ({}, "name is missing; description is missing; syntax is missing"),
    "numbers": ({**COMMAND, "name": 247, "category": 1}, "name must be a string; category must"),
    "null-name": ({**COMMAND, "name": None}, "name must be a string"),
    "blank": ({**COMMAND, "name": " \n"}, "name must not be empty"),
    "empty-id": ({**COMMAND, "id": ""}, "id must not be empty"),
    "number-id": ({**COMMAND, "id": 1}, "id must be a string"),
    "surrogate": (
        b'{"name": "\\ud800", "description": "d", "syntax": "s"}',
        "name holds half of a surrogate pair",
    ),
    "surrogate-in-id": ({**COMMAND, "id": "\udfff"}, "id holds half of a surrogate pair"),
    "long-name": ({**COMMAND, "name": "x" * 1001}, "name is longer than 1000 characters"),
    "long-text": ({**COMMAND, "description": "x" * 20_001}, "longer than 20000 characters"),
    "long-syntax": ({**COMMAND, "syntax": "x" * 5001}, "longer than 5000 characters"),
    "long-category": ({**COMMAND, "category": "x" * 1001}, "longer than 1000 characters"),
}


@pytest.mark.parametrize(("body", "said"), BAD.values(), ids=BAD)
def test_a_bad_body_is_told_what_is_wrong(caller: Caller, body: object, said: str) -> None:
    status, answer = caller.ask("POST", "/commands", body)

    assert (status, list(answer)) == (400, ["error"])
    assert said in answer["error"]
    assert caller.listed() == []


def test_an_edit_by_put_needs_the_id(caller: Caller) -> None:
    assert caller.ask("PUT", "/commands", COMMAND) == (400, {"error": "id is missing"})


def test_a_body_of_another_content_type_is_refused(caller: Caller) -> None:
    body = json.dumps(COMMAND).encode()
    status, answer = caller.ask("POST", "/commands", body, **{"Content-Type": "text/plain"})

    assert status == 400
    assert "application/json" in answer["error"]


@pytest.mark.parametrize("uses", [-1, 1.5, "3", True, None, 2**53])
def test_uses_are_a_whole_number(caller: Caller, uses: object) -> None:
    command = caller.added()
    status, answer = caller.ask("PUT", f"/commands/{command['id']}/uses", {"uses": uses})

    assert status == 400
    assert answer["error"].startswith("uses must be")
    assert caller.listed() == [command]


def test_a_bad_announcement_is_told_what_is_wrong(caller: Caller) -> None:
    assert caller.ask("POST", "/announcements", {"title": 5}) == (
        400,
        {"error": "title must be a string; description is missing"},
    )


@pytest.mark.parametrize("size", [LARGEST_BODY + 1, 30_000_000])
def test_a_huge_body_is_answered_413(caller: Caller, size: int) -> None:
    status, answer = caller.ask("POST", "/commands", b" " * size)

    assert (status, answer) == (413, {"error": f"the body is larger than {LARGEST_BODY} bytes"})


def test_a_body_sent_in_pieces_without_a_length_is_read(caller: Caller) -> None:
    body = json.dumps(COMMAND).encode()
    headers = {"Authorization": f"Bot {caller.token}", "Content-Type": "application/json"}
    pieces = iter([body[:10], body[10:]])
    status, _, _ = caller.raw("POST", f"/v1/bot/{caller.bot}/commands", pieces, headers)

    assert status == 200
    assert len(caller.listed()) == 1


# Trouble and crowds


def test_the_services_own_trouble_is_answered_without_details(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "seed.json").write_text('{"bots": [{"id": "1", "profile": {"username": "x"}}]}')
    path = tmp_path / "listing.db"
    with running(str(path), seed=tmp_path / "seed.json") as service:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DROP TABLE commands")
        caller = Caller(service.url, "1", service.bots[0].token, path)
        status, answer = caller.ask("GET", "/commands")

    assert (status, answer) == (500, {"error": "the service is in trouble; its log says more"})
    assert "no such table" in caplog.text


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_writers_at_the_same_time_lose_nothing(tmp_path: Path, kind: str) -> None:
    (tmp_path / "seed.json").write_text('{"bots": [{"id": "1", "profile": {"username": "x"}}]}')
    database = ":memory:" if kind == "memory" else str(tmp_path / "listing.db")
    with running(database, seed=tmp_path / "seed.json") as service:
        caller = Caller(service.url, "1", service.bots[0].token, tmp_path)

        def add(number: int) -> int:
            status, _ = caller.ask("POST", "/commands", {**COMMAND, "name": f"{number}"})
            caller.listed()
            return status

        with ThreadPoolExecutor(16) as pool:
            statuses = set(pool.map(add, range(160)))
        names = [command["name"] for command in caller.listed()]

    assert statuses == {200}
    assert sorted(names, key=int) == [f"{number}" for number in range(160)]
