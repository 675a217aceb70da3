"""Votes from the command line: `vote` casts one."""

import pytest

from tests.e2e.test_calls import bot, relayed
from tests.support.bots import Bot, Service
from tests.support.home import Home, failed
from tests.support.proxy import Instead, Proxy

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
    ran = home.run("vote", "7", "--bot", other.id)

    assert ran.code == 5
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
def test_a_service_that_takes_no_votes_is_explained(
    home: Home, relayed: Proxy, status: int
) -> None:
    relayed.rule = lambda seen: Instead(status, {"error": "no"}) if seen.writes else None
    ran = home.run("vote", "7")

    assert ran.code == 1
    assert "`commandsync serve`" in ran.err
    assert len(relayed.writes) == 1


def test_a_vote_is_never_sent_twice(home: Home, bot: Bot, relayed: Proxy) -> None:
    relayed.rule = lambda seen: (
        Instead(500, {"error": "oops"}, forwarded=True) if seen.writes else None
    )
    ran = home.run("vote", "7")

    assert ran.code == 6
    assert "the votes on the bot's page" in ran.err
    assert (len(bot.voters()), len(relayed.writes)) == (1, 1)
