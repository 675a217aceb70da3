"""The commands for single requests: the lists of `pull --format json` and `bots`, and a vote."""

import json
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from commandsync.server.service import running
from tests.e2e.test_signals import end_of, heard, held
from tests.support.bots import Bot, Instead, Proxy, Rule, Service
from tests.support.home import Home, failed
from tests.support.rawserver import RawServer, Request, answering
from tests.support.terminal import POSIX

__all__ = ["held"]

on_posix = pytest.mark.skipif(not POSIX, reason="Windows has neither pty nor these signals")
OTHERS_TOKEN = "e30.eyJpZCI6Ijk5OSJ9.c2lnbmF0dXJl"  # of bot 999
UNTRUSTED = "::error::x\x1b[31m ##[group]y\u202e"
BOTS = [
    {
        "id": str(number),
        "profile": {"username": f"Bot {number}"},
        "statistics": {"servers": 1234, "totalVotes": 5},
        "information": {"overview": "Plays 日本 music.", "tags": ["music", "fun"]},
        "certificate": 1,
    }
    for number in range(41, 141)
]


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    return home.knows(service.bot(["help", "ping"], ["v1"]))


@pytest.fixture
def relayed(bot: Bot, home: Home, proxy: Proxy) -> Proxy:
    home.knows(bot, url=proxy.url)
    return proxy


@pytest.fixture
def raw(home: Home) -> Iterator[RawServer]:
    with RawServer() as running:
        home.variable("COMMANDSYNC_BASE_URL", running.url)
        home.variable("COMMANDSYNC_BOT", "42")
        yield running


@pytest.fixture
def listed_bots(home: Home) -> Iterator[str]:
    """The URL of a service with 100 bots, which is the one of the environment."""
    home.write(json.dumps({"bots": BOTS}), "seed.json")
    with running(seed=home.path / "seed.json") as service:
        home.variable("COMMANDSYNC_BASE_URL", service.url)
        yield service.url


def writes(then: Instead | None) -> Rule:
    def rule(seen: Request) -> Instead | None:
        return then if seen.writes else None

    return rule


def page(records: list[Any], **queries: int) -> dict[str, Any]:
    return {"success": True, "data": {"queries": queries, "data": records}}


def test_a_pull_lists_records_with_their_ids_and_uses(home: Home, bot: Bot) -> None:
    ran = home.run("pull", "--format", "json")
    document = ran.document

    assert (ran.code, ran.err) == (0, "")
    assert (document["version"], document["bot"], document["base_url"]) == (1, bot.id, bot.url)
    assert document["commands"] == [
        {
            "id": bot.ids()[name],
            "name": name,
            "description": "Does it.",
            "syntax": f"/{name}",
            "category": "",
            "uses": 7,
        }
        for name in ("help", "ping")
    ]
    assert [record["title"] for record in document["announcements"]] == ["v1"]


def test_a_pull_that_lists_writes_no_file(home: Home, relayed: Proxy) -> None:
    ran = home.run("pull", "--format", "json", "--out", "x.yaml")

    assert (ran.code, relayed.requests) == (2, [])
    assert failed(ran, "usage").startswith("--format json ")


@pytest.mark.parametrize(
    ("token", "code"), [("", 2), (OTHERS_TOKEN, 5)], ids=["no token", "another bot's"]
)
def test_the_bots_own_token_is_needed(home: Home, relayed: Proxy, token: str, code: int) -> None:
    home.variable("COMMANDSYNC_TOKEN", token)
    ran = home.run("vote", "7", exits=code)

    assert ("no token" if code == 2 else "bot 999") in ran.err
    assert relayed.requests == []


@on_posix
def test_a_signal_lets_a_write_finish_and_reports_it(
    home: Home, bot: Bot, relayed: Proxy, held: threading.Event
) -> None:
    child = home.started("vote", "7")
    relayed.wait_for(1)
    child.send_signal(signal.SIGTERM)
    heard(child)
    held.set()
    ran = end_of(child)

    assert (ran.code, ran.out) == (143, "user 7 voted\n")
    assert len(bot.voters()) == 1


@on_posix
@pytest.mark.usefixtures("held", "bot")
def test_a_second_signal_ends_at_once_and_leaves_it_open(home: Home, relayed: Proxy) -> None:
    child = home.started("vote", "7", "--format", "json")
    relayed.wait_for(1)
    child.send_signal(signal.SIGINT)
    heard(child)
    child.send_signal(signal.SIGINT)
    ran = end_of(child, exits=130)

    assert "may have been" in failed(ran, "interrupted")


def test_untrusted_texts_cannot_steer_what_reads_a_document(home: Home, raw: RawServer) -> None:
    record = {
        "id": UNTRUSTED,
        "name": UNTRUSTED,
        "description": UNTRUSTED,
        "syntax": f"a\n{UNTRUSTED}",
    }
    home.write("version: 1\ncommands: []\n")
    raw.then(answering({"data": [record]}))
    document = home.run("pull", "--format", "json")

    for sign in ("\x1b", "\u202e", "##["):
        assert sign not in document.out
    assert not any(line.lstrip().startswith("::") for line in document.out.splitlines())
    assert document.document["commands"][0]["id"] == UNTRUSTED


