from __future__ import annotations

import pytest

from commandsync import errors
from commandsync.apply.outcomes import Outcome, Result, Settled, skipped
from commandsync.errors import Reply
from commandsync.plan.changes import Add
from commandsync.plan.plan import Plan, Target
from commandsync.records.texts import CommandText, Resource
from commandsync.sync import exits
from commandsync.sync.signals import of_signal

ADD = Add(
    resource=Resource.COMMAND,
    after=CommandText("help", "Helps.", "/help", ""),
    listed=0,
    location=None,
)
PLAN = Plan(
    target=Target(bot="1", base_url="https://listing.example"),
    manifest=(),
    scope=(Resource.COMMAND,),
    changes=(ADD,),
    unchanged=0,
    listed={Resource.COMMAND: 0},
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ManifestError([]), 4),
        (errors.UsageError("x"), 2),
        (errors.StalePlanError("x"), 5),
        (errors.TooManyDeletesError("x"), 5),
        (errors.WrongBotError("x"), 5),
        (errors.PlainHttpError("x"), 5),
        (errors.FileError("x"), 1),
        (errors.TransportError("x"), 1),
        (errors.Unauthorized("x", reply=Reply(401, b"")), 1),
        (errors.CommandsyncError("x"), 1),
    ],
)
def test_each_error_has_its_exit_code(error: errors.CommandsyncError, code: int) -> None:
    assert exits.of_error(error) == code


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


def test_several_manifests_end_with_the_first_code_that_applies() -> None:
    designed = [143, 6, 5, 4, 1, 3, 0]

    for place, code in enumerate(designed):
        assert exits.worst(reversed(designed[place:])) == code


def test_no_manifest_at_all_is_done() -> None:
    assert exits.worst([]) == 0


def test_a_signal_has_the_exit_code_of_shells() -> None:
    assert (of_signal(2), of_signal(15)) == (130, 143)
