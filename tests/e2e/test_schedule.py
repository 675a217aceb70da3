"""Scheduled announcements on the command line: plan, apply, saved plans, several manifests."""

import json
from types import SimpleNamespace

import pytest

from commandsync import Client
from commandsync.sync import run, settings
from tests.support.bots import Bot, Service
from tests.support.home import Home, checked, failed
from tests.support.plans import day, set_clock

APPLY = ("apply", "--yes")
NEWS = """\
version: 1
sync: {announcements: mirror}
announcements:
  - {title: v1, description: Out., until: 2026-12-03T18:00Z}
  - {title: v2, description: Out., publish: 2026-12-03T18:00Z, until: 2026-12-08T18:00Z}
"""


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    home.write(NEWS)
    return home.knows(service.bot())


def titles(bot: Bot) -> list[str]:
    return [record["title"] for record in bot.announcements()]


def test_each_run_posts_what_is_due(home: Home, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    for number in (1, 2, 3, 4, 8, 9):
        set_clock(monkeypatch, number)
        pending = home.run("plan", "--detailed-exitcode").code
        ran = home.run(*APPLY, "--format", "json")
        seen.append(titles(bot))

        document = checked(ran, "result")
        assert (ran.code, document["verified"]) == (0, True)
        assert document["planned_at"] == f"2026-12-0{number}T18:00:00Z"
        assert pending == (3 if number in {1, 3, 8} else 0)
        assert home.run("plan", "--detailed-exitcode").code == 0

    assert seen == [["v1"], ["v1"], ["v2"], ["v2"], [], []]


def test_a_plans_time_is_its_own(home: Home, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, 2)
    assert home.run("plan", "--out", "plan.json").code == 0
    assert json.loads(home.read("plan.json"))["planned_at"] == "2026-12-02T18:00:00Z"
    set_clock(monkeypatch, 3)
    late = home.run("apply", "--plan", "plan.json", "--yes", "--format", "json", exits=5)
    assert titles(bot) == []
    assert "add of announcement 'v1' (it ended at 2026-12-03 18:00 UTC)" in failed(late, "stale")

    assert home.run("plan", "--out", "plan.json", "--force").code == 0
    set_clock(monkeypatch, 7)
    ran = home.run("apply", "--plan", "plan.json", "--yes", "--format", "json")
    assert (ran.code, checked(ran, "result")["verified"]) == (0, True), ran.said
    assert titles(bot) == ["v2"]
    set_clock(monkeypatch, 9)
    again = home.run("apply", "--plan", "plan.json", "--yes")
    assert (again.code, titles(bot)) == (0, ["v2"])


def test_several_manifests_have_the_one_time_of_the_run(
    service: Service, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots = [service.bot(), service.bot()]
    for bot in bots:
        variable = f"COMMANDSYNC_TOKEN_{bot.id}"
        home.variable(variable, bot.token)
        head = f"version: 1\nbot: '{bot.id}'\nbase_url: {bot.url}\ntoken_env: {variable}\n"
        home.write(NEWS.replace("version: 1\n", head), f"{bot.id}.yaml")
    numbers = iter(range(2, 9))
    clock = SimpleNamespace(now=lambda _zone: day(next(numbers)))
    monkeypatch.setattr(settings, "datetime", clock)

    ran = home.run(
        *APPLY, "--format", "json", "-f", f"{bots[0].id}.yaml", "-f", f"{bots[1].id}.yaml"
    )

    results = checked(ran, "result")["results"]
    assert ran.code == 0
    assert [result["planned_at"] for result in results] == ["2026-12-02T18:00:00Z"] * 2
    assert next(numbers) == 3
    assert [titles(bot) for bot in bots] == [["v1"], ["v1"]]


def test_the_library_posts_it(home: Home, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home.write(NEWS)
    with Client(bot.token, base_url=bot.url, bot=bot.id) as client:
        for number in (1, 3):
            set_clock(monkeypatch, number)
            assert run(client, path).verified

    assert titles(bot) == ["v2"]
