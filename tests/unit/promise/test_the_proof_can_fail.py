"""A proof that cannot fail proves nothing: wrong ways to do the work are caught by it."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from commandsync.apply.run import open_run
from commandsync.plan.changes import Add, Delete, Replace
from commandsync.plan.plan import make_plan
from commandsync.records.snapshot import Snapshot
from tests.support.listing import FAULTS, Fault, Listing
from tests.support.proof import OPERATIONS, Stage, Verdict, on_one, prove
from tests.support.runs import PRODUCT, Parts

if TYPE_CHECKING:
    from collections.abc import Generator

    from commandsync.api.operations import Operation
    from commandsync.api.policy import Health
    from commandsync.apply.outcomes import Result
    from commandsync.apply.steps import Step, StepResult
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan


def sending_blindly(operation: Operation[Any]) -> Operation[Any]:
    return replace(operation, idempotent=True)


def split(**sides: Any) -> Plan:  # noqa: ANN401 - what make_plan takes
    """Plan a delete and an add for each replace."""
    plan = make_plan(**sides)
    changes: list[Change] = []
    for one in plan.changes:
        if isinstance(one, Replace):
            changes += [
                Delete(resource=one.resource, id=one.id, before=one.before),
                Add(resource=one.resource, after=one.after),
            ]
        else:
            changes.append(one)
    return replace(plan, changes=tuple(changes))


def deleting_first(
    plan: Plan,
    *,
    listed: Snapshot,
    health: Health,
    concurrency: int = 4,
    unordered: bool = False,
    **_: Any,  # noqa: ANN401 - what else apply takes
) -> Generator[Step, StepResult, Result]:
    run = open_run(plan, listed, health, concurrency=concurrency)
    gone = deque(write for write in run.ledger.writes if isinstance(write.change, Delete))
    yield from run.perform(gone, width=concurrency)  # past what holds it back
    yield from run.edits()
    for resource in plan.scope:
        yield from run.adds(resource, width=concurrency if unordered else 1)
    for resource in plan.scope:
        yield from run.verify(resource)
    return run.ledger.result()


def believing(
    plan: Plan,
    *,
    listed: Snapshot,
    health: Health,
    concurrency: int = 4,
    unordered: bool = False,
    **_: Any,  # noqa: ANN401 - what else apply takes
) -> Generator[Step, StepResult, Result]:
    """Take what was answered for done, and read nothing again."""
    run = open_run(plan, listed, health, concurrency=concurrency)
    yield from run.edits()
    for resource in plan.scope:
        yield from run.adds(resource, width=concurrency if unordered else 1)
    yield from run.deletes()
    return run.ledger.result()


def by_name(*, desired: Snapshot, listed: Snapshot, **rest: Any) -> Plan:  # noqa: ANN401 - as above
    return make_plan(desired=_collapsed(desired), listed=_collapsed(listed), **rest)


def _collapsed(side: Snapshot) -> Snapshot:
    return Snapshot(
        {
            resource: tuple({entry.name: entry for entry in entries}.values())
            for resource, entries in side.collections.items()
        }
    )


def verdicts(parts: Parts) -> dict[str, Verdict]:
    return {
        str(case): prove(case, parts)
        for fault in FAULTS
        for operation in OPERATIONS
        for case in [on_one(operation, fault, 1 if operation == "read" else 0, "apply")]
    }


def test_the_product_passes() -> None:
    assert not any(verdict.problems for verdict in verdicts(PRODUCT).values())


def test_an_add_that_is_sent_again_blindly_is_caught() -> None:
    found = verdicts(Parts(bend=sending_blindly))

    caught = {name for name, verdict in found.items() if verdict.copies}
    assert {name.split(" / ")[1] for name in caught} == {"add", "post"}
    assert {name.split(" / ")[0] for name in caught} >= {"reset after", "500 after", "answer cut"}


@pytest.mark.parametrize("fault", [None, *FAULTS[:3]], ids=["none", "1", "2", "3"])
def test_deleting_before_adding_is_caught(fault: Fault | None) -> None:
    parts = Parts(planning=split, applying=deleting_first)
    stage = Stage(Listing(), parts=parts)
    if fault is not None:
        stage.service.choose = lambda request: fault if request.kind == "add" else None

    stage.run()

    assert stage.lost
    assert any("deletes before it has added" in problem for problem in stage.problems)


def test_matching_by_name_only_is_caught() -> None:
    found = verdicts(Parts(planning=by_name))

    assert all("it does not converge" in verdict.problems for verdict in found.values())


def test_believing_every_answer_is_caught() -> None:
    found = verdicts(Parts(applying=believing))

    caught = {name.split(" / ")[0] for name, verdict in found.items() if verdict.untrue}
    assert "wrong shape, not applied" in caught
