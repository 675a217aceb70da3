"""Limits count as JavaScript does, and a text is cut after a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.records.losses import Limit
from commandsync.services.abilities import Facts, FactSource, Reads, Support
from tests.support.destination import utf16

SOURCE = FactSource("A document", "https://docs.example", "2026-11")
FACTS = Facts(
    **{
        name: SOURCE.says(Support.NO)
        for name in Facts.__slots__
        if name not in {"fields", "limits"}
    },
    fields={"syntax": SOURCE.says(Support.YES), "category": SOURCE.says(Support.UNKNOWN)},
    limits={"name": SOURCE.says(Limit(most=3))},
)


@pytest.mark.parametrize(
    ("text", "most", "shortened"),
    [
        ("Bans a member.", 14, "Bans a member."),
        ("Bans a member.", 13, "Bans a…"),
        ("Bans a member.", 8, "Bans a…"),
        ("Bans a member.", 7, "Bans a…"),
        ("Bans a member.", 6, "Bans…"),
        ("Bans a member.", 3, "Ba…"),
        ("Bans a member.", 1, "…"),
        ("Bans  \n a member.", 9, "Bans…"),
        ("short\n\nmuch longer", 7, "short…"),
        ("日本語のテキスト", 5, "日本語の…"),
        ("😀😀😀", 6, "😀😀😀"),
        ("😀😀😀", 5, "😀😀…"),
        ("😀😀😀", 4, "😀…"),
        ("a\ud800b c", 4, "a\ud800b…"),
    ],
)
def test_a_text_is_cut_after_a_word(text: str, most: int, shortened: str) -> None:
    assert Limit(most=most).shortened(text) == shortened


@given(
    text=st.text(st.characters() | st.sampled_from(" \n😀"), max_size=60), most=st.integers(1, 40)
)
def test_a_shortened_text_fits_and_is_the_beginning(text: str, most: int) -> None:
    limit = Limit(most=most)
    shortened = limit.shortened(text)

    assert utf16(shortened) <= most
    if utf16(text) <= most:
        assert shortened == text
        return
    start = shortened.removesuffix("…")
    assert shortened == f"{start}…"
    assert text.startswith(start)
    rest = text[len(start) :]
    is_after_word = rest[:1].isspace()
    assert is_after_word or not any(map(str.isspace, start.lstrip()))
    within = rest.lstrip()
    if not is_after_word:  # one long word: as much of it as fits
        assert utf16(start + rest[:1]) >= most
    elif any(map(str.isspace, within)):  # the next word does not fit
        assert utf16(text) - utf16(within) + utf16(within.split()[0]) >= most


def test_a_limit_without_a_greatest_length_shortens_nothing() -> None:
    assert Limit().shortened("a" * 10_000) == "a" * 10_000
    assert not Limit().is_long("a" * 10_000)


@pytest.mark.parametrize(
    ("limit", "text", "judged"),
    [
        (Limit(least=2), "a", "short, allowed"),
        (Limit(least=2), "😀", "allowed"),
        (Limit(most=2), "abc", "long, allowed"),
        (Limit(most=1), "😀", "long, allowed"),
        (Limit(pattern="[a-z]+"), "ab\n", ""),
        (Limit(pattern="[a-z]+"), "ab", "allowed"),
        (Limit(lower_case=True), "Ab", ""),
        (Limit(lower_case=True), "日本", "allowed"),
        (Limit(), "", "allowed"),
    ],
)
def test_a_limit_judges_a_text(limit: Limit, text: str, judged: str) -> None:
    found = ["short"] * limit.is_short(text) + ["long"] * limit.is_long(text)

    assert ", ".join(found + ["allowed"] * limit.allows(text)) == judged


def test_a_field_is_taken_only_where_the_source_says_so() -> None:
    assert FACTS.takes("syntax")
    assert not FACTS.takes("category")
    assert not FACTS.takes("cooldown")
    assert FACTS.limit("name") == Limit(most=3)
    assert FACTS.limit("syntax") == Limit()


@pytest.mark.parametrize(
    ("value", "number"), [(25, 25), (0, 0), (Support.UNKNOWN, None), (Reads.LIST, None)]
)
def test_a_fact_is_a_number_or_not(value: Support | Reads | int, number: int | None) -> None:
    assert SOURCE.says(value).number == number
