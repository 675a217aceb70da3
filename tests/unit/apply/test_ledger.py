"""The states of a write, each taken and none that the table lacks, and the result of a run."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from commandsync.apply import ledger
from commandsync.apply.ledger import Claims, Write, finding_of
from commandsync.apply.outcomes import (
    FINDINGS,
    TRANSITIONS,
    Finding,
    Outcome,
    Result,
    Settled,
    State,
    exit_code,
    skipped,
)
from commandsync.errors import Invalid, ListingError, UnknownListError
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.plan import RecordPlan
from commandsync.records.texts import Resource, Text
from tests.support.cases import OPERATIONS
from tests.support.draws import PAGE_STAGE
from tests.support.listing import (
    BAD_REQUEST,
    FAILED_AFTER,
    FAILED_BEFORE,
    FAULTS,
    REFUSED,
    UNAUTHORIZED,
    Fault,
    Listing,
    Request,
)
from tests.support.runs import TARGET, Driver, Run, announcement, command, seed, sync, wanted
from tests.support.story import prove

OLD, NEW = announcement("v", "Then."), announcement("v", "Now.")
POST = Resource.ANNOUNCEMENT
CHANGES: tuple[Change, ...] = (
    Add(resource=POST, after=NEW),
    Edit(resource=POST, id="1", before=OLD, after=NEW, fields=()),
    Replace(resource=POST, id="1", before=OLD, after=NEW, fields=()),
    Delete(resource=POST, id="1", before=OLD),
)

RARE = {
    *((State.REFUSED, State.UNKNOWN, change.action) for change in CHANGES),
    (State.PENDING, State.SKIPPED, "edit"),
    (State.UNKNOWN, State.DONE, "add"),
}
"""Two troubles take them: the generated cases of tests/unit/promise have such."""

Taken = set[tuple[State, State, str]]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Taken:
    """Collect the changes of state."""
    found: Taken = set()
    become = Write.become

    def note(write: Write, state: State) -> None:
        found.add((write.state, state, write.change.action))
        become(write, state)

    monkeypatch.setattr(Write, "become", note)
    return found


def failing(kind: str, fault: Fault, *, added: Sequence[Text] = ()) -> Run:
    """Replace an announcement, delete and edit a command, with one kind of request failing."""
    service = Listing(choose=lambda request: fault if request.kind == kind else None)
    seed(service, [OLD, command("gone"), command("kept")])
    desired = wanted([command("kept", "New."), *added], [NEW])
    return sync(service, desired, driver=Driver(service, retries=0))


def emptied(fault: Fault) -> Run:
    """Edit a command that somebody deletes before the edit, which fails."""

    def empty(request: Request) -> Fault | None:
        if request.kind != "edit":
            return None
        for records in (service.stored, service.shown):
            records["commands"].clear()
        return fault

    service = Listing(choose=empty)
    seed(service, [command("kept")])
    return sync(service, wanted([command("kept", "New.")]), driver=Driver(service, retries=0))


@pytest.mark.parametrize("before", State)
def test_a_change_of_state_that_the_table_lacks_is_a_defect(before: State) -> None:
    for after, change in product(State, CHANGES):
        write = Write(0, change, [before])
        if change.action in TRANSITIONS.get((before, after), frozenset()):
            write.become(after)
            assert write.state is after
        else:
            with pytest.raises(AssertionError, match=f"^{change.action}: {after} after {before}$"):
                write.become(after)


def test_the_tables_have_what_runs_have(taken: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    found: set[tuple[State, Finding]] = set()

    def note(write: Write, claims: Claims, *, certain: bool) -> Finding:
        finding = finding_of(write, claims, certain=certain)
        found.add((write.state, finding))
        return finding

    monkeypatch.setattr(ledger, "finding_of", note)
    stays = (
        PAGE_STAGE.met(name, fault, 0, "apply", stays=True)
        for name in OPERATIONS
        for fault in FAULTS
    )
    for case in (*PAGE_STAGE.every_pair(FAULTS, "apply", most=2), *stays):
        assert not prove(case).problems
    for kind in ("add", "edit", "delete"):
        failing(kind, REFUSED, added=[command("added")] if kind == "add" else [])
    failing("delete", replace(BAD_REQUEST, applied=True))
    refused = Listing(choose=lambda request: BAD_REQUEST if request.number else None)
    seed(refused, [OLD])
    sync(refused, wanted(None, [NEW]))
    other = Listing(store=lambda record: {**record, "description": "Something else."})
    seed(other, [OLD])
    sync(other, wanted(None, [NEW]))
    for second in (REFUSED, BAD_REQUEST, FAILED_BEFORE):
        service = Listing(faults={1: FAILED_BEFORE, 5: second})
        sync(service, wanted([command("a")]), driver=Driver(service, retries=0))
    for fault in (BAD_REQUEST, FAILED_BEFORE):
        emptied(fault)
    late = replace(FAILED_AFTER, late=3)
    sync(Listing(faults={1: late}), wanted(None, [NEW]))

    table = {(*states, action) for states, actions in TRANSITIONS.items() for action in actions}
    assert taken <= table
    assert table - taken <= RARE
    findings = {(state, finding) for state, finding in FINDINGS if finding is not Finding.LISTED}
    assert found <= findings
    assert {state for state, finding in findings - found} <= {State.UNCLEAR, State.REFUSED}


def test_an_edit_of_a_record_that_is_gone_asks_for_a_new_plan() -> None:
    service = Listing()
    seed(service, [command("a")])

    def remove(request: Request) -> None:
        if request.kind == "edit":
            for records in (service.stored["commands"], service.shown["commands"]):
                records.clear()

    service.choose = remove

    (edit,) = sync(service, wanted([command("a", "New.")])).result.settled

    assert edit.outcome is Outcome.UNKNOWN
    assert edit.error == (
        "it is no longer listed: the service does not have this bot or record (404: unknown record)"
    )
    assert str(edit.hint) == "run plan again"


def test_an_edit_that_the_service_refuses_names_its_answer_alone() -> None:
    service = Listing(choose=lambda request: BAD_REQUEST if request.kind == "edit" else None)
    seed(service, [command("a"), command("b")])

    refused, done = (
        sync(service, wanted([command("a", "New."), command("b")])).result.settled
        + sync(Listing(), wanted([command("b")])).result.settled
    )

    assert refused.outcome is Outcome.FAILED
    assert isinstance(refused.cause, Invalid)
    assert refused.error == refused.cause.message
    assert refused.hint == refused.cause.hint
    assert (done.outcome, done.error, done.hint, done.cause) == (Outcome.DONE, "", "", None)


def test_a_refused_token_stops_the_run_with_its_hint() -> None:
    service = Listing(choose=lambda request: UNAUTHORIZED if request.kind == "edit" else None)
    seed(service, [command("a"), command("b")])

    run = sync(service, wanted([command("a", "New."), command("b", "New.")]), concurrency=2)

    cause = run.result.settled[0].cause
    assert cause
    assert run.result.plan is run.plan
    assert run.result.stopped == cause.message
    assert run.result.stopped_hint == cause.hint != ""
    assert run.result.read_back is True


DELETE = Delete(resource=Resource.COMMAND, id="1", before=command("a"))


def plan_of(*changes: Delete) -> RecordPlan:
    return RecordPlan(target=TARGET, manifest=(), scope=(), changes=changes, unchanged=0, sizes={})


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

    assert exit_code(result, left=[ListingError("not read")]) == code
    assert exit_code(result, left=[UnknownListError("not known")]) == 5


def test_a_delete_that_the_service_reports_as_failed_has_failed_when_the_record_stays() -> None:
    run = failing("delete", FAILED_BEFORE)

    _, replaced, deleted = run.result.settled
    assert (replaced.outcome, deleted.outcome) == (Outcome.FAILED, Outcome.FAILED)
    assert replaced.error == (
        "the new one is added, but the old one is not deleted: the service has an internal error "
        "(HTTP 500)"
    )
    assert deleted.error == "the service has an internal error (HTTP 500)"


def test_a_failed_change_that_a_later_read_shows_is_done() -> None:
    service = Listing(faults={1: replace(FAILED_AFTER, late=3)})

    late_add = sync(service, wanted(None, [NEW])).result
    refused_delete = failing("delete", replace(BAD_REQUEST, applied=True)).result

    assert [one.outcome for one in late_add.settled] == [Outcome.DONE]
    assert [one.outcome for one in refused_delete.settled] == [Outcome.DONE] * 3
