"""The same faults on real sockets, carried through the real client: what is simulated is so."""

from __future__ import annotations

from itertools import count
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest

from commandsync.api.address import parse_address
from commandsync.api.credentials import Token
from commandsync.api.policy import Health
from commandsync.apply.run import apply
from commandsync.client.connection import Connection
from commandsync.client.driver import SnapshotReading, drive
from commandsync.errors import ListingError
from commandsync.plan.plan import make_plan
from tests.support.driver import Driver
from tests.support.faultserver import FaultServer
from tests.support.home import end_waits
from tests.support.listing import FAULTS, REFUSED, Fault, Listing
from tests.support.proof import OPERATIONS, SCENE, Stage, meets, operation_of, texts_of
from tests.support.runs import BOT, EVERYTHING, TARGET, Run

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOW = 0.5  # seconds after which a silent service is given up, where silence is the fault
PATIENT = 30.0


def run_once(server: FaultServer, timeout: float, concurrency: int) -> Run | None:
    """Run as `commandsync apply` does; None when the listing could not be read."""
    address, health = parse_address(server.url), Health()
    token = Token("marked-token")
    settings = {"retries": 2, "jitter": float, "concurrency": concurrency}
    with Connection(address, token, timeout=timeout, **settings) as connection:  # type: ignore[arg-type]  # each its own
        try:
            listed = SnapshotReading(connection, BOT, SCENE.desired.scope).result()
        except ListingError:
            return None
        plan = make_plan(desired=SCENE.desired, listed=listed, target=TARGET, rules=EVERYTHING)
        steps = apply(plan, listed=listed, health=health, concurrency=concurrency)
        result = drive(
            steps, connection, health=health, events=SimpleQueue(), on_step=lambda _: None
        )
    return Run(Driver(server.listing), plan, result)


def problems_of(fault: Fault, operation: str, nth: int) -> list[str]:
    """Let one request go wrong in a run, and hold what follows to the promise."""
    service = Listing()
    stage = Stage(service)
    met = count()
    service.choose = lambda request: (
        fault if operation_of(request) == operation and next(met) == nth else None
    )
    with FaultServer(service) as server:
        were = texts_of(service)
        run = run_once(server, SLOW if fault.wire in {"hang", "drip"} else PATIENT, 4)
        if run is not None:
            stage.judge(run, were, 0)
        stage.late(run)
        service.choose = lambda _: None
        for _ in range(2):
            if texts_of(service) != SCENE.wanted:
                run_once(server, PATIENT, 4)
        begun = len(service.requests)
        last = run_once(server, PATIENT, 4)
    found = list(stage.problems)
    if texts_of(service) != SCENE.wanted:
        found.append("it does not converge")
    if service.writes(begun) or last is None or not last.result.complete:
        found.append("a further run has something to do")
    return found


def pairs() -> Iterator[tuple[Fault, str, int]]:
    """Every fault on an add, and on the other operations in turn."""
    for n, fault in enumerate(FAULTS):
        operations = {"add", OPERATIONS[n % len(OPERATIONS)], "read" if n % 2 else "withdraw"}
        for operation in sorted(operations):
            if meets(fault, operation):
                yield fault, operation, n % 2


@pytest.mark.parametrize(
    ("fault", "operation", "nth"),
    [pytest.param(*case, id=f"{case[0].name} / {case[1]}") for case in pairs()],
)
def test_a_fault_on_the_wire_is_overcome(
    monkeypatch: pytest.MonkeyPatch, fault: Fault, operation: str, nth: int
) -> None:
    end_waits(monkeypatch)

    assert problems_of(fault, operation, nth) == []


@pytest.mark.parametrize("number", [1, 7])
def test_a_service_that_refuses_connections_for_a_while_is_waited_for(number: int) -> None:
    service = Listing()
    stage = Stage(service)
    service.faults = {number: REFUSED}
    with FaultServer(service) as server:
        were = texts_of(service)
        run = run_once(server, PATIENT, 1)

    assert run is not None
    stage.judge(run, were, 0)
    assert stage.problems == []
    assert run.result.complete
    assert service.faults == {}
