"""Every Python example in the documents is run, and accepted by mypy strict."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import wait

import pytest

from tests.e2e.readme_blocks import DOCUMENTS, ROOT
from tests.support.bots import Bot, Service
from tests.support.clients import begun
from tests.support.frameworks import Chat
from tests.support.gateway import BOT, Gateway, closing, event, telling, vote
from tests.support.home import LONGEST, MYPY, Home, Ran, lines
from tests.support.rawserver import RawServer, answering

Start = Callable[..., subprocess.Popen[bytes]]

TEXT = "".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
EXAMPLES = {
    re.match(r"# (\S+)\n", content)[1]: content  # type: ignore[index]  # the first line is the name
    for content in re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
}
RUN = {
    *("show_commands.py", "voted.py", "uses.py", "start.py"),
    *("thanks.py", "events.py", "votes.py"),
    *("greeter.py", "test_greeter.py", "test_greeter_async.py", "test_uses.py"),
    *("show_help.py", "test_publish.py"),
}
_COG = """
import asyncio
import os

import discord
from discord.ext.commands import Bot
from yarl import URL

from votes import CHANNEL, Listing, setup

discord.http.Route.BASE = os.environ["CHAT_REST"]
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = URL(os.environ["CHAT_GATEWAY"])

async def main():
    async with Bot("!", intents=discord.Intents.default()) as bot:
        running = asyncio.create_task(bot.start("a.b.c"))
        while bot.get_channel(CHANNEL) is None:
            await asyncio.sleep(0.01)
        await setup(bot)
        (cog,) = bot.cogs.values()
        assert isinstance(cog, Listing)
        {until}
        await bot.remove_cog("commandsync")
        assert cog.listening.done()

