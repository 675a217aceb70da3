"""What a run says of each change, and when: in words that tell what to think of it."""

import pytest

from commandsync.apply.outcomes import Aborted, Outcome
from commandsync.records.texts import Resource
from tests.support import listing as faults
from tests.support.driver import Driver
from tests.support.listing import Fault, Listing
from tests.support.runs import announcement, command, seed, sync, wanted


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


def test_without_a_read_the_old_one_stays_too() -> None:
    service = Listing()
    service.choose = lambda request: (
        faults.SAYS_NO if request.kind == "read" and request.number else None
    )
    seed(service, [announcement("v1", "Old.")])

    run = sync(service, wanted(None, [announcement("v1", "New.")]))

    (one,) = run.result.settled
    assert one.outcome is Outcome.UNKNOWN
    assert one.error == "the service accepted it, but it is not listed: the old one stays"
    assert [request.kind for request in service.writes()] == ["add"]


def test_a_replacement_that_shows_is_not_waited_for() -> None:
    service = Listing()
    seed(service, [announcement("v1", "Old."), command("a", "Old.")])

    run = sync(service, wanted([command("a")], [announcement("v1", "New.")]))

    assert run.result.complete
    assert run.driver.now < 1
    reads = [request.collection for request in service.requests if request.kind == "read"]
    assert reads == ["commands", "announcements", "announcements", "commands", "announcements"]


def test_an_announcement_that_failed_says_why() -> None:
    run = sync(only_on("add", faults.FAILED_BEFORE), wanted(None, [announcement("v1")]))

    (one,) = run.result.settled
    assert one.outcome is Outcome.FAILED
    assert one.error == "the service has an internal error (HTTP 500)"


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


def test_outcomes_are_told_as_they_come() -> None:
    told: list[int] = []
    service = Listing()
    seed(service, [command(name) for name in "abc"])
    driver = Driver(service)
    service.choose = lambda _: told.append(len(driver.outcomes))

    sync(service, wanted([command(name, "New.") for name in "abc"]), driver=driver, concurrency=1)

    assert told == [0, 0, 1, 2, 3]


@pytest.mark.parametrize("fault", [faults.SAYS_NO, faults.WITHOUT_IDS, faults.DOTTED_IDS])
def test_a_read_that_tells_nothing_is_made_again(fault: Fault) -> None:
    service = Listing(faults={3: fault})
    seed(service, [command("a"), command("kept")])

    run = sync(service, wanted([command("a", "New."), command("kept"), command("b")]))

    assert run.result.complete
    assert run.plan.scope == (Resource.COMMAND,)
    assert 1 < run.driver.now < 3
