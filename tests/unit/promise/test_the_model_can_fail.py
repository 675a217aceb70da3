"""A model that cannot fail proves nothing: ways to break the product, each caught by the model."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from commandsync.apply import ledger
from commandsync.apply.claims import Claims
from commandsync.apply.outcomes import Outcome, Settled
from commandsync.apply.run import apply
from commandsync.plan import matching
from commandsync.plan.changes import Edit, Replace
from commandsync.plan.plan import make_plan
from commandsync.records.snapshot import Snapshot
from tests.support.cases import drawn
from tests.support.oracle import same_name
from tests.support.runs import PRODUCT, Parts
from tests.support.story import prove

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    import pytest

    from commandsync.apply.outcomes import Result
    from commandsync.apply.steps import Step, StepResult
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan
    from tests.support.cases import Case

SEED = 7
MOST = 300  # cases that are played to find one in which it is caught


def caught(kind: str, parts: Parts = PRODUCT, *, where: Callable[[Case], bool]) -> bool:
    """Play the first cases of a sort, and say whether a problem of this kind is found."""
    cases = (case for number in count() if where(case := drawn(number, SEED)))
    return any(
        kind in problem.kind for _ in range(MOST) for problem in prove(next(cases), parts).problems
    )


def is_guessed(change: Change) -> bool:
    """Whether somebody might think that the service has made the listed text of the wanted one."""
    if not isinstance(change, Edit | Replace):
        return False
    sides = zip(change.before, change.after, strict=True)
    return all(same_name(new, old) or new.startswith(old) for old, new in sides)


def guessing(plan: Plan, **rest: Any) -> Generator[Step, StepResult, Result]:  # noqa: ANN401 - what apply takes
    """Call done, with no request, what the service would only store as it is listed."""
    guessed = [is_guessed(change) for change in plan.changes]
    certain = [one for one, guess in zip(plan.changes, guessed, strict=True) if not guess]
    result = yield from apply(replace(plan, changes=tuple(certain)), **rest)
    settled = iter(result.settled)
    return replace(
        result,
        plan=plan,
        settled=tuple(
            Settled(change, Outcome.DONE) if guess else next(settled)
            for change, guess in zip(plan.changes, guessed, strict=True)
        ),
    )


def verifying_changes_alone(
    plan: Plan,
    **rest: Any,  # noqa: ANN401 - what apply takes
) -> Generator[Step, StepResult, Result]:
    """Call verified what shows each change, and do not plan again."""
    return (yield from apply(plan, **{**rest, "replan": None}))


def former_names_first(*, desired: Snapshot, listed: Snapshot, **rest: Any) -> Plan:  # noqa: ANN401 - what make_plan takes
    """Rename what has a former name, whatever else is listed."""
    ids = {entry.name: entry.id for some in listed.collections.values() for entry in some}
    pinned = {
        resource: tuple(
            replace(entry, id=next((ids[old] for old in entry.formerly if old in ids), entry.id))
            for entry in entries
        )
        for resource, entries in desired.collections.items()
    }
    return make_plan(desired=Snapshot(pinned), listed=listed, **rest)


def test_a_guess_that_is_called_done_is_caught() -> None:
    parts = Parts(applying=guessing)

    assert caught("done without a request", parts, where=lambda case: case.kind == "verbatim")


def test_verifying_without_planning_again_is_caught_on_a_service_that_evicts() -> None:
    parts = Parts(applying=verifying_changes_alone)

    assert caught(
        "complete although something is left", parts, where=lambda case: case.kind == "evicts"
    )


def test_verifying_without_planning_again_is_caught_beside_a_second_writer() -> None:
    parts = Parts(applying=verifying_changes_alone)

    assert caught(
        "complete although something is left",
        parts,
        where=lambda case: case.kind == "verbatim" and bool(case.acts),
    )


def test_posting_again_what_a_service_rewrote_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "folded", lambda text: text)

    def drops_or_cuts(case: Case) -> bool:
        appends = case.rules.announcements == "append" and "announcements" in case.scope
        return appends and case.kind in {"drops emoji", "cuts"} and "title" in case.way.fields

    assert caught("announcements swing", where=drops_or_cuts)


def test_adding_again_what_a_service_rewrote_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "folded", lambda text: text)

    assert caught(
        "commands swing",
        where=lambda case: case.kind == "lower-cases" and "name" in case.way.fields,
    )


def test_a_former_name_that_goes_before_the_rewritten_one_is_caught() -> None:
    assert caught(
        "formerly takes another",
        Parts(planning=former_names_first),
        where=lambda case: not case.saved and any(want.formerly for want in case.wants),
    )


def test_deleting_although_adds_failed_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Claims, "hold_back_deletes", lambda *_: None)

    assert caught("deletes while an add is not done", where=lambda case: case.kind == "rejects")


def test_deleting_the_old_one_on_a_guess_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger.Write, "succeeded", property(lambda _: True))

    assert caught(
        "the old one goes without its successor",
        where=lambda case: case.rules.announcements == "mirror" and case.kind == "drops",
    )
