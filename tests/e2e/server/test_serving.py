"""`commandsync serve` as users run it: what it prints, how it ends, and what it keeps."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import sys
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.support.home import LONGEST
from tests.support.terminal import POSIX

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from tests.support.home import Home

    Record = dict[str, Any]

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "seed.json"
BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
WRITERS = 4
DELETABLE = 60


@dataclass
class Served:
    """A service that runs as a child, and what it printed."""

    child: subprocess.Popen[bytes]
    url: str
    tokens: dict[str, str]

    def connect(self) -> HTTPConnection:
        return HTTPConnection(urlsplit(self.url).netloc, timeout=30)

    def commands(self, bot: str) -> list[Record]:
        with closing(self.connect()) as connection:
            connection.request("GET", f"/v1/bot/{bot}/commands")
            records: list[Record] = json.loads(connection.getresponse().read())["data"]
        return records

    def write(
        self, connection: HTTPConnection, method: str, path: str, body: Record | None = None
    ) -> int:
        bot = path.split("/", maxsplit=1)[0]
        headers = {
            "Authorization": f"Bot {self.tokens[bot]}",
            "Content-Type": "application/json",
        }
        sent = None if body is None else json.dumps(body)
        connection.request(method, f"/v1/bot/{path}", sent, headers)
        with connection.getresponse() as reply:
            reply.read()
            return reply.status

    def end(self, number: int) -> tuple[int, str]:
        """Send a signal; return the exit code and what was written to stderr."""
        self.child.send_signal(number)
        _, err = self.child.communicate(timeout=LONGEST)
        return self.child.returncode, err.decode()


@contextmanager
def serving(home: Home, *arguments: str, bots: int = 2) -> Iterator[Served]:
    with home.started("serve", "--port", "0", *arguments) as child:
        try:
            assert child.stdout is not None
            url = child.stdout.readline().decode().removeprefix("listening on ").strip()
            lines = [child.stdout.readline().decode().split() for _ in range(bots)]
            yield Served(child, url, {line[1]: line[-1] for line in lines})
        finally:
            child.kill()


def test_it_answers_at_the_url_it_prints(home: Home) -> None:
    with serving(home, "--seed", str(EXAMPLE)) as served:
        listed = {bot: len(served.commands(bot)) for bot in served.tokens}

    seed = json.loads(EXAMPLE.read_bytes())
    assert urlsplit(served.url).port
    assert listed == {bot["id"]: len(bot.get("commands", [])) for bot in seed["bots"]}


@pytest.mark.skipif(not POSIX, reason="signals end programs otherwise on Windows")
@BOTH
def test_a_signal_ends_it_with_code_0_and_without_a_word(home: Home, number: int) -> None:
    with (
        serving(home, "--database", ":memory:", bots=0) as served,
        closing(served.connect()) as idle,
    ):
        idle.request("GET", "/v1/bot/1")
        idle.getresponse().read()
        ended = served.end(number)

    assert ended == (0, "")


@pytest.mark.skipif(not POSIX, reason="signals end programs otherwise on Windows")
@BOTH
def test_a_write_in_flight_is_answered_before_it_ends(home: Home, number: int) -> None:
    with serving(home, "--seed", str(EXAMPLE)) as served:
        bot, token = next(iter(served.tokens.items()))
        before = len(served.commands(bot))
        body = json.dumps({"name": "late", "description": "d", "syntax": "s"}).encode()
        head = (
            f"POST /v1/bot/{bot}/commands HTTP/1.1\r\nHost: x\r\nAuthorization: Bot {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            "Expect: 100-continue\r\n\r\n"
        )
        address = (urlsplit(served.url).hostname, urlsplit(served.url).port)
        with socket.create_connection(address, timeout=30) as line:
            line.sendall(head.encode())
            assert line.recv(4096).startswith(b"HTTP/1.1 100")
            served.child.send_signal(number)
            until_refused(address)
            line.sendall(body)
            answer = b"".join(iter(lambda: line.recv(4096), b""))
        served.child.communicate(timeout=LONGEST)
    with serving(home, "--seed", str(EXAMPLE)) as again:
        listed = again.commands(bot)

    assert answer.startswith(b"HTTP/1.1 200")
    assert served.child.returncode == 0
    assert [command["name"] for command in listed][before:] == ["late"]


def until_refused(address: tuple[str | None, int | None]) -> None:
    """Return when the service takes no new connections."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        try:
            socket.create_connection(address, timeout=1).close()
        except ConnectionRefusedError:
            return
        except OSError:
            continue  # reset while it closed
    raise AssertionError("it goes on")


@pytest.mark.skipif(not POSIX, reason="signals end programs otherwise on Windows")
def test_seeding_twice_gives_the_same_access_and_touches_no_bot(home: Home) -> None:
    with serving(home, "--seed", str(EXAMPLE)) as first:
        bot = next(iter(first.tokens))
        with closing(first.connect()) as line:
            command = first.commands(bot)[0]["id"]
            first.write(line, "DELETE", f"{bot}/commands/{command}")
        before = first.commands(bot)
        first.end(signal.SIGTERM)
    with serving(home, "--seed", str(EXAMPLE)) as second:
        after = second.commands(bot)
        with closing(second.connect()) as line:
            status = first.write(line, "DELETE", f"{bot}/commands/{after[0]['id']}")

    assert second.tokens == first.tokens
    assert after == before
    assert status == 200


