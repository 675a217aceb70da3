"""What a saved plan that is applied again takes for its own."""

from commandsync.apply.outcomes import Outcome
from commandsync.plan.plan import make_plan
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Resource
from tests.support.listing import Listing
from tests.support.runs import (
    EVERYTHING,
    TARGET,
    Driver,
    carry_out,
    command,
    plan_now,
    read,
    seed,
    wanted,
)


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
