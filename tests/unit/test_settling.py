from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from commandsync.settling import claim
from commandsync.texts import CommandText, Text

if TYPE_CHECKING:
    from commandsync.snapshot import Identity


def text(name: str, description: str = "d") -> Text:
    return CommandText(name, description, "s")


TEXTS = st.builds(text, st.sampled_from("abAB"), st.sampled_from("xy"))


@given(
    adds=st.dictionaries(st.integers(0, 9), TEXTS, max_size=6),
    new=st.dictionaries(st.sampled_from("pqrstu"), TEXTS, max_size=6),
    told=st.dictionaries(st.integers(0, 9), st.sampled_from(["", *"pqz"]), max_size=3),
)
def test_no_record_is_claimed_twice_and_only_sent_adds_claim(
    adds: dict[int, Text], new: dict[Identity, Text], told: dict[int, str]
) -> None:
    claimed = claim(adds, new, known=told)

    assert claimed.keys() <= adds.keys()
    assert len(set(claimed.values())) == len(claimed)
    assert set(claimed.values()) <= new.keys()


def test_a_told_id_comes_before_the_text() -> None:
    claimed = claim({0: text("a"), 1: text("b")}, {"p": text("b"), "q": text("x")}, known={0: "p"})

    assert claimed == {0: "p", 1: "q"}


def test_a_told_id_that_is_not_new_claims_nothing() -> None:
    assert claim({0: text("a")}, {"p": text("a")}, known={0: "z", 5: "p"}) == {0: "p"}


def test_equality_comes_before_the_name() -> None:
    claimed = claim({0: text("a"), 1: text("a", "e")}, {"p": text("a", "e"), "q": text("a")})

    assert claimed == {0: "q", 1: "p"}


def test_a_name_comes_before_a_name_that_was_folded() -> None:
    claimed = claim(
        {0: text("A", "x"), 1: text("a", "e")}, {"p": text("a", "y"), "q": text("a", "f")}
    )

    assert claimed == {1: "p", 0: "q"}


def test_what_a_rewriting_explains_comes_before_the_name() -> None:
    claimed = claim({1: text("a", "e"), 0: text("A")}, {"p": text("a"), "q": text("a", "f")})

    assert claimed == {0: "p", 1: "q"}


def test_a_name_is_found_when_it_was_cut() -> None:
    adds = {0: text("x" * 150), 1: text("y" * 150)}

    assert claim(adds, {"p": text("Y" * 100), "q": text("x" * 120)}) == {0: "q", 1: "p"}


def test_the_only_add_claims_the_only_record() -> None:
    assert claim({0: text("a")}, {"p": text("z")}) == {0: "p"}
    assert claim({0: text("a")}, {"p": text("z"), "q": text("y")}) == {}
    assert claim({0: text("a"), 1: text("b")}, {"p": text("z")}) == {}
    assert claim({}, {"p": text("z")}) == {}
