"""Runs on a list in which names are unique for a type, which keeps what it is sent, and is small.

The generated ones are played against `Registry`, with lost answers, refusals, stops at each moment
and another editor. Whatever happens, no command loses its id, none is overwritten that the plan
does not add, and running again finishes the work.
"""

from collections.abc import Container, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from commandsync.apply.outcomes import Aborted, Interrupted, Outcome, Result
from commandsync.diagnostics import Location, Problem
from commandsync.errors import ListingError, ManifestError
from commandsync.plan.changes import Add, Delete, Edit
from commandsync.plan.plan import RecordPlan
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import ApplicationCommand
from tests.support import listing, registered, registry
from tests.support.listing import Fault
from tests.support.registered import KIND, NO_LIMIT, TARGET, choices, entry, menu, option, slash
from tests.support.registry import PARTS, Registry
from tests.support.runs import Driver, Kill, Killed, Run, Stop, finishing, syncing, to_its_end

Sides = tuple[tuple[Entry, ...], tuple[ApplicationCommand, ...]]


def sync(
    service: Registry,
    wanted: Iterable[Entry],
    *,
    driver: Driver | None = None,
    rules: SyncRules = NO_LIMIT,
    **parts: Any,  # noqa: ANN401 - of `Parts`
) -> Run:
    """Make the list match; wanted commands that exchange names are drawn again."""
    desired = Snapshot({KIND: tuple(wanted)})
    steps = syncing(
        driver or Driver(service),
        desired,
        parts=replace(PARTS, **parts),
        target=TARGET,
        rules=rules,
    )
    try:
        return to_its_end(steps)
    except ManifestError:
        reject()


def texts_of(wanted: Iterable[Entry]) -> set[object]:
    return {each.text for each in wanted}


def stay(plan: RecordPlan, here: Iterable[str]) -> set[str]:
    """Return the ids of the listed commands that a plan keeps."""
    return {*here} - {each.id for each in plan.changes if isinstance(each, Delete)}


@given(registered.sides())
def test_a_list_is_made_as_wanted_by_one_write_for_each_change(sides: Sides) -> None:
    wanted, here = sides
    service = Registry.of(here)
    before = service.texts

    run = sync(service, wanted)

    assert run.result.complete
    assert run.result.verified
    assert {*service.texts.values()} == texts_of(wanted)
    assert len(service.writes) == len(run.plan.changes)
    assert len(service.requests) == len(service.writes) + (2 if service.writes else 1)
    assert stay(run.plan, before) <= service.texts.keys()
    assert service.overwritten == []
    untouched = before.keys() - {getattr(change, "id", "") for change in run.plan.changes}
    assert all(service.texts[id_] == before[id_] for id_ in untouched)
    again = sync(service, [replace(each, id="", formerly=()) for each in wanted])
    assert again.plan.changes == ()


OF_PAGES = (listing.REPEATED, listing.WITHOUT_IDS, listing.DOTTED_IDS)
"""Faults that only answers of a page's shape can have."""

TROUBLES = [
    fault for fault in listing.FAULTS if not (fault.hidden or fault.late) and fault not in OF_PAGES
]
LATE = [listing.TIMED_OUT_LATE, listing.GATEWAY_LATE]
STOPS = st.sampled_from([Interrupted(), Aborted(), Kill()])


def faults(some: list[Fault]) -> st.SearchStrategy[dict[int, Fault]]:
    return st.dictionaries(st.integers(0, 14), st.sampled_from(some), max_size=6)


def untrue(result: Result, service: Registry, before: Container[str]) -> list[str]:
    """Return what a result says of a change that is not so; `before` are the ids of before."""
    there, wrong = service.texts, []
    new = [text for id_, text in there.items() if id_ not in before]
    for settled in result.settled:
        change = settled.change
        match change:
            case Add():
                happened = change.after in new
            case Edit():
                happened = there.get(change.id) == change.after
            case _:
                happened = getattr(change, "id", "") not in there
        is_done = settled.outcome is Outcome.DONE
        if settled.outcome is not Outcome.UNKNOWN and happened != is_done:
            wrong.append(f"{change.action} {change.name} is {settled.outcome}: {settled.error}")
    return wrong


def attempted(service: Registry, wanted: Iterable[Entry], driver: Driver) -> Result | None:
    """Return the result of a run; None where the list could not be read, or it was killed."""
    try:
        return sync(service, wanted, driver=driver).result
    except (ListingError, Killed):
        return None


