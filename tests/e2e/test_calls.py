"""The commands for single requests: bots, voters, commands, announcements."""

import json
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from commandsync.server.runner import running
from tests.e2e.test_signals import end_of, heard, held
from tests.support.bots import Bot, Service
from tests.support.home import Home, failed
from tests.support.proxy import Instead, Proxy, Rule
from tests.support.rawserver import RawServer, Request, answering
from tests.support.terminal import POSIX, Terminal

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
    bot = service.bot(["help", "ping"], ["v1"])
    home.knows(bot)
    return bot


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


def test_commands_are_listed_as_columns_and_as_one_document(home: Home, bot: Bot) -> None:
    ran = home.run("commands", "list")
    document = home.run("commands", "list", "--format", "json").document

    head, first, second = ran.out.splitlines()
    assert ran.code == 0
    assert head.split() == ["NAME", "CATEGORY", "USES", "ID", "SYNTAX", "DESCRIPTION"]
    assert first.split() == ["help", "7", bot.ids()["help"], "/help", "Does", "it."]
    assert second.index("/ping") == first.index("/help") == head.index("SYNTAX")
    assert (document["version"], document["bot"], document["base_url"]) == (1, bot.id, bot.url)
    assert [(one["name"], one["id"]) for one in document["commands"]] == [*bot.ids().items()]


def test_an_empty_list_is_shown_as_empty(home: Home, service: Service) -> None:
    home.knows(service.bot())
    ran = home.run("announcements", "list")

    assert (ran.code, ran.out, ran.err) == (0, "", "no announcements\n")
    assert home.run("announcements", "list", "--format", "json").document["announcements"] == []


def test_a_command_is_added(home: Home, bot: Bot) -> None:
    text = ["--name", "new", "--description", "Is new.", "--syntax", "/new", "--category", "Fun"]
    ran = home.run("commands", "add", *text)

    added = bot.commands()[-1]
    assert (ran.code, ran.out) == (0, 'added "new"\n')
    assert (added["description"], added["syntax"], added["category"]) == ("Is new.", "/new", "Fun")


@pytest.mark.parametrize(("id_", "said"), [({}, ""), ({"id": "64f0"}, " (64f0)")])
def test_an_id_is_shown_when_the_service_returns_it(
    home: Home, raw: RawServer, id_: dict[str, str], said: str
) -> None:
    home.variable("COMMANDSYNC_TOKEN", "opaque-token")
    raw.then(*[answering({"success": True, "message": "Done.", "data": id_})] * 2)
    text = ["commands", "add", "--name", "a", "--description", "b", "--syntax", "c"]

    assert home.run(*text).out == f'added "a"{said}\n'
    assert home.run(*text, "--format", "json").document["added"] == id_.get("id")


def test_an_edit_keeps_what_is_not_named_and_no_category_clears_it(home: Home, bot: Bot) -> None:
    identifier = bot.ids()["ping"]
    ran = home.run("commands", "edit", identifier, "--name", "latency", "--category", "Tools")

    edited = bot.commands()[1]
    assert (ran.code, ran.out) == (0, f'edited "latency" ({identifier})\n')
    assert edited["id"] == identifier
    assert (edited["name"], edited["description"], edited["syntax"], edited["category"]) == (
        *("latency", "Does it.", "/ping", "Tools"),
    )

    cleared = home.run("commands", "edit", identifier, "--category", "", "--format", "json")

    assert cleared.document["edited"] == identifier
    assert not bot.commands()[1].get("category")


def test_an_edit_of_nothing_is_wrong_usage(home: Home, relayed: Proxy) -> None:
    ran = home.run("commands", "edit", "x", "--format", "json")

    assert (ran.code, failed(ran, "usage")) == (2, "nothing to edit")
    assert relayed.requests == []


@pytest.mark.parametrize("command", ["edit", "delete"])
def test_an_id_that_is_not_listed_is_not_written_to(
    home: Home, relayed: Proxy, command: str
) -> None:
    option = ["--name", "x"] if command == "edit" else ["--yes"]
    ran = home.run("commands", command, "f" * 24, *option)

    assert ran.code == 1
    assert "no command with the id" in ran.err
    assert relayed.writes == []


