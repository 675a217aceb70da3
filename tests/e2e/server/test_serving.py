"""Starting and ending the service in this process, what it prints, and what a monitor reads."""

import json
import logging
import re
import shutil
import signal
import socket
import sqlite3
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from fastapi import FastAPI

from commandsync.errors import FileError
from commandsync.extras import install_command
from commandsync.server.database import Database, opened
from commandsync.server.service import create_app, running, serve
from tests.e2e.server.test_process import serving
from tests.support.callers import ROOT, Caller
from tests.support.home import Home, Ran, fields, lines
from tests.support.postgres import Server
from tests.support.terminal import POSIX, Terminal

EXAMPLE = ROOT / "examples" / "seed.json"
on_posix = pytest.mark.skipif(not POSIX, reason="Windows has no pseudo terminals and no modes")
WITHOUT_ONE_LIBRARY = """
import sys
from commandsync.cli.program import run
for library in ("fastapi", "jwt", "limits", "sqlalchemy", "uvicorn"):
    for name in list(sys.modules):  # what a round before this one loaded
        if name.startswith((f"{library}.", "commandsync.server.")) or name == "commandsync.server":
            del sys.modules[name]
    sys.modules[library] = None
    code = run(["serve", "--database", "nowhere/listing.db"])
    print(library, int(code))
    del sys.modules[library]
"""


# What cannot work


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--database", "nowhere/listing.db"], 1, "folder nowhere does not exist"),
        (["--database", f"{'a' * 300}.db"], 1, "aaa.db cannot be created: "),
        (["--database", ""], 1, "a file path"),
        (["--database", "."], 1, "the database . cannot be used: unable to open"),
        (["--database", "mysql://u@h/d"], 1, "URL of PostgreSQL"),
        (["--database", "postgresql://u@h:x/d"], 1, "is not valid"),
        (["--database", "postgresql://u@127.0.0.1:1/d"], 1, "cannot be used: connection failed"),
        (["--seed", "nowhere.json"], 1, "nowhere.json cannot be read"),
        (["--seed", "bad.json"], 1, "bots[0].profile is missing"),
        (["--database", "newer.db"], 1, "its schema is 99"),
        (["--database", "newer.db"], 1, "install the version that wrote it"),
        (["--host", "a..b"], 2, "cannot listen on a..b"),
        (["--host", "no such host"], 2, "cannot listen on no such host"),
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


def test_a_port_in_use_is_reported_and_nothing_created(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = home.run("serve", "--port", f"{port}")

    assert (ran.code, ran.out) == (2, "")
    [line, *_] = ran.err.splitlines()
    assert line.startswith(f"error: cannot listen on 127.0.0.1, port {port}: ")
    assert "(" not in line  # no tuple of Python
    assert not (home.path / "listing.db").exists()


def test_an_unusable_database_frees_the_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    for _ in range(2):
        with pytest.raises(FileError), running(str(tmp_path), port=port):
            pass
    with running(port=port) as service:
        assert service.url == f"http://127.0.0.1:{port}"


def test_without_any_one_library_of_the_extra_it_names_what_to_install(home: Home) -> None:
    ran = home.child_of((sys.executable, "-c", WITHOUT_ONE_LIBRARY))

    assert ran.out.split("\n") == [
        *("fastapi 2", "jwt 2", "limits 2", "sqlalchemy 2", "uvicorn 2", "")
    ]
    assert ran.err.count(f"install it: {install_command('server')}") == 5
    assert "Traceback" not in ran.err


# Called by another program


def test_serving_returns_after_a_signal_and_gives_the_handlers_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    told: list[object] = []

    def stop(url: str, bots: object) -> None:
        told.append(
            (Caller(url, "", "").raw("GET", "/v1").status, bots)
        )  # it really answers by now
        signal.raise_signal(signal.SIGINT)

    serve(host="localhost", port=0, database=":memory:", on_ready=stop)

    assert told == [(404, ())]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_signal_waits_for_nobody_and_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    def stop(_url: str, _bots: object) -> None:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)

    serve(host="127.0.0.1", port=0, database=":memory:", seed=EXAMPLE, on_ready=stop)

    assert caplog.text == ""
    assert not logging.getLogger("uvicorn.error").disabled


