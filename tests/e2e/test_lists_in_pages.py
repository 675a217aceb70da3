"""Services that list page by page, or a part: nothing is compared with a part, nothing written."""

from random import Random

import pytest

from tests.support.bots import Bot, Instead, Proxy, Rule, Service
from tests.support.home import Home, failed
from tests.support.rawserver import Request
from tests.support.ways import HTTP, SIGNS, Manner, manners

MANIFEST = """\
version: 1
prefix: "/"
commands:
  - {name: first, description: Reworded., syntax: "{prefix}first"}
  - {name: new, description: Does it., syntax: "{prefix}new"}
"""
WHOLE = """\
version: 1
prefix: "/"
commands:
  - {name: first, description: Does it., syntax: "{prefix}first"}
  - {name: second, description: Does it., syntax: "{prefix}second"}
  - {name: third, description: Does it., syntax: "{prefix}third"}
"""
ADDED = """\
  - {name: new, description: Does it., syntax: "{prefix}new"}
  - {name: newer, description: Does it., syntax: "{prefix}newer"}
"""
EVERY_SIGN = pytest.mark.parametrize("sign", [*SIGNS, *HTTP])


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    home.write(MANIFEST)
    return home.knows(service.bot(["first", "second", "third"]), url=proxy.url)


def drawn(sign: str) -> Manner:
    """Return one manner of a sign, always the same one."""
    of_sign = [manner for manner in manners() if manner.sign == sign]
    return Random(sign).choice(of_sign)  # noqa: S311 - a test is not a secret


def paging(bot: Bot, manner: Manner, *, size: int) -> Rule:
    """Answer reads of the commands with the first page of that size."""

    def rule(seen: Request) -> Instead | None:
        if seen.short != "GET commands":
            return None
        listed = bot.commands()
        reply = manner.answer(listed[:size], count=len(listed))
        return Instead(reply.status, reply.body, dict(reply.headers))

    return rule


def silently_cut(bot: Bot, *, size: int) -> Rule:
    """Answer reads of the commands with the first ones, as if there were no more."""
    return lambda seen: (
        Instead(200, {"data": bot.commands()[:size]}) if seen.short == "GET commands" else None
    )


@EVERY_SIGN
def test_a_first_page_is_never_compared(home: Home, bot: Bot, proxy: Proxy, sign: str) -> None:
    manner = drawn(sign)
    proxy.rule = paging(bot, manner, size=2)
    before = bot.everything()

    planned = home.run("plan", "--retries", "0")
    applied = home.run("apply", "--yes", "--max-deletes", "all", "--retries", "0", "--format=json")

    assert (planned.code, planned.out) == (1, ""), str(manner)
    assert "only a part" in planned.err
    assert applied.code == 1
    assert "only a part" in failed(applied, "service")
    assert proxy.writes == []
    assert bot.everything() == before


@pytest.mark.parametrize("update", ["apply --yes", "apply --yes --unordered"])
def test_a_cut_list_asks_for_no_new_run(home: Home, bot: Bot, proxy: Proxy, update: str) -> None:
    proxy.rule = silently_cut(bot, size=3)
    home.write(WHOLE + ADDED)

    ran = home.run(*update.split(), exits=6)

    assert ran.out.count("unknown: add command") == 2
    assert ran.out.count("may be cut") == 1
    assert "look for it" in ran.out
    assert "run plan" not in ran.said
    assert "run again" not in ran.said.lower()
