"""The end of a client: writes in flight end well, unknown results are named, forks are refused."""

import asyncio
import logging
import os
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from typing import Any

import pytest

from commandsync import AsyncClient, ListingError, StoppedError, TransportError
from commandsync.api import operations
from tests.support.clients import LONGEST, TOKEN, Open, begun
from tests.support.rawserver import (
    Act,
    Exchange,
    RawServer,
    answer,
    answering,
    closing,
    hanging,
    resetting,
    sending,
)

WRITES: dict[str, tuple[str, tuple[str, ...]]] = {
    "an add": ("add_command", ("help", "Shows it.", "/help")),
    "an announcement": ("add_announcement", ("v2", "Out.")),
    "an edit": ("edit_command", ("c1", "help", "Shows it.", "/help")),
    "a delete": ("delete_command", ("c1",)),
}
ADDS = {name: WRITES[name] for name in ("an add", "an announcement")}
SHORT = 5.0  # seconds in which what must not hang has ended


class Held:
    """Answers once it is let; meanwhile the request is in flight."""

    def __init__(self) -> None:
        self.arrived = threading.Event()
        self.let = threading.Event()

    def __call__(self, exchange: Exchange) -> None:
        self.arrived.set()
        self.let.wait(LONGEST)
        exchange.send(answer({"success": True, "data": {"id": "c9"}}))


@pytest.mark.parametrize(("method", "arguments"), WRITES.values(), ids=WRITES.keys())
def test_a_write_in_flight_ends_before_the_client_does(
    open_client: Open, server: RawServer, method: str, arguments: tuple[str, ...]
) -> None:
    held = Held()
    server.then(held)
    client = open_client(TOKEN, server.url, bot="42", concurrency=1)

    write = begun(getattr(client, method), *arguments)
    assert held.arrived.wait(LONGEST)
    waiting = begun(client.get_commands)  # for the write to end, or the client to be closed
    close = begun(client.close)
    stopped = waiting.exception(LONGEST)
    held.let.set()

    assert isinstance(stopped, StoppedError)
    assert write.exception(LONGEST) is None
    assert close.exception(LONGEST) is None
    assert len(server.requests) == 1


def test_a_hanging_write_holds_a_close_a_while(open_client: Open, server: RawServer) -> None:
    held = Held()
    server.then(held)
    client = open_client(TOKEN, server.url, bot="42", timeout=0.5, retries=0)

    write = begun(client.add_command, "help", "Shows it.", "/help")
    assert held.arrived.wait(LONGEST)
    client.close()
    error = write.exception(LONGEST)
    held.let.set()

    assert isinstance(error, TransportError)
    assert error.sent


CUTS: dict[str, Act] = {
    "closed": closing,
    "reset": resetting,
    "time-out": hanging,
    "cut": sending(answer({"success": True})[:-4]),
    "unreadable": answering(b'{"success": tr'),
    "not HTTP": sending(b"\x15\x03\x01\r\n\r\n"),
    "500": answering({"error": "db"}, status=500),
    "502": answering(b"<html>", status=502),
    "504": answering(b"", status=504),
}


def assert_says_where_to_look(said: str) -> None:
    assert "listed" in said, said
    assert "again" not in said, said


@pytest.mark.promise("unknown-adds")
@pytest.mark.parametrize(("method", "arguments"), ADDS.values(), ids=ADDS.keys())
@pytest.mark.parametrize("act", CUTS.values(), ids=CUTS.keys())
def test_an_add_that_was_cut_is_told_as_one_to_look_for(
    open_client: Open, server: RawServer, act: Act, method: str, arguments: tuple[str, ...]
) -> None:
    server.then(act)
    client = open_client(TOKEN, server.url, bot="42", timeout=0.5)

    with pytest.raises(ListingError) as caught:
        getattr(client, method)(*arguments)

    assert_says_where_to_look(f"{caught.value}; {caught.value.hint}")
    assert len(server.requests) == 1


@pytest.mark.parametrize(("method", "arguments"), ADDS.values(), ids=ADDS.keys())
def test_an_add_that_was_cancelled_is_told_as_one_to_look_for(
    server: RawServer, caplog: pytest.LogCaptureFixture, method: str, arguments: tuple[str, ...]
) -> None:
    held = Held()
    server.then(held)

    async def cancel() -> None:
        async with AsyncClient(TOKEN, server.url, bot="42") as client:
            add = asyncio.ensure_future(getattr(client, method)(*arguments))
            await asyncio.to_thread(held.arrived.wait, LONGEST)
            add.cancel()
            with pytest.raises(asyncio.CancelledError):
                await add

    asyncio.run(cancel())
    held.let.set()

    [warning] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert warning.name.startswith("commandsync")
    assert_says_where_to_look(warning.getMessage())


