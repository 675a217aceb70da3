import pytest

from commandsync.apply.outcomes import Outcome, Result, Settled, skipped
from commandsync.plan.changes import Add
from commandsync.plan.plan import Plan, Target
from commandsync.records.texts import CommandText, Resource
from commandsync.services.page import PAGE
from commandsync.sync import exits
from commandsync.sync.signals import of_signal

ADD = Add(
    resource=Resource.COMMAND,
    after=CommandText("help", "Helps.", "/help", ""),
    listed=0,
    location=None,
)
PLAN = Plan(
    target=Target(bot="1", base_url="https://listing.example", abilities=PAGE.abilities),
    manifest=(),
    scope=(Resource.COMMAND,),
    changes=(ADD,),
    unchanged=0,
    listed={Resource.COMMAND: 0},
)


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
    result = Result(plan=PLAN, settled=(Settled(ADD, outcome),), touched=touched, verified=verified)

    assert exits.of_result(result) == code


def test_what_was_never_tried_failed() -> None:
    assert exits.of_result(skipped(PLAN, "interrupted")) == 1


def test_a_signal_has_the_exit_code_of_shells() -> None:
    assert (of_signal(2), of_signal(15)) == (130, 143)


@pytest.mark.parametrize(("touched", "code"), [(True, 6), (False, 1)])
def test_a_listing_that_was_not_read_is_not_done(*, touched: bool, code: int) -> None:
    result = Result(plan=PLAN, settled=(Settled(ADD, Outcome.DONE),), touched=touched)

    assert exits.of_result(result, unread=True) == code
