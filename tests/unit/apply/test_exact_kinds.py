"""Runs on a small list in which names are unique for a type, and texts are kept as sent.

That a run converges whatever happens is proven at Discord, in `promise`.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from commandsync.apply.outcomes import Outcome
from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError
from commandsync.plan.plan import RecordPlan, make_plan
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import ApplicationCommand, Resource
from commandsync.services.discord import Application, discord_service
from tests.support import listing, registered
from tests.support.discordserver import APPLICATION, DiscordListing
from tests.support.registered import KIND, NO_LIMIT, choices, entry, option, slash
from tests.support.runs import Driver, Moments, Parts, Run, finishing, syncing, to_its_end

SERVICE = discord_service(Application(APPLICATION, APPLICATION, "Lantern", (0, 1)))
TARGET = replace(registered.TARGET, bot=APPLICATION)


def reading(driver: Driver, _scope: Iterable[Resource]) -> Moments[Snapshot]:
    entries = yield from driver.calling(SERVICE.read(APPLICATION, KIND))
    return Snapshot({KIND: entries})


PARTS = Parts(reading=reading, service=SERVICE)


def opened(
    *texts: ApplicationCommand,
    **parts: Any,  # noqa: ANN401 - of `DiscordListing`
) -> tuple[DiscordListing, dict[str, str]]:
    """Return Discord with these commands, and their ids by their names."""
    service = DiscordListing(**parts)
    return service, {each["name"]: each["id"] for each in service.seed(*(t.node for t in texts))}


def sync(
    service: DiscordListing,
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


def methods(service: DiscordListing, ids: dict[str, str]) -> list[str]:
    """Return the writes with the names that the commands had at first."""
    names = {identifier: name for name, identifier in ids.items()}
    return [
        f"{sent.method} {names.get(sent.path.rsplit('/', 1)[1]) or sent.body['name']}"
        for sent in service.writes()
    ]


def test_renames_go_in_the_order_in_which_their_names_get_free() -> None:
    service, ids = opened(slash("a"), slash("b"), slash("c"))
    wanted = [
        entry(slash("b"), ids["a"]),
        entry(slash("c"), ids["b"]),
        entry(slash("d"), "", "c"),
        entry(slash("a", "New.")),
    ]

    run = sync(service, wanted)

    assert methods(service, ids) == ["PATCH c", "PATCH b", "PATCH a", "POST a"]
    assert [sent.body for sent in service.writes()[:3]] == [{"name": name} for name in "dcb"]
    assert run.result.verified


def test_a_delete_that_frees_a_name_goes_before_the_rename() -> None:
    service, ids = opened(slash("old"), slash("new"), slash("other"))

    assert sync(service, [entry(slash("new"), ids["old"])]).result.verified
    assert methods(service, ids) == ["DELETE new", "PATCH old", "DELETE other"]


def test_nothing_takes_a_name_that_is_not_free_yet() -> None:
    service, ids = opened(slash("a"), slash("b"), faults={1: listing.BAD_REQUEST})
    wanted = [entry(slash("c"), ids["b"]), entry(slash("b"), ids["a"]), entry(slash("a", "New."))]

    result = sync(service, wanted).result

    assert methods(service, ids) == ["PATCH b"]
    assert [settled.outcome for settled in result.settled] == [
        Outcome.FAILED,
        Outcome.SKIPPED,
        Outcome.SKIPPED,
    ]
    assert result.settled[1].error == "another application command still has that name"


def test_deletes_wait_for_an_add_that_was_not_sent() -> None:
    service, ids = opened(slash("a"), slash("z"), faults={1: listing.BAD_REQUEST})

    result = sync(service, [entry(slash("b"), ids["a"]), entry(slash("a", "New."))]).result

    assert [settled.outcome for settled in result.settled] == [
        Outcome.FAILED,
        Outcome.SKIPPED,
        Outcome.SKIPPED,
    ]
    assert result.settled[2].error == "deletes wait for adds, and the add of 'a' was not sent"


def test_a_part_of_a_plan_overwrites_nothing_that_the_rest_would_move() -> None:
    service, ids = opened(slash("a"), slash("b"))
    wanted = Snapshot({KIND: (entry(slash("c"), ids["b"]), entry(slash("b"), ids["a"]))})
    listed = to_its_end(reading(Driver(service), [KIND]))
    plan = make_plan(desired=wanted, listed=listed, target=TARGET, rules=NO_LIMIT).only("a")

    result = to_its_end(finishing(Driver(service), plan, parts=PARTS)).result

    assert [settled.outcome for settled in result.settled] == [Outcome.SKIPPED]
    assert service.writes() == []


def test_an_add_of_a_command_that_was_listed_meanwhile_says_that_it_overwrote_it() -> None:
    service, _ = opened(acts={1: lambda service: service.seed(slash("a", "By the bot.").node)})

    result = sync(service, [entry(slash("a"))]).result

    assert result.verified
    assert ["was listed meanwhile" in notice.message for notice in result.notices] == [True]


@pytest.mark.parametrize("fault", [listing.RESET_AFTER, listing.RESET_BEFORE], ids=str)
def test_an_add_whose_answer_is_lost_is_sent_again(fault: listing.Fault) -> None:
    service, ids = opened(faults={1: fault})

    result = sync(service, [entry(slash("a"))]).result

    assert result.verified
    assert result.notices == ()
    assert methods(service, ids) == ["POST a", "POST a"]


def test_adds_are_sent_at_the_same_time() -> None:
    service, _ = opened()
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
    service, _ = opened(before, store=store)

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

    service, _ = opened()
    result = sync(service, [entry(slash("a"))], replanning=refuse).result

    assert not result.verified
    (notice,) = result.notices
    assert (notice.message, notice.hint, notice.location) == (
        problem.message,
        problem.hint,
        problem.location,
    )
