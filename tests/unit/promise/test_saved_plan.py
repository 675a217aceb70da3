"""A saved plan, interrupted anywhere, is finished by applying it again, and repeats nothing."""

from collections import Counter

import pytest

from commandsync.apply.outcomes import Outcome
from commandsync.errors import StalePlanError
from commandsync.plan.plan import make_plan
from commandsync.records.snapshot import Entry
from commandsync.records.texts import OF_MANIFEST, Resource
from tests.support.listing import Listing
from tests.support.runs import (
    EVERYTHING,
    TARGET,
    Driver,
    Kill,
    Killed,
    announcement,
    carry_out,
    command,
    plan_now,
    read,
    seed,
    wanted,
)

BEFORE = [
    command("help", "Shows the menu."),
    command("afk", syntax=".afk"),
    command("old"),
    command("ban", "Bans."),
    command("ban", "Bans!"),
    announcement("v1"),
    announcement("v2"),
    announcement("v2"),
]
COMMANDS = [
    command("help", "Shows the whole menu."),
    command("afk", syntax="/afk"),
    command("ban", "Bans."),
    command("new"),
    command("newer"),
]
ANNOUNCEMENTS = [
    announcement("v1", "Out for long."),
    announcement("v2"),
    announcement("v2"),
    announcement("v2"),
    announcement("v3"),
    announcement("v3"),
]
DESIRED = wanted(COMMANDS, ANNOUNCEMENTS)
WANTED = Counter(map(tuple, [*COMMANDS, *ANNOUNCEMENTS]))
SCOPE = OF_MANIFEST


def new_service() -> Listing:
    service = Listing()
    seed(service, BEFORE)
    return service


def texts_of(service: Listing) -> Counter[tuple[str, ...]]:
    return Counter([*service.texts("commands"), *service.texts("announcements")])


def test_a_prefix_of_the_writes_is_never_repeated() -> None:
    service = new_service()
    whole = Driver(service)
    plan = plan_now(service, DESIRED)
    carry_out(plan, read(whole, SCOPE), whole)
    writes = len(service.writes())
    for moment in range(whole.moments):
        service = new_service()
        driver = Driver(service, stops={moment: Kill()})
        with pytest.raises(Killed):
            carry_out(plan, read(driver, SCOPE), driver)
        again = Driver(service)
        result = carry_out(plan, read(again, SCOPE), again)

        assert texts_of(service) == WANTED
        assert result.complete
        assert len(service.writes()) == writes


def test_applying_it_once_more_writes_nothing() -> None:
    service = new_service()
    plan = plan_now(service, DESIRED)
    driver = Driver(service)
    carry_out(plan, read(driver, SCOPE), driver)
    written = len(service.writes())

    result = carry_out(plan, read(driver, SCOPE), driver)

    assert result.complete
    assert not result.touched
    assert len(service.writes()) == written


def test_what_others_did_elsewhere_does_not_matter() -> None:
    service = new_service()
    plan = plan_now(service, DESIRED)
    seed(service, [command("another's")])

    driver = Driver(service)
    result = carry_out(plan, read(driver, SCOPE), driver)

    assert result.complete
    assert ("another's", "Does it.", "/another's", "") in service.texts("commands")


def test_a_record_that_another_changed_stops_it_before_any_write() -> None:
    service = new_service()
    plan = plan_now(service, DESIRED)
    service.stored["commands"][0]["description"] = service.shown["commands"][0]["description"] = "?"

    driver = Driver(service)
    with pytest.raises(StalePlanError, match="edit of command 'help'"):
        carry_out(plan, read(driver, SCOPE), driver)

    assert service.writes() == []


def test_a_text_that_moves_from_one_record_to_another_is_added_once() -> None:
    text, other = command("a"), command("b")
    service = Listing()
    seed(service, [text])
    pinned = wanted([Entry(other, id="r0001"), text])
    plan = plan_now(service, pinned)
    for _ in range(3):
        driver = Driver(service)
        carry_out(plan, read(driver, plan.scope), driver)

    assert service.texts("commands") == [other, text]


def test_a_text_that_an_edit_gives_is_not_taken_for_the_added_one() -> None:
    service = Listing()
    seed(service, [command("a", "One.")])
    plan = make_plan(
        desired=wanted([command("a", "Two."), command("a", "Two.")]),
        listed=read(Driver(service), [Resource.COMMAND]),
        target=TARGET,
        rules=EVERYTHING,
    )
    service.stored["commands"][0]["description"] = service.shown["commands"][0]["description"] = (
        "Two."
    )

    driver = Driver(service)
    result = carry_out(plan, read(driver, plan.scope), driver)

    assert [one.outcome for one in result.settled] == [Outcome.DONE, Outcome.DONE]
    assert service.texts("commands") == [command("a", "Two.")] * 2
