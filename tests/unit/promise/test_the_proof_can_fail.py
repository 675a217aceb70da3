"""A proof that cannot fail proves nothing: ways to break the product, each caught by it."""

import html
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

import pytest

from commandsync.api import operations
from commandsync.api.operations import Operation
from commandsync.api.policy import Health
from commandsync.apply import ledger
from commandsync.apply.ledger import Claims
from commandsync.apply.outcomes import (
    AT_THE_END,
    SENT,
    Outcome,
    Result,
    Settled,
    State,
    Step,
    StepResult,
)
from commandsync.apply.run import Phases, apply, open_run
from commandsync.plan import matching
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.plan import RecordPlan, make_plan
from commandsync.records import rewrites
from commandsync.records.snapshot import Node, Snapshot
from commandsync.records.texts import Resource
from commandsync.services import commandtree, discord, discordobjects, registration
from commandsync.services.discordobjects import canonical_object
from commandsync.services.service import PAGE
from tests.support import discorddraws, discordstory
from tests.support.cases import Case
from tests.support.discorddraws import DISCORD_STAGE
from tests.support.draws import PAGE_STAGE, cases, every_case, every_way, found
from tests.support.listing import FAULTS, REFUSED_AFTER, Fault
from tests.support.oracle import same_name
from tests.support.runs import PRODUCT, Parts
from tests.support.story import prove
from tests.support.ways import Way


def caught(
    kind: str,
    parts: Parts = PRODUCT,
    *,
    way_is: Callable[[Way], bool] = every_way,
    where: Callable[[Case], bool] = every_case,
) -> bool:
    """Return whether a problem of this kind is found in a generated case of a sort."""
    return found(kind, lambda case: prove(case, parts), cases(way_is), where=where, seed=4)


def is_verbatim(way: Way) -> bool:
    return way.keeps_texts and way.keeps_records and not way.lag


def is_guessed(change: Change) -> bool:
    """Whether somebody might think that the service has made the listed text of the wanted one."""
    if not isinstance(change, Edit | Replace):
        return False
    sides = zip(change.before, change.after, strict=True)
    return all(same_name(new, old) or new.startswith(old) for old, new in sides)


def guessing(plan: RecordPlan, **rest: Any) -> Generator[Step, StepResult, Result]:  # noqa: ANN401 - what apply takes
    """Call done, with no request, what the service would only store as it is listed."""
    guessed = [is_guessed(change) for change in plan.changes]
    certain = [one for one, guess in zip(plan.changes, guessed, strict=True) if not guess]
    result = yield from apply(replace(plan, changes=tuple(certain)), **rest)
    settled = iter(result.settled)
    return replace(
        result,
        plan=plan,
        settled=tuple(
            Settled(change, Outcome.DONE) if guess else next(settled)
            for change, guess in zip(plan.changes, guessed, strict=True)
        ),
    )


def verifying_changes_alone(
    plan: RecordPlan,
    **rest: Any,  # noqa: ANN401 - what apply takes
) -> Generator[Step, StepResult, Result]:
    """Call verified what shows each change, and do not plan again."""
    return (yield from apply(plan, **{**rest, "replan": None}))


def former_names_first(*, desired: Snapshot, listed: Snapshot, **rest: Any) -> RecordPlan:  # noqa: ANN401 - what make_plan takes
    """Rename what has a former name, whatever else is listed."""
    ids = {entry.name: entry.id for some in listed.collections.values() for entry in some}
    pinned = {
        resource: tuple(
            replace(entry, id=next((ids[old] for old in entry.formerly if old in ids), entry.id))
            for entry in entries
        )
        for resource, entries in desired.collections.items()
    }
    return make_plan(desired=Snapshot(pinned), listed=listed, **rest)


def sending_blindly(operation: Operation[Any]) -> Operation[Any]:
    return replace(operation, idempotent=True)


def split(**sides: Any) -> RecordPlan:  # noqa: ANN401 - what make_plan takes
    """Plan a delete and an add for each replace."""
    plan = make_plan(**sides)
    changes: list[Change] = []
    for one in plan.changes:
        if isinstance(one, Replace):
            changes += [
                Delete(resource=one.resource, id=one.id, before=one.before),
                Add(resource=one.resource, after=one.after),
            ]
        else:
            changes.append(one)
    return replace(plan, changes=tuple(changes))


def deleting_first(plan: RecordPlan, **rest: Any) -> Generator[Step, StepResult, Result]:  # noqa: ANN401 - what apply takes
    run = opened(plan, **rest)
    gone = deque(write for write in run.ledger.writes if isinstance(write.change, Delete))
    yield from run.perform(gone, width=4)  # past what holds it back
    yield from edits_and_adds(run, plan)
    for resource in plan.scope:
        yield from run.verify(resource)
    return run.ledger.result()


