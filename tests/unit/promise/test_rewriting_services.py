"""Services that change the texts they are sent: named each time, and nothing oscillates."""

import html
from collections.abc import Callable
from typing import Any

import pytest

from commandsync.apply.outcomes import exit_code
from commandsync.errors import Exit, StalePlanError
from commandsync.records.snapshot import Entry
from commandsync.report import render_results
from tests.support import listing as faults
from tests.support.listing import Listing
from tests.support.runs import (
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

Way = Callable[[str], str]

LONG = ("Word and <Word>  & more " * 20).strip()
COMMANDS = [
    command("Old  one", f"Does <this> & {LONG}"),
    command("New  <one> & only", f"{LONG} {LONG}"),
    command("Kept & " + "X" * 120, f"Is\n\nHere & {LONG}"),
    command("Twin", "The First  & best"),
    command("twin", "The Second  & best"),
]
ANNOUNCEMENTS = [
    announcement("V2 is  out", f"At <last> & {LONG}"),
    announcement("V1 & older", "It is  <Out>."),
]
DESIRED = wanted(COMMANDS, ANNOUNCEMENTS)


def trim(text: str) -> str:
    return " ".join(text.split())


def cut(text: str) -> str:
    return text[:100]


WAYS: dict[str, Way] = {
    "trimmed": trim,
    "escaped": html.escape,
    "cut at 100": cut,
    "lower-cased": str.lower,
    "upper-cased": str.upper,
    "cut and lower-cased": lambda text: text.lower()[:100],
    "escaped and cut": lambda text: html.escape(text)[:100],
    "all of it": lambda text: html.escape(trim(text)).lower()[:100],
}
EVERY_WAY = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
SAYS = {
    "trimmed": "trimmed: spaces were removed or collapsed",
    "escaped": "escaped: HTML characters were replaced",
    "cut at 100": "cut at 100 characters",
    "lower-cased": "lower-cased",
    "upper-cased": "upper-cased",
    "cut and lower-cased": "lower-cased and cut at 100 characters",
    "escaped and cut": "escaped and cut at 100 characters",
    "all of it": "escaped, trimmed, lower-cased and cut at",
}


def new_service(way: Way) -> Listing:
    def store(record: dict[str, Any]) -> dict[str, Any]:
        return {name: way(text) for name, text in record.items()}

    service = Listing(store=store)
    seed(service, [command("Old  one"), announcement("V1 & older", "It was.")])
    return service


def shown(service: Listing) -> tuple[list[str], list[str], list[tuple[str, ...]]]:
    return (
        service.ids("commands"),
        service.ids("announcements"),
        service.texts("commands") + service.texts("announcements"),
    )


@EVERY_WAY
def test_a_mirror_posts_again_says_so_and_makes_no_copies(way: Way) -> None:
    service = new_service(way)
    sync(service, DESIRED)
    ids, _, texts = shown(service)

    run = sync(service, DESIRED)

    assert shown(service)[0] == ids
    assert sorted(shown(service)[2]) == sorted(texts)
    assert {request.kind for request in service.writes()} == {"add", "edit", "delete"}
    assert "sync.announcements" in str(run.result.notices[0].hint)
    assert exit_code(run.result) is Exit.INCOMPLETE


@pytest.mark.parametrize("name", WAYS)
def test_the_run_names_the_field_and_how_and_what_to_write(name: str) -> None:
    service = new_service(WAYS[name])

    for _ in range(2):
        run = sync(service, DESIRED)
        said = render_results([run.result], format="text")

        assert SAYS[name] in said
        assert "description: " in said
        assert ("shorten it to " if "cut" in SAYS[name] else "write it as") in said
        assert all(one.known for d in run.result.rewritten for one in d.rewrites)


@EVERY_WAY
def test_writing_it_as_stored_ends_it(way: Way) -> None:
    service = new_service(way)
    sync(service, DESIRED)
    listed = read(Driver(service), DESIRED.scope).collections
    commands, announcements = (
        [Entry(entry.text) for entry in listed[resource]] for resource in DESIRED.scope
    )
    stored = wanted(commands, announcements)

    run = sync(service, stored)

    assert run.plan.changes == ()
    assert exit_code(run.result) is Exit.DONE


@EVERY_WAY
def test_a_saved_plan_repeats_nothing_that_may_be_its_own(way: Way) -> None:
    service = new_service(way)
    plan = plan_now(service, DESIRED)
    driver = Driver(service)
    carry_out(plan, read(driver, plan.scope), driver)
    after_one = shown(service)
    begun = len(service.requests)

    with pytest.raises(StalePlanError, match="the listing changed"):
        carry_out(plan, read(driver, plan.scope), driver)

    assert service.writes(begun) == []
    assert shown(service) == after_one


@EVERY_WAY
def test_an_unclear_add_is_found_however_it_was_rewritten(way: Way) -> None:
    for nth in range(1, 5):
        service = Listing(
            store=lambda record: {name: way(text) for name, text in record.items()},
            faults={nth: faults.TIMED_OUT_AFTER},
        )
        run = sync(service, wanted(COMMANDS[1:]))

        assert [one.outcome for one in run.result.settled] == ["done"] * len(COMMANDS[1:])
        assert len(service.ids("commands")) == len(COMMANDS[1:])


def test_a_text_that_an_author_changed_a_little_is_replaced_where_others_speak_for_it() -> None:
    service = Listing()
    seed(service, [announcement("v1", "big news"), announcement("v2", "Other News")])

    run = sync(
        service, wanted(None, [announcement("v1", "Big news"), announcement("v2", "Other News")])
    )

    assert run.result.complete
    assert ("v1", "Big news") in service.texts("announcements")
