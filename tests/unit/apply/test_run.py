"""The steps of an apply for its driver; its promises are tested in `promise`."""

from collections.abc import Generator
from dataclasses import replace

import pytest

from commandsync.api.operations import Operation
from commandsync.api.policy import Failure, Health
from commandsync.apply.outcomes import (
    Aborted,
    Answered,
    Elapsed,
    Interrupted,
    Outcome,
    Result,
    Step,
    StepResult,
)
from commandsync.apply.run import REREADS, apply
from commandsync.errors import Reply, ServerError, StalePlanError, StoppedError, TransportError
from commandsync.plan.changes import Edit
from commandsync.plan.plan import RecordPlan, make_plan
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource, Text
from commandsync.services.service import PAGE
from tests.support.listing import (
    BAD_REQUEST,
    FAULTS,
    RESET_AFTER,
    UNAUTHORIZED,
    Fault,
    Listing,
    Request,
)
from tests.support.runs import (
    EVERYTHING,
    TARGET,
    Driver,
    announcement,
    carry_out,
    command,
    plan_now,
    read,
    seed,
    sync,
    wanted,
)

Steps = Generator[Step, StepResult, Result]

RESET = TransportError("reset")


def adding(*names: str, concurrency: int = 4, unordered: bool = False) -> Steps:
    """Start to add commands to an empty listing."""
    here = Snapshot({Resource.COMMAND: ()})
    service = Listing()
    plan = plan_now(service, wanted([command(name) for name in names]))
    return apply(
        plan,
        service=PAGE,
        listed=here,
        health=Health(),
        concurrency=concurrency,
        unordered=unordered,
    )


def ended(steps: Steps, event: StepResult) -> Result:
    """Send the last event and return the result; a step that only shows news may come first."""
    try:
        step = steps.send(event)
        assert step.start == ()
        steps.send(Elapsed())
    except StopIteration as end:
        result: Result = end.value
        return result
    raise AssertionError


def test_with_nothing_to_do_there_is_no_step() -> None:
    with pytest.raises(StopIteration) as end:
        next(adding())

    assert end.value.value.complete


def test_a_stop_while_the_list_is_read_lets_the_read_end() -> None:
    steps = adding("a")
    next(steps)
    steps.send(Answered(0, value=""))

    waiting = steps.send(Interrupted())
    result = ended(steps, Answered(-1, value=(Entry(command("a"), id="1"),)))

    assert waiting == Step()
    assert result.verified
    assert result.interrupted


def test_a_write_in_flight_is_awaited_after_a_stop_and_unknown_after_an_abort() -> None:
    stopped, aborted = adding("a", "b"), adding("a", "b")
    next(stopped)
    next(aborted)

    assert stopped.send(Interrupted()) == Step()
    ends = (ended(stopped, Answered(0, value="")), ended(aborted, Aborted()))
    assert [[each.outcome for each in end.settled] for end in ends] == [
        [Outcome.DONE, Outcome.SKIPPED],
        [Outcome.UNKNOWN, Outcome.SKIPPED],
    ]


def test_an_abort_while_the_list_is_read_ends_at_once() -> None:
    steps = adding("a")
    next(steps)
    steps.send(Answered(0, value=""))

    result = ended(steps, Aborted())

    assert [one.outcome for one in result.settled] == [Outcome.DONE]
    assert not result.verified


def test_writes_go_under_the_index_of_their_change_and_reads_under_none() -> None:
    steps = adding("a")
    first = next(steps)

    reading = steps.send(Answered(0, value=""))

    assert [call.key for call in (*first.start, *reading.start)] == [0, -1]


def test_unless_told_otherwise_four_edits_are_in_flight_and_one_add() -> None:
    service = Listing()
    seed(service, [command(f"c{n}") for n in range(6)])
    edits = plan_now(service, wanted([command(f"c{n}", "New.") for n in range(6)]))
    adds = plan_now(Listing(), wanted([command(f"c{n}") for n in range(6)]))
    here = read(Driver(service), edits.scope)

    first_edits = next(apply(edits, service=PAGE, listed=here, health=Health()))
    first_add = next(
        apply(adds, service=PAGE, listed=Snapshot({Resource.COMMAND: ()}), health=Health())
    )

    assert [call.key for call in first_edits.start] == [0, 1, 2, 3]
    assert [call.key for call in first_add.start] == [0]


def test_a_read_whose_wait_is_over_goes_on() -> None:
    steps = adding("a")
    next(steps)
    steps.send(Answered(0, value=""))

    assert steps.send(Elapsed()) == Step()


def test_pauses_before_reading_again_end_at_a_stop() -> None:
    steps = adding("a")
    next(steps)
    steps.send(Answered(0, Failure(RESET)))
    pause = steps.send(Answered(-1, value=()))

    result = ended(steps, Interrupted())

    assert pause.wait == REREADS[1]
    assert [one.outcome for one in result.settled] == [Outcome.UNKNOWN]