def believing(plan: RecordPlan, **rest: Any) -> Generator[Step, StepResult, Result]:  # noqa: ANN401 - what apply takes
    """Take what was answered for done, and read nothing again."""
    run = opened(plan, **rest)
    yield from edits_and_adds(run, plan)
    yield from run.deletes()
    return run.ledger.result()


def opened(plan: RecordPlan, *, listed: Snapshot, health: Health, **_: Any) -> Phases:  # noqa: ANN401 - what else apply takes
    return open_run(plan, listed, health, service=PAGE, concurrency=4)


def edits_and_adds(run: Phases, plan: RecordPlan) -> Generator[Step, StepResult, None]:
    yield from run.edits()
    for resource in plan.scope:
        yield from run.adds(resource, width=1)


def by_name(*, desired: Snapshot, listed: Snapshot, **rest: Any) -> RecordPlan:  # noqa: ANN401 - as above
    return make_plan(desired=_collapsed(desired), listed=_collapsed(listed), **rest)


def _collapsed(side: Snapshot) -> Snapshot:
    return Snapshot(
        {
            resource: tuple({entry.name: entry for entry in entries}.values())
            for resource, entries in side.collections.items()
        }
    )


def forgetting(*, desired: Snapshot, **rest: Any) -> RecordPlan:  # noqa: ANN401 - as above
    sides = desired.collections.items()
    return make_plan(desired=Snapshot({name: some[1:] for name, some in sides}), **rest)


WRONG = {
    "it forgets an entry": (Parts(planning=forgetting), {"another record is lost"}),
    "an add is sent again blindly": (
        Parts(bend=sending_blindly),
        {
            "an announcement is sent twice",
            "an add is sent again without a reason",
            "copied for a moment",
        },
    ),
    "it deletes first": (
        Parts(planning=split, applying=deleting_first),
        {"deletes before it has added and edited", "lost for a moment"},
    ),
    "it matches by name only": (Parts(planning=by_name), {"it does not converge"}),
    "it believes every answer": (Parts(applying=believing), {"add is done and never happened"}),
}


@pytest.mark.parametrize(("parts", "kinds"), [*WRONG.values()], ids=[*WRONG])
def test_a_wrong_way_is_caught_where_a_fault_is_met(parts: Parts, kinds: set[str]) -> None:
    cases = [
        PAGE_STAGE.met(name, fault, 0, "apply") for name in ("add", "post") for fault in FAULTS[:20]
    ]
    found = {problem.kind for case in cases for problem in prove(case, parts).problems}

    assert found >= kinds


def test_a_guess_that_is_called_done_is_caught() -> None:
    parts = Parts(applying=guessing)

    assert caught("done without a request", parts, way_is=is_verbatim)


def test_verifying_without_planning_again_is_caught_on_a_service_that_evicts() -> None:
    parts = Parts(applying=verifying_changes_alone)

    assert caught(
        "complete although something is left", parts, way_is=lambda way: way.habit == "evicts"
    )


def test_verifying_without_planning_again_is_caught_beside_a_second_writer() -> None:
    parts = Parts(applying=verifying_changes_alone)

    assert caught(
        "complete although something is left",
        parts,
        way_is=is_verbatim,
        where=lambda case: bool(case.acts),
    )


def test_posting_again_what_a_service_rewrote_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "folded", lambda text: text)

    def drops_or_cuts(way: Way) -> bool:
        return way.rewriting in {"drops emoji", "cuts"} and "title" in way.fields

    def appends(case: Case) -> bool:
        return case.rules.announcements == "append" and "announcements" in case.scope

    assert caught("announcements swing", way_is=drops_or_cuts, where=appends)


def test_unescaping_once_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewrites, "unescaped", html.unescape)
    monkeypatch.setattr(rewrites, "_MOST_FOLDS", 1)

    assert caught(
        "commands swing",
        way_is=lambda way: way.rewriting.startswith("escapes") and "name" in way.fields,
    )


def test_comparing_with_a_first_page_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "more", lambda *_, **__: "")

    assert caught("adds what another page has", where=lambda case: case.kind == "pages")


def test_adding_again_what_a_service_rewrote_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "folded", lambda text: text)

    assert caught(
        "commands swing",
        way_is=lambda way: way.rewriting == "lower-cases" and "name" in way.fields,
    )


def test_a_former_name_that_goes_before_the_rewritten_one_is_caught() -> None:
    assert caught(
        "formerly takes another",
        Parts(planning=former_names_first),
        way_is=lambda way: "name" in way.fields,
        where=lambda case: not case.saved and any(want.formerly for want in case.wants),
    )


def test_deleting_although_adds_failed_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Claims, "hold_back_deletes", lambda *_: None)

    assert caught("deletes while an add is not done", way_is=lambda way: way.habit == "rejects")