class HangingNames:
    """Look-ups of names that take as long as the test."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.over = threading.Event()

    def __call__(self, *_: object, **__: object) -> Any:  # noqa: ANN401 - as getaddrinfo
        self.asked.set()
        self.over.wait(LONGEST)
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> HangingNames:
    hanging = HangingNames()
    monkeypatch.setattr(socket, "getaddrinfo", hanging)
    return hanging


def test_a_hanging_look_up_does_not_hold_up_a_close(open_client: Open, names: HangingNames) -> None:
    client = open_client(TOKEN, "https://listing.example", bot="42", retries=0)
    read = begun(client.get_commands)
    assert names.asked.wait(LONGEST)

    try:
        closed = begun(client.close).exception(SHORT)
    finally:
        names.over.set()

    assert closed is None
    assert isinstance(read.exception(LONGEST), ListingError)


def test_a_check_of_a_vote_has_one_limit(open_client: Open, server: RawServer) -> None:
    server.then(*[hanging] * 5)
    client = open_client(TOKEN, server.url, bot="42", timeout=0.2)
    check = operations.check_vote("42", "7")

    error = begun(client.call, replace(check, deadline=0.3)).exception(SHORT)

    assert check.deadline == 30
    assert isinstance(error, TransportError)
    assert len(server.requests) < 5
    server.acts.clear()


@pytest.mark.parametrize("limit", [{"timeout": 0.3}, {"deadline": 0.3}], ids=str)
def test_a_look_up_that_hangs_ends_with_the_time_out_and_the_deadline(
    open_client: Open, names: HangingNames, limit: dict[str, float]
) -> None:
    client = open_client(TOKEN, "https://listing.example", bot="42", retries=0)

    try:
        error = begun(client.with_options(**limit).get_commands).exception(SHORT)
    finally:
        names.over.set()

    assert isinstance(error, TransportError)
    assert str(error) == "no connection to listing.example within 0.3 s"
    assert not error.sent


def test_a_handshake_that_hangs_ends_with_the_deadline(open_client: Open) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:  # the system connects, and nobody answers
        url = f"https://127.0.0.1:{mute.getsockname()[1]}"
        client = open_client(TOKEN, url, bot="42", retries=0).with_options(deadline=0.3)

        error = begun(client.add_command, "help", "Shows it.", "/help").exception(SHORT)

    assert isinstance(error, TransportError)
    assert not error.sent


def test_each_address_of_a_name_is_tried(
    open_client: Open, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [
        (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", port))
        for port in (9, server.port)
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: places)
    server.then(answering({"voted": True}))
    url = server.url.replace("127.0.0.1", "localhost")
    client = open_client(TOKEN, url, bot="42", retries=0)

    assert client.check_vote(7) is True


def test_a_hanging_look_up_does_not_hold_a_stream(open_client: Open, names: HangingNames) -> None:
    client = open_client(TOKEN, "https://listing.example", bot="42", retries=0).listen()
    assert names.asked.wait(LONGEST)

    try:
        closed = begun(client.close).exception(SHORT)
        ended = begun(client.ended).result(SHORT)
    finally:
        names.over.set()

    assert closed is None
    assert ended is None


FORKING = """
import asyncio, os, sys
from commandsync import AsyncClient, Client, UsageError

async def first(events):
    return await anext(events)

client, url = Client("marked-token-7f3a9c1e", sys.argv[1], bot="42"), sys.argv[1]
other = AsyncClient("marked-token-7f3a9c1e", url, bot="42")
client.get_bot("parent")
child = os.fork()
if child == 0:
    for call in (
        lambda: client.get_bot("child"),
        lambda: next(client.events()),
        lambda: asyncio.run(other.get_bot("child")),
        lambda: asyncio.run(first(other.events())),
    ):
        try:
            call()
        except UsageError as error:
            print(error, error.hint, sep=": ", flush=True)
    with Client("marked-token-7f3a9c1e", url, bot="42") as own:
        own.get_bot("own")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
client.get_bot("parent")
client.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_client_from_before_a_fork_says_so_and_the_parent_goes_on() -> None:
    threads = "ignore:This process:DeprecationWarning"  # Python 3.12 warns of forks beside threads
    with RawServer() as server:
        server.then(*3 * [answering({"data": {"id": "1"}})])
        command = [sys.executable, "-W", "error", "-W", threads, "-c", FORKING, server.url]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        asked = [request.path.rpartition("/")[2] for request in server.requests]

    message = "the client was opened before this process was forked: open the client after the fork"
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [message] * 4
    assert asked == ["parent", "own", "parent"]
