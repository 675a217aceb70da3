"""`commandsync serve` as a process: what it prints, how signals end it, what a kill leaves."""

import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import pairwise
from urllib.parse import urlencode, urlsplit

import pytest

from commandsync.server.service import running
from tests.e2e.server.test_attacks import FAULTY
from tests.support.bots import token_of
from tests.support.callers import ROOT, Caller, Record, Writer, write_until_killed, writers_of
from tests.support.gateway import Closed, Listener
from tests.support.home import LONGEST, Home
from tests.support.terminal import POSIX

EXAMPLE = ROOT / "examples" / "seed.json"
BOT = {"id": "1", "profile": {"username": "Lantern"}}
WRITERS = 4
DELETABLE = 60  # for each writer: more than all of them delete before the last kill
KILLED_AFTER = (24, 39)  # acknowledged writes


@dataclass
class Served:
    """A service that runs as a child, and what it printed."""

    child: subprocess.Popen[bytes]
    url: str
    tokens: dict[str, str]

    def caller(self, bot: str) -> Caller:
        return Caller(self.url, bot, self.tokens[bot])

    def connected(self) -> socket.socket:
        return socket.create_connection(address_of(self.url), timeout=30)

    def end(self, number: int) -> tuple[int, str, str]:
        """Send a signal; return the exit code and what else was written to stdout and stderr."""
        self.child.send_signal(number)
        return self.ended()

    def ended(self) -> tuple[int, str, str]:
        """Wait for the end."""
        assert self.child.stdout is not None
        assert self.child.stderr is not None
        code = self.child.wait(timeout=LONGEST)
        return code, self.child.stdout.read().decode(), self.child.stderr.read().decode()


@contextmanager
def serving(home: Home, *arguments: str, bots: int) -> Iterator[Served]:
    with home.started("serve", "--port", "0", *arguments) as child:
        try:
            assert child.stdout is not None
            url = child.stdout.readline().decode().removeprefix("listening on ").strip()
            printed = [child.stdout.readline().decode() for _ in range(_lines_of(bots))]
            ids = re.findall(r"commandsync bots token (\w+)", "".join(printed))
            database = dict(pairwise(arguments)).get("--database", "listing.db")
            tokens = {bot: token_of(bot, database=database) for bot in ids}
            yield Served(child, url, tokens)
        finally:
            child.kill()


def _lines_of(bots: int) -> int:
    """Return how many lines are printed for bots: three for the first, and an empty one before."""
    return 4 + (bots if bots > 1 else 0) if bots else 0


def address_of(url: str) -> tuple[str | None, int | None]:
    return urlsplit(url).hostname, urlsplit(url).port


@pytest.mark.promise("printed-tokens")
def test_it_answers_at_the_url_it_prints_and_shows_no_token_at_vv(home: Home) -> None:
    seed = json.loads(EXAMPLE.read_bytes())
    with serving(home, "--seed", str(EXAMPLE), "-vv", bots=2) as served:
        listed = {bot: len(served.caller(bot).listed()) for bot in served.tokens}
        bot, token = next(iter(served.tokens.items()))
        status, _ = served.caller(bot).ask("DELETE", "/commands/nothing")
        _, _, err = served.end(signal.SIGTERM)

    assert urlsplit(served.url).port
    assert listed == {bot["id"]: len(bot.get("commands", [])) for bot in seed["bots"]}
    assert status == 404
    assert f'"DELETE /v1/bot/{bot}/commands/nothing HTTP/1.1" 404' in err
    assert token not in err


def test_the_interval_of_votes_is_an_option(home: Home) -> None:
    with serving(home, "--seed", str(EXAMPLE), "--vote-interval", "100", bots=2) as served:
        caller = served.caller(next(iter(served.tokens)))
        caller.ask("POST", "/votes", {"user": {"id": "7"}})
        status, answer = caller.ask("POST", "/votes", {"user": {"id": "7"}})

    assert status == 409
    assert re.fullmatch(r"user 7 has voted, .* in [12] min", answer["error"])


# Being told to end


