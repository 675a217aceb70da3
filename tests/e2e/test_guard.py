"""What is refused before the first write, and what a read after it shows."""

import json
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support.bots import Bot, Instead, Proxy, Rule, Service
from tests.support.home import Home, checked, fields
from tests.support.rawserver import Request

LIMITS = (
    st.none() | st.integers(0, 9).map(str) | st.integers(0, 100).map("{}%".format) | st.just("all")
)
SIZES = st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 2))  # stay, go, new


def _allowed(limit: str | None, deleted: list[int], listed: list[int]) -> bool:
    """Say anew what the documentation says of the limits."""
    if limit == "all":
        return True
    if any(gone and gone == there for gone, there in zip(deleted, listed, strict=True)):
        return False
    if limit is None and sum(deleted) <= 3:
        return True
    if limit is not None and limit.isdigit():
        return sum(deleted) <= int(limit)
    percent = int(limit.removesuffix("%")) if limit else 30
    return all(100 * n <= percent * of for n, of in zip(deleted, listed, strict=True))


@pytest.mark.promise("limited-deletes")
@given(commands=SIZES, announcements=SIZES, ignored=st.integers(0, 3), limit=LIMITS)
def test_deletes_are_limited_over_the_listing_and_over_each_collection(
    service: Service,
    home: Home,
    proxy: Proxy,
    *,
    commands: tuple[int, int, int],
    announcements: tuple[int, int, int],
    ignored: int,
    limit: str | None,
) -> None:
    stay, go, new = ([f"{kind} {n}" for n in range(count)] for kind, count in _named(commands))
    kept, gone, fresh = ([f"{k} {n}" for n in range(c)] for k, c in _named(announcements))
    left = [f"beta-{n}" for n in range(ignored)]
    bot = home.knows(service.bot([*left, *stay, *go], [*kept, *gone]), url=proxy.url)
    posts = [{"title": title, "description": "News."} for title in (*kept, *fresh)]
    home.write(
        fields(*((name,) for name in (*stay, *new)))
        + f"announcements: {json.dumps(posts)}\n"
        + 'sync: {announcements: mirror, ignore: ["beta-*"]}\n'
    )
    proxy.requests.clear()

    ran = home.run("apply", "--yes", *(["--max-deletes", limit] if limit else []))

    deleted, listed = [len(go), len(gone)], [len(stay + go), len(kept + gone)]
    if _allowed(limit, deleted, listed):
        assert ran.code == 0, ran.said
        assert bot.names() == [*left, *stay, *new]
    else:
        assert ran.code == 5
        assert "--max-deletes" in ran.said
        assert proxy.writes == []


def _named(sizes: tuple[int, int, int]) -> list[tuple[str, int]]:
    return list(zip(("stays", "goes", "comes"), sizes, strict=True))


REFUSALS = (302, 303, 307, 400, 401, 403, 404, 409, 422, 429)
READS = ["GET announcements", "GET commands"]
GENERATED = settings(  # without shrinking: each try is a whole run
    phases=(Phase.explicit, Phase.generate)
)
HEAD = "announcements:\n  - {title: v1, description: News.}\n"


def on_writes(answer: Instead, *, unless: Callable[[Request], bool] = lambda _: False) -> Rule:
    return lambda seen: answer if seen.writes and not unless(seen) else None


def refusing(status: int, *, forwarded: bool) -> Instead:
    headers = {"Location": "/v1/done"} if status < 400 else {"Retry-After": "3600"}
    return Instead(status, {"error": "no"}, headers, forwarded=forwarded)


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    home.write(fields(("help", "Reworded."), ("play",), ("new", "Is new.", "{prefix}new")) + HEAD)
    return home.knows(service.bot(["help", "play", "old"], ["v1"]), url=proxy.url)


@pytest.mark.promise("read-back", "exit-code-0-page", "verified-exit")
def test_a_page_that_changes_meanwhile_is_not_verified(home: Home, bot: Bot, proxy: Proxy) -> None:
    def rule(seen: Request) -> None:
        if seen.writes and bot.announcements():
            bot.delete(bot.announcements()[0]["id"], "announcements")

    proxy.rule = rule
    ran = home.run("apply", "--yes", "--format", "json")
    proxy.rule = lambda _: None
    plan = home.run("plan", "--detailed-exitcode")

    result = checked(ran, "result")
    assert (ran.code, plan.code) == (6, 3)
    assert [change["name"] for change in result["left"]] == ["v1"]
    assert result["outcomes"]["done"] == 3
    assert result["verified"] is False


@pytest.mark.promise("read-back", "verified-exit")
@settings(GENERATED, max_examples=12)
@given(
    status=st.sampled_from(REFUSALS), first=st.integers(0, 3), text=st.text("ab &<é", min_size=1)
)
def test_a_service_that_does_what_it_refuses_is_never_reported_as_unchanged(
    home: Home, service: Service, proxy: Proxy, *, status: int, first: int, text: str
) -> None:
    bot = home.knows(service.bot(["help", "play", "old"], ["v1"]), url=proxy.url)
    changed = ("help", f"Says {text}", "{prefix}help")
    home.write(fields(changed, ("play",), ("new", text + ".", "{prefix}new")) + HEAD)
    before, answer = bot.everything(), refusing(status, forwarded=True)
    proxy.requests.clear()
    proxy.rule = on_writes(answer, unless=lambda _: len(proxy.writes) <= first)

    ran = home.run("apply", "--yes")
    after = bot.everything()
    proxy.rule = lambda _: None
    home.run("apply", "--yes", exits=0)

    assert "not changed" not in ran.out
    assert after != before
    assert ran.code in {0, 6}
    assert (ran.code == 0) is (bot.everything() == after)
    assert Counter(bot.names()) == Counter(["help", "play", "new"])
    assert bot.ids()["help"] == before[0][0]["id"]


@pytest.mark.promise("read-back")
@pytest.mark.parametrize("status", REFUSALS)
def test_a_refused_write_is_a_failure(home: Home, bot: Bot, proxy: Proxy, status: int) -> None:
    proxy.rule = on_writes(refusing(status, forwarded=False))
    before = bot.everything()

    ran = home.run("apply", "--yes", "--format", "json", exits=1)

    outcomes = checked(ran, "result")["outcomes"]
    assert outcomes["done"] == outcomes["unknown"] == 0
    assert outcomes["failed"] == len(proxy.writes) > 0
    assert sorted(proxy.shorts()[-2:]) == READS
    assert bot.everything() == before


@pytest.mark.promise("read-back")
@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("status", REFUSALS)
def test_without_a_read_a_refusal_is_unknown(home: Home, proxy: Proxy, status: int) -> None:
    def rule(seen: Request) -> Instead | None:
        if seen.writes:
            return refusing(status, forwarded=True)
        return Instead(401, {"error": "no"}) if proxy.writes else None

    proxy.rule = rule

    ran = home.run("apply", "--yes", exits=6)

    assert "unknown: edit" in ran.out
    assert "not changed" not in ran.out


def test_a_refused_token_is_the_reason_of_deletes(home: Home, bot: Bot, proxy: Proxy) -> None:
    home.write(fields(("help",), ("play",), ("new",)) + HEAD)
    before = bot.everything()
    proxy.rule = on_writes(refusing(401, forwarded=False))

    ran = home.run("apply", "--yes", "--format", "json", exits=1)

    add, delete = checked(ran, "result")["changes"]
    assert (add["outcome"], delete["outcome"]) == ("failed", "skipped")
    assert delete["error"] == add["error"]
    assert "(401: no)" in add["error"]
    assert bot.everything() == before
