from dataclasses import replace

import pytest

from commandsync.apply.check import progress_of
from commandsync.apply.outcomes import State
from commandsync.errors import StalePlanError
from commandsync.plan.plan import Plan, make_plan
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource, Text
from tests.support.runs import EVERYTHING, TARGET, announcement, command, wanted
from tests.support.schedules import day, post

PENDING, ADDED, DONE = State.PENDING, State.ADDED, State.DONE


def listed(commands: dict[str, Text], posts: dict[str, Text] | None = None) -> Snapshot:
    sides = {Resource.COMMAND: commands, Resource.ANNOUNCEMENT: posts or {}}
    return Snapshot(
        {
            resource: tuple(Entry(text, id=identifier) for identifier, text in some.items())
            for resource, some in sides.items()
        }
    )


def plan_of(desired: Snapshot, here: Snapshot) -> Plan:
    return make_plan(desired=desired, listed=here, target=TARGET, rules=EVERYTHING)


OLD, NEW, GONE = command("a", "Old."), command("a", "New."), command("b")
EDIT_AND_DELETE = plan_of(wanted([NEW]), listed({"1": OLD, "2": GONE}))


@pytest.mark.parametrize(
    ("now", "progress"),
    [
        ({"1": OLD, "2": GONE}, (PENDING, PENDING)),
        ({"1": NEW, "2": GONE}, (DONE, PENDING)),
        ({"1": OLD}, (PENDING, DONE)),
        ({"1": NEW, "3": GONE}, (DONE, DONE)),
    ],
)
def test_an_edit_and_a_delete_are_judged_by_their_records(
    now: dict[str, Text], progress: tuple[State, ...]
) -> None:
    assert progress_of(EDIT_AND_DELETE, listed(now)) == progress


@pytest.mark.parametrize(
    ("now", "why"),
    [
        ({"2": GONE}, "edit of command 'a' (its record is no longer listed under its id)"),
        ({"1": command("a", "3rd."), "2": GONE}, "edit of command 'a' (its record was changed)"),
        ({"1": OLD, "2": command("b", "?")}, "delete of command 'b' (its record was changed)"),
        (
            {"1": OLD, "": GONE},
            "delete of command 'b' (its record is no longer listed under its id)",
        ),
    ],
)
def test_a_record_that_is_neither_as_it_was_nor_as_it_is_to_be_makes_it_stale(
    now: dict[str, Text], why: str
) -> None:
    with pytest.raises(StalePlanError) as told:
        progress_of(EDIT_AND_DELETE, listed(now))

    assert told.value.message.startswith(f"the listing changed since the plan was made: {why}")
    assert told.value.hint == "make a new plan, review it, and apply that one"


def test_at_most_five_stale_records_are_named() -> None:
    here = {f"{n}": command(f"c{n}") for n in range(8)}
    plan = plan_of(wanted([]), listed(here))
    now = {key: command("changed") for key in here}

    with pytest.raises(StalePlanError) as told:
        progress_of(plan, listed(now))

    assert "delete of command 'c4' (its record was changed) and 3 more" in told.value.message
    assert "c5" not in told.value.message


@pytest.mark.parametrize(
    ("more", "progress"),
    [(0, (PENDING, PENDING)), (1, (DONE, PENDING)), (2, (DONE, DONE)), (3, (DONE, DONE))],
)
def test_adds_of_one_text_are_counted(more: int, progress: tuple[State, ...]) -> None:
    plan = plan_of(wanted([NEW, NEW, NEW]), listed({"1": NEW}))

    now = listed({"1": NEW, **{f"n{n}": NEW for n in range(more)}})

    assert progress_of(plan, now) == progress


BEFORE, AFTER = announcement("v", "Then."), announcement("v", "Now.")
REPLACE = plan_of(wanted(None, [AFTER]), listed({}, {"1": BEFORE}))


@pytest.mark.parametrize(
    ("now", "progress"),
    [({"1": BEFORE}, PENDING), ({"1": BEFORE, "2": AFTER}, ADDED), ({"2": AFTER}, DONE)],
)
def test_a_replace_may_be_half_done(now: dict[str, Text], progress: State) -> None:
    assert progress_of(REPLACE, listed({}, now)) == (progress,)


