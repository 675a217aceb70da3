"""Discord as a service: its callers, the application of the token, and the rate limits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.discordcommands import chat
from tests.support.discordserver import APPLICATION, SERVER, DiscordListing, Told

OTHER = "613425648685547541"


@pytest.fixture
def discord() -> DiscordListing:
    return DiscordListing()


def reason(told: Told) -> tuple[int, int]:
    """Return the status and Discord's number of a refusal."""
    assert told.content["message"]
    return told.status, told.content["code"]


@pytest.mark.parametrize("authorization", ["", "x", "Bearer {}", "{}", "Bot {}x", "bot {}"])
@pytest.mark.parametrize("path", ["/applications/@me", "/galaxies"])
def test_a_caller_without_the_token_is_refused(
    discord: DiscordListing, authorization: str, path: str
) -> None:
    given = authorization.format(discord.token)
    told = discord.ask("GET", path, authorization=given)

    assert told[:2] == (401, {"message": "401: Unauthorized", "code": 0})


@pytest.mark.parametrize(
    ("choices", "installs", "is_own"),
    [
        ({}, {"0": {}, "1": {}}, True),
        ({"installs": "guild"}, {"0": {}}, True),
        ({"installs": "user", "bot_id": "other"}, {"1": {}}, False),
    ],
)
def test_the_application_is_that_of_the_token(
    choices: dict[str, str], installs: dict[str, Any], *, is_own: bool
) -> None:
    discord = DiscordListing(choices)
    content = discord.ask("GET", "/applications/@me").content
    user = discord.ask("GET", "/users/@me").content

    assert content["id"] == APPLICATION
    assert content["bot"] == user
    assert (user["id"] == APPLICATION) is is_own
    assert content["name"] == "Lantern"
    assert content["integration_types_config"] == installs


@pytest.mark.parametrize("guild", ["", SERVER])
def test_another_application_is_refused(discord: DiscordListing, guild: str) -> None:
    path = discord.path(guild).replace(APPLICATION, "42")
    told = [discord.ask(method, path, chat()) for method in ("GET", "POST", "PUT")]

    assert [reason(each) for each in told] == [(403, 20012)] * 3
    assert discord.listed() == []


def test_a_server_that_the_application_is_not_in_is_refused() -> None:
    discord = DiscordListing({"servers": "one"})
    known, unknown, wrong = (
        discord.ask("POST", discord.path(guild), chat()) for guild in (SERVER, OTHER, "here")
    )

    assert known.status == 201
    assert reason(unknown) == reason(wrong) == (403, 50001)
    assert DiscordListing().ask("GET", discord.path(OTHER)).status == 200


def test_paths_without_an_answer_are_not_found(discord: DiscordListing) -> None:
    paths = ("/galaxies", f"{discord.path()}/1/2", "applications/@me")
    told = [discord.ask("GET", path) for path in paths]

    assert [reason(each) for each in told] == [(404, 0)] * 3
    assert reason(discord.ask("PATCH", discord.path(), chat())) == (405, 0)


@pytest.mark.parametrize(
    ("user_agent", "status"),
    [
        ("DiscordBot (https://bot.example, 1.2.0) Python/3.14", 200),
        ("python-requests/2.32", 403),
        ("", 403),
    ],
)
def test_a_user_agent_is_checked_on_request(user_agent: str, status: int) -> None:
    checked = DiscordListing({"user_agent": "checked"})
    told = checked.ask("GET", "/applications/@me", user_agent=user_agent)

    assert told.status == status
    assert DiscordListing().ask("GET", "/applications/@me", user_agent=user_agent).status == 200


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time


def test_a_full_bucket_refuses_until_it_is_over() -> None:
    clock = Clock()
    discord = DiscordListing({"bucket": "5/20s"}, now=clock)
    told = [discord.ask("POST", discord.path(), chat(name=f"p{n}")) for n in range(4)]
    clock.time += timedelta(seconds=15)
    told += [discord.ask("POST", discord.path(), chat(name=f"p{n}")) for n in range(4, 6)]
    clock.time += timedelta(seconds=5)
    told.append(discord.ask("POST", discord.path(), chat(name="p5")))

    assert [each.status for each in told] == [201] * 5 + [429, 201]
    assert [each.headers["x-ratelimit-remaining"] for each in told] == [*"4321004"]
    assert {each.headers["x-ratelimit-limit"] for each in told} == {"5"}
    assert told[4].headers["x-ratelimit-reset-after"] == "5.000"
    assert told[4].headers["x-ratelimit-reset"] == f"{clock.time.timestamp():.3f}"
    assert told[5].content == {
        "message": "You are being rate limited.",
        "retry_after": 5.0,
        "global": False,
    }
    assert told[5].headers["retry-after"] == "5"
    assert told[5].headers["via"]


def test_a_bucket_is_of_one_route_and_reads_have_none() -> None:
    discord = DiscordListing({"bucket": "1/s"})
    added = discord.ask("POST", discord.path(), chat())
    one = discord.path("", added.content["id"])
    told = [
        added,
        discord.ask("PATCH", one, {}),
        discord.ask("PUT", discord.path(), [chat()]),
        discord.ask("POST", discord.path(SERVER), chat()),
        discord.ask("POST", discord.path(OTHER), chat()),
        discord.ask("DELETE", one),
        discord.ask("DELETE", one),
    ]
    read = discord.ask("GET", discord.path())
    buckets = [each.headers["x-ratelimit-bucket"] for each in told]

    assert [each.status for each in told] == [201, 200, 200, 201, 201, 204, 429]
    assert len(set(buckets)) == 5  # the servers share one, and each has its own count
    assert buckets[3] == buckets[4]
    assert not [name for name in read.headers if name.startswith("x-ratelimit")]


@pytest.mark.parametrize(
    ("status", "seconds", "content"),
    [
        (
            *(429, 7),
            {"message": "You are being rate limited.", "retry_after": 7.0, "global": True},
        ),
        (503, None, {"message": "503: Service Unavailable", "code": 0}),
    ],
)
def test_a_failure_on_request_has_the_form_of_discord(
    discord: DiscordListing, status: int, seconds: int | None, content: dict[str, Any]
) -> None:
    response = discord.simulation.refuse(status, "on request", seconds)

    assert (response.status, response.content) == (status, content)
    assert response.headers.get("Retry-After") == (seconds and str(seconds))
    assert response.headers["Via"]


def test_what_is_refused_spends_its_bucket_too() -> None:
    discord = DiscordListing({"bucket": "1/s"})
    statuses = [discord.ask("POST", discord.path(), chat(name=name)).status for name in ("A", "a")]

    assert statuses == [400, 429]