def test_uses_are_set_to_nothing_too(home: Home, bot: Bot) -> None:
    identifier = bot.ids()["ping"]
    ran = home.run("commands", "set-uses", identifier, "1840")
    again = home.run("commands", "set-uses", identifier, "0", "--format", "json")

    assert (ran.code, ran.out) == (0, f"{identifier}: used 1,840 times\n")
    assert (again.document["id"], again.document["uses"]) == (identifier, 0)
    assert bot.commands()[1]["uses"] == 0


def test_an_announcement_is_posted_and_deleted(home: Home, bot: Bot) -> None:
    added = home.run("announcements", "add", "--title", "v2", "--description", "Is out.")
    listed = home.run("announcements", "list")
    identifier = bot.announcements()[-1]["id"]
    deleted = home.run("announcements", "delete", identifier, "--yes")

    assert (added.code, added.out) == (0, 'added "v2"\n')
    assert listed.out.splitlines()[2].split() == ["v2", identifier, "Is", "out."]
    assert (deleted.code, deleted.out) == (0, f'deleted "v2" ({identifier})\n')
    assert [record["title"] for record in bot.announcements()] == ["v1"]


@pytest.mark.parametrize("collection", ["commands", "announcements"])
def test_a_delete_without_a_terminal_needs_a_yes(
    home: Home, relayed: Proxy, collection: str
) -> None:
    ran = home.run(collection, "delete", "x", "--format", "json")

    assert ran.code == 2
    assert "not a terminal" in failed(ran, "usage")
    assert relayed.requests == []


@on_posix
@pytest.mark.parametrize(("key", "code"), [("y", 0), ("n", 1), ("\x04", 1)])
def test_a_delete_on_a_terminal_is_asked_about(home: Home, bot: Bot, key: str, code: int) -> None:
    identifier = bot.ids()["ping"]
    with Terminal.running(home, "commands", "delete", identifier) as terminal:
        asked = terminal.until("[y/N]: ")
        terminal.type(key if key == "\x04" else f"{key}\n")
        ended, shown, _ = terminal.ended()

    assert f'Delete the command "ping" ({identifier})?' in asked
    assert ended == code
    assert ("Nothing was changed." in shown) is (code == 1)
    assert bot.names() == (["help"] if code == 0 else ["help", "ping"])


WRITES = pytest.mark.parametrize(
    "words",
    [
        "commands add --name a --description b --syntax c",
        "commands edit {} --name a",
        "commands delete {} --yes",
        "commands set-uses {} 3",
        "announcements add --title a --description b",
    ],
)


@WRITES
@pytest.mark.parametrize(
    ("token", "code"), [("", 2), (OTHERS_TOKEN, 5)], ids=["no token", "another bot's"]
)
def test_nothing_is_asked_without_the_bots_own_token(
    home: Home, relayed: Proxy, words: str, token: str, code: int
) -> None:
    home.variable("COMMANDSYNC_TOKEN", token)
    ran = home.run(*words.format("f" * 24).split())

    assert ran.code == code
    assert ("no token" if code == 2 else "bot 999") in ran.err
    assert relayed.requests == []


@WRITES
def test_a_write_whose_answer_is_lost_is_reported_as_unknown(
    home: Home, bot: Bot, relayed: Proxy, words: str
) -> None:
    relayed.rule = writes(Instead(500, {"error": "oops"}, forwarded=True))
    ran = home.run(*words.format(bot.ids()["ping"]).split(), "--retries", "0", "--format", "json")

    collection = words.split(maxsplit=1)[0]
    assert ran.code == 6
    assert "result is unknown" in failed(ran, "network")
    assert f"commandsync {collection} list" in ran.document["error"]["hint"]


