"""Apply has the same outcomes over either driver, whatever fails: every fault with each operation.

`make soak` has it meet the second and third request of each, too.

The drivers are the real ones, threads and tasks included; instead of the network there is the
simulated service, and nobody waits.
"""

import asyncio
from collections.abc import Callable
from itertools import count
from queue import SimpleQueue
from typing import Any

import pytest

from commandsync.api.arguments import parse_address
from commandsync.api.operations import Operation, reading
from commandsync.api.policy import Health
from commandsync.apply.outcomes import Aborted, Interrupted, Outcome, Result, StepResult
from commandsync.apply.run import apply
from commandsync.client.asynctransport import AsyncGate
from commandsync.client.connection import AsyncConnection, Connection
from commandsync.client.driver import drive, drive_async
from commandsync.client.threads import Gate
from commandsync.errors import Reply, TransportError
from commandsync.plan.plan import RecordPlan, make_plan
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.services.service import PAGE
from tests.support.draws import SOAK
from tests.support.listing import FAULTS, Fault, Listing
from tests.support.runs import (
    BOT,
    EVERYTHING,
    TARGET,
    Driver,
    announcement,
    carry_out,
    command,
    seed,
    wanted,
)

Run = Callable[[RecordPlan, Snapshot, Listing], Result]

ADDRESS = parse_address("http://127.0.0.1:9")
DESIRED = wanted(
    [command("help", "Shows all."), command("afk", syntax="/afk [why]"), command("new")],
    [announcement("v2", "Second."), announcement("v1", "First, and better.")],
)
BEFORE = [
    command("help", "Shows it."),
    command("afk"),
    command("old"),
    announcement("v1", "First."),
    announcement("bye"),
]
SCOPE = (Resource.COMMAND, Resource.ANNOUNCEMENT)
KINDS = ("read", "add", "edit", "delete")


class _Hasty(Gate):
    def pause(self, seconds: float) -> None:
        pass

    def wait(self, seconds: float) -> bool:
        return seconds >= 0 and not self.stopped


class _AsyncHasty(AsyncGate):
    def pause(self, seconds: float) -> None:
        pass

    async def wait(self, seconds: float) -> bool:
        return seconds >= 0 and not self.stopped


class _Simulated(Connection):
    def __init__(self, service: Listing) -> None:
        super().__init__(ADDRESS, None, jitter=lambda: 0.5, gate=_Hasty(1))
        self.listing = service
        self.transport.send = self._send  # type: ignore[method-assign]  # nothing goes out

    def _send(self, operation: Operation[Any], **_: object) -> Reply | TransportError:
        one = operation
        return self.listing.handle(one.method, one.path, one.query, one.body)


class _AsyncSimulated(AsyncConnection):
    def __init__(self, service: Listing) -> None:
        super().__init__(ADDRESS, None, jitter=lambda: 0.5, gate=_AsyncHasty(1))
        self.listing = service
        self.transport.send = self._send  # type: ignore[method-assign]  # nothing goes out

    async def _send(self, operation: Operation[Any], **_: object) -> Reply | TransportError:
        one = operation
        return self.listing.handle(one.method, one.path, one.query, one.body)


def by_threads(plan: RecordPlan, listed: Snapshot, service: Listing) -> Result:
    health = Health()
    events: SimpleQueue[StepResult] = SimpleQueue()
    steps = apply(plan, service=PAGE, listed=listed, health=health, concurrency=1)
    with _Simulated(service) as connection:
        return drive(steps, connection, health=health, events=events, on_step=lambda _: None)


def by_tasks(
    plan: RecordPlan,
    listed: Snapshot,
    service: Listing,
    connections: type[_AsyncSimulated] = _AsyncSimulated,
    events: asyncio.Queue[StepResult] | None = None,
) -> Result:
    async def main() -> Result:
        health = Health()
        steps = apply(plan, service=PAGE, listed=listed, health=health, concurrency=1)
        async with connections(service) as connection:
            told = events or asyncio.Queue()
            return await drive_async(
                steps, connection, health=health, events=told, on_step=lambda _: None
            )

    return asyncio.run(main())


def by_simulation(plan: RecordPlan, listed: Snapshot, service: Listing) -> Result:
    return carry_out(plan, listed, Driver(service), concurrency=1)


def planned(fault: Fault | None, kind: str, nth: int) -> tuple[RecordPlan, Snapshot, Listing]:
    service = Listing()
    seed(service, BEFORE)
    listed = Snapshot(
        {resource: Driver(service).call(reading(BOT, resource)) for resource in SCOPE}
    )
    plan = make_plan(desired=DESIRED, listed=listed, target=TARGET, rules=EVERYTHING)
    met = count()
    service.choose = lambda one: fault if one.kind == kind and next(met) == nth else None
    return plan, listed, service


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commandsync.apply.run.REREADS", (0.0, 0.0, 0.0))


@pytest.mark.parametrize("run", [by_threads, by_tasks], ids=["blocking", "asynchronous"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_has_the_same_outcomes(run: Run, fault: Fault) -> None:
    for kind in KINDS:
        for nth in range(3 if SOAK else 1):
            plan, listed, service = planned(fault, kind, nth)
            expected, model = by_simulation(plan, listed, service), service
            plan, listed, service = planned(fault, kind, nth)

            result = run(plan, listed, service)

            assert result == expected
            assert [one.path for one in service.requests] == [one.path for one in model.requests]
            assert service.stored == model.stored


@pytest.mark.parametrize("stop", [Interrupted(), Aborted()], ids=["interrupted", "aborted"])
def test_a_stop_ends_the_tasks_in_flight(stop: StepResult) -> None:
    plan, listed, service = planned(None, "read", 0)

    class Hanging(_AsyncSimulated):
        left = 0

        async def _send(self, operation: Operation[Any], **_: object) -> Reply | TransportError:
            answer = await super()._send(operation)
            if operation.method == "POST":
                self.stop()
                events.put_nowait(stop)
                try:
                    await asyncio.sleep(3600 if isinstance(stop, Aborted) else 0)
                finally:
                    Hanging.left += 1
            return answer

    events: asyncio.Queue[StepResult] = asyncio.Queue()
    result = by_tasks(plan, listed, service, Hanging, events)

    assert result.interrupted
    assert Hanging.left == 1
    assert {one.outcome for one in result.settled[1:]} <= {Outcome.SKIPPED}


def test_a_defect_in_a_call_does_not_leave_the_run_waiting() -> None:
    plan, listed, service = planned(None, "read", 0)

    class Broken(_AsyncSimulated):
        async def _send(self, operation: Operation[Any], **_: object) -> Reply | TransportError:
            raise RuntimeError(operation.name)

    result = by_tasks(plan, listed, service, Broken)

    assert "RuntimeError" in result.settled[0].error