def test_deleting_the_old_one_on_a_guess_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger.Write, "succeeded", property(lambda _: True))

    assert caught(
        "the old one goes without its successor",
        way_is=lambda way: way.habit == "drops",
        where=lambda case: case.rules.announcements == "mirror",
    )


def test_reading_only_the_changed_ones_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    verify = Phases.verify

    def changed_ones(run: Phases, resource: Resource) -> Generator[Step, StepResult, None]:
        if any(write.sent for write in run.claims[resource].writes):
            yield from verify(run, resource)

    monkeypatch.setattr(Phases, "verify", changed_ones)

    assert caught(
        "complete without a read after the last write",
        way_is=is_verbatim,
        where=lambda case: bool(case.acts) and len(case.scope) > 1,
    )


@pytest.mark.parametrize("fault", REFUSED_AFTER, ids=lambda fault: fault.name)
def test_believing_a_refusal_is_caught(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    faults = tuple((number, fault) for number in range(2, 12))
    refused = State.REFUSED
    monkeypatch.setattr(ledger, "SENT", SENT - {refused})
    monkeypatch.setitem(AT_THE_END, refused, State.FAILED)

    for stage, kind in (
        (PAGE_STAGE, "says that nothing was changed"),
        (DISCORD_STAGE, "exit 1 although something was changed"),
    ):
        story = stage.prove(replace(stage.scene(), faults=faults))
        assert kind in {problem.kind for problem in story.problems}


def test_counting_copies_as_losses_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Delete, "exempt", Delete.ends_record)

    assert caught(
        "two runs at once are not put right",
        way_is=is_verbatim,
        where=lambda case: bool(case.turns),
    )


# Discord.


def without_options(patch: pytest.MonkeyPatch) -> None:
    """Compare and send commands without their options."""

    def canonical(node: Node, *, is_whole: bool = True, **scope: Any) -> dict[str, Any]:  # noqa: ANN401 - as the function
        whole = canonical_object(node, is_whole=is_whole, **scope)
        gone = {"options"} if is_whole else set()
        return {key: value for key, value in whole.items() if key not in gone}

    for module in (discordobjects, registration):
        patch.setattr(module, "canonical_object", canonical)


def with_own_installs(patch: pytest.MonkeyPatch) -> None:
    """Send where a command can be installed, although the manifest does not say it."""

    def canonical(node: Node, **scope: Any) -> dict[str, Any]:  # noqa: ANN401 - as the function
        return {"integration_types": [0], **canonical_object(node, **scope)}

    patch.setattr(registration, "canonical_object", canonical)


def with_every_type(patch: pytest.MonkeyPatch) -> None:
    """Take Entry Point commands for commands that may be deleted."""
    patch.setattr(discordobjects, "MENUS", ("2", "3", "4"))


def without_unknown_keys(patch: pytest.MonkeyPatch) -> None:
    for module in (discord, registration):
        patch.setattr(module, "with_unknown", lambda node, _listed: {**node})


def without_former_names(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(commandtree.Draft, "formerly", ())


def with_ignored_parts(patch: pytest.MonkeyPatch) -> None:
    """Delete the sub-commands that are ignored, or that stay without pruning."""
    patch.setattr(registration._Composing, "_keeps", lambda *_: False)  # noqa: SLF001 - the mutant is here


def with_bulk_requests(patch: pytest.MonkeyPatch) -> None:
    """Replace the list instead of adding to it."""
    adding = discord._List.add  # noqa: SLF001 - the mutant is here

    def replacing(*arguments: Any) -> Operation[str]:  # noqa: ANN401 - as the function
        operation = adding(*arguments)
        return replace(operation, method="PUT", body=[operation.body])

    patch.setattr(discord._List, "add", replacing)  # noqa: SLF001 - as above


WRONG_AT_DISCORD: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "options are not compared": (without_options, "plan: wrong edits"),
    "options are not sent": (without_options, "plan: not as wanted"),
    "installs are sent": (with_own_installs, "plan: not as wanted"),
    "an Entry Point command is deleted": (with_every_type, "left alone is touched"),
    "unknown keys are lost": (without_unknown_keys, "unknown keys are lost"),
    "a list is sent as a whole": (with_bulk_requests, "writes outside its plan"),
    "former names are forgotten": (without_former_names, "plan: wrong adds"),
    "sub-commands that stay are deleted": (with_ignored_parts, "plan: "),
}


@pytest.mark.parametrize("name", WRONG_AT_DISCORD)
def test_a_wrong_way_is_caught_at_discord(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    wrong, kind = WRONG_AT_DISCORD[name]
    wrong(monkeypatch)

    assert found(kind, discordstory.prove, discorddraws.cases())


def test_verifying_without_planning_again_is_caught_at_discord() -> None:
    parts = Parts(applying=verifying_changes_alone)

    assert found(
        "exit 0 although something is left",
        lambda case: discordstory.prove(case, parts),
        discorddraws.cases(),
        where=lambda case: bool(case.acts),
    )
