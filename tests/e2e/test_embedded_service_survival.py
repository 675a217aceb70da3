"""The embedded service as a process: restarts, signals, and being killed in the middle of work."""

import http.client
import json
import logging
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from commandsync.errors import FileError, UsageError
from commandsync.server import running, serve

SEED = '{"bots": [{"id": "1", "profile": {"username": "Lantern"}}]}'
SCRIPT = """
import sys
from pathlib import Path
from commandsync.server import serve
serve(
    host="127.0.0.1", port=0, database=sys.argv[1], seed=Path(sys.argv[2]),
    on_ready=lambda url, bots: print(url, bots[0].token, flush=True),
)
print("ended", flush=True)
"""


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    path = tmp_path / "seed.json"
    path.write_text(SEED)
    return path


@contextmanager
def process(database: Path, seed: Path) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """Run the service as a process of its own; give it, its URL and its bot's token."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(database), str(seed)],
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            assert child.stdout is not None
            url, token = child.stdout.readline().split()
            yield child, url, token
        finally:
            child.kill()


def add(line: http.client.HTTPConnection, token: str, name: str) -> int:
    body = json.dumps({"name": name, "description": "d", "syntax": "s"})
    headers = {"Authorization": f"Bot {token}", "Content-Type": "application/json"}
    line.request("POST", "/v1/bot/1/commands", body, headers)
    with line.getresponse() as answer:
        answer.read()
        return answer.status


def connected(url: str) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)


def listed(url: str) -> list[dict[str, Any]]:
    with closing(connected(url)) as line:
        line.request("GET", "/v1/bot/1/commands")
        return list(json.loads(line.getresponse().read())["data"])


def test_what_was_written_is_there_after_a_restart(tmp_path: Path, seed: Path) -> None:
    database = str(tmp_path / "listing.db")
    with running(database, seed=seed) as first, closing(connected(first.url)) as line:
        add(line, first.bots[0].token, "kept")
        before = listed(first.url)
    with running(database, seed=seed) as second:
        after = listed(second.url)

    assert [command["name"] for command in before] == ["kept"]
    assert after == before
    assert second.bots == first.bots


def test_a_killed_service_loses_no_acknowledged_write(tmp_path: Path, seed: Path) -> None:
    database = tmp_path / "listing.db"
    acknowledged: list[str] = []

    def keep_adding(url: str, token: str, child: subprocess.Popen[str], prefix: str) -> None:
        with closing(connected(url)) as line:
            for number in range(100_000):
                name = f"{prefix}.{number}"
                try:
                    assert add(line, token, name) == 200
                except (OSError, http.client.HTTPException, ValueError):
                    return  # killed before it could answer: not acknowledged
                acknowledged.append(name)
                if len(acknowledged) >= goal:
                    child.kill()

    for round_ in range(4):
        goal = len(acknowledged) + 40 + 7 * round_
        with process(database, seed) as (child, url, token):
            threads = [
                Thread(target=keep_adding, args=(url, token, child, f"{round_}.{writer}"))
                for writer in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        with process(database, seed) as (_, url, _):
            names = [command["name"] for command in listed(url)]

        assert set(acknowledged) <= set(names)
        assert len(names) == len(set(names))
    assert len(acknowledged) >= 4 * 40


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without asking it")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_service_in_order(
    tmp_path: Path, seed: Path, number: signal.Signals
) -> None:
    with (
        process(tmp_path / "listing.db", seed) as (child, url, token),
        closing(connected(url)) as line,  # an idle connection must not hold it up
    ):
        add(line, token, "kept")
        child.send_signal(number)
        rest, _ = child.communicate(timeout=20)

    assert (child.returncode, rest) == (0, "ended\n")


def test_serving_returns_after_a_signal_and_gives_the_handlers_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    told: list[object] = []

    def stop(url: str, bots: object) -> None:
        with closing(connected(url)) as line:  # it really answers by now
            line.request("GET", "/")
            told.append((line.getresponse().status, bots))
        signal.raise_signal(signal.SIGINT)

    serve(host="localhost", port=0, database=":memory:", on_ready=stop)

    assert told == [(404, ())]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_signal_waits_for_nobody(seed: Path) -> None:
    def stop(_url: str, _bots: object) -> None:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)

    serve(host="127.0.0.1", port=0, database=":memory:", seed=seed, on_ready=stop)


def test_what_on_ready_raises_ends_the_service() -> None:
    def fail(_url: str, _bots: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        serve(host="127.0.0.1", port=0, database=":memory:", on_ready=fail)


def test_requests_are_logged_when_asked(caplog: pytest.LogCaptureFixture, seed: Path) -> None:
    def ask(url: str, _bots: object) -> None:
        listed(url)
        signal.raise_signal(signal.SIGINT)

    access = logging.getLogger("uvicorn.access")
    access.propagate = True
    serve(host="127.0.0.1", port=0, database=":memory:", seed=seed, on_ready=ask, access_log=True)

    assert "GET /v1/bot/1/commands" in caplog.text


def test_a_port_in_use_is_said_and_the_database_untouched(tmp_path: Path) -> None:
    database = tmp_path / "listing.db"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1, port {port}: "):
            serve(host="127.0.0.1", port=port, database=str(database))

    assert not database.exists()


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("no such host", 0)])
def test_an_impossible_address_is_said(host: str, port: int) -> None:
    with pytest.raises(UsageError, match="cannot listen on"):
        serve(host=host, port=port, database=":memory:")


def test_an_unusable_database_frees_the_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    for _ in range(2):
        with pytest.raises(FileError), running(str(tmp_path), port=port):
            pass
    with running(port=port) as service:
        assert service.url == f"http://127.0.0.1:{port}"


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_an_address_of_version_6_stands_in_brackets() -> None:
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
