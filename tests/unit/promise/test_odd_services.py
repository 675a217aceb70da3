"""Services that rewrite, lag behind, show no ids, or serve two runs: what a run says of it."""

from collections.abc import Callable
from typing import Any

import pytest

from commandsync.apply.outcomes import Aborted, Outcome
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.records.texts import Resource
from tests.support import listing as faults
from tests.support.listing import Fault, Listing, Request
from tests.support.runs import Driver, Run, announcement, command, seed, sync, wanted


def rewriting(how: Callable[[str], str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda record: {name: how(text) for name, text in record.items()}


def outcomes(run: Run) -> list[str]:
    return [one.outcome for one in run.result.settled]


@pytest.mark.parametrize("fault", [faults.FAILED_AFTER, faults.TIMED_OUT_AFTER])
def test_an_unclear_add_that_may_be_anothers_is_unknown_and_not_sent_again(fault: Fault) -> None:
    service = Listing(store=rewriting(lambda text: text.translate({97: "*"})), faults={1: fault})

    run = sync(service, wanted([command("banana")]))

    assert outcomes(run) == ["unknown"]
    assert len(service.writes()) == 1


def test_an_acknowledged_add_is_not_guessed_at_under_another_name() -> None:
    service = Listing(store=rewriting(lambda text: text.translate({97: "*"})))

    run = sync(service, wanted([command("banana")]))

    assert outcomes(run) == ["unknown"]
    assert run.result.rewritten == ()
    assert [one.error for one in run.result.settled] == [
        "the service accepted it, but it is not listed; new under another name: 'b*n*n*'",
    ]


def test_what_was_made_under_another_name_is_remembered_past_an_unclear_add() -> None:
    service = Listing(
        store=rewriting(lambda text: text.translate({97: "*"})), faults={2: faults.RESET_AFTER}
    )

    run = sync(service, wanted([command("one", "banana"), command("two")]))

    assert outcomes(run) == ["done", "done"]
    assert [d.change.name for d in run.result.rewritten] == ["one"]


def test_an_id_that_the_service_tells_is_believed() -> None:
    service = Listing(store=rewriting(lambda text: text[::-1]), tells=True)

    run = sync(service, wanted([command("one"), command("two")]))

    assert outcomes(run) == ["done", "done"]
    assert len(run.result.rewritten) == 2


def test_an_edit_that_extends_a_text_and_shows_late_is_not_called_cut() -> None:
    service = Listing(faults={1: faults.HIDDEN})
    seed(service, [command("a", "Does it.")])

    run = sync(service, wanted([command("a", "Does it. And more.")]))

    assert run.result.complete
    assert run.driver.now > 3


@pytest.mark.parametrize(
    ("fault", "outcome"), [(faults.FAILED_BEFORE, "failed"), (faults.RESET_BEFORE, "unknown")]
)
def test_a_failed_edit_that_extends_a_text_is_not_done(fault: Fault, outcome: str) -> None:
    service = Listing(choose=lambda request: fault if request.kind == "edit" else None)
    seed(service, [command("a", "Does it.")])

    run = sync(service, wanted([command("a", "Does it. And more.")]), driver=Driver(service, 1))

    assert outcomes(run) == [outcome]
    assert run.result.rewritten == ()
    assert run.result.touched is (outcome == "unknown")


def test_a_service_that_shows_no_ids_is_added_to_and_never_written_to_otherwise() -> None:
    service = Listing(spelling="")
    seed(service, [command("a"), command("b")])
    desired = wanted([command("a"), command("c"), command("c", syntax=".c")])

    first, second = sync(service, desired), sync(service, desired)

    assert outcomes(first) == ["done", "done"]
    assert not first.result.complete
    assert second.plan.changes == ()
    assert [entry.text for _, entry in second.plan.unwritable] == [command("b")]
    assert {request.kind for request in service.writes()} == {"add"}


def test_what_the_service_accepted_and_never_shows_is_unknown() -> None:
    forever = Fault("hidden for ever", hidden=99)
    service = Listing(choose=lambda _: forever)
    seed(service, [command("a"), command("b")])

    run = sync(service, wanted([command("a", "New."), command("c")]))

    assert outcomes(run) == ["unknown"] * 3
    assert run.result.touched
    assert [one.error for one in run.result.settled] == [
        "the service accepted it, but it is listed with its old text",
        "the service accepted it, but it is not listed",
        "the service accepted it, but the old one is still listed",
    ]


def test_without_a_read_nothing_is_called_verified() -> None:
    service = Listing()
    service.choose = lambda request: (
        faults.SAYS_NO if request.kind == "read" and request.number else None
    )

    run = sync(service, wanted([command("a")]))

    assert outcomes(run) == ["done"]
    assert not run.result.verified
    assert not run.result.complete


def test_several_that_failed_at_once_are_sent_again_in_their_order() -> None:
    service = Listing(
        choose=lambda r: faults.FAILED_BEFORE if r.kind == "add" and r.number < 4 else None
    )
    desired = wanted([command(name) for name in "abc"])

    run = sync(service, desired, unordered=True)

    assert run.result.complete
    assert [r.body["name"] for r in service.writes() if r.body] == [*"abc", *"abc"]


def test_what_waits_to_be_sent_again_when_the_run_stops_has_failed() -> None:
    failing = dict.fromkeys((1, 2), faults.FAILED_BEFORE)
    service = Listing(faults=failing)
    service.choose = lambda r: faults.UNAUTHORIZED if r.kind == "add" else None

    run = sync(
        service, wanted([command("a"), command("b"), command("c")]), concurrency=2, unordered=True
    )

    assert outcomes(run) == ["failed", "failed", "skipped"]
    assert "accept the token" in run.result.stopped


def test_an_invalid_token_at_a_later_read_stops_the_rest() -> None:
    service = Listing(faults={1: faults.RESET_AFTER, 2: faults.UNAUTHORIZED})

    run = sync(service, wanted([command("a"), command("b")]))

    assert outcomes(run) == ["done", "skipped"]
    assert "accept the token" in run.result.stopped


def never_writes(request: Request) -> Fault | None:
    return faults.FAILED_BEFORE if request.kind != "read" else None


@pytest.mark.parametrize("count", [3, 9, 40])
def test_five_failing_adds_in_a_row_stop_the_rest_as_skipped(count: int) -> None:
    service = Listing(choose=never_writes)

    run = sync(service, wanted([command(f"c{n}") for n in range(count)]))

    assert "5 requests" in run.result.stopped
    assert len(service.writes()) == 5
    assert outcomes(run)[3:] == ["skipped"] * (count - 3)
    assert "done" not in outcomes(run)


@pytest.mark.parametrize("concurrency", [1, 2, 4])
def test_five_failing_edits_in_a_row_stop_the_rest_as_skipped(concurrency: int) -> None:
    service = Listing(choose=never_writes)
    seed(service, [command(f"c{n}") for n in range(9)])

    desired = wanted([command(f"c{n}", "New.") for n in range(9)])
    run = sync(service, desired, concurrency=concurrency)

    assert "5 requests" in run.result.stopped
    assert len(service.writes()) <= 5 + concurrency
    assert set(outcomes(run)) == {"failed", "skipped"}


@pytest.mark.parametrize("concurrency", [1, 2, 4])
@pytest.mark.parametrize("sick", range(9))
def test_a_change_that_always_fails_fails_alone(sick: int, concurrency: int) -> None:
    service = Listing()
    seed(service, [command(f"c{n}") for n in range(9)])
    service.choose = lambda r: faults.FAILED_BEFORE if f"c{sick}" in str(r.body) else None

    desired = wanted([command(f"c{n}", "New.") for n in range(9)])
    run = sync(service, desired, concurrency=concurrency)

    assert not run.result.stopped
    assert outcomes(run) == ["failed" if n == sick else "done" for n in range(9)]


def test_a_copy_that_was_seen_while_an_add_was_settled_is_named_too() -> None:
    service = Listing(faults={1: faults.RESET_AFTER})
    service.choose = lambda r: seed(service, [command("b")]) if r.number == 2 else None

    run = sync(service, wanted([command("a"), command("b")]))

    assert outcomes(run) == ["done", "done"]
    assert ["of this run ('b')" in one.message for one in run.result.notices] == [True]


def test_copies_of_announcements_are_named_and_not_removed_when_appending() -> None:
    service = Listing()
    rules = SyncRules(max_deletes=DeleteLimit())
    desired = wanted(None, [announcement("v1")])
    service.choose = lambda r: seed(service, [announcement("v1")]) if r.number == 1 else None

    run = sync(service, desired, rules=rules)
    service.choose = lambda _: None
    again = sync(service, desired, rules=rules)

    assert ["of this run ('v1')" in one.message for one in run.result.notices] == [True]
    assert again.plan.changes == ()
    assert [resource for resource, _ in again.plan.unmanaged] == ["announcement"]


def test_a_read_that_failed_is_no_look_and_nothing_is_sent_again() -> None:
    service = Listing(faults={1: faults.FAILED_AFTER_HIDDEN, 2: faults.SAYS_NO})

    run = sync(service, wanted([command("a")]))

    assert outcomes(run) == ["done"]
    assert len(service.writes()) == 1


def test_a_gateway_that_stopped_waiting_did_not_say_no() -> None:
    late = Fault("504, much later", faults.GATEWAY_LATE.answer, late=9)
    service = Listing(faults={1: late})

    run = sync(service, wanted([command("a")]))

    assert outcomes(run) == ["unknown"]
    assert len(service.writes()) == 1


def test_what_was_listed_before_an_add_was_sent_is_not_what_it_made() -> None:
    service = Listing(faults={1: faults.RESET_BEFORE, 5: faults.RESET_BEFORE})
    service.choose = lambda r: seed(service, [command("b")]) if r.number == 2 else None

    run = sync(service, wanted([command("a"), command("b")]))

    assert outcomes(run) == ["unknown", "unknown"]


def only_on(kind: str, fault: Fault) -> Listing:
    return Listing(choose=lambda request: fault if request.kind == kind else None)


def test_what_is_replaced_stays_while_its_replacement_does_not_show() -> None:
    service = only_on("add", faults.WRONG_SHAPE_BEFORE)
    seed(service, [announcement("v1", "Old."), command("old")])

    run = sync(service, wanted([], [announcement("v1", "New.")]))

    replaced, deleted = run.result.settled
    assert (replaced.outcome, deleted.outcome) == (Outcome.UNKNOWN, Outcome.DONE)
    assert replaced.error == "the service accepted it, but it is not listed: the old one stays"
    assert [one.path for one in service.writes() if one.kind == "delete"] == [
        "/bot/42/commands/r0002"
    ]
    assert run.driver.now > 8  # both collections were looked at three times


def test_a_replacement_that_shows_is_not_waited_for() -> None:
    service = Listing()
    seed(service, [announcement("v1", "Old."), command("a", "Old.")])

    run = sync(service, wanted([command("a")], [announcement("v1", "New.")]))

    assert run.result.complete
    assert run.driver.now < 1
    reads = [request.collection for request in service.requests if request.kind == "read"]
    assert reads == ["commands", "announcements", "announcements", "commands", "announcements"]


def test_what_a_second_read_shows_is_not_called_unknown_meanwhile() -> None:
    service = Listing(faults={1: faults.RESET_AFTER, 2: faults.SAYS_NO})
    driver = Driver(service)

    sync(service, wanted([command("a"), command("b")]), driver=driver)

    assert [one.outcome for one in driver.outcomes] == [Outcome.DONE, Outcome.DONE]


def test_what_is_in_flight_when_it_is_ended_is_unknown() -> None:
    service = Listing()
    seed(service, [command(name) for name in "abcde"])
    driver = Driver(service, stops={4: Aborted()})

    run = sync(service, wanted([command(name, "New.") for name in "abcde"]), driver=driver)

    found = [one.outcome for one in run.result.settled]
    assert found == [*[Outcome.UNKNOWN] * 4, Outcome.SKIPPED]
    assert run.result.interrupted
    assert run.result.settled[0].error == "the run was ended before the answer came"


@pytest.mark.parametrize("fault", [faults.SAYS_NO, faults.WITHOUT_IDS, faults.DOTTED_IDS])
def test_a_read_that_tells_nothing_is_made_again(fault: Fault) -> None:
    service = Listing(faults={3: fault})
    seed(service, [command("a"), command("kept")])

    run = sync(service, wanted([command("a", "New."), command("kept"), command("b")]))

    assert run.result.complete
    assert run.plan.scope == (Resource.COMMAND,)
    assert 1 < run.driver.now < 3
