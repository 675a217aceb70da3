"""Whatever fails in the nightly runs, a scheduled announcement is posted once, in its time only."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.errors import ListingError
from commandsync.plan.rules import SyncRules
from tests.support.driver import Driver
from tests.support.listing import FAULTS, Fault, Listing
from tests.support.runs import sync, wanted
from tests.support.schedules import day, post

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


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
@pytest.mark.parametrize("at", range(4))
def test_one_fault_of_the_first_night_and_of_the_last_costs_a_night_at_most(
    fault: Fault, at: int
) -> None:
    service = Listing()
    posted = {
        number: night(service, number, {at: fault} if number in {FIRST, LAST + 1} else {})
        for number in range(1, END)
    }

    assert [posted[number] for number in range(1, FIRST)] == [0] * (FIRST - 1)
    assert posted[FIRST] in {0, 1}
    assert [posted[number] for number in range(FIRST + 1, LAST + 1)] == [1] * (LAST - FIRST)
    assert posted[LAST + 1] in {0, 1}
    assert posted[END - 1] == 0


@given(nights=st.lists(faults_of_a_night, min_size=END - 2, max_size=END - 2))
def test_no_night_posts_it_early_or_twice_and_none_after_its_end(
    nights: list[dict[int, Fault]],
) -> None:
    service = Listing()
    for number, faults in enumerate(nights, start=1):
        posted = night(service, number, faults)
        assert posted <= (number >= FIRST)
    adds = [request for request in service.requests if request.kind == "add"]

    assert night(service, END, {}) == 0
    assert [request for request in service.requests if request.kind == "add"] == adds