def test_requests_are_shown_at_vv_and_no_token_among_them(home: Home) -> None:
    with serving(home, "--seed", str(EXAMPLE), "-vv") as served:
        bot, token = next(iter(served.tokens.items()))
        with closing(served.connect()) as line:
            served.write(line, "DELETE", f"{bot}/commands/nothing")
        served.child.terminate()
        _, err = served.child.communicate(timeout=LONGEST)

    assert f'"DELETE /v1/bot/{bot}/commands/nothing HTTP/1.1" 404' in err.decode()
    assert token not in err.decode()


# What cannot work


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--database", "nowhere/listing.db"], 1, "folder nowhere does not exist"),
        (["--database", ""], 1, "the database has no name"),
        (["--database", "."], 1, "the database . cannot be used: unable to open"),
        (["--database", "postgresql://u@h:x/d"], 1, "cannot be used"),
        (["--seed", "nowhere.json"], 1, "nowhere.json cannot be read"),
        (["--seed", "bad.json"], 1, "bots[0].profile is missing"),
        (["--database", "newer.db"], 1, "written by a newer commandsync"),
        (["--host", "a..b"], 2, "cannot listen on a..b"),
        (["--port", "70000"], 2, "70000"),
    ],
)
def test_what_cannot_work_is_one_clear_message(
    home: Home, arguments: list[str], code: int, said: str
) -> None:
    home.write('{"bots": [{"id": "1"}]}', "bad.json")
    with closing(sqlite3.connect(home.path / "newer.db")) as connection:
        connection.execute("CREATE TABLE settings (key TEXT, value TEXT)")
        connection.execute("INSERT INTO settings VALUES ('schema', '99'), ('secret', 'x')")
        connection.commit()
    ran = home.run("serve", "--port", "0", *arguments)

    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_port_in_use_is_said_and_nothing_created(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = home.run("serve", "--port", f"{port}")

    assert (ran.code, ran.out) == (2, "")
    assert f"cannot listen on 127.0.0.1, port {port}" in ran.err
    assert not (home.path / "listing.db").exists()


@pytest.mark.parametrize("library", ["fastapi", "sqlalchemy", "uvicorn", "jwt"])
def test_without_the_extra_it_says_what_to_install(home: Home, library: str) -> None:
    blocked = (
        "import sys; sys.modules[sys.argv.pop(1)] = None\n"
        "from commandsync.cli.program import run; sys.exit(run(sys.argv[1:]))"
    )
    ran = home.child_of((sys.executable, "-c", blocked), library, "serve")

    assert (ran.code, ran.out) == (2, "")
    assert "pip install 'commandsync[server]'" in ran.err
    assert "Traceback" not in ran.err


# Being killed


@dataclass
class Writer:
    """Edits one command and deletes others, and notes what was acknowledged."""

    bot: str
    edited: str = ""
    others: list[str] = field(default_factory=list)
    sent: int = 0
    acknowledged: int = 0
    asked: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)

    def begin(self, served: Served) -> None:
        self.edited, *self.others = (one["id"] for one in served.commands(self.bot))

    def work(self, served: Served, progress: Progress) -> None:
        try:
            with closing(served.connect()) as line:
                for identifier in self.others:
                    self._edit(served, line)
                    progress.count()
                    self.asked.add(identifier)
                    status = served.write(line, "DELETE", f"{self.bot}/commands/{identifier}")
                    assert status == 200
                    self.deleted.add(identifier)
                    progress.count()
        except (OSError, HTTPException):
            return  # killed before it could answer

    def _edit(self, served: Served, line: HTTPConnection) -> None:
        self.sent += 1
        texts = {"name": "edited", "description": f"{self.sent}", "syntax": "s"}
        status = served.write(line, "POST", f"{self.bot}/commands", {"id": self.edited, **texts})
        assert status == 200
        self.acknowledged = self.sent

    def check(self, listed: list[Record]) -> None:
        """Look whether a listing has all that was acknowledged, and nothing that was not sent."""
        ids = {one["id"] for one in listed}
        (edited,) = (one for one in listed if one["id"] == self.edited)
        assert self.acknowledged <= int(edited["description"]) <= self.sent
        assert not self.deleted & ids
        assert set(self.others) - self.asked <= ids


class Progress:
    """Kills a child when so many writes were acknowledged."""

    def __init__(self, child: subprocess.Popen[bytes], goal: int) -> None:
        self._child = child
        self._left = goal
        self._lock = threading.Lock()

    def count(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left <= 0:
                self._child.kill()


def test_a_kill_in_the_middle_takes_back_no_acknowledged_edit_or_delete(home: Home) -> None:
    plain = {"description": "0", "syntax": "s"}
    commands = [{"name": f"{number}", **plain} for number in range(DELETABLE + 1)]
    bots = [
        {"id": f"{n}", "profile": {"username": f"Bot{n}"}, "commands": commands}
        for n in range(1, WRITERS + 1)
    ]
    home.write(json.dumps({"bots": bots}), "seed.json")
    writers = [Writer(f"{n}") for n in range(1, WRITERS + 1)]
    for goal in (30, 41, 53):
        with serving(home, "--seed", "seed.json", bots=WRITERS) as served:
            for writer in writers:
                writer.begin(served)
            progress = Progress(served.child, goal)
            threads = [
                threading.Thread(target=writer.work, args=(served, progress)) for writer in writers
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        with serving(home, "--seed", "seed.json", bots=WRITERS) as again:
            for writer in writers:
                writer.check(again.commands(writer.bot))

    assert sum(writer.acknowledged + len(writer.deleted) for writer in writers) >= 30 + 41 + 53