@pytest.mark.skipif(not POSIX, reason="signals end programs otherwise on Windows")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_after_the_write_in_flight(home: Home, number: int) -> None:
    with (
        serving(home, "--seed", str(EXAMPLE), bots=2) as served,
        closing(HTTPConnection(urlsplit(served.url).netloc, timeout=30)) as idle,
        served.connected() as line,
        served.connected() as faulty,
        Listener(served.url, {"token": next(reversed(served.tokens.values()))}) as listener,
    ):
        faulty.sendall(FAULTY["chunks"][0])
        listener.greeted()
        idle.request("GET", "/v1/bot/1")
        idle.getresponse().read()
        caller = served.caller(list(served.tokens)[-1])
        caller.ask("DELETE", f"/commands/{caller.listed()[0]['id']}")
        before = caller.listed()
        late = begun(line, caller, {"name": "late", "description": "d", "syntax": "s"})
        served.child.send_signal(number)
        until_refused(served.url)
        line.sendall(late)
        answer = b"".join(iter(lambda: line.recv(4096), b""))
        closed = listener.ended()
        ended = served.ended()
    with running("listing.db", seed=EXAMPLE) as again:
        tokens = {bot.id: bot.token for bot in again.bots}
        *kept, last = Caller(again.url, caller.bot, caller.token).listed()

    assert answer.startswith(b"HTTP/1.1 200")
    assert (ended, closed) == ((0, "", ""), Closed(1012, "the service restarts"))
    assert (kept, last["name"]) == (before, "late")
    assert tokens == served.tokens


def begun(line: socket.socket, caller: Caller, command: Record) -> bytes:
    """Send the head of a request to add a command; return the body, which the service awaits."""
    body = json.dumps(command).encode()
    head = (
        f"POST /v1/bot/{caller.bot}/commands HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bot {caller.token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    )
    line.sendall(head.encode())
    assert line.recv(4096).startswith(b"HTTP/1.1 100")
    return body


def until_refused(url: str) -> None:
    """Return when the service takes no new connections."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        try:
            socket.create_connection(address_of(url), timeout=1).close()
        except ConnectionRefusedError:
            return
        except OSError:
            continue  # reset while it closed
    raise AssertionError("it goes on")


# Being killed


def test_the_log_of_requests_shows_no_token(home: Home) -> None:
    seed = home.write(json.dumps({"bots": [BOT]}), "seed.json")
    with serving(home, "--seed", str(seed), "-v", bots=1) as served:
        bot = str(BOT["id"])
        caller = served.caller(bot)
        query = {"transport": "websocket", "token": caller.token}
        with Listener(served.url, query) as listener:
            listener.greeted()
        with Listener(served.url, {**query, "EIO": "2"}) as refused:
            assert refused.refused is not None
        caller.raw("GET", f"/v1/gateway/?{urlencode(query)}")
        caller.ask("POST", "/votes", {"user": {"id": "7"}})
        _, _, err = served.end(signal.SIGTERM)

    assert '"WebSocket /v1/gateway/?transport=websocket&token=***"' in err
    assert '"GET /v1/gateway/?transport=websocket&token=*** HTTP/1.1" 426' in err
    assert f'"POST /v1/bot/{bot}/votes HTTP/1.1" 200' in err
    assert caller.token not in err


def test_a_kill_loses_nothing_acknowledged(home: Home, database_url: str) -> None:
    commands = [
        {"name": f"{number}", "description": "0", "syntax": "s"}
        for number in range(WRITERS * (DELETABLE + 1))
    ]
    bot = {"id": "1", "profile": {"username": "Lantern"}, "commands": commands}
    seed = home.write(json.dumps({"bots": [bot]}), "seed.json")
    writers: list[Writer] = []
    tokens: set[str] = set()
    for goal in KILLED_AFTER:
        options = ("--database", database_url, "--seed", str(seed))
        with serving(home, *options, bots=1) as served:
            caller = served.caller("1")
            tokens.add(caller.token)
            listed = caller.listed()
            writers = writers or writers_of(listed, WRITERS)
            for writer in writers:
                writer.check(listed)
            write_until_killed(writers, [caller], served.child.kill, goal)
    with running(database_url, seed=seed) as service:
        listed = Caller(service.url, "1", service.bots[0].token).listed()
        for writer in writers:
            writer.check(listed)

    assert sum(writer.edits_done + len(writer.done) for writer in writers) >= sum(KILLED_AFTER)
    assert tokens == {service.bots[0].token}