@given(registered.sides(), faults(TROUBLES), st.dictionaries(st.integers(2, 60), STOPS, max_size=1))
def test_whatever_happens_nothing_is_lost_and_another_run_finishes(
    sides: Sides, trouble: dict[int, Fault], stops: dict[int, Stop]
) -> None:
    wanted, here = sides
    service = Registry.of(here, faults=trouble)
    before = service.texts
    kept = stay(sync(Registry.of(here), wanted).plan, before)
    driver = Driver(service, stops=dict(stops))

    result = attempted(service, wanted, driver)
    driver.land()
    service.faults = {}

    assert kept <= service.texts.keys()
    assert before.keys().isdisjoint(service.overwritten)
    if result:
        assert untrue(result, service, before) == [] or stops
        assert not result.verified or {*service.texts.values()} == texts_of(wanted)
    again = sync(service, wanted)
    assert again.result.verified
    assert {*service.texts.values()} == texts_of(wanted)
    assert kept <= service.texts.keys()


@given(registered.sides(), faults([*TROUBLES, *LATE]))
def test_what_arrives_late_is_made_good_by_another_run(
    sides: Sides, trouble: dict[int, Fault]
) -> None:
    wanted, here = sides
    service = Registry.of(here, faults=trouble)

    attempted(service, wanted, Driver(service))
    service.settle()
    service.faults = {}

    assert sync(service, wanted).result.verified
    assert {*service.texts.values()} == texts_of(wanted)


@given(registered.sides(), st.integers(2, 60), STOPS, faults(TROUBLES))
def test_a_saved_plan_is_finished_whenever_it_was_stopped(
    sides: Sides, moment: int, stop: Stop, trouble: dict[int, Fault]
) -> None:
    wanted, here = sides
    service = Registry.of(here)
    plan = registered.drawn_plan(wanted, registry.listing_of(service))
    service.faults = {number + 2: fault for number, fault in trouble.items()}
    driver = Driver(service, stops={moment: stop})
    with suppress(ListingError, Killed):
        to_its_end(finishing(driver, plan, parts=PARTS))
    driver.land()
    service.faults = {}

    finished = to_its_end(finishing(Driver(service), plan, parts=PARTS))

    assert finished.result.complete
    assert {*service.texts.values()} == texts_of(wanted)
    assert stay(plan, (f"r{n}" for n in range(len(here)))) <= service.texts.keys()
    writes = len(service.writes)
    assert to_its_end(finishing(Driver(service), plan, parts=PARTS)).result.verified
    assert len(service.writes) == writes


@given(
    sides=registered.sides(),
    text=registered.TEXTS,
    number=st.integers(1, 12),
    deletes=st.booleans(),
)
def test_another_editor_costs_another_run_at_most(
    sides: Sides, text: ApplicationCommand, number: int, *, deletes: bool
) -> None:
    wanted, here = sides

    def edit(service: Registry) -> None:
        if len(service.requests) == number:
            ids = [id_ for id_, node in service.texts.items() if node[:2] == text[:2]]
            if ids:
                service.commands[ids[0]] = text.node
            elif deletes and service.commands:
                del service.commands[min(service.commands)]
            else:
                service.serve("POST", "", text.node)

    service = Registry.of(here, witness=edit)
    first = sync(service, wanted).result
    is_seen = len(service.requests) > number  # by the read at the end

    assert not (first.verified and is_seen) or {*service.texts.values()} == texts_of(wanted)
    service.witness = lambda _: None  # the other editor has gone
    assert sync(service, [replace(each, id="") for each in wanted]).result.verified
    assert {*service.texts.values()} == texts_of(wanted)


def methods(service: Registry) -> list[str]:
    return [f"{sent.method} {sent.id or sent.body['name']}" for sent in service.writes]


def test_renames_go_in_the_order_in_which_their_names_get_free() -> None:
    service = Registry.of([slash("a"), slash("b"), slash("c")])
    wanted = [
        entry(slash("b"), "r0"),
        entry(slash("c"), "r1"),
        entry(slash("d"), "", "c"),
        entry(slash("a", "New.")),
    ]

    run = sync(service, wanted)

    assert methods(service) == ["PATCH r2", "PATCH r1", "PATCH r0", "POST a"]
    assert [sent.body for sent in service.writes[:3]] == [{"name": name} for name in "dcb"]
    assert run.result.verified


def test_a_delete_that_frees_a_name_goes_before_the_rename() -> None:
    service = Registry.of([slash("old"), slash("new"), slash("other")])

    assert sync(service, [entry(slash("new"), "r0")]).result.verified
    assert methods(service) == ["DELETE r1", "PATCH r0", "DELETE r2"]


