"""`commandsync bots add, token, remove`: the bots of a database, while a service runs on it."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from commandsync.server.service import running
from tests.support.callers import Caller
from tests.support.gateway import Listener
from tests.support.home import Home
from tests.support.terminal import POSIX, Terminal

on_posix = pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
HARBOR = "812045337190064138"
COMMAND = {"description": "Helps.", "syntax": "/help"}


@pytest.fixture
def url(home: Home, database_url: str) -> Iterator[str]:
    """The address of a service on the database of the environment."""
    home.variable("COMMANDSYNC_DATABASE", database_url)
    with running(database_url) as service:
        yield service.url


def added(home: Home, url: str) -> Caller:
    """Add a bot, one record of each kind, and a vote."""
    caller = Caller(url, HARBOR, home.run("bots", "add", HARBOR, "--name", "Harbor").out.strip())
    caller.added(name="help")
    assert caller.ask("POST", "/announcements", {"title": "v1", "description": "Out."})[0] == 200
    assert caller.ask("POST", "/votes", {"user": {"id": "80351110224678912"}})[0] == 200
    return caller


def test_a_bot_of_a_seed_file_is_added_with_its_texts_and_commands(home: Home, url: str) -> None:
    bots = [
        {"id": bot, "profile": {"username": bot.title()}, "commands": [{**COMMAND, "name": bot}]}
        for bot in ("first", "second")
    ]
    home.write(json.dumps({"bots": bots}), "bots.json")
    ran = home.run("bots", "add", "second", "--seed", "bots.json")
    caller = Caller(url, "second", ran.out.strip())

    assert [command["name"] for command in caller.listed()] == ["second"]
    assert caller.ask("POST", "/stats", {"servers": 1})[0] == 200
    assert Caller(url, "first", "").ask("GET", "/commands")[0] == 404


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "give either --name or --seed"),
        (("--name", "Third", "--seed", "bots.json"), "give either --name or --seed"),
        (("--seed", "bots.json"), "does not have the bot third"),
    ],
)
@pytest.mark.usefixtures("url")
def test_a_bot_needs_a_name_or_its_seed(home: Home, options: tuple[str, ...], said: str) -> None:
    home.write('{"bots": []}', "bots.json")
    ran = home.run("bots", "add", "third", *options, exits=2)

    assert said in ran.err


def test_the_token_is_printed_again(home: Home, url: str) -> None:
    caller = added(home, url)
    ran = home.run("bots", "token", HARBOR)

    assert (ran.code, ran.out.strip(), ran.err) == (0, caller.token, "")


def test_a_token_is_replaced_at_once_and_its_connections_are_closed(home: Home, url: str) -> None:
    caller = added(home, url)
    with Listener(url, {"token": caller.token}) as listener:
        listener.greeted()
        renewed = replace(caller, token=home.run("bots", "token", HARBOR, "--new").out.strip())
        ended = listener.ended()
    with (
        Listener(url, {"token": caller.token}) as refused,
        Listener(url, {"token": renewed.token}) as known,
    ):
        known.greeted()
        home.run("bots", "remove", HARBOR, "--yes")
        ends = [ended.code, refused.ended().code, known.ended().code]
    old = [one.ask("POST", "/stats", {"servers": 1})[0] for one in (caller, renewed)]
    again = added(home, url)
    new = [one.ask("POST", "/stats", {"servers": 1})[0] for one in (caller, renewed, again)]

    assert (ends, old, new) == ([3000] * 3, [404] * 2, [401, 401, 200])


def test_a_removed_bot_is_gone_with_all_its_records(home: Home, url: str) -> None:
    caller = added(home, url)
    ran = home.run("bots", "remove", HARBOR, "--yes")
    gone = [caller.ask("GET", path)[0] for path in ("", "/commands", "/voters")]
    late = caller.ask("POST", "/commands", {"name": "a", "description": "b", "syntax": "c"})[0]
    again = added(home, url)

    assert (ran.code, ran.out) == (0, f'removed "Harbor" ({HARBOR})\n')
    assert (gone, late) == ([404] * 3, 404)
    assert [record["name"] for record in again.listed()] == ["help"]
    assert len(again.listed("announcements")) == len(again.ask("GET", "/voters")[1]["data"]["data"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", HARBOR, "--name", "Again"), f"the bot {HARBOR} exists already"),
        (("add", "no id", "--name", "A"), "id is not"),
        (("add", "1", "--name", ""), "profile.username must"),
        (("token", "1"), "the bot 1"),
        (("remove", "1", "--yes"), "the bot 1"),
        (("remove", HARBOR), "a terminal"),
    ],
)
def test_what_cannot_work_is_one_clear_message_and_changes_nothing(
    home: Home, url: str, arguments: tuple[str, ...], message: str
) -> None:
    caller = added(home, url)
    ran = home.run("bots", *arguments)

    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert [record["name"] for record in caller.listed()] == ["help"]


@pytest.mark.parametrize("name", ["listing.db", ":memory:"])
def test_a_missing_database_is_not_created(home: Home, name: str) -> None:
    ran = home.run("bots", "token", HARBOR, "--database", name, exits=1)

    assert f"the database {name} does not exist" in ran.err
    assert list(home.path.iterdir()) == []


@on_posix
@pytest.mark.parametrize(("key", "code"), [("y", 0), ("n", 1)])
def test_a_removal_on_a_terminal_is_asked_about(home: Home, url: str, key: str, code: int) -> None:
    caller = added(home, url)
    with Terminal.running(home, "bots", "remove", HARBOR) as terminal:
        asked = terminal.until("[y/N]: ")
        terminal.type(f"{key}\n")
        ended, shown, _ = terminal.ended()

    assert f'Remove the bot "Harbor" ({HARBOR})' in asked
    assert ended == code
    assert ("Nothing was changed." in shown) is (code == 1)
    assert caller.ask("GET")[0] == (404 if code == 0 else 200)