def test_an_edit_is_made_of_the_record_as_it_was_listed() -> None:
    here = Entry(command("a"), id="1", own=({"name": "a"},))
    listed = Snapshot({Resource.COMMAND: (here,)})
    desired = wanted([command("a", "New.")])
    plan = make_plan(desired=desired, listed=listed, target=TARGET, rules=EVERYTHING)
    edited: list[Entry] = []

    def edit(bot: str, kind: Resource, entry: Entry, text: Text) -> Operation[str]:
        edited.append(entry)
        return PAGE.edit(bot, kind, entry, text)

    next(apply(plan, service=replace(PAGE, edit=edit), listed=listed, health=Health()))

    assert edited == [here]
    assert edited[0].own == here.own


def test_what_the_driver_did_not_send_any_more_is_skipped() -> None:
    steps = adding("a", "b")
    next(steps)

    result = ended(steps, Answered(0, Failure(StoppedError("stopped"))))

    assert [one.outcome for one in result.settled] == [Outcome.SKIPPED] * 2
    assert result.interrupted
    assert not result.touched


def test_an_event_that_is_no_answer_starts_nothing() -> None:
    steps = adding("a", "b")
    first = next(steps)

    assert [call.key for call in first.start] == [0]
    assert steps.send(Elapsed()) == Step()


def test_outcomes_are_told_as_they_become_final_and_a_replace_when_both_halves_are_done() -> None:
    service = Listing()
    seed(service, [command("old"), announcement("v", "Then.")])

    run = sync(service, wanted([command("a"), command("b")], [announcement("v", "Now.")]))

    assert [one.outcome for one in run.driver.outcomes] == [Outcome.DONE] * 4
    assert [one.change.name for one in run.driver.outcomes] == ["a", "b", "v", "old"]


def test_what_reading_shows_is_told_before_the_next_pause() -> None:
    steps = adding("a", "b", unordered=True)
    next(steps)
    steps.send(Answered(0, Failure(RESET)))
    steps.send(Answered(1, Failure(RESET)))

    pause = steps.send(Answered(-1, value=(Entry(command("a"), id="1"),)))

    assert pause.wait == REREADS[1]
    assert [(one.change.name, one.outcome) for one in pause.settled] == [("a", Outcome.DONE)]


def test_what_is_settled_last_is_told_in_a_step_that_waits_for_nothing() -> None:
    steps = adding("a", "b")
    next(steps)
    steps.send(Interrupted())

    last = steps.send(Answered(0, value=""))

    assert last == Step(wait=0.0, settled=last.settled)
    assert [(one.change.name, one.outcome) for one in last.settled] == [
        ("a", Outcome.DONE),
        ("b", Outcome.SKIPPED),
    ]


def test_a_half_done_replace_that_is_refused_has_touched_nothing_in_this_run() -> None:
    service = Listing()
    seed(service, [announcement("v", "Then.")])
    plan = plan_now(service, wanted(None, [announcement("v", "Now.")]))
    seed(service, [announcement("v", "Now.")])
    driver = Driver(service)
    listed = read(driver, plan.scope)
    service.choose = lambda request: BAD_REQUEST if request.kind == "delete" else None

    result = carry_out(plan, listed, driver)

    (one,) = result.settled
    assert one.outcome is Outcome.FAILED
    assert one.error == (
        "the new one is added, but the old one is not deleted: the service refuses the request "
        "(400: bad)"
    )
    assert not result.touched


def test_an_edit_with_an_unknown_result_is_read_only_after_the_adds() -> None:
    service = Listing()
    seed(service, [command("a", "Old.")])
    service.choose = lambda request: RESET_AFTER if request.kind == "edit" else None

    run = sync(service, wanted([command("a", "New."), command("b")]))

    assert run.result.complete
    kinds = [request.kind for request in service.requests]
    assert kinds.index("add") < kinds.index("read", kinds.index("edit"))


def test_an_edit_is_not_sent_again_where_an_add_is() -> None:
    def edits(fault: Fault, *, add: Fault | None) -> int:
        service = Listing()
        seed(service, [command("a", "Old.")])
        service.choose = lambda request: {"edit": fault, "add": add}.get(request.kind)
        sync(service, wanted([command("a", "New."), command("b")]))
        return [request.kind for request in service.requests].count("edit")

    assert [fault for fault in FAULTS if edits(fault, add=fault) != edits(fault, add=None)] == []


