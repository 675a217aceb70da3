"""A slow reader of events holds the service back; two streams share a connection."""

import logging
import re
import select
import socket
import threading
from collections.abc import Callable
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from commandsync import Event, Ready, Vote
from tests.support.clients import LONGEST, TOKEN, Open, Source, begun
from tests.support.gateway import BOT, Gateway, Guest, event, framed, vote

FRAMES = 3_000  # more than a stream keeps by default; together more than any socket's buffers
FILLER = "x" * 12_000
BLOCKED = 3  # seconds after which a frame that could not be sent is held back


@dataclass
class Flood:
    """Votes without end, until the client takes no more or has been sent all."""

    sent: int = 0
    held_back: bool = False
    over: threading.Event = field(default_factory=threading.Event)

    def __call__(self, guest: Guest) -> None:
        guest.welcome()
        sock = guest.exchange.sock
        sock.settimeout(0)
        with suppress(OSError):  # the client may have been closed
            for number in range(FRAMES):
                user = {"id": str(number), "filler": FILLER}
                self._push(sock, framed(event("vote", {"user": user, "bot": BOT}).encode()))
                self.sent += 1
        self.over.set()
        sock.settimeout(None)
        guest.stay()

    def _push(self, sock: socket.socket, data: bytes) -> None:
        while data:
            if not select.select([], [sock], [], BLOCKED)[1]:
                self.held_back = True
                self.over.set()
                select.select([], [sock], [], LONGEST)
            data = data[sock.send(data) :]


def rest(pull: Callable[[], Event | None], count: int) -> list[str]:
    """Return the users of so many votes."""
    events = [pull() for _ in range(count)]
    return [event.user.id for event in events if isinstance(event, Vote)]


def test_a_reader_that_pauses_holds_the_service_back(open_client: Open, gateway: Gateway) -> None:
    flood = Flood()
    gateway.then(flood)
    pull = open_client(TOKEN, gateway.url).pulled()

    first = pull()
    flood.over.wait(LONGEST)
    held_back, sent = flood.held_back, flood.sent
    users = rest(pull, FRAMES)

    assert isinstance(first, Ready)
    assert held_back
    assert sent < FRAMES
    assert users == [str(number) for number in range(FRAMES)]


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_stream_keeps_no_more_events_than_it_is_told(
    open_client: Open, gateway: Gateway, caplog: pytest.LogCaptureFixture, size: int
) -> None:
    flood = Flood()
    gateway.then(flood)
    client = open_client(TOKEN, gateway.url, event_buffer=size)
    pull = client.pulled()

    pull()
    flood.over.wait(LONGEST)
    client.close()

    assert flood.held_back
    assert pull() is None
    assert size <= left(caplog) <= size + 1


@pytest.mark.parametrize("count", [1, 13, 200])
def test_closing_ends_a_stream_at_once_and_says_how_many_events_were_left(
    open_client: Open, gateway: Gateway, caplog: pytest.LogCaptureFixture, count: int
) -> None:
    read = threading.Event()

    def act(guest: Guest) -> None:
        guest.welcome()
        guest.say(*[vote(number) for number in range(count)], "2last")
        while (frame := guest.hear()) is not None:
            if frame == "3last":
                read.set()

    gateway.then(act)
    client = open_client(TOKEN, gateway.url)
    pull = client.pulled()

    first = pull()
    assert read.wait(LONGEST)
    client.close()

    assert isinstance(first, Ready)
    assert pull() is None
    assert left(caplog) == count


def left(caplog: pytest.LogCaptureFixture) -> int:
    """Return the number in the one warning about events that were left."""
    [words] = [
        record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING
    ]
    found = re.search(r"\b(\d+) event", words)
    assert found, words
    return int(found[1])


def test_closing_without_events_left_says_nothing(
    open_client: Open, source: Source, caplog: pytest.LogCaptureFixture
) -> None:
    client = open_client(source.token, source.url)
    pull = client.pulled()
    first = pull()
    source.vote("1")

    names = [event.name for event in (first, pull()) if event is not None]
    client.close()

    assert names == ["ready", "vote"]
    assert pull() is None
    assert [r for r in caplog.records if r.levelno >= logging.WARNING] == []


def test_two_streams_share_a_connection(open_client: Open, source: Source) -> None:
    called: list[str] = []
    client = open_client(source.token, source.url)

    @client.client.on("vote")
    def note(event: Vote) -> None:
        called.append(event.user.id)

    first, second = client.pulled(), client.pulled()
    first()
    seen = begun(second_vote, second)
    for voter in range(LONGEST * 10):  # until the second one has joined
        if seen.done():
            break
        source.vote(str(voter))
        wait([seen], timeout=0.1)
    count = int(seen.result(LONGEST)) + 1
    users = rest(first, count)

    assert users == [str(number) for number in range(count)]
    assert called[:count] == users


def second_vote(pull: Callable[[], Event | None]) -> str:
    """Return the user of the first vote that a stream has."""
    while not isinstance(event := pull(), Vote):
        assert event is not None
    return event.user.id