@on_posix
def test_a_signal_lets_a_write_finish_and_reports_it(
    home: Home, bot: Bot, relayed: Proxy, held: threading.Event
) -> None:
    identifier = bot.ids()["ping"]
    child = home.started("commands", "set-uses", identifier, "3")
    relayed.wait_for(1)
    child.send_signal(signal.SIGTERM)
    heard(child)
    held.set()
    ran = end_of(child)

    assert (ran.code, ran.out) == (143, f"{identifier}: used 3 times\n")
    assert bot.commands()[1]["uses"] == 3


@on_posix
@pytest.mark.usefixtures("held")
def test_a_second_signal_ends_at_once_and_leaves_it_open(
    home: Home, bot: Bot, relayed: Proxy
) -> None:
    child = home.started("commands", "set-uses", bot.ids()["ping"], "3", "--format", "json")
    relayed.wait_for(1)
    child.send_signal(signal.SIGINT)
    heard(child)
    child.send_signal(signal.SIGINT)
    ran = end_of(child)

    assert ran.code == 130
    assert "may have been" in failed(ran, "interrupted")


def test_untrusted_texts_cannot_steer_what_reads_a_table(home: Home, raw: RawServer) -> None:
    record = {
        "id": UNTRUSTED,
        "name": UNTRUSTED,
        "description": UNTRUSTED,
        "syntax": f"a\n{UNTRUSTED}",
    }
    raw.then(*[answering({"data": [record]})] * 2)
    ran = home.run("commands", "list")
    document = home.run("commands", "list", "--format", "json")

    for said in (ran.out, document.out):
        assert "\x1b" not in said
        assert "\u202e" not in said
        assert "##[" not in said
        assert not any(line.lstrip().startswith("::") for line in said.splitlines())
    assert document.document["commands"][0]["id"] == UNTRUSTED


def test_bots_are_listed_by_what_is_asked_for(home: Home, listed_bots: str) -> None:
    words = "--search music --sort servers --id 41 --id 42 --tag fun --certified --page 2 --limit 1"
    ran = home.run("bots", "list", *words.split(), "--base-url", listed_bots)

    assert ran.code == 0
    assert [line.split() for line in ran.out.splitlines()[1:]] == [
        ["Bot", "42", "1234", "5", "42", "Plays", "日本", "music."]
    ]
    assert ran.err == "page 2 of 2; --all shows all\n"


def test_all_bots_are_listed_page_after_page(home: Home, listed_bots: str) -> None:
    document = home.run("bots", "list", "--all", "--format", "json").document

    assert document["base_url"] == listed_bots
    assert [one["id"] for one in document["bots"]] == [bot["id"] for bot in BOTS]
    assert "page" not in document
    assert "bot" not in document


def test_a_bot_is_shown_with_all_that_is_known(home: Home, bot: Bot) -> None:
    ran = home.run("bots", "show")

    lines = dict(line.split(maxsplit=1) for line in ran.out.splitlines() if " " in line)
    assert ran.code == 0
    assert lines["id"] == bot.id
    assert lines["profile.username"] == f"Bot {bot.id}"


def test_another_bot_is_shown_by_its_id(home: Home, listed_bots: str) -> None:
    ran = home.run("bots", "show", "41", "--base-url", listed_bots)
    document = home.run("bots", "show", "41", "--format", "json").document

    assert "information.tags" in ran.out
    assert "music, fun" in ran.out
    assert document["bot"] == document["listed"]["id"] == "41"


def test_a_manifest_selects_the_listing(home: Home, bot: Bot) -> None:
    home.forget("COMMANDSYNC_BOT")
    home.forget("COMMANDSYNC_BASE_URL")
    home.write(f'version: 1\nbot: "{bot.id}"\nbase_url: {bot.url}\ncommands: []\n')
    home.write('version: 1\nbot: "1"\n', "other.yaml")

    assert "help" in home.run("commands", "list").out
    assert home.run("commands", "list", "-f", "commands.yaml", "-f", "other.yaml").code == 2


def test_no_listing_is_wrong_usage(home: Home) -> None:
    ran = home.run("bots", "list", "--format", "json")

    assert ran.code == 2
    assert "base URL" in failed(ran, "usage")
