import pytest

from commandsync.apply.outcomes import Outcome, Result, Settled, exit_code, skipped
from commandsync.plan.changes import Delete
from commandsync.plan.plan import Plan
from commandsync.records.texts import Resource
from tests.support.runs import TARGET, command

DELETE = Delete(resource=Resource.COMMAND, id="1", before=command("a"))


def plan_of(*changes: Delete) -> Plan:
    return Plan(target=TARGET, manifest=(), scope=(), changes=changes, unchanged=0, listed={})


def test_it_is_complete_when_all_is_done_and_seen() -> None:
    done, failed = Settled(DELETE, Outcome.DONE), Settled(DELETE, Outcome.FAILED, "no")
    plan = plan_of(DELETE)

    assert Result(plan=plan, settled=(done,)).complete
    assert not Result(plan=plan, settled=(failed, done)).complete
    assert not Result(plan=plan, settled=(done,), verified=False).complete
    assert not Result(plan=plan, settled=(done,), interrupted=True).complete


def test_outcomes_are_counted() -> None:
    result = Result(plan=plan_of(DELETE), settled=(Settled(DELETE, Outcome.DONE),) * 2)

    assert (result.count(Outcome.DONE), result.count(Outcome.FAILED)) == (2, 0)


def test_a_plan_of_which_nothing_was_tried_is_skipped_whole() -> None:
    plan = plan_of(DELETE, DELETE)

    result = skipped(plan, "interrupted")

    assert result.plan is plan
    assert result.stopped == "interrupted"
    assert skipped(plan_of(), "interrupted").verified
    assert not result.verified
    assert result.settled == (Settled(DELETE, Outcome.SKIPPED, "interrupted"),) * 2
    assert result.interrupted
    assert not result.touched
    assert not result.complete


@pytest.mark.parametrize(
    ("outcome", "touched", "verified", "code"),
    [
        (Outcome.DONE, True, True, 0),
        (Outcome.DONE, True, False, 6),
        (Outcome.FAILED, False, False, 1),
        (Outcome.FAILED, True, False, 6),
        (Outcome.UNKNOWN, True, False, 6),
        (Outcome.SKIPPED, False, False, 1),
    ],
)
def test_a_result_is_done_failed_or_incomplete(
    outcome: Outcome, *, touched: bool, verified: bool, code: int
) -> None:
    settled = (Settled(DELETE, outcome),)
    result = Result(plan=plan_of(DELETE), settled=settled, touched=touched, verified=verified)

    assert exit_code(result) == code


def test_what_was_never_tried_failed() -> None:
    assert exit_code(skipped(plan_of(DELETE), "interrupted")) == 1


@pytest.mark.parametrize(("touched", "code"), [(True, 6), (False, 1)])
def test_a_listing_that_was_not_read_is_not_done(*, touched: bool, code: int) -> None:
    result = Result(plan=plan_of(DELETE), settled=(Settled(DELETE, Outcome.DONE),), touched=touched)

    assert exit_code(result, unread=True) == code
