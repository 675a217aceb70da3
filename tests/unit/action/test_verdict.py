from dataclasses import replace

import pytest

from commandsync.action import verdict
from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.errors import (
    CommandsyncError,
    Forbidden,
    ListingError,
    RateLimited,
    Reply,
    StalePlanError,
)
from commandsync.plan.plan import make_plan
from tests.support.runs import EVERYTHING, TARGET, command, wanted

REPLY = Reply(429, b"")
PLAN = make_plan(
    desired=wanted([command("help")]), listed=wanted([]), target=TARGET, rules=EVERYTHING
)


def failed(cause: ListingError | None) -> Result:
    settled = Settled(PLAN.changes[0], Outcome.FAILED, "no", cause=cause)
    return Result(plan=PLAN, settled=(settled,), verified=False)


def test_a_plan_that_no_longer_fits_is_stale() -> None:
    found = verdict.of_plans([PLAN], fail_on_changes=False, refusals=[StalePlanError("moved")])

    assert (found.word, found.reason, found.code) == ("failed", "stale", 5)


def test_the_gravest_of_several_failures_gives_the_reason() -> None:
    errors = [RateLimited("slow down", reply=REPLY), StalePlanError("moved"), CommandsyncError("x")]
    found = verdict.of_plans([PLAN, *errors], fail_on_changes=True)

    assert (found.reason, found.code, found.changed) == ("stale", 5, True)


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (Forbidden("no", reply=REPLY), "auth"),
        (RateLimited("slow", reply=REPLY), "rate-limited"),
        (None, "incomplete"),
    ],
)
def test_where_nothing_was_written_the_first_cause_gives_the_reason(
    cause: ListingError | None, reason: str
) -> None:
    assert verdict.of_results([failed(cause)], code=1).reason == reason


def test_what_was_written_in_part_is_incomplete_whatever_the_cause() -> None:
    touched = replace(failed(Forbidden("no", reply=REPLY)), touched=True)

    assert verdict.of_results([touched], code=6).reason == "incomplete"


def test_a_failure_without_a_word_of_its_own_is_incomplete() -> None:
    assert verdict.of_error(CommandsyncError("x")).reason == "incomplete"
