"""The parts of two aligned sequences make both of them again, by turns the same and different."""

from itertools import pairwise
from random import Random

from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.records.alignment import Part, aligned, common_length

LINES = st.lists(st.sampled_from(["a", "b", "  c", "d", ""]), max_size=14)


def alternates(parts: list[Part]) -> bool:
    return all(one.is_same is not other.is_same for one, other in pairwise(parts))


@given(LINES, LINES)
@example(["a", "b", "a"], ["a", "b", "a", "b", "a"])
@example([], ["a"])
def test_the_parts_lead_from_one_sequence_to_the_other(old: list[str], new: list[str]) -> None:
    parts = aligned(old, new)

    assert [item for part in parts for item in part.old] == old
    assert [item for part in parts for item in part.new] == new
    assert alternates(parts)
    assert all((part.old == part.new) is part.is_same for part in parts)


def test_items_that_each_side_has_once_stay_unless_they_moved() -> None:
    numbers = Random(7)  # noqa: S311 - no secret
    for _ in range(50):
        kept = [f"{n}" for n in range(numbers.randrange(1, 30))]
        new = [part for item in kept for part in (*("x",) * numbers.randrange(3), item)]
        same = [item for part in aligned(kept, new) if part.is_same for item in part.new]

        assert same == kept

    moved = aligned(["a", "b", "c", "d"], ["d", "a", "b", "c"])
    assert [item for part in moved if part.is_same for item in part.old] == ["a", "b", "c"]


def test_a_block_begins_where_it_is_least_indented() -> None:
    block = ["- name", "  text", "  kind"]
    shorter, longer = block * 2, block * 3

    for old, new in ((shorter, longer), (longer, shorter)):
        (changed,) = [part for part in aligned(old, new) if not part.is_same]
        assert changed.old + changed.new == block


def test_very_many_items_in_common_nowhere_alone_are_not_compared() -> None:
    old, new = ["a"] * 300, ["b", "a"] * 150 + ["b"]

    assert aligned(old, new) == [Part(is_same=False, old=old, new=new)]


@given(st.text("ab", max_size=30), st.text("ab", max_size=30))
def test_the_common_beginning_is_as_long_as_it_can_be(one: str, other: str) -> None:
    length = common_length(one, other)

    assert one[:length] == other[:length]
    assert one[length : length + 1] != other[length : length + 1] or one == other