asyncio.run(main())
"""
_LOOP = "-oasyncio_default_fixture_loop_scope=function"  # pytest-asyncio warns without it
_TWO_MESSAGES = '[await bot.wait_for("message") for _ in range(2)]'


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    bot = home.knows(service.bot(["help", "ping"], ["v1"]))
    home.forget("COMMANDSYNC_BOT")
    return bot


@pytest.fixture
def gateway(home: Home) -> Iterator[Gateway]:
    with Gateway() as running:
        home.variable("COMMANDSYNC_BASE_URL", running.url)
        home.variable("COMMANDSYNC_TOKEN", "marked-token-7f3a9c1e")
        yield running


@pytest.fixture
def start(home: Home) -> Start:
    """Start an example that runs until it is ended."""

    def start(name: str) -> subprocess.Popen[bytes]:
        home.write(EXAMPLES[name], name)
        return home.started(name, program=(sys.executable,))

    return start


def test_every_example_is_run_here() -> None:
    assert set(EXAMPLES) == RUN
    assert TEXT.count("```python\n") == len(RUN)


def test_mypy_strict_accepts_every_example(home: Home) -> None:
    pytest.importorskip("mypy")
    for name, content in EXAMPLES.items():
        home.write(content, name)

    checked = subprocess.run(
        [*MYPY, *EXAMPLES],
        cwd=home.path,
        env=home.environment(MYPYPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=2 * LONGEST,
        check=False,
    )

    assert checked.returncode == 0, checked.stdout
    assert f"{len(EXAMPLES)} source files" in checked.stdout


@pytest.mark.usefixtures("bot")
def test_voted_reports_a_vote_within_the_deadline(home: Home) -> None:
    home.write(EXAMPLES["voted.py"], "voted.py")
    with RawServer() as server:
        server.then(answering({"voted": False}))
        home.variable("COMMANDSYNC_BASE_URL", server.url)
        ran = home.child_of((sys.executable, "voted.py"), "7")
    home.variable("COMMANDSYNC_BASE_URL", "http://127.0.0.1:9")
    failed = home.child_of((sys.executable, "voted.py"), "7")

    assert (ran.code, ran.out, ran.err) == (0, "vote first\n", "")
    assert (failed.code, failed.out) == (0, "ask again later\n")


def test_show_help_prints_the_commands_of_each_category(home: Home) -> None:
    more = "  - {name: play, description: Plays., syntax: /play <song>, category: Music}\n"
    home.write(MANIFEST + more)
    home.write(EXAMPLES["show_help.py"], "show_help.py")

    ran = home.child_of((sys.executable, "show_help.py"))

    printed = "**Other**\n`/help` Shows all.\n`/ping` Does it.\n**Music**\n`/play <song>` Plays.\n"
    assert (ran.code, ran.out, ran.err) == (0, printed, "")


MANIFEST = (
    "version: 1\ncommands:\n  - {name: help, description: Shows all., syntax: /help}\n"
    "  - {name: ping, description: Does it., syntax: /ping}\n"
)


@pytest.mark.parametrize(
    ("example", "shown"),
    [
        (("show_commands.py",), "help: 7 uses\nping: 7 uses\n1 announcements\n"),
        (("uses.py", "uses.json"), "ping: 7 -> 0"),
        (("start.py",), "edit help: skipped\nthe bot starts"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_an_example_that_is_run_as_it_is_changes_nothing(
    home: Home, bot: Bot, example: tuple[str, ...], shown: str
) -> None:
    home.write(EXAMPLES[example[0]], example[0])
    home.write(json.dumps({"ping": 0}), "uses.json")
    home.write(MANIFEST)
    before = bot.commands(), bot.announcements()
    ran = home.child_of((sys.executable, *example))

    assert (ran.code, ran.err) == (0, "")
    assert shown in ran.out
    assert (bot.commands(), bot.announcements()) == before


def test_uses_sets_the_uses_and_prints_errors(home: Home, bot: Bot) -> None:
    home.write(EXAMPLES["uses.py"], "uses.py")
    home.write(json.dumps({"ping": 0, "gone": 3, "help": 7}), "uses.json")
    ran = home.child_of((sys.executable, "uses.py"), "uses.json", "--write")
    home.variable("COMMANDSYNC_TOKEN", f"{bot.token[:-4]}AAAA")
    home.write(json.dumps({"ping": 5}), "uses.json")
    refused = home.child_of((sys.executable, "uses.py"), "uses.json", "--write", exits=1)

    assert (ran.code, ran.out, ran.err) == (0, "ping: 7 -> 0\n", "")
    assert [record["uses"] for record in bot.commands()] == [7, 0]
    assert "the token (401" in refused.err


def test_start_syncs_and_starts_the_bot_whatever_comes_of_it(home: Home, bot: Bot) -> None:
    home.write(EXAMPLES["start.py"], "start.py")
    home.write(MANIFEST)
    ran = home.child_of((sys.executable, "start.py"), "--write")
    again = home.child_of((sys.executable, "start.py"), "--write")
    home.variable("COMMANDSYNC_TOKEN", f"{bot.token[:-4]}AAAA")
    home.write("version: 1\ncommands: [{name: help}]\n")
    broken = home.child_of((sys.executable, "start.py"), "--write")

    assert (ran.code, ran.out, ran.err) == (0, "edit help: done\nthe bot starts\n", "")
    assert (again.code, again.out) == (0, "the bot starts\n")
    assert broken.out == (
        "commands are not synced: the manifest has 2 problems\n"
        "commands.yaml:2:12: a command needs a description\n"
        "commands.yaml:2:12: a command needs a syntax\nthe bot starts\n"
    )
    assert bot.commands()[0]["description"] == "Shows all."


def test_thanks_thanks_and_reminds(gateway: Gateway, start: Start) -> None:
    reminder = {"user": {"id": "7", "username": "Ann"}, "bot": BOT}
    gateway.then(telling(vote(7), event("reminder", reminder)))

    child = start("thanks.py")

    assert lines(child, 2) == ["u7 voted for Helper, thank you!\n", "Ann may vote again\n"]
    assert_ends_quietly(child)


@pytest.mark.parametrize(
    ("name", "words"),
    [("thanks.py", "u{} voted for Bot {}, thank you!"), ("events.py", "u{} voted")],
)
def test_votes_on_the_service_are_told(bot: Bot, start: Start, name: str, words: str) -> None:
    child = start(name)
    told = begun(lines, child, 1)
    for user in range(LONGEST * 10):  # until it is connected, which it does not tell
        if told.done():
            break
        bot.cast(str(user))
        wait([told], timeout=0.1)
    (first,) = told.result(LONGEST)
    bot.cast("last")
    told_last = f"{words.format('last', bot.id)}\n"

    assert first in [f"{words.format(number, bot.id)}\n" for number in range(user + 1)]
    assert any(lines(child, 1) == [told_last] for _ in range(user + 1))


def test_the_greeter_of_votes_thanks_and_ends_quietly(gateway: Gateway, start: Start) -> None:
    gateway.then(telling(vote(7)))
    child = start("greeter.py")

    assert lines(child, 1) == ["Thank you, u7!\n"]
    assert_ends_quietly(child)


def test_events_continue_after_a_lost_connection(gateway: Gateway, start: Start) -> None:
    gateway.then(closing(vote(7), code=1012, reason="restart"), telling(vote(8)))
    gateway.voters = [[]]

    child = start("events.py")

    assert lines(child, 3) == ["u7 voted\n", "connection lost: restart\n", "u8 voted\n"]
    assert_ends_quietly(child, before=b"the connection for events is lost: restart (1012)\n")


def assert_ends_quietly(child: subprocess.Popen[bytes], *, before: bytes = b"") -> None:
    """Press Ctrl-C, after which nothing more is written."""
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=LONGEST)

    assert (child.returncode, out, err) == (0, b"", before)


def cog_of(home: Home, chat: Chat, until: str) -> Ran:
    """Run the cog in a real bot, which is logged in to a stand-in for Discord."""
    home.write(EXAMPLES["votes.py"], "votes.py")
    program = (sys.executable, "-W", "ignore::DeprecationWarning", "-c", _COG.format(until=until))
    return home.child_of(program, CHAT_REST=chat.rest, CHAT_GATEWAY=chat.gateway)


def test_the_cog_thanks_voters_and_is_unloaded(home: Home, gateway: Gateway) -> None:
    gateway.then(telling(vote(7), vote(8)))
    with Chat() as chat:
        ran = cog_of(home, chat, _TWO_MESSAGES)

    assert (ran.code, ran.err, ran.out) == (0, "", "")
    assert chat.said == [f"Thank you for your vote, <@{user}>!" for user in (7, 8)]


def test_the_cog_logs_a_refused_token(home: Home, gateway: Gateway) -> None:
    gateway.then(closing(code=4401, reason="no", welcome=False))
    with Chat() as chat:
        ran = cog_of(home, chat, "await asyncio.wait([cog.listening])")

    assert ran.code == 0
    assert ran.err.startswith("no votes will")


@pytest.mark.parametrize(
    ("names", "switch"),
    [
        (("test_greeter.py", "test_uses.py", "test_publish.py"), "-pno:asyncio"),
        (("test_greeter.py", "test_greeter_async.py"), _LOOP),
    ],
    ids=["without", "with"],
)
def test_a_bots_tests_need_no_other_plugin(home: Home, names: tuple[str, ...], switch: str) -> None:
    for file in ("greeter.py", *names):
        home.write(EXAMPLES[file], file)
    switches = ("-Werror", "-pno:cacheprovider", "-pno:schemathesis", switch)
    ran = home.child_of((sys.executable, "-m", "pytest", *switches, *names))

    assert f"{len(names)} passed" in ran.out, ran.said
