"""A page and whole lists of three shapes in one manifest: whatever comes between, none is damaged.

`make soak` plays 4,000 of the generated cases. Each broken way is caught by them.
"""

from collections import defaultdict
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import cache
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings

from commandsync.api import policy
from commandsync.api.operations import Operation
from commandsync.apply import run
from commandsync.apply.outcomes import Aborted, Interrupted, Outcome, Result, Step, StepResult
from commandsync.plan.plan import ListPlan
from commandsync.sync import lists
from tests.support.cases import Case
from tests.support.draws import PARTS, cases, examples, found, scene
from tests.support.everywhere import Lists, has_lists, prove_everywhere
from tests.support.listing import FAILED_AFTER, FAULTS, UNAUTHORIZED, Fault
from tests.support.runs import Kill, Stop
from tests.support.story import told

MOMENTS = 20
Steps = Generator[Step, StepResult, Result]


@cache
def plain_scene() -> Case:
    """Return the scene with commands whose names every service shows."""
    case, numbers = scene(), count()
    names = defaultdict[str, str](lambda: f"command{next(numbers)}")
    return replace(
        case,
        before=tuple((one, (names[name], *rest)) for one, (name, *rest) in case.before),
        wants=tuple(
            replace(want, text=(names[want.text[0]], *want.text[1:])) for want in case.wants
        ),
    )


def stopping(stop: Stop, moment: int, *, lands: bool) -> Callable[[Lists], None]:
    """Return what stops the first run at a moment of its lists, and nothing else."""

    def change(lists: Lists) -> None:
        lists.stop, lists.left, lists.lands = stop, moment, lands
        for place in lists.places:
            place.faults, place.act = {}, -1

    return change


def test_the_moments_are_all_of_a_run() -> None:
    seen: list[Lists] = []

    def watching(lists: Lists) -> None:
        stopping(Kill(), MOMENTS, lands=False)(lists)
        seen.append(lists)

    prove_everywhere(plain_scene(), watching)

    assert [lists.left for lists in seen] == [1]


@pytest.mark.promise("whole-lists")
@pytest.mark.parametrize(
    ("stop", "lands"),
    [(Kill(), False), (Kill(), True), (Interrupted(), False), (Aborted(), True)],
    ids=str,
)
def test_a_run_that_is_stopped_at_any_moment_damages_no_list(stop: Stop, *, lands: bool) -> None:
    wrong = {
        moment: found
        for moment in range(MOMENTS)
        if (found := prove_everywhere(plain_scene(), stopping(stop, moment, lands=lands)).problems)
    }

    assert wrong == {}


@pytest.mark.promise("exit-code-0-telegram")
def test_a_fault_of_any_kind_damages_no_list() -> None:
    """Of the read, of the write, or of the read after it."""
    wrong = {}
    for number, fault in enumerate(FAULTS):

        def meeting(lists: Lists, first: int = number % 3, fault: Fault = fault) -> None:
            lists.stop = None
            for place in lists.places:
                place.faults = {first: fault} if fault in place.possible else {}

        if found := prove_everywhere(plain_scene(), meeting).problems:
            wrong[fault.name] = found

    assert wrong == {}


@pytest.mark.promise("whole-lists")
@pytest.mark.parametrize("part", PARTS)
@settings(max_examples=examples(60, soak=4_000 // len(PARTS)))
@given(case=cases().filter(has_lists))
def test_every_invariant_holds_in_generated_cases_with_lists(part: int, case: Case) -> None:  # noqa: ARG001 - only to share the work
    story = prove_everywhere(case)

    assert not story.problems, told(story)


def emptied_again(plan: Any, *, send: Operation[None], **rest: Any) -> Steps:  # noqa: ANN401 - as of `replace_list`
    """Send an empty list where the answer to the whole one was lost."""
    result = yield from run.replace_list(plan, send=send, **rest)
    if result.sent is not Outcome.UNKNOWN:
        return result
    return (yield from run.replace_list(plan, send=replace(send, body=[]), **rest))


def unread(plan: Any, *, read: Any, **rest: Any) -> Steps:  # noqa: ANN401 - as above
    """Call verified what was not read again."""
    result = yield from run.replace_list(plan, read=None, **rest)
    return replace(result, verified=True if read else None)


def remembered(_read: object, wanted: Any, **_: Any) -> Generator[Step, StepResult, run.Reread]:  # noqa: ANN401 - as of `reread_list`
    yield from ()
    return run.Reread(interrupted=False, listed=wanted)


WRONG: dict[str, tuple[object, str, object, str]] = {
    "it sends an empty list after a lost answer": (
        lists,
        "replace_list",
        emptied_again,
        "is emptied",
    ),
    "it sends an empty list although it is refused": (
        ListPlan,
        "unsendable",
        None,
        "is emptied",
    ),
    "it verifies without a read": (lists, "replace_list", unread, "verified and was not read"),
    "it verifies from memory": (
        run,
        "reread_list",
        remembered,
        "verified and was not read",
    ),
    "it calls sent what failed": (
        run,
        "_unread",
        lambda _: Outcome.SENT,
        "sent and was not accepted",
    ),
    "it calls failed what may have happened": (
        run,
        "_unread",
        lambda failure: Outcome.FAILED if failure else Outcome.SENT,
        "is not sent and happened",
    ),
}


@pytest.mark.parametrize(("owner", "name", "wrong", "kind"), [*WRONG.values()], ids=[*WRONG])
def test_a_broken_way_is_caught(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, wrong: object, kind: str
) -> None:
    monkeypatch.setattr(owner, name, wrong)

    assert found(kind, prove_everywhere, cases(), where=has_lists)


def test_forgetting_an_earlier_request_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    doubt = property(lambda failure: policy._doubt(failure.error))  # noqa: SLF001 - where it would be
    monkeypatch.setattr(policy.Failure, "doubt", doubt)

    def refusing(lists: Lists) -> None:
        lists.stop = None
        for place in lists.places:
            place.faults = {0: FAILED_AFTER, 1: UNAUTHORIZED}

    problems = prove_everywhere(plain_scene(), refusing).problems
    assert "list: is not sent and happened" in {one.kind for one in problems}