@pytest.mark.parametrize("now", [{}, {"1": announcement("v", "?")}])
def test_a_replace_of_what_is_gone_or_changed_is_stale(now: dict[str, Text]) -> None:
    with pytest.raises(StalePlanError, match="replace of announcement 'v'"):
        progress_of(REPLACE, listed({}, now))


def test_a_replace_beside_a_rewritten_new_one_is_stale() -> None:
    now = {"1": BEFORE, "2": announcement("V", "Now.")}

    with pytest.raises(StalePlanError) as told:
        progress_of(REPLACE, listed({}, now))

    assert told.value.message == (
        "the listing changed since the plan was made: replace of announcement 'v' (one of that "
        "name is listed with another text: the service may have changed it)"
    )


def test_of_three_adds_of_one_text_as_many_are_done_as_are_listed() -> None:
    plan = plan_of(wanted([NEW, NEW, NEW]), listed({}))

    assert progress_of(plan, listed({"1": NEW, "2": NEW})) == (DONE, DONE, PENDING)


def test_more_records_than_adds_of_a_text_may_be_another_add_of_the_name() -> None:
    plan = plan_of(wanted([command("a"), command("A", "Other.")]), listed({}))

    with pytest.raises(StalePlanError, match=r"add of command 'A' \(one of that name is listed"):
        progress_of(plan, listed({"1": command("a"), "2": command("a")}))


ENDING = make_plan(
    desired=wanted(None, [post("v1", "New.", until=2), post("v2", publish=1, until=2), post("v3")]),
    listed=listed({}, {"1": announcement("v1", "Old.")}),
    target=TARGET,
    rules=EVERYTHING,
    now=day(1),
)
NEWER, V2, V3 = announcement("v1", "New."), announcement("v2", "Out."), announcement("v3", "Out.")


def progress_on(number: int, here: dict[str, Text]) -> tuple[State, ...]:
    return progress_of(replace(ENDING, saved=True, applied=day(number)), listed({}, here))


def test_a_saved_plan_posts_nothing_whose_end_has_passed_since() -> None:
    here = {"1": announcement("v1", "Old.")}

    assert progress_on(1, here) == (PENDING, PENDING, PENDING)
    with pytest.raises(StalePlanError) as told:
        progress_on(2, here)

    assert told.value.message == (
        "a scheduled time has passed since the plan was made: replace of announcement 'v1' (it "
        "ended at 2026-12-02 18:00 UTC), add of announcement 'v2' (it ended at 2026-12-02 18:00 "
        "UTC)"
    )


def test_a_plan_that_is_late_may_be_stale_for_its_records_too() -> None:
    with pytest.raises(StalePlanError) as told:
        progress_on(2, {"1": announcement("v1", "Old."), "2": announcement("V3", "Else.")})

    assert told.value.message == (
        "the listing changed since the plan was made: replace of announcement 'v1' (it ended at "
        "2026-12-02 18:00 UTC), add of announcement 'v2' (it ended at 2026-12-02 18:00 UTC), add "
        "of announcement 'v3' (one of that name is listed with another text: the service may "
        "have changed it)"
    )


def test_a_saved_plan_whose_posts_ended_after_they_were_made_is_finished() -> None:
    assert progress_on(9, {"1": announcement("v1", "Old."), "2": NEWER, "3": V2}) == (
        ADDED,
        DONE,
        PENDING,
    )
    assert progress_on(9, {"2": NEWER, "3": V2, "4": V3}) == (DONE, DONE, DONE)


def test_a_plan_of_this_run_is_held_against_its_own_time() -> None:
    assert progress_of(ENDING, listed({}, {"1": announcement("v1", "Old.")})) == (PENDING,) * 3


def test_a_new_plan_fits_its_listing_beside_an_edit_to_a_text_that_is_listed_already() -> None:
    here = listed({"1": OLD, "2": NEW})
    pinned = [Entry(NEW, id="1"), Entry(NEW, id="2"), command("A", "Other.")]

    assert progress_of(plan_of(wanted(pinned), here), here) == (PENDING, PENDING)
