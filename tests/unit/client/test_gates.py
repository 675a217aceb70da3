"""The limits on requests in flight, for threads and for an event loop."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from commandsync.api.arguments import parse_address
from commandsync.api.content import Bucket
from commandsync.api.operations import list_records
from commandsync.api.policy import Wait
from commandsync.client.asynctransport import AsyncGate
from commandsync.client.connection import AsyncConnection, Budget, Connection
from commandsync.client.threads import Gate
from commandsync.errors import StoppedError
from commandsync.records.texts import Resource
from tests.support.rawserver import Act, Exchange, RawServer, answering

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


def test_a_connection_has_a_limit_in_flight(server: RawServer, connect: Connect) -> None:
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


def limited(body: object, *, remaining: str = "0", after: str = "0.06") -> Act:
    headers = {
        "X-RateLimit-Limit": "1",
        "X-RateLimit-Remaining": remaining,
        "X-RateLimit-Reset-After": after,
    }
    return answering(body, headers={name: value for name, value in headers.items() if value})


def test_a_kind_of_request_waits_until_the_service_allows_it_again(
    server: RawServer, connect: Connect
) -> None:
    connection = connect(server.url)
    server.then(limited({"data": []}), answering({"data": []}))

    connection.call(READ)
    before = time.monotonic()
    connection.call(READ)

    assert time.monotonic() - before >= 0.04


def test_a_long_wait_for_a_limit_is_shown_and_is_that_of_one_kind(
    server: RawServer, connect_blocking: Connect
) -> None:
    gate = Announcing(1)
    connection, waits = connect_blocking(server.url, gate=gate), list[tuple[str, Wait]]()
    connection.on_wait = lambda operation, step: (
        waits.append((operation.name, step)) if isinstance(step, Wait) else None
    )
    server.then(limited({"data": []}, after="100"), answering({"data": []}))

    connection.call(READ)
    connection.call(list_records("42", Resource.ANNOUNCEMENT))
    before = [*waits]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(connection.call, READ)
        gate.waiting.wait(10)
        connection.stop()

    assert isinstance(waiting.exception(10), StoppedError)
    assert before == []
    [(name, wait)] = waits
    assert name == READ.name
    assert 99 < wait.seconds <= 100


@pytest.mark.parametrize(
    ("remaining", "after"), [("1", "60"), ("0", ""), ("0", "soon"), ("0", "0"), ("0", "121")]
)
def test_only_a_limit_that_is_used_up_and_soon_renewed_is_waited_for(
    server: RawServer, connect_blocking: Connect, remaining: str, after: str
) -> None:
    server.then(limited({"data": []}, remaining=remaining, after=after), answering({"data": []}))
    connection, waits = connect_blocking(server.url), list[object]()
    connection.on_wait = lambda _operation, step: waits.append(step)

    connection.call(READ)
    connection.call(READ)

    assert not [step for step in waits if isinstance(step, Wait)]


def test_no_more_is_sent_than_a_limit_allows() -> None:
    budget = Budget()

    begun = [budget.take(0.0) for _ in range(4)]  # nothing is known yet
    budget.give_back(Bucket(5, 4, 20.0), 1.0)
    fifth, sixth = budget.take(1.0), budget.take(2.0)
    for left in (3, 2, 1, 0):  # the answers may come in another order
        budget.give_back(Bucket(5, left, 19.0), 2.0)

    assert begun == [0.0] * 4
    assert (fifth, sixth) == (0.0, 19.0)
    assert budget.take(3.0) == 18.0
    assert [budget.take(21.0) > 0 for _ in range(7)] == [*[False] * 5, True, True]
    budget.give_back(None, 22.0)
    assert budget.take(22.0) == 0.0


async def begun(*work: Coroutine[Any, Any, bool]) -> list[asyncio.Task[bool]]:
    tasks = [asyncio.create_task(one) for one in work]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


def test_no_more_enter_than_there_are_places_and_the_first_comes_first() -> None:
    async def main() -> list[bool]:
        gate = AsyncGate(1)
        await gate.enter()
        tasks = await begun(gate.enter(), gate.enter())
        gate.leave()
        await tasks[0]
        return [tasks[0].done(), tasks[1].done(), tasks[1].cancel()]

    assert asyncio.run(main()) == [True, False, True]


def test_a_pause_holds_back_tasks_too() -> None:
    async def main() -> tuple[bool, bool]:
        gate = AsyncGate(1)
        gate.pause(0.05)
        gate.pause(0.01)
        (task,) = await begun(gate.enter())
        held_back = not task.done()
        return held_back, await task

    assert asyncio.run(main()) == (True, True)


def test_a_stop_ends_the_waits_of_tasks_too() -> None:
    async def main() -> list[bool]:
        gate, paused = AsyncGate(0), AsyncGate(1)
        paused.pause(LONG)
        tasks = await begun(gate.wait(LONG), gate.enter(), paused.enter())
        gate.stop()
        paused.stop()
        ends = [await task for task in tasks]
        return [*ends, await gate.enter(), await gate.wait(LONG), not gate.stopped]

    assert asyncio.run(main()) == [False] * 6


@pytest.mark.parametrize("has_its_turn", [True, False])
def test_a_cancelled_task_passes_its_turn_on(*, has_its_turn: bool) -> None:
    async def main() -> bool:
        gate = AsyncGate(1)
        await gate.enter()
        first, second = await begun(gate.enter(), gate.enter())
        if has_its_turn:
            gate.leave()
        first.cancel()
        if not has_its_turn:
            gate.leave()
        return await second

    assert asyncio.run(main())


def test_a_cancelled_request_gives_its_place_back_and_its_connection_up(
    server: RawServer, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> object:
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()

        def act(exchange: Exchange) -> None:
            loop.call_soon_threadsafe(arrived.set)
            exchange.sock.recv(1)  # returns when the client has closed
            exchange.close()

        server.then(act, answering({"data": []}))
        async with AsyncConnection(parse_address(server.url), None, concurrency=1) as connection:
            task = asyncio.create_task(connection.call(READ))
            await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await connection.call(READ)

    caplog.set_level("DEBUG", "commandsync.client")

    assert asyncio.run(main()) == ()
    assert server.connections == 2
    assert "cancelled; it may" in caplog.text