def test_a_change_that_the_service_does_not_know_is_a_defect() -> None:
    then = announcement("b")
    change = Edit(
        resource=Resource.ANNOUNCEMENT, id="1", before=then, after=announcement("a"), fields=()
    )
    plan = RecordPlan(
        target=TARGET,
        manifest=(),
        scope=(Resource.ANNOUNCEMENT,),
        changes=(change,),
        unchanged=0,
        sizes={},
    )
    here = Snapshot({Resource.ANNOUNCEMENT: (Entry(then, id="1"),)})

    with pytest.raises(AssertionError, match="cannot edit announcements"):
        next(apply(plan, service=PAGE, listed=here, health=Health()))


FAILED = ServerError("trouble", reply=Reply(500, b""))


def test_an_add_that_is_found_does_not_keep_the_next_one_from_being_sent_again() -> None:
    steps = adding("a", "b", unordered=True)
    next(steps)
    steps.send(Answered(0, Failure(FAILED)))
    steps.send(Answered(1, Failure(FAILED)))
    listed = (Entry(command("a"), id="1"),)
    for _ in REREADS[1:]:
        steps.send(Answered(-1, value=listed))
        steps.send(Elapsed())

    again = steps.send(Answered(-1, value=listed))

    assert [call.key for call in again.start] == [1]


def test_replacements_are_not_looked_for_after_the_token_was_refused() -> None:
    service = Listing()
    seed(service, [announcement("v1", "Then."), announcement("v2", "Then.")])
    adds: list[int] = []

    def refuse_the_second(request: Request) -> Fault | None:
        if request.kind != "add":
            return None
        adds.append(request.number)
        return None if len(adds) == 1 else UNAUTHORIZED

    service.choose = refuse_the_second
    now = [announcement("v1", "Now."), announcement("v2", "Now.")]

    sync(service, wanted(None, now))

    reads = [request.number for request in service.requests if request.kind == "read"]
    assert len(adds) == 2
    assert [number > adds[-1] for number in reads].count(True) == len(REREADS)  # at the end


def test_an_edit_with_an_unknown_result_keeps_no_other_edit_waiting() -> None:
    service = Listing()
    seed(service, [command(f"c{n}") for n in range(3)])
    service.choose = lambda request: RESET_AFTER if request.number == 1 else None
    desired = wanted([*(command(f"c{n}", "New.") for n in range(3)), command("added")])

    sync(service, desired, driver=Driver(service, retries=0), concurrency=1)

    assert [request.kind for request in service.writes()] == ["edit", "edit", "edit", "add"]


def test_what_an_earlier_run_wrote_and_the_service_changed_makes_a_saved_plan_stale() -> None:
    service = Listing(store=lambda record: {key: text.lower() for key, text in record.items()})
    plan = plan_now(service, wanted([command("Help")]))
    driver = Driver(service)
    carry_out(plan, read(driver, plan.scope), driver)

    with pytest.raises(StalePlanError, match="add of command 'Help'"):
        carry_out(plan, read(driver, plan.scope), driver)


def test_a_replacement_with_another_text_leaves_the_old_one() -> None:
    service = Listing(store=lambda record: {**record, "description": "Something else."})
    seed(service, [announcement("v", "Then.")])

    run = sync(service, wanted(None, [announcement("v", "Now.")]))

    (replaced,) = run.result.settled
    assert replaced.outcome is Outcome.UNKNOWN
    assert (
        replaced.error
        == "the service accepted it, but it is listed with another text: the old one stays"
    )
    assert announcement("v", "Then.") in service.texts("announcements")


def test_a_stop_before_the_last_look_for_a_replacement_leaves_the_old_one() -> None:
    service = Listing()
    seed(service, [announcement("v", "Then.")])
    plan = plan_now(service, wanted(None, [announcement("v", "Now.")]))
    here = read(Driver(service), plan.scope)
    nothing_new = Answered(-1, value=here.collections[Resource.ANNOUNCEMENT])
    steps = apply(plan, service=PAGE, listed=here, health=Health())
    next(steps)
    steps.send(Answered(0, value=""))
    steps.send(nothing_new)
    steps.send(Elapsed())
    pause = steps.send(nothing_new)

    result = ended(steps, Interrupted())

    (one,) = result.settled
    assert pause == Step(wait=REREADS[2])
    assert one.outcome is Outcome.SKIPPED
    assert one.error == "the new one is added, but the old one is not deleted: interrupted"
    assert result.touched


def after_two_reads_without_it(steps: Steps) -> None:
    """Fail the first add with an answer, and read the list twice; the third read is under way."""
    next(steps)
    steps.send(Answered(0, Failure(FAILED)))
    for _ in REREADS[1:]:
        steps.send(Answered(-1, value=()))
        steps.send(Elapsed())


def test_an_aborted_read_does_not_prove_that_an_add_failed() -> None:
    steps = adding("a")
    after_two_reads_without_it(steps)

    result = ended(steps, Aborted())

    assert [settled.outcome for settled in result.settled] == [Outcome.UNKNOWN]
