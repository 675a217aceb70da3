"""Starting and ending the service in this process: by the command, by `serve` and by `running`."""

import logging
import signal
import socket
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from commandsync.errors import FileError
from commandsync.extras import install_command
from commandsync.server.runner import running, serve
from tests.support.callers import ROOT, Caller
from tests.support.home import Home

EXAMPLE = ROOT / "examples" / "seed.json"
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
