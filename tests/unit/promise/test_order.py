"""In which order writes are sent, how many at a time, and that a post is posted once."""

from collections.abc import Callable
from contextlib import suppress
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.errors import ListingError
from commandsync.plan.rules import SyncRules
from tests.support.listing import FAULTS, LIMITED, REFUSED, Fault, Listing
from tests.support.plans import day, post
from tests.support.runs import Driver, announcement, command, seed, sync, wanted

OLD = [command(f"old{n}") for n in range(6)]
KEPT = [command(f"kept{n}") for n in range(9)]
EDITED = [command(f"kept{n}", "Does it better.") for n in range(9)]
NEW = [command(f"new{n}") for n in range(7)]
POSTED = [announcement(f"v{n}") for n in range(4)]
NOW = [announcement(f"v{n}", "It is really out.") for n in range(6)]
DESIRED = wanted([*NEW[:3], *EDITED, *NEW[3:]], NOW)


def new_service() -> Listing:
    service = Listing()
    seed(service, [*OLD, *KEPT, *POSTED])
    return service


def flights(data: st.DataObject) -> Callable[[], float]:
    durations = cycle(data.draw(st.lists(st.integers(1, 30), min_size=1, max_size=12)))
    return lambda: next(durations) / 10


@given(st.data())
def test_adds_reach_the_service_in_the_order_of_the_manifest(data: st.DataObject) -> None:
    service = new_service()
    trouble = [None, None, None, LIMITED, REFUSED]
    ends = cycle([*data.draw(st.lists(st.sampled_from(trouble), max_size=4)), None])
    service.choose = lambda request: next(ends) if request.kind == "add" else None

    sync(service, DESIRED, driver=Driver(service, flight=flights(data)))

    assert service.texts("commands")[-len(NEW) :] == NEW
    assert service.texts("announcements") == NOW


@given(data=st.data(), width=st.integers(1, 6), unordered=st.booleans())
def test_never_too_many_in_flight(data: st.DataObject, width: int, *, unordered: bool) -> None:
    service = new_service()
    driver = Driver(service, flight=flights(data))

    sync(service, DESIRED, driver=driver, concurrency=width, unordered=unordered)

    assert driver.most == width


def test_two_hundred_edits_take_the_time_of_fifty_rounds() -> None:
    before = [command(f"c{n}") for n in range(200)]
    after = [command(f"c{n}", "Does it better.") for n in range(200)]
    service = Listing()
    seed(service, before)
    driver = Driver(service, flight=lambda: 0.05)

    sync(service, wanted(after), driver=driver)

    assert driver.now == pytest.approx((1 + 200 / 4 + 1) * 0.05)


def test_a_pause_that_the_service_asks_for_holds_for_all() -> None:
    service = new_service()
    service.faults[2] = LIMITED

    driver = Driver(service)
    sync(service, wanted(EDITED), driver=driver)

    assert driver.now > 2
    assert [request.kind for request in service.writes()].count("edit") == len(EDITED) + 1


FIRST, LAST, END = 3, 6, 9
ENTRY = post("Winter event", publish=FIRST, until=LAST + 1)
RULES = SyncRules(announcements="mirror")
faults_of_a_night = st.dictionaries(st.integers(0, 5), st.sampled_from(FAULTS), max_size=2)


def night(service: Listing, number: int, faults: dict[int, Fault]) -> int:
    """Run once, with faults of its requests by their numbers; return how often it is posted."""
    first = len(service.requests)
    service.choose = lambda request: faults.get(request.number - first)
    with suppress(ListingError):
        sync(service, wanted(None, [ENTRY]), rules=RULES, driver=Driver(service), now=day(number))
    service.settle()
    return len(service.stored["announcements"])


@pytest.mark.parametrize("at", range(4))
def test_one_fault_of_the_first_night_and_of_the_last_costs_a_night_at_most(at: int) -> None:
    for fault in FAULTS:
        service = Listing()
        posted = {
            number: night(service, number, {at: fault} if number in {FIRST, LAST + 1} else {})
            for number in range(1, END)
        }

        assert [posted[number] for number in range(1, FIRST)] == [0] * (FIRST - 1), fault
        assert posted[FIRST] in {0, 1}, fault
        assert [posted[number] for number in range(FIRST + 1, LAST + 1)] == [1] * (LAST - FIRST), (
            fault
        )
        assert posted[LAST + 1] in {0, 1}, fault
        assert posted[END - 1] == 0, fault


@given(nights=st.lists(faults_of_a_night, min_size=END - 2, max_size=END - 2))
def test_no_night_posts_early_twice_or_after_the_end(nights: list[dict[int, Fault]]) -> None:
    service = Listing()
    for number, faults in enumerate(nights, start=1):
        posted = night(service, number, faults)
        assert posted <= (number >= FIRST)
    adds = [request for request in service.requests if request.kind == "add"]

    assert night(service, END, {}) == 0
    assert [request for request in service.requests if request.kind == "add"] == adds
