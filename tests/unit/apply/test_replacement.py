"""A list that is replaced as a whole: its outcome by the answer and by later reads."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.api.operations import Operation
from commandsync.api.policy import Doubt, Failure
from commandsync.apply.outcomes import (
    Aborted,
    Answered,
    Elapsed,
    Interrupted,
    Outcome,
    Result,
    StepResult,
    exit_code,
    skipped,
)
from commandsync.apply.run import not_sent, replace_list
from commandsync.document.view import result_view
from commandsync.errors import (
    DecodeError,
    Exit,
    Invalid,
    ListingError,
    RateLimited,
    RefusedError,
    Reply,
    ServerError,
    StoppedError,
    TransportError,
)
from commandsync.plan.plan import (
    AsRead,
    Baseline,
    LastSent,
    ListPlan,
    PossibleList,
    Target,
    Unknown,
    list_plan,
    make_plan,
)
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.abilities import LIST_ABILITIES
from tests.support import plans

Entries = tuple[Entry, ...]
SEND: Operation[None] = Operation("replace commands", "PUT", "/commands", lambda _: None)
READ: Operation[Entries] = Operation("list commands", "GET", "/commands", lambda _: ())


def listed(*names: str) -> Entries:
    return tuple(Entry(CommandText(name, f"{name}.", ""), id=name) for name in names)


NEW, OLD, OTHER = listed("a", "c"), listed("a", "b"), listed("x")
UNREADABLE = Failure(DecodeError("not a list", reply=Reply(200, b"")))


def plan_of(before: Entries, wanted: Entries, *, readable: bool, known: bool = True) -> ListPlan:
    plan = make_plan(
        desired=Snapshot({Resource.COMMAND: tuple(replace(entry, id="") for entry in wanted)}),
        listed=Snapshot({Resource.COMMAND: before}),
        target=Target(bot="42", base_url="https://list.example", abilities=LIST_ABILITIES),
        rules=SyncRules(max_deletes=DeleteLimit()),
    )
    shown, digest = Snapshot({Resource.COMMAND: before}), "equal" if before == wanted else "other"
    lists = (PossibleList(shown, digest),)
    baseline: Baseline = AsRead(lists) if readable else LastSent(lists, name="v1.2.0")
    return list_plan(
        plan,
        name="list",
        audience=None,
        baseline=baseline if known else Unknown(),
        commands=Snapshot({Resource.COMMAND: wanted}),
        digest="equal",
        losses=(),
        wants_none=False,
    )


def played(
    answers: Iterable[Any],
    *,
    before: Entries | None = None,
    readable: bool = True,
    ordered: bool = False,
    **options: bool,
) -> tuple[Result, int]:
    """Return the result of these answers, the first to the list that is sent; and the calls."""
    before = OLD if before is None else before
    plan = plan_of(before, NEW, readable=readable, **options)
    read = READ if readable else None
    steps = replace_list(plan, send=SEND, before=before, read=read, ordered=ordered)
    waiting, calls, event = iter(answers), 0, None
    try:
        while True:
            step = next(steps) if event is None else steps.send(event)
            calls += len(step.start)
            answer: Any = Elapsed() if step.wait else next(waiting)
            event = answer if isinstance(answer, StepResult) else Answered(0, answer)
    except StopIteration as end:
        result: Result = end.value
        return result, calls


def refused(status: int, before: Doubt = Doubt.NONE) -> Failure:
    reply = Reply(status, b"")
    error: type[Any] = RateLimited if status == 429 else Invalid if status < 500 else ServerError
    return Failure(error(f"HTTP {status}", reply=reply), before)


def silent(*, sent: bool = True) -> Failure:
    return Failure(TransportError("no answer", sent=sent))


@pytest.mark.parametrize(
    ("answers", "outcome", "verified"),
    [
        ([None, NEW], Outcome.DONE, True),
        ([None, OLD, NEW], Outcome.DONE, True),
        ([None, OLD, OLD, OLD], Outcome.UNKNOWN, False),
        ([None, *[UNREADABLE] * 3], Outcome.DONE, False),
        ([None, UNREADABLE, NEW], Outcome.DONE, True),
        ([refused(400), NEW], Outcome.DONE, True),
        ([refused(400), OLD, OLD, OLD], Outcome.FAILED, False),
        ([refused(400), OTHER, OTHER, OTHER], Outcome.UNKNOWN, False),
        ([refused(400), *[UNREADABLE] * 3], Outcome.UNKNOWN, False),
        ([refused(500), OLD, OLD, OLD], Outcome.FAILED, False),
        ([refused(400, Doubt.SILENT), OLD, OLD, OLD], Outcome.UNKNOWN, False),
        ([silent(), NEW], Outcome.DONE, True),
        ([silent(), OLD, OLD, OLD], Outcome.UNKNOWN, False),
        ([silent(sent=False)], Outcome.FAILED, False),
        ([Failure(StoppedError("stopped"))], Outcome.SKIPPED, False),
    ],
)
def test_a_list_that_can_be_read_ends_as_it_is_read(
    answers: Sequence[Any], outcome: Outcome, *, verified: bool
) -> None:
    result, calls = played(answers)

    assert {settled.outcome for settled in result.settled} == {outcome} == {result.sent}
    assert result.verified is verified
    assert calls == len(answers)
    assert result.touched is (outcome in {Outcome.DONE, Outcome.UNKNOWN})
    assert result.complete is verified
    assert result.read_back is any(isinstance(answer, tuple) for answer in answers)
    assert bool(result.notices) is (UNREADABLE in answers and not result.read_back)


@pytest.mark.promise("exit-code-0-telegram")
@pytest.mark.parametrize(
    ("answers", "outcome", "said"),
    [
        ([None, NEW[::-1], NEW], Outcome.DONE, ""),
        ([None, *[NEW[::-1]] * 3], Outcome.UNKNOWN, "it in another order"),
        ([None, *[OLD] * 3], Outcome.UNKNOWN, "another one"),
        ([refused(400), *[OLD] * 3], Outcome.FAILED, "HTTP 400"),
        ([refused(400), *[OLD[::-1]] * 3], Outcome.UNKNOWN, "HTTP 400"),
    ],
)
def test_a_list_in_another_order_is_another_list_where_the_order_is_kept(
    answers: Sequence[Any], outcome: Outcome, said: str
) -> None:
    result, _ = played(answers, ordered=True)

    assert {settled.outcome for settled in result.settled} == {outcome}
    assert result.verified is (outcome is Outcome.DONE)
    assert all(settled.error.endswith(said) for settled in result.settled)


def test_where_the_order_is_not_known_any_order_is_accepted() -> None:
    result, _ = played([None, NEW[::-1]])

    assert result.verified


@pytest.mark.parametrize(("before", "readable"), [(OLD, True), (OLD, False), (NEW, False)])
@pytest.mark.parametrize("failure", [silent(sent=False), refused(400)])
def test_a_list_says_why_it_stays(failure: Failure, *, before: Entries, readable: bool) -> None:
    error = failure.error
    error.hint = "correct it"
    reads = [before] * 3 if readable and isinstance(error, Invalid) else []
    result, _ = played([failure, *reads], before=before, readable=readable)

    told = (error.message, error.hint)
    if before is NEW:
        assert (result.sent, result.settled) == (Outcome.FAILED, ())
        assert (result.stopped, result.stopped_hint) == told
    else:
        assert (result.stopped, result.stopped_hint) == ("", "")
        assert tuple(settled.change for settled in result.settled) == result.plan.changes
        for settled in result.settled:
            assert (settled.error, settled.hint, settled.cause) == (*told, error)


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([None, NEW], ""),
        ([None, OLD, OLD, OLD], "the service accepted the list, but it shows another one"),
        ([Failure(StoppedError("stopped"))], "interrupted"),
    ],
)
def test_without_a_failure_a_list_says_why(answers: Sequence[Any], why: str) -> None:
    result, _ = played(answers)

    told = {(settled.error, settled.hint, settled.cause) for settled in result.settled}
    assert told == {(why, "", None)}
    assert result.stopped == ("interrupted" if result.sent is Outcome.SKIPPED else "")


@pytest.mark.promise("exit-code-0-unread")
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (None, Outcome.SENT),
        *((refused(status), Outcome.FAILED) for status in (400, 401, 403, 404, 405, 422, 429)),
        *((refused(status), Outcome.UNKNOWN) for status in (302, 408, 409, 500, 503)),
        (refused(400, Doubt.REFUSED), Outcome.UNKNOWN),
        (silent(), Outcome.UNKNOWN),
        (silent(sent=False), Outcome.FAILED),
    ],
)
def test_an_unreadable_list_ends_as_answered(answer: Failure | None, outcome: Outcome) -> None:
    result, calls = played([answer], readable=False)

    assert {settled.outcome for settled in result.settled} == {outcome} == {result.sent}
    assert result.verified is None
    assert calls == 1
    assert result.complete is (outcome is Outcome.SENT)
    assert result.read_back


def test_a_list_without_changes_is_sent_only_if_it_cannot_be_read() -> None:
    nothing, none = played([], before=NEW)
    again, calls = played([None], before=NEW, readable=False)
    lost, _ = played([refused(400)], before=NEW, readable=False)

    assert (nothing.sent, none, nothing.complete) == (None, 0, True)
    assert nothing.plan == plan_of(NEW, NEW, readable=True)
    assert nothing.verified
    assert (again.sent, calls, again.settled) == (Outcome.SENT, 1, ())
    assert again.complete
    assert not lost.complete
    assert lost.stopped == "HTTP 400"


def test_a_list_that_is_refused_after_all_checks_was_not_sent() -> None:
    plan = plan_of(OLD, NEW, readable=False)
    result = not_sent(plan, RefusedError("another run sent a list", hint="run again"))

    assert {settled.outcome for settled in result.settled} == {Outcome.SKIPPED} == {result.sent}
    assert (result.stopped, result.stopped_hint) == ("another run sent a list", "run again")
    assert not result.complete
    assert exit_code(result) is Exit.REFUSED
    assert exit_code(result, played([None], readable=False)[0]) is Exit.REFUSED


def test_a_list_whose_end_is_not_recorded_is_incomplete() -> None:
    sent, _ = played([None], readable=False)
    result = replace(sent, unrecorded=True)

    assert (sent.complete, result.complete) == (True, False)
    assert exit_code(result) is Exit.INCOMPLETE


def test_a_list_of_which_nothing_is_known_is_sent() -> None:
    result, _ = played([None], before=(), readable=False, known=False)

    assert result.sent is Outcome.SENT
    assert result.plan.pending is False


def test_the_failure_of_a_read_is_told() -> None:
    result, _ = played([None, *[UNREADABLE] * 3])

    (notice,) = result.notices
    assert "not a list" in notice.message


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ([Interrupted(), None], Outcome.DONE),
        ([Interrupted(), silent()], Outcome.UNKNOWN),
        ([Aborted()], Outcome.UNKNOWN),
        ([Interrupted(), Aborted()], Outcome.UNKNOWN),
    ],
)
def test_a_stop_lets_the_request_end(answers: Sequence[Any], outcome: Outcome) -> None:
    result, _ = played(answers)

    assert result.sent is outcome
    assert result.interrupted


def test_a_stop_while_waiting_ends_the_reads() -> None:
    plan = plan_of(OLD, NEW, readable=True)
    steps = replace_list(plan, send=SEND, before=OLD, read=READ)
    next(steps)
    steps.send(Answered(0))
    assert steps.send(Answered(1, OLD)).wait

    with pytest.raises(StopIteration) as end:
        steps.send(Interrupted())

    result: Result = end.value.value
    assert (result.interrupted, result.sent) == (True, Outcome.UNKNOWN)


@pytest.mark.promise("whole-lists")
@given(
    limit=st.none() | st.just(DeleteLimit()),
    size=st.integers(0, 2),
    wants_none=st.booleans(),
    known=st.booleans(),
    unseen=st.booleans(),
    equal=st.booleans(),
)
def test_an_empty_or_unseen_list_is_refused_unless_it_is_allowed(
    limit: DeleteLimit | None,
    *,
    size: int,
    wants_none: bool,
    known: bool,
    unseen: bool,
    equal: bool,
) -> None:
    lists = (plans.SAME if equal else plans.CHANGED,)
    baseline = LastSent(lists, name="v1.2.0") if known else Unknown(accepted=unseen)
    compared = plans.plan_of(rules=SyncRules(max_deletes=limit))
    plan = plans.whole(compared, baseline, commands=size, wants_none=wants_none)

    empty = size == 0 and not (wants_none and limit)
    assert (plan.unsendable is not None) is (empty or not (known or unseen))


def test_an_error_of_another_kind_is_never_a_success() -> None:
    error: ListingError = DecodeError("half an answer", reply=Reply(200, b""))
    result, _ = played([Failure(error)], readable=False)

    assert result.sent is Outcome.UNKNOWN


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("before", [OLD, NEW])
def test_a_plan_is_refused_as_it_is_known(*, known: bool, before: Entries) -> None:
    plan = plan_of(before, NEW, readable=False, known=known)

    assert (plan.refusal is None) is known
    assert plan.pending is (known and before is OLD)
    assert plan.writes


def test_a_list_that_would_be_sent_again_is_not_verified_by_an_interruption() -> None:
    plan = plan_of(NEW, NEW, readable=False)

    assert not plan.changes
    assert skipped(plan, "interrupted").verified is False
    assert skipped(plan_of(NEW, NEW, readable=True), "interrupted").verified


def test_a_list_without_changes_may_arrive_after_an_interruption() -> None:
    result, _ = played([Interrupted(), Aborted()], before=NEW, readable=False)

    assert result.sent is Outcome.UNKNOWN
    assert "may still arrive" in str(result_view(result, {}).stop)
