"""Apply has the same outcomes over either driver, whatever fails: every fault with each operation.

It is tried on a page and on Discord.

`make soak` has it meet the second and third request of each, too.

The drivers are the real ones, threads and tasks included; instead of the network there is the
simulated service, and nobody waits.
"""

import asyncio
from collections.abc import Callable, Generator
from itertools import count
from queue import SimpleQueue
from typing import Any, NamedTuple

import pytest

from commandsync.api.arguments import parse_address
from commandsync.api.operations import Operation, reading
from commandsync.api.policy import Health
from commandsync.apply.outcomes import Aborted, Interrupted, Outcome, Result, Step, StepResult
from commandsync.apply.run import apply
from commandsync.client.asynctransport import AsyncGate
from commandsync.client.connection import AsyncConnection, Connection
from commandsync.client.driver import drive, drive_async
from commandsync.client.threads import Gate
from commandsync.errors import Reply, TransportError
from commandsync.plan.plan import RecordPlan, make_plan
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.services.service import PAGE, RecordService
from tests.support.discorddraws import DISCORD_STAGE
from tests.support.discordserver import APPLICATION
from tests.support.discordstory import KIND, DiscordStory
from tests.support.draws import SOAK
from tests.support.listing import FAULTS, Fault, Listing
from tests.support.runs import (
    BOT,
    EVERYTHING,
    TARGET,
    Driver,
    Remote,
    announcement,
    command,
    seed,
    wanted,
)


class Begun(NamedTuple):
    """A run before its first write."""

    plan: RecordPlan
    listed: Snapshot
    remote: Any  # the simulated service
    service: RecordService = PAGE


Run = Callable[[Begun], Result]

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
    def __init__(self, service: Remote) -> None:
        super().__init__(ADDRESS, None, jitter=lambda: 0.5, gate=_Hasty(1))
        self.listing = service
        self.transport.send = self._send  # type: ignore[method-assign]  # nothing goes out

    def _send(self, operation: Operation[Any], **_: object) -> Reply | TransportError:
        one = operation
        return self.listing.handle(one.method, one.path, one.query, one.body)


class _AsyncSimulated(AsyncConnection):
    def __init__(self, service: Remote) -> None:
        super().__init__(ADDRESS, None, jitter=lambda: 0.5, gate=_AsyncHasty(1))
        self.listing = service
        self.transport.send = self._send  # type: ignore[method-assign]  # nothing goes out

    async def _send(self, operation: Operation[Any], **_: object) -> Reply | TransportError:
        one = operation
        return self.listing.handle(one.method, one.path, one.query, one.body)


def steps_of(begun: Begun, health: Health) -> Generator[Step, StepResult, Result]:
    plan, listed, _, service = begun
    return apply(plan, service=service, listed=listed, health=health, concurrency=1)


def by_threads(begun: Begun) -> Result:
    health = Health()
    events: SimpleQueue[StepResult] = SimpleQueue()
    steps = steps_of(begun, health)
    with _Simulated(begun.remote) as connection:
        return drive(steps, connection, health=health, events=events, on_step=lambda _: None)


def by_tasks(
    begun: Begun,
    connections: type[_AsyncSimulated] = _AsyncSimulated,
    events: asyncio.Queue[StepResult] | None = None,
) -> Result:
    async def main() -> Result:
        health = Health()
        steps = steps_of(begun, health)
        async with connections(begun.remote) as connection:
            told = events or asyncio.Queue()
            return await drive_async(
                steps, connection, health=health, events=told, on_step=lambda _: None
            )

    return asyncio.run(main())


def by_simulation(begun: Begun) -> Result:
    driver = Driver(begun.remote)
    return driver.run(steps_of(begun, driver.health))


def planned(fault: Fault | None, kind: str, nth: int) -> Begun:
    service = Listing()
    seed(service, BEFORE)
    listed = Snapshot(
        {resource: Driver(service).call(reading(BOT, resource)) for resource in SCOPE}
    )
    plan = make_plan(desired=DESIRED, listed=listed, target=TARGET, rules=EVERYTHING)
    met = count()
    service.choose = lambda one: fault if one.kind == kind and next(met) == nth else None
    return Begun(plan, listed, service)


def planned_at_discord(fault: Fault | None, kind: str, nth: int) -> Begun:
    story = DiscordStory(DISCORD_STAGE.scene())
    service, job = story.service, story.job()
    listed = Snapshot({KIND: Driver(service).call(job.site.records.read(APPLICATION, KIND))})
    met = count()
    service.choose = lambda one: fault if one.kind == kind and next(met) == nth else None
    return Begun(job.plan(listed), listed, service, job.site.records)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commandsync.apply.run.REREADS", (0.0, 0.0, 0.0))


DRIVERS = pytest.mark.parametrize("run", [by_threads, by_tasks], ids=["blocking", "asynchronous"])


def paths(begun: Begun) -> list[str]:
    return [one.path for one in begun.remote.requests]


@DRIVERS
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_has_the_same_outcomes(run: Run, fault: Fault) -> None:
    for kind in KINDS:
        for nth in range(3 if SOAK else 1):
            model, begun = planned(fault, kind, nth), planned(fault, kind, nth)

            expected, result = by_simulation(model), run(begun)

            assert result == expected
            assert paths(begun) == paths(model)
            assert begun.remote.stored == model.remote.stored


@DRIVERS
@pytest.mark.parametrize("fault", DISCORD_STAGE.faults, ids=lambda fault: fault.name)
def test_every_fault_has_the_same_outcomes_at_discord(run: Run, fault: Fault) -> None:
    for kind in KINDS:
        for nth in range(3 if SOAK else 1):
            model, begun = (planned_at_discord(fault, kind, nth) for _ in range(2))

            expected, result = by_simulation(model), run(begun)

            assert result == expected
            assert paths(begun) == paths(model)
            assert begun.remote.state == model.remote.state


@pytest.mark.parametrize("stop", [Interrupted(), Aborted()], ids=["interrupted", "aborted"])
def test_a_stop_ends_the_tasks_in_flight(stop: StepResult) -> None:
    begun = planned(None, "read", 0)

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
    result = by_tasks(begun, Hanging, events)

    assert result.interrupted
    assert Hanging.left == 1
    assert {one.outcome for one in result.settled[1:]} <= {Outcome.SKIPPED}


def test_a_defect_in_a_call_does_not_leave_the_run_waiting() -> None:
    begun = planned(None, "read", 0)

    class Broken(_AsyncSimulated):
        async def _send(self, operation: Operation[Any], **_: object) -> Reply | TransportError:
            raise RuntimeError(operation.name)

    result = by_tasks(begun, Broken)

    assert "RuntimeError" in result.settled[0].error