def test_all_bots_are_listed_page_after_page(home: Home, listed_bots: str) -> None:
    ran = home.run("bots", "list", "--base-url", listed_bots)
    document = home.run("bots", "list", "--format", "json").document

    assert (ran.code, ran.err) == (0, "")
    assert [line.split() for line in ran.out.splitlines() if line.startswith("42 ")] == [
        ["42", "Bot", "42", "1234", "5", "Plays", "日本", "music."]
    ]
    assert len(ran.out.splitlines()) == 1 + len(BOTS)
    assert document["base_url"] == listed_bots
    assert [one["id"] for one in document["bots"]] == [bot["id"] for bot in BOTS]
    assert "bot" not in document


def test_a_bot_is_shown_with_all_that_is_known(home: Home, bot: Bot) -> None:
    ran = home.run("bots", "show", exits=0)

    lines = dict(line.split(maxsplit=1) for line in ran.out.splitlines() if " " in line)
    assert lines["id"] == bot.id
    assert lines["profile.username"] == f"Bot {bot.id}"


def test_another_bot_is_shown_by_its_id(home: Home, listed_bots: str) -> None:
    ran = home.run("bots", "show", "41", "--base-url", listed_bots)
    document = home.run("bots", "show", "41", "--format", "json").document

    assert "information.tags" in ran.out
    assert "music, fun" in ran.out
    assert document["bot"] == document["listed"]["id"] == "41"


def test_another_bot_is_shown_beside_the_manifest_of_ones_own(home: Home, listed_bots: str) -> None:
    home.write(f'version: 1\nbot: "42"\nbase_url: {listed_bots}\ncommands: []\n')
    home.forget("COMMANDSYNC_BASE_URL")

    assert home.run("bots", "show", "41", "--format", "json").document["bot"] == "41"


def test_a_manifest_selects_the_listing(home: Home, bot: Bot) -> None:
    home.forget("COMMANDSYNC_BOT")
    home.forget("COMMANDSYNC_BASE_URL")
    home.write(f'version: 1\nbot: "{bot.id}"\nbase_url: {bot.url}\ncommands: []\n')
    home.write('version: 1\nbot: "1"\n', "other.yaml")

    assert "help" in home.run("pull").out
    assert home.run("pull", "-f", "commands.yaml", "-f", "other.yaml").code == 2


def test_no_listing_is_wrong_usage(home: Home) -> None:
    ran = home.run("bots", "list", "--format", "json", exits=2)

    assert "base URL" in failed(ran, "usage")


__all__ = ["bot", "relayed"]

ELSEWHERE = "https://listing.invalid"


def test_a_vote_is_cast_and_shown(home: Home, bot: Bot) -> None:
    ran = home.run("vote", "7", "--username", "Ann")
    (voter,) = bot.voters()

    assert (ran.code, ran.out, ran.err) == (0, "user 7 voted\n", "")
    assert (voter["id"], voter["username"]) == ("7", "Ann")


def test_a_vote_is_shown_as_a_document(home: Home, bot: Bot) -> None:
    document = home.run("vote", "7", "--format", "json").document

    assert (document["bot"], document["user"], document["voted"]) == (bot.id, "7", True)
    assert bot.voters()[0]["username"] == "7"


def test_a_vote_for_another_bot_needs_its_token(home: Home, bot: Bot, service: Service) -> None:
    other = service.bot()
    ran = home.run("vote", "7", "--bot", other.id, exits=5)

    assert f"bot {bot.id}, " in ran.err
    assert f"bot {other.id}" in ran.err


def test_a_vote_on_another_machine_needs_a_yes(home: Home, bot: Bot) -> None:
    home.knows(bot, url=ELSEWHERE)
    refused = home.run("vote", "7", "--format", "json")
    tried = home.run("vote", "7", "--yes", "--retries", "0", "--format", "json")

    assert refused.code == 2
    assert failed(refused, "usage").startswith(f"{ELSEWHERE} ")
    assert "--yes" in refused.document["error"]["hint"]
    assert tried.code == 1
    assert "listing.invalid" in failed(tried, "network")


@pytest.mark.parametrize("status", [404, 405])
def test_a_service_without_votes_is_explained(home: Home, relayed: Proxy, status: int) -> None:
    relayed.rule = lambda seen: Instead(status, {"error": "no"}) if seen.writes else None
    ran = home.run("vote", "7")

    assert ran.code == 1
    assert "`commandsync serve`" in ran.err
    assert len(relayed.writes) == 1


def test_a_vote_is_never_sent_twice(home: Home, bot: Bot, relayed: Proxy) -> None:
    relayed.rule = lambda seen: (
        Instead(500, {"error": "oops"}, forwarded=True) if seen.writes else None
    )
    ran = home.run("vote", "7", exits=6)

    assert "the votes on the bot's page" in ran.err
    assert (len(bot.voters()), len(relayed.writes)) == (1, 1)
