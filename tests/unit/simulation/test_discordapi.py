"""Discord as a service: its callers, its rate limits, and the commands of an application."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest

from commandsync.simulation.exchange import Request
from commandsync.simulation.registry import SERVICES, simulate

NOW = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)
PING: dict[str, Any] = {"name": "ping", "description": "Says pong."}


class Answer(NamedTuple):
    """An answer; its content is a value of JSON."""

    status: int
    content: Any
    headers: dict[str, str]


class Discord:
    """A simulation with its state and its clock."""

    def __init__(self, **choices: str) -> None:
        given = {"bucket": "none", **choices}
        self.simulation = simulate(SERVICES["discord"], secret="s3cr3t", choices=given)
        self.state = SERVICES["discord"].start(self.simulation)
        self.now = NOW

    @property
    def path(self) -> str:
        return f"/api/v10/applications/{self.simulation.bot}/commands"

    def server(self, guild: str) -> str:
        return self.path.replace("/commands", f"/guilds/{guild}/commands")

    def ask(
        self, method: str, path: str, body: object = None, *, query: str = "", **headers: str
    ) -> Answer:
        sent = {"authorization": f"Bot {self.simulation.token}", **headers}
        request = Request(
            method=method,
            path=path,
            query=dict([query.split("=")]) if query else {},
            headers={name.replace("_", "-"): text for name, text in sent.items()},
            body=b"" if body is None else json.dumps(body).encode(),
        )
        response, self.state = self.simulation.respond(request, self.state, now=self.now)
        content = response.content or None
        return Answer(response.status, content, dict(response.headers))

    def add(self, **keys: object) -> Any:  # noqa: ANN401 - JSON
        """Add a command, and return it."""
        answer = self.ask("POST", self.path, {**PING, **keys})
        assert answer.status == 201, answer
        return answer.content


@pytest.fixture
def discord() -> Discord:
    return Discord()


@pytest.mark.parametrize("authorization", ["", "x", "Bearer simulated-s3cr3t"])
@pytest.mark.parametrize("path", ["/api/v10/applications/@me", "/api/v10/galaxies"])
def test_a_caller_without_the_token_is_refused(
    discord: Discord, authorization: str, path: str
) -> None:
    answer = discord.ask("GET", path, authorization=authorization)

    assert answer[:2] == (401, {"message": "401: Unauthorized", "code": 0})


@pytest.mark.parametrize(
    ("choices", "installs", "is_own"),
    [
        ({}, {"0": {}, "1": {}}, True),
        ({"installs": "user", "bot_id": "other"}, {"1": {}}, False),
    ],
)
def test_the_application_is_that_of_the_token(
    choices: dict[str, str], installs: dict[str, Any], *, is_own: bool
) -> None:
    discord = Discord(**choices)
    content = discord.ask("GET", "/api/v10/applications/@me").content

    assert content["id"] == discord.simulation.bot
    assert (content["bot"]["id"] == content["id"]) is is_own
    assert content["name"] == "Lantern"
    assert content["integration_types_config"] == installs


def test_an_answer_has_what_discord_adds(discord: Discord) -> None:
    added = discord.add(options=[{"type": 3, "name": "text", "description": "A text."}])
    unlike = {"id": "1000000000001000000", "version": "1000000000001000000"}
    option = {
        "type": 3,
        "name": "text",
        "name_localizations": None,
        "description": "A text.",
        "description_localizations": None,
    }

    assert added == {
        **unlike,
        "application_id": discord.simulation.bot,
        "default_permission": True,
        "default_member_permissions": None,
        "type": 1,
        "name": "ping",
        "name_localizations": None,
        "description": "Says pong.",
        "description_localizations": None,
        "contexts": None,
        "integration_types": [0, 1],
        "dm_permission": True,
        "nsfw": False,
        "options": [option],
    }


def test_a_post_overwrites_the_command_of_its_type_and_name(discord: Discord) -> None:
    first = discord.add(nsfw=True)
    status, second, _ = discord.ask("POST", discord.path, {**PING, "description": "Pong!"})
    listed = discord.ask("GET", discord.path, query="with_localizations=true").content

    assert status == 200
    assert listed == [second]
    assert second["id"] == first["id"]
    assert second["version"] != first["version"]
    assert (second["description"], second["nsfw"]) == ("Pong!", False)


def test_a_patch_changes_the_keys_that_were_sent(discord: Discord) -> None:
    first = discord.add(nsfw=True, default_member_permissions=8)
    path = f"{discord.path}/{first['id']}"
    status, second, _ = discord.ask("PATCH", path, {"name": "pong", "type": 2})
    again = discord.ask("PATCH", path, {"name": "pong"}).content

    assert status == 200
    assert second == {**first, "name": "pong", "version": second["version"]}
    assert second["version"] != first["version"]
    assert again == second


def test_a_deleted_command_is_unknown(discord: Discord) -> None:
    path = f"{discord.path}/{discord.add()['id']}"
    answers = [discord.ask("DELETE", path) for _ in range(2)]

    assert answers[0] == (204, None, {})
    assert answers[1][:2] == (404, {"message": "Unknown application command", "code": 10063})


def test_a_full_bucket_is_refused_until_it_is_over() -> None:
    discord = Discord(bucket="5/20s")
    answers = [discord.ask("POST", discord.path, {**PING, "name": f"p{n}"}) for n in range(6)]
    read = discord.ask("GET", discord.path)
    discord.now += timedelta(seconds=20)
    later = discord.ask("POST", discord.path, {**PING, "name": "p5"})

    assert [answer.status for answer in answers] == [201] * 5 + [429]
    assert [answer.headers["X-RateLimit-Remaining"] for answer in answers] == [*"432100"]
    assert answers[5].content == {
        "message": "You are being rate limited.",
        "retry_after": 20.0,
        "global": False,
    }
    assert answers[5].headers["Retry-After"] == "20"
    assert (len(read.content), read.headers) == (5, {})
    assert later.status == 201
