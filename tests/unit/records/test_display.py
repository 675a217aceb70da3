"""Hidden characters become escapes, and the parts of two aligned sequences make both again."""

from itertools import pairwise
from random import Random
from unicodedata import category

from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.records.display import Part, aligned, common_length, readable

HIDING = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # categories of characters that control or hide
EMOJI = "\U0001f469\u200d\U0001f680 \u2764\ufe0f #\ufe0f\u20e3 \U0001f3f4\U000e0067\U000e007f"
PERSIAN, IDEOGRAPH = "\u0645\u06cc\u200c\u062e", "\u845b\U000e0100"

LINES = st.lists(st.sampled_from(["a", "b", "  c", "d", ""]), max_size=14)


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "L"])))
@example("\u200b")
@example("a\u3164")
def test_no_character_that_hides_or_controls_is_shown(text: str) -> None:
    shown = readable(f"-{text.replace(chr(9), '').replace(chr(10), '')}-")

    # Behind a letter without case, a joiner may shape it.
    alone = {after for before, after in pairwise(shown) if category(before) != "Lo"}
    assert not HIDING.intersection(map(category, alone))


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"], max_codepoint=0x33F)))
@example(EMOJI)
@example(PERSIAN)
@example(IDEOGRAPH)
@example("two words,\tand\na line")
def test_readable_text_stays_as_it_is(text: str) -> None:
    assert readable(text) == text


def test_hidden_characters_are_shown_as_escapes() -> None:
    assert readable("a\x1bb\u202ec\u200d") == r"a\x1bb\u202ec\u200d"


def alternates(parts: list[Part]) -> bool:
    return all(one.is_same is not other.is_same for one, other in pairwise(parts))


@given(LINES, LINES)
@example(["a", "b", "a"], ["a", "b", "a", "b", "a"])
@example([], ["a"])
@example(["a"], ["b"])
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
