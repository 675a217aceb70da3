"""The states of a write: no run takes a change of state that the table lacks, and each is taken."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import pytest

from commandsync.apply.ledger import TRANSITIONS, State, Write
from commandsync.apply.outcomes import Outcome
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.records.texts import Resource
from tests.support.cases import drawn
from tests.support.driver import Driver
from tests.support.listing import (
    BAD_REQUEST,
    FAILED_AFTER,
    FAILED_BEFORE,
    NOT_FOUND,
    UNAUTHORIZED,
    Listing,
)
from tests.support.runs import announcement, command, seed, sync, wanted
from tests.support.story import prove

if TYPE_CHECKING:
    from commandsync.plan.changes import Change
    from tests.support.listing import Fault
    from tests.support.runs import Run

SEED = 20_260_701
CASES = (41, 136, 258, 699, 937, 1608, 1692, 1938, 2011, 2984, 3110, 3560, 4166, 8523, 11755, 11800)
"""Generated cases that take nearly all of the table; the tests below take the rest."""

OLD, NEW = announcement("v", "Then."), announcement("v", "Now.")
POST = Resource.ANNOUNCEMENT
CHANGES: tuple[Change, ...] = (
    Add(resource=POST, after=NEW),
    Edit(resource=POST, id="1", before=OLD, after=NEW, fields=()),
    Replace(resource=POST, id="1", before=OLD, after=NEW, fields=()),
    Delete(resource=POST, id="1", before=OLD),
)

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


def failing(kind: str, fault: Fault) -> Run:
    """Replace an announcement and delete a command, with one kind of request failing."""
    service = Listing(choose=lambda request: fault if request.kind == kind else None)
    seed(service, [OLD, command("gone")])
    return sync(service, wanted([], [NEW]), driver=Driver(service, retries=0))


@pytest.mark.parametrize(("before", "after"), [*product(State, State)])
def test_a_change_of_state_that_the_table_lacks_is_a_defect(before: State, after: State) -> None:
    allowed = TRANSITIONS.get((before, after), frozenset())

    for change in CHANGES:
        write = Write(0, change, [before])
        if change.action in allowed:
            write.become(after)
            assert write.state is after
        else:
            with pytest.raises(AssertionError, match=f"^{change.action}: {after} after {before}$"):
                write.become(after)


def test_the_table_has_no_change_of_state_that_no_run_takes(taken: Taken) -> None:
    for number in CASES:
        assert not prove(drawn(number, SEED)).problems
    failing("delete", FAILED_BEFORE)
    failing("delete", replace(BAD_REQUEST, applied=True))
    late = replace(FAILED_AFTER, late=3)
    sync(Listing(faults={1: late}), wanted(None, [NEW]))

    assert taken == {
        (*states, action) for states, actions in TRANSITIONS.items() for action in actions
    }


def test_a_delete_that_the_service_reports_as_failed_has_failed_when_the_record_stays() -> None:
    run = failing("delete", FAILED_BEFORE)

    replaced, deleted = run.result.settled
    assert (replaced.outcome, deleted.outcome) == (Outcome.FAILED, Outcome.FAILED)
    assert replaced.error == (
        f"the new one is added, but the old one is not deleted: {deleted.error}"
    )
    assert deleted.error == "the service has an internal error (HTTP 500)"


def test_a_failed_change_that_a_later_read_shows_is_done() -> None:
    service = Listing(faults={1: replace(FAILED_AFTER, late=3)})

    late_add = sync(service, wanted(None, [NEW])).result
    refused_delete = failing("delete", replace(BAD_REQUEST, applied=True)).result

    assert [one.outcome for one in late_add.settled] == [Outcome.DONE]
    assert [one.outcome for one in refused_delete.settled] == [Outcome.DONE, Outcome.FAILED]


def test_an_edit_of_a_record_that_is_gone_asks_for_a_new_plan() -> None:
    service = Listing(choose=lambda request: NOT_FOUND if request.kind == "edit" else None)
    seed(service, [command("a")])

    (edit,) = sync(service, wanted([command("a", "New.")])).result.settled

    assert edit.outcome is Outcome.FAILED
    assert edit.error.startswith("its record is no longer listed: ")
    assert edit.hint == "run plan again"


def test_an_edit_that_the_service_refuses_names_its_answer_alone() -> None:
    service = Listing(choose=lambda request: BAD_REQUEST if request.kind == "edit" else None)
    seed(service, [command("a"), command("b")])

    refused, done = (
        sync(service, wanted([command("a", "New."), command("b")])).result.settled
        + sync(Listing(), wanted([command("b")])).result.settled
    )

    assert refused.outcome is Outcome.FAILED
    assert refused.cause
    assert refused.error == refused.cause.message == "the service refuses the request (400: bad)"
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
