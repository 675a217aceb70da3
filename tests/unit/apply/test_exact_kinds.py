"""Runs on a list in which names are unique for a type, which keeps what it is sent, and is small.

That a run converges whatever happens is proven at Discord, in `promise`.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from commandsync.apply.outcomes import Outcome
from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError
from commandsync.plan.plan import RecordPlan
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import ApplicationCommand
from tests.support import listing, registered, registry
from tests.support.registered import KIND, NO_LIMIT, TARGET, choices, entry, menu, option, slash
from tests.support.registry import PARTS, Registry
from tests.support.runs import Driver, Run, finishing, syncing, to_its_end


def sync(
    service: Registry,
    wanted: Iterable[Entry],
    *,
    driver: Driver | None = None,
    **parts: Any,  # noqa: ANN401 - of `Parts`
) -> Run:
    desired = Snapshot({KIND: tuple(wanted)})
    steps = syncing(
        driver or Driver(service),
        desired,
        parts=replace(PARTS, **parts),
        target=TARGET,
        rules=NO_LIMIT,
    )
    return to_its_end(steps)


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