def test_what_on_ready_raises_ends_the_service() -> None:
    def fail(_url: str, _bots: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        serve(host="127.0.0.1", port=0, database=":memory:", on_ready=fail)


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_an_address_of_version_6_is_in_brackets() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 loopback here")
    urls: list[str] = []

    def note(url: str, _bots: object) -> None:
        urls.append(url)
        signal.raise_signal(signal.SIGINT)

    serve(host="::1", port=0, database=":memory:", on_ready=note)

    assert urls[0].startswith("http://[::1]:")


def ask(caller: Caller, path: str) -> tuple[int, Any]:
    reply = caller.raw("GET", path)
    return reply.status, json.loads(reply.content)


def test_a_service_is_healthy_and_ready(database_url: str) -> None:
    with running(database_url) as service:
        caller = Caller(service.url, "1", "")
        answers = [ask(caller, path) for path in ("/healthz", "/readyz")]

    assert [(status, answer["success"]) for status, answer in answers] == [(200, True)] * 2


def test_a_request_waits_until_the_service_is_prepared() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
    with ExitStack() as stack:

        def application(database: Database) -> FastAPI:
            client = stack.enter_context(closing(HTTPConnection("127.0.0.1", port, timeout=30)))
            client.request("GET", "/healthz")
            waiting.append(client)
            return create_app(database)

        waiting: list[HTTPConnection] = []
        with running(port=port, application=application):
            assert waiting[0].getresponse().status == 200


def test_a_second_service_with_the_port_writes_nothing(home: Home) -> None:
    def application(database: Database) -> FastAPI:
        ran.append(home.run("serve", "--port", f"{port}"))  # while this one prepares itself
        return create_app(database)

    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
    ran: list[Ran] = []
    with running(port=port, application=application):
        pass

    assert ran[0].code == 2
    assert f"cannot listen on 127.0.0.1, port {port}" in ran[0].err
    assert [*home.path.glob("listing.db*")] == []


def test_a_second_service_on_a_file_is_refused_until_the_first_one_ends(home: Home) -> None:
    with serving(home, bots=2) as first:
        refused = home.run("serve", "--port", "0")
        bots = home.run("bots", "token", next(iter(first.tokens)), exits=0)
        status, _ = first.caller(next(iter(first.tokens))).ask("GET")
    with serving(home, bots=2) as again:
        assert again.tokens == first.tokens

    assert (refused.code, refused.out) == (1, "")
    assert "another service uses the database listing.db" in refused.err
    assert "services can share PostgreSQL" in refused.err
    assert bots.out.strip() == next(iter(first.tokens.values()))
    assert status == 200


def test_a_start_that_fails_leaves_no_database_that_the_next_one_takes_for_its_own(
    home: Home,
) -> None:
    home.write('{"bots": [{"id": "1"}]}', "bad.json")
    refused = home.run("serve", "--port", "0", "--seed", "bad.json")
    removed = [*home.path.glob("listing.db")]
    with serving(home, bots=2) as served:
        assert len(served.tokens) == 2
    home.run("serve", "--port", "0", "--seed", "bad.json", exits=1)

    assert (refused.code, removed) == (1, [])
    assert (home.path / "listing.db").exists()  # it was there before


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_file_is_removed_if_its_bots_cannot_be_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def fail(*_: object) -> None:
        raise error

    path = tmp_path / "listing.db"
    with opened(str(path)):
        pass
    monkeypatch.setattr("commandsync.server.administration.create_bots", fail)
    for name, is_kept in (("listing.db", True), ("new.db", False)):
        with pytest.raises(error):
            serve(
                host="127.0.0.1",
                port=0,
                database=str(tmp_path / name),
                seed=EXAMPLE,
                on_ready=lambda *_: None,
            )

        assert (tmp_path / name).exists() is is_kept


@on_posix
def test_a_file_that_others_can_read_is_closed_to_them_and_this_is_said(home: Home) -> None:
    with serving(home, bots=2):
        pass
    path = home.path / "listing.db"
    path.chmod(0o644)
    with serving(home, bots=2) as served:
        modes = {file.name: file.stat().st_mode & 0o777 for file in home.path.glob("listing.db*")}
        _, _, err = served.end(signal.SIGTERM)
    with serving(home, bots=2) as served:
        _, _, later = served.end(signal.SIGTERM)

    assert modes == dict.fromkeys(
        ("listing.db", "listing.db-wal", "listing.db-shm", "listing.db-lock"), 0o600
    )
    assert "other users could read the secrets in listing.db" in err
    assert "could read" not in later


def test_a_database_that_cannot_be_read_is_not_ready(postgres: Server, postgres_url: str) -> None:
    with running(postgres_url, seed=EXAMPLE) as service:
        caller = Caller(service.url, "1", "")
        before = ask(caller, "/readyz")[0]
        with (
            postgres.connected(postgres_url) as connection,
            connection.transaction(),
        ):
            connection.execute("LOCK TABLE bots IN ACCESS EXCLUSIVE MODE")
            during = ask(caller, "/readyz")[0]
        with postgres.closed_to_others(postgres_url):  # within a second of the last write
            lost = [ask(caller, path)[0] for path in ("/v1/bots", "/readyz")]

    assert (before, during, lost) == (200, 503, [503, 503])


def test_probes_at_once_are_all_answered(database_url: str) -> None:
    with (
        running(database_url) as one,
        running(database_url) as other,
        ThreadPoolExecutor(8) as pool,
    ):
        callers = [Caller(service.url, "1", "") for service in (one, other)] * 4
        statuses = [status for status, _ in pool.map(ask, callers, ["/readyz"] * 8)]

    assert statuses == [200] * 8


@contextmanager
def locked(database_url: str, postgres: Server) -> Iterator[None]:
    """Keep writers out of a table."""
    if "://" in database_url:
        with postgres.connected(database_url) as connection, connection.transaction():
            connection.execute("LOCK TABLE settings IN ACCESS EXCLUSIVE MODE")
            yield
    else:
        with closing(sqlite3.connect(database_url, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            yield


def test_a_locked_table_is_not_waited_for(database_url: str, postgres: Server) -> None:
    with running(database_url) as service:
        caller = Caller(service.url, "1", "")
        with locked(database_url, postgres):
            before = monotonic()
            status, answer = ask(caller, "/readyz")
            seconds = monotonic() - before
            alive, _ = ask(caller, "/healthz")
        while (after := ask(caller, "/readyz"))[0] != 200:
            pass

    assert (status, alive, after[0]) == (503, 200, 200)
    assert "not writable within 1 s" in answer["error"]
    assert seconds < 2


def test_without_its_database_it_is_healthy_and_not_ready(
    postgres: Server, postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with running(postgres_url) as service:
        caller = Caller(service.url, "1", "")
        with postgres.closed_to_others(postgres_url):
            during = {path: ask(caller, path) for path in ("/healthz", "/readyz", "/v1/bot/1")}
            retry = caller.raw("GET", "/readyz").headers["retry-after"]
        after = ask(caller, "/readyz")

    statuses = [status for status, _ in (*during.values(), after)]
    assert (statuses, retry) == ([200, 503, 503, 200], "1")
    assert during["/readyz"] == during["/v1/bot/1"]
    assert "not currently accepting connections" in caplog.text
    assert "Traceback" not in caplog.text


SHELL = shutil.which("sh") or ""
TOKEN = r"eyJ[\w-]+\.[\w-]+\.[\w-]+"
LISTED = ["help", "ping", "8ball", "247", "play", "ban", "afk", "afk", "message id|message"]


@on_posix
def test_a_new_database_has_bots_to_play_with(home: Home) -> None:
    with Terminal.running(home, "serve", "--port", "0") as terminal:
        first = terminal.until("in a browser to see its pages")
        set_there = dict(re.findall(r"export (\w+)=(\S+)$", first, re.MULTILINE))
        for name, value in set_there.items():
            home.variable(name, value)
        listed = home.run("pull", "--format", "json")
        terminal.child.terminate()
        code, _, _ = terminal.ended()

    assert (code, first.count("  # ")) == (0, 2)
    assert f"\n\nopen {set_there['COMMANDSYNC_BASE_URL']} in a browser" in first
    assert re.fullmatch(TOKEN, set_there["COMMANDSYNC_TOKEN"])
    assert [command["name"] for command in listed.document["commands"]] == LISTED
    for name in set_there:
        home.forget(name)
    child = home.started("serve", "--port", "0")
    again = "".join(lines(child, 7))
    program = home.write(f'#!/bin/sh\nexec "{sys.executable}" -m commandsync "$@"\n', "commandsync")
    program.chmod(0o755)
    pasted = again.partition("\n")[2].replace("# Lantern:", "")
    script = f'{pasted}\ncommandsync pull --format json\necho "$COMMANDSYNC_TOKEN"'
    ran = home.child_of([SHELL, "-c", script], PATH=f"{home.path}:{home.environment()['PATH']}")
    child.terminate()

    assert not re.search(TOKEN, again)  # a pipe may be a log
    assert (
        json.loads(ran.out.rpartition("\n}\n")[0] + "}")["commands"]
        == (listed.document["commands"])
    )
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == set_there["COMMANDSYNC_TOKEN"]


def test_a_seed_creates_its_bots_alone(home: Home) -> None:
    seed = {"bots": [{"id": str(n), "profile": {"username": f"Bot {n}"}} for n in range(12)]}
    home.write(json.dumps(seed), "seed.json")
    child = home.started("serve", "--port", "0", "--database", "here.db", "--seed", "seed.json")
    printed = lines(child, 15)
    home.write(fields(("help",)))
    home.variable("COMMANDSYNC_TOKEN", home.run("bots", "token", "11", "--database", "here.db").out)

    home.run("apply", "--yes", "--base-url", printed[0].split()[-1], exits=0)

    child.terminate()
    _, err = child.communicate()
    assert [line.partition(":")[0].strip() for line in printed if "#" in line] == [
        f"# Bot {n}" for n in range(10)
    ]
    assert "COMMANDSYNC_BOT" not in "".join(printed)
    assert "there are more bots: commandsync bots token ID" in err.decode()
