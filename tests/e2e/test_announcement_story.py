"""The story of two announcements: a release that is tagged, and an event that is scheduled."""

import json

import pytest

from tests.support.bots import Bot, Service
from tests.support.gitrepo import GitRepo, git_repo
from tests.support.home import Home
from tests.support.proxy import Proxy
from tests.support.schedules import set_clock

MANIFEST = """\
version: 1
sync: {announcements: mirror}
announcements: []
"""
EVENT = """\
  - title: Winter event
    description: Snow everywhere.
    publish: 2026-12-05T18:00Z
    until: 2026-12-10T18:00Z
"""


def titles(bot: Bot) -> list[str]:
    return [record["title"] for record in bot.announcements()]


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    bot = service.bot()
    home.knows(bot, url=proxy.url)
    return bot


@pytest.fixture
def repository(home: Home) -> GitRepo:
    """The bot's repository, in which its version 2.0.0 was just tagged."""
    repository = git_repo(home.path)
    repository.commit({"commands.yaml": MANIFEST}, tag="v2.0.0")
    return repository


def release(home: Home, repository: GitRepo) -> None:
    """Write the event that GitHub sends when the last tag is released."""
    tag = repository.git("describe", "--tags", "--abbrev=0")
    content = {"tag_name": tag, "name": "Lantern 2.0.0", "body": "- Reminders\r\n", "html_url": ""}
    home.write(json.dumps({"action": "published", "release": content}), "event.json")


def test_a_release_is_announced_once_and_an_event_has_its_time(
    home: Home, bot: Bot, repository: GitRepo, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, 1)
    release(home, repository)
    announced = [home.run("announce", "--event", "event.json", "--yes") for _ in range(2)]
    runs = [home.run("apply", "--yes") for _ in range(2)]

    assert [ran.code for ran in (*announced, *runs)] == [0] * 4, [ran.said for ran in announced]
    assert "Nothing to announce" in announced[1].said
    assert len(proxy.writes) == 1
    assert titles(bot) == ["Lantern 2.0.0"]

    repository.commit({"commands.yaml": home.read("commands.yaml") + EVENT})
    listed: list[int] = []
    for night in range(2, 13):
        set_clock(monkeypatch, night)
        assert home.run("apply", "--yes").code == 0
        listed.append(titles(bot).count("Winter event"))

    assert listed == [0] * 3 + [1] * 5 + [0] * 3
    assert [request.method for request in proxy.writes] == ["POST", "POST", "DELETE"]
    assert titles(bot) == ["Lantern 2.0.0"]
    again = home.run("announce", "--event", "event.json", "--yes")
    assert (again.code, "Nothing to announce" in again.said) == (0, True)