def test_a_full_list_loses_as_many_commands_first_as_are_missing() -> None:
    service = Registry.of([*(slash(f"c{n}") for n in range(6)), menu("Ban"), menu("Kick")])
    wanted = [
        *(entry(slash(name)) for name in ("x", "y", "c4", "c5")),
        entry(menu("Ban")),
        entry(menu("Mute")),
    ]

    assert sync(service, wanted).result.verified
    first, last = methods(service)[:3], methods(service)[6:]
    assert sorted(first) == ["DELETE r0", "DELETE r1", "DELETE r7"]
    assert sorted(last) == ["DELETE r2", "DELETE r3"]


def test_nothing_takes_a_name_that_is_not_free_yet() -> None:
    fault = {1: listing.BAD_REQUEST}
    service = Registry.of([slash("a"), slash("b")], faults=fault)
    wanted = [entry(slash("c"), "r1"), entry(slash("b"), "r0"), entry(slash("a", "New."))]

    result = sync(service, wanted).result

    assert methods(service) == ["PATCH r1"]
    assert [settled.outcome for settled in result.settled] == [
        Outcome.FAILED,
        Outcome.SKIPPED,
        Outcome.SKIPPED,
    ]
    assert result.settled[1].error == "another application command still has that name"
    assert [text.name for text in service.texts.values()] == ["a", "b"]


def test_deletes_wait_for_an_add_that_was_not_sent() -> None:
    service = Registry.of([slash("a"), slash("z")], faults={1: listing.BAD_REQUEST})
    result = sync(service, [entry(slash("b"), "r0"), entry(slash("a", "New."))]).result

    assert [settled.outcome for settled in result.settled] == [
        Outcome.FAILED,
        Outcome.SKIPPED,
        Outcome.SKIPPED,
    ]
    assert result.settled[2].error == "deletes wait for adds, and the add of 'a' was not sent"


def test_a_part_of_a_plan_overwrites_nothing_that_the_rest_would_move() -> None:
    service = Registry.of([slash("a"), slash("b")])
    wanted = (entry(slash("c"), "r1"), entry(slash("b"), "r0"))
    plan = registered.plan_of(wanted, registry.listing_of(service)).only("a")

    result = to_its_end(finishing(Driver(service), plan, parts=PARTS)).result

    assert [settled.outcome for settled in result.settled] == [Outcome.SKIPPED]
    assert service.writes == []


def test_an_add_of_a_command_that_was_listed_meanwhile_says_that_it_overwrote_it() -> None:
    def register(service: Registry) -> None:
        if len(service.requests) == 1:
            service.add(slash("a", "By the bot.").node)

    service = Registry(witness=register)
    result = sync(service, [entry(slash("a"))]).result

    assert result.verified
    assert service.overwritten == ["r0"]
    assert ["was listed meanwhile" in notice.message for notice in result.notices] == [True]


@pytest.mark.parametrize("kept", [True, False])
def test_an_add_whose_answer_is_lost_is_sent_again(*, kept: bool) -> None:
    fault = listing.RESET_AFTER if kept else listing.RESET_BEFORE
    service = Registry(faults={1: fault})
    result = sync(service, [entry(slash("a"))]).result

    assert result.verified
    assert result.notices == ()
    assert methods(service) == ["POST a", "POST a"]
    assert len(service.commands) == 1


def test_adds_are_sent_at_the_same_time() -> None:
    service = Registry()
    driver = Driver(service)

    sync(service, [entry(slash(f"c{n}")) for n in range(5)], driver=driver)

    assert driver.most == 4


def test_a_part_that_the_service_drops_is_named_by_its_path() -> None:
    def store(node: dict[str, Any]) -> dict[str, Any]:
        options = [{**each, "choices": each["choices"][:1]} for each in node["options"]]
        return {**node, "options": options}

    wanted = slash("play", options=[option("region", choices=choices("eu", "us"))])
    before = slash("edit", "Old.", options=[option("region", choices=choices("eu"))])
    edited = ApplicationCommand.of({**wanted.node, "name": "edit"})
    service = Registry.of([before], store=store)

    result = sync(service, [entry(wanted), entry(edited)]).result

    assert not result.verified
    assert [settled.outcome for settled in result.settled] == [Outcome.DONE, Outcome.DONE]
    for settled in result.rewritten:
        (rewrite,) = settled.rewrites
        assert (rewrite.field, rewrite.how) == ("options/region/choices/us", "changed")
        assert not rewrite.known
    assert len(result.rewritten) == 2


def test_a_list_that_leaves_no_way_to_the_manifest_is_reported() -> None:
    problem = Problem(Location("commands.yaml", 3, 5), "it is too much", "take one away")

    def refuse(**_: object) -> RecordPlan:
        raise ManifestError([problem])

    result = sync(Registry(), [entry(slash("a"))], replanning=refuse).result

    assert not result.verified
    (notice,) = result.notices
    assert (notice.message, notice.hint, notice.location) == (
        problem.message,
        problem.hint,
        problem.location,
    )
