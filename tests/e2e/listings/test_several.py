"""Several listings of one manifest: all are planned before the first write, and fail alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from commandsync.api.arguments import service_of
from commandsync.sync import lists
from commandsync.sync.earlier import GitError
from commandsync.sync.history import head_of
from tests.support.bots import Bot, Instead, Proxy, Service
from tests.support.destination import SERVICES, Destination, destination
from tests.support.home import Home, checked, fields


@pytest.fixture
def places(home: Home) -> Iterator[dict[str, Destination]]:
    with ExitStack() as opened:
        yield {name: opened.enter_context(destination(home, name)) for name in SERVICES}


@pytest.fixture
def page(home: Home, service: Service) -> Bot:
    """A page with one command, and its token."""
    bot = service.bot(["ping"])
    home.variable("COMMANDSYNC_TOKEN", bot.token)
    return bot


def write(home: Home, places: dict[str, Destination], *names: str, head: str = "") -> None:
    entries = "".join(place.entry for place in places.values())
    bot = head or 'bot: "812045337190064138"\n'
    home.write(f"{fields(*((name,) for name in names))}{bot}listings:\n{entries}")


def writes(places: dict[str, Destination]) -> dict[str, int]:
    return {name: len(place.proxy.writes) for name, place in places.items()}


def apply(home: Home, *options: str) -> tuple[int, dict[str, dict[str, object]]]:
    """Return the exit code, and the documents by their listings."""
    ran = home.run("apply", "--yes", "--format", "json", *options)
    results = checked(ran, "result")["results"]
    return ran.code, {one["listing"]: one for one in results}


def test_listings_can_be_selected(home: Home, places: dict[str, Destination]) -> None:
    write(home, places, "ping")

    ran = home.run("apply", "--yes", "--unseen", "--listing", "disq.ink", "--listing", "telegram")

    assert ran.code == 0
    assert list(writes(places).values()) == [0, 0, 1, 1]


def test_a_host_selects_a_page(home: Home, places: dict[str, Destination], page: Bot) -> None:
    write(home, places, "ping", head=f'bot: "{page.id}"\nbase_url: {page.url}\n')

    ran = home.run("plan", "--listing", service_of(page.url), "--format", "json")

    assert checked(ran, "plan")["base_url"] == page.url


def test_a_left_over_url_is_no_page(home: Home, places: dict[str, Destination], page: Bot) -> None:
    write(home, places, "ping")

    refused = home.run("plan", "--base-url", page.url)
    home.variable("COMMANDSYNC_BASE_URL", page.url)
    planned = home.run("plan")

    assert (refused.code, planned.code) == (2, 0)
    assert "has a page" in refused.err
    assert page.url not in planned.out


def test_validate_checks_what_was_imported(home: Home, places: dict[str, Destination]) -> None:
    home.write("{", "commands.imported.yaml")
    write(home, places, "ping")
    home.write(home.read("commands.yaml") + "import: {from: bot.py}\n")

    broken = home.run("validate")
    home.write(fields(("ping",)))

    assert (broken.code, home.run("validate").code) == (4, 0)
    assert broken.err.startswith("commands.imported.yaml:1:")


def test_without_commands_no_list_is_sent(home: Home, places: dict[str, Destination]) -> None:
    write(home, places)
    home.write(home.read("commands.yaml").replace("commands: []\n", ""))

    ran = home.run("apply", "--yes", "--unseen", exits=4)

    assert re.match(r"commands.yaml:\d+:5: error: .*no commands.* top.gg", ran.err)
    assert set(writes(places).values()) == {0}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--unseen", "--only", "p*"), 2),
        (("--unseen", "--strict"), 4),
        (("--unseen", "--max-deletes", "0"), 5),
    ],
)
def test_a_refusal_of_one_stops_all_before_the_first_write(
    home: Home, places: dict[str, Destination], options: tuple[str, ...], code: int
) -> None:
    write(home, places, "ping", "ban")
    home.run("apply", "--yes", "--unseen", "--listing", "top.gg", exits=0)
    for place in places.values():
        place.proxy.requests.clear()
    write(home, places, "ping", "No name!")

    ran = home.run("apply", "--yes", *options, exits=code)

    assert code != 5 or "refused: this plan would delete 1 of 2" in ran.out
    assert code != 5 or ran.err == "Nothing was changed.\n"
    assert set(writes(places).values()) == {0}


def test_an_unknown_list_stops_only_itself(home: Home, places: dict[str, Destination]) -> None:
    write(home, places, "ping")

    code, results = apply(home)
    text = home.run("apply", "--yes", exits=5)

    assert code == 5
    assert writes(places) == {"top.gg": 0, "discordbotlist.com": 0, "telegram": 1, "disq.ink": 0}
    error = results["top.gg"]["error"]
    assert "would replace the whole list of top.gg" in error["message"]  # type: ignore[index]
    assert "--unseen" in str(error["hint"])  # type: ignore[index]
    assert "the whole list of disq.ink" in text.err


def test_an_unreadable_list_stops_only_itself(home: Home, places: dict[str, Destination]) -> None:
    write(home, places, "ping")
    places["telegram"].proxy.rule = lambda _: Instead(401, {"ok": False, "error_code": 401})

    code, results = apply(home, "--unseen")
    text = home.run("apply", "--yes", "--unseen")

    error = results["telegram"]
    assert (code, text.code) == (6, 6)
    assert set(results) == set(SERVICES)
    assert error["error"]["message"].startswith("commands.yaml: telegram: ")  # type: ignore[index]  # a document
    assert "commands.yaml: telegram: " in text.err
    assert writes(places) == {"top.gg": 2, "discordbotlist.com": 2, "telegram": 0, "disq.ink": 2}


@pytest.mark.parametrize("failing", SERVICES)
def test_a_write_that_fails_stops_only_itself(
    home: Home, places: dict[str, Destination], failing: str
) -> None:
    write(home, places, "ping")
    places[failing].fail(lambda _: Instead(400, {"message": "no"}))

    code, results = apply(home, "--unseen")

    assert code == 6
    assert {name for name, place in places.items() if not place.names} == {failing}
    assert results[failing]["outcomes"]["failed"] == 1  # type: ignore[index]  # a document


def test_a_list_that_cannot_be_remembered_hides_no_result(
    home: Home, places: dict[str, Destination], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, places, "ping")
    calls = iter(range(1))

    def fail(path: str) -> str:
        if next(calls, None) is None:
            raise GitError("git broke")
        return head_of(path)

    monkeypatch.setattr(lists, "head_of", fail)
    code, results = apply(home, "--unseen")

    assert code == 6
    assert writes(places) == {"top.gg": 1, "discordbotlist.com": 0, "telegram": 1, "disq.ink": 0}
    assert results["top.gg"]["outcomes"]["sent"] == 1  # type: ignore[index]  # a document
    assert results["disq.ink"]["stopped"] == "git broke"


def test_the_page_is_planned_and_applied_first(
    home: Home, places: dict[str, Destination], page: Bot, proxy: Proxy
) -> None:
    write(home, places, "ping", "ban", head=f'bot: "{page.id}"\nbase_url: {proxy.url}\n')

    code, results = apply(home, "--unseen")

    assert code == 0
    assert list(results) == [f"localhost:{proxy.port}", *SERVICES]
    assert page.names() == ["ping", "ban"]
    assert next(iter(results.values()))["compared_with"] == "list"
    for place in places.values():
        assert page.token not in str([each.headers for each in place.proxy.requests])


def test_a_page_that_cannot_be_read_stops_only_itself(
    home: Home, places: dict[str, Destination], page: Bot, proxy: Proxy
) -> None:
    write(home, places, "ping", "ban", head=f'bot: "{page.id}"\nbase_url: {proxy.url}\n')
    proxy.rule = lambda _: Instead(404, {"error": "gone"})

    assert apply(home, "--unseen")[0] == 6
    assert set(writes(places).values()) == {1}


def test_an_unused_base_url_is_named_once(places: dict[str, Destination], home: Home) -> None:
    entries = "".join(place.entry for place in places.values())
    home.write(f'{fields(("ping",))}bot: "42"\nlistings:\n{entries}')
    home.variable("COMMANDSYNC_BASE_URL", "http://127.0.0.1:9")
    ran = home.run("plan", exits=0)

    assert ran.said.count("COMMANDSYNC_BASE_URL is not used") == 1
