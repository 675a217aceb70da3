import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from commandsync.api.operations import list_records
from commandsync.client.connection import Connection
from commandsync.client.threads import Gate
from commandsync.records.texts import Resource
from tests.support.rawserver import Exchange, RawServer, answering

Connect = Callable[..., Connection]

LONG = 3600.0
READ = list_records("42", Resource.COMMAND)


class Announcing(Gate):
    """A gate that says when somebody begins to wait, so that no test has to guess."""

    longest_wait = LONG  # nobody wakes who is not woken

    def __init__(self, places: int) -> None:
        super().__init__(places)
        self.waiting = threading.Event()

    def wait(self, seconds: float) -> bool:
        self.waiting.set()
        return super().wait(seconds)


def test_a_pause_holds_back_who_comes_later() -> None:
    gate = Gate(1)
    gate.pause(0.05)
    gate.pause(0.01)  # the longer one stays
    before = time.monotonic()

    entered = gate.enter()

    assert entered
    assert time.monotonic() - before >= 0.04


def test_a_stop_ends_every_wait() -> None:
    gate = Announcing(0)
    paused = Announcing(1)
    paused.pause(LONG)

    with ThreadPoolExecutor(3) as pool:
        waits = [pool.submit(gate.wait, LONG), pool.submit(gate.enter), pool.submit(paused.enter)]
        gate.waiting.wait(10)
        gate.stop()
        paused.stop()
        ends = [wait.result(10) for wait in waits]

    assert ends == [False, False, False]
    assert gate.stopped
    assert not paused.enter()
    assert not gate.wait(0)


def test_a_connection_has_so_many_requests_in_flight_and_no_more(
    server: RawServer, connect: Connect
) -> None:
    lock = threading.Lock()
    together = threading.Barrier(3, timeout=10)
    now, most = 0, 0

    def counted(exchange: Exchange) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        together.wait()  # passes only when three are in flight at the same time
        with lock:
            now -= 1
        answering({"data": []})(exchange)

    server.then(*[counted] * 12)
    connection = connect(server.url, concurrency=3)

    with ThreadPoolExecutor(12) as pool:
        results = list(pool.map(lambda _: connection.call(READ), range(12)))

    assert results == [()] * 12
    assert most == 3
    assert server.connections == 3


def test_nobody_holds_a_place_while_waiting(server: RawServer, connect_blocking: Connect) -> None:
    gate = Announcing(1)
    connection = connect_blocking(server.url, gate=gate, retries=1, jitter=lambda: LONG)
    server.then(answering(b"", status=503), answering({"data": []}))

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(connection.call, READ)
        gate.waiting.wait(10)
        other = connection.call(READ)
        connection.stop()

    assert other == ()
    assert waiting.exception(10) is not None
