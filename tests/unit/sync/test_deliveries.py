"""The lists that a service may show, by the deliveries that a store keeps."""

from dataclasses import replace
from datetime import UTC, datetime
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.api.credentials import Token
from commandsync.sync.statefile import Delivery, Remembered, remembered, token_digest

HERE = "http://127.0.0.1/bots/42/commands"
DAY = datetime(2026, 1, 5, 12, tzinfo=UTC)


def delivery(
    number: int, *, began: float = 0, ended: float = inf, sent: bool = True, of: str = "one"
) -> Delivery:
    return Delivery(
        service="top.gg",
        identity=HERE,
        token=of,
        digest=f"digest {number}",
        names=("ping",),
        size=1,
        at=DAY.replace(day=number),
        number=number,
        is_sent=sent,
        began=began or number * 10.0,
        ended=ended,
    )


def numbers(memory: Remembered) -> list[int]:
    return [each.number for each in memory.possible]


def known(*deliveries: Delivery, of: str = "one") -> Remembered:
    return remembered(deliveries, identity=HERE, token=of)


def test_the_number_decides_what_is_newest_and_neither_a_clock_nor_the_order_given() -> None:
    newer, older = delivery(2, ended=25), delivery(1, ended=15)
    newer = replace(newer, at=DAY.replace(year=2020))

    assert numbers(known(newer, older)) == numbers(known(older, newer)) == [2]


def test_where_nothing_was_accepted_another_list_may_be_shown() -> None:
    memory = known(delivery(1, sent=False), delivery(2, sent=False, ended=25))

    assert numbers(memory) == [2, 1]
    assert not memory.is_known


def test_another_token_is_skipped_and_named_by_its_date_if_there_is_no_other() -> None:
    both = [delivery(1), delivery(2, of="two")]
    memory, other = known(*both), known(*both, of="three")

    assert (numbers(memory), memory.other_token) == ([1], None)
    assert (numbers(other), other.other_token) == ([], DAY.replace(day=2))
    assert not other.is_known


def test_another_listing_is_skipped() -> None:
    memory = remembered([delivery(1)], identity=f"{HERE} other", token="one")

    assert memory == Remembered()


def test_the_digest_depends_on_the_token_and_the_listing() -> None:
    tokens = [Token("a-token-of-lantern"), Token("a-token-of-beacon"), None]
    digests = {token_digest(token, place) for token in tokens for place in (HERE, f"{HERE}/2")}

    assert len(digests) == 6
    assert all(len(each) == 16 for each in digests)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), min_size=1, max_size=6)
)
def test_each_list_that_may_have_arrived_last_counts_and_no_other(
    runs: list[tuple[int, int, bool]],
) -> None:
    """A request arrives at some time between its begin and its end, if it is accepted."""
    made = [
        delivery(1 + n, began=10 * n + begin, ended=10 * n + begin + 5 * length, sent=sent)
        for n, (begin, length, sent) in enumerate(runs)
    ]
    certain = max((each.began for each in made if each.is_sent), default=0)
    last = [each.number for each in made if each.ended >= certain]

    assert numbers(known(*made)) == last[::-1]


@pytest.mark.parametrize("count", [1, 2])
def test_several_without_an_end_all_count(count: int) -> None:
    memory = known(delivery(1, ended=11), *(delivery(2 + n, sent=False) for n in range(count)))

    assert numbers(memory) == [*range(1 + count, 0, -1)]
