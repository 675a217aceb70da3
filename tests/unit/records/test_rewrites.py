import html
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.records.rewrites import (
    SHORTEST_CUT,
    Rewrite,
    agrees,
    folded,
    is_cut,
    rewrites,
    text_agrees,
)
from commandsync.records.texts import CommandText
from tests.support.registered import NAMES as EXACT_NAMES
from tests.support.registered import slash


def text(description: str) -> CommandText:
    return CommandText("a", description, "/a")


@pytest.mark.parametrize(
    ("sent", "stored", "how"),
    [
        ("x" * 120, "x" * 100, "cut at 100 characters"),
        ("a  b\nc", "a b c", "trimmed: spaces were removed or collapsed"),
        ("a & <b>", "a &amp; &lt;b&gt;", "escaped: HTML characters were replaced"),
        ("Ban HIM", "ban him", "lower-cased"),
        ("Ban HIM", "BAN HIM", "upper-cased"),
        ("ban him", "Ban Him", "written with other capitals"),
        ("A & B", "a &amp; b", "escaped and lower-cased"),
        ("Ban 🔨 him", "Ban him", "stripped of emoji"),
        ("\u2139\ufe0f Ban him", "Ban him", "stripped of emoji"),
        ("Ban 🔨 HIM", "ban him", "lower-cased and stripped of emoji"),
        ("A  & B", "a &amp; b", "escaped, trimmed and lower-cased"),
        ("AB " * 40, ("ab " * 40)[:99], "lower-cased and cut at 99 characters"),
        ("AB CD EF GH IJ KL MN", "ab cd ef gh ij k", "lower-cased and cut at 16 characters"),
        (
            "AB CD EF GH IJ KL MN &OP",
            "ab cd ef gh ij kl mn &x",
            "escaped, lower-cased and cut at 23 characters",
        ),
        (
            "AB CD EF GH IJ & KL",
            "ab cd ef gh ij &am",
            "escaped, lower-cased and cut at 18 characters",
        ),
        (
            "Q & A, " * 40,
            ("q &amp; a, " * 40)[:105],
            "escaped, lower-cased and cut at 105 characters",
        ),
    ],
)
def test_what_services_do_is_named(sent: str, stored: str, how: str) -> None:
    (found,) = rewrites(sent=text(sent), stored=text(stored))

    assert (found.field, found.sent, found.stored) == ("description", sent, stored)
    assert found.how == how
    assert found.known
    assert ("write it as" in found.advice) == (not how.startswith("cut"))
    assert ("shorten it" in found.advice) == ("cut at" in how)


def test_a_cut_text_has_thirty_characters_at_least_and_lacks_one() -> None:
    start = "x" * SHORTEST_CUT

    assert is_cut(start, sent=f"{start}y")
    assert not is_cut(start[1:], sent=f"{start}y")
    assert not is_cut(start, sent=start)


def test_a_cut_may_go_through_an_escaped_character() -> None:
    start = "x" * SHORTEST_CUT

    assert is_cut(f"{start}&am", sent=f"{start}& more")


@pytest.mark.parametrize("ampersand", ["&", "&amp;"])
def test_the_text_behind_an_ampersand_is_no_half_of_an_escaped_one(ampersand: str) -> None:
    start, rest = "x" * (SHORTEST_CUT - 5), "play"

    assert is_cut(f"{start}{ampersand}{rest}", sent=f"{start}&{rest}er")


@pytest.mark.parametrize(
    "half",
    ["&", "&a", "&AM", "&Am", "&#", "&eacut", "&amp", "&amp;", "&amp;am", "&amp;#x2", "&#38;#821"],
)
def test_a_cut_may_go_through_a_character_that_was_escaped_again(half: str) -> None:
    start = "x" * SHORTEST_CUT

    assert is_cut(f"{start}{half}", sent=f"{start}& more")


@pytest.mark.parametrize("times", [2, 30])
def test_a_text_that_was_escaped_again_is_named_so(times: int) -> None:
    (found,) = rewrites(sent=text("a & b"), stored=text(escaped("a & b", times)))

    assert found.known
    assert found.how.startswith("escaped: ")


def test_a_reference_to_a_character_of_no_readable_number_stays() -> None:
    name = f"&#{'9' * 5000};"

    assert folded(name) == name


def test_a_cut_says_to_what_length_and_what_else_to_change() -> None:
    (alone,) = rewrites(sent=text("abcdef"), stored=text("abc"))
    (lowered,) = rewrites(sent=text("Ab" * 40), stored=text("ab" * 20))

    assert list(map(str, [alone.advice, lowered.advice, lowered.how])) == [
        "shorten it to 3 characters",
        "shorten it to 40 characters, and write it as the service stores it",
        "lower-cased and cut at 40 characters",
    ]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [("one", "two"), ("one", ""), ("", "one"), ("All of it", "all"), ("a" * 40, "&" + "x" * 10)],
)
def test_another_text_is_not_explained(sent: str, stored: str) -> None:
    (found,) = rewrites(sent=text(sent), stored=text(stored))

    advice = "write it as the service stores it"
    assert found == Rewrite("description", sent, stored, "changed", advice, known=False)


def test_each_field_is_told_in_the_order_of_the_record() -> None:
    found = rewrites(sent=CommandText("A", "B", "C", "D"), stored=CommandText("a", "B", "c", "D"))

    assert [one.field for one in found] == ["name", "syntax"]


@given(st.text())
def test_equal_texts_are_not_rewritten(one: str) -> None:
    assert rewrites(sent=text(one), stored=text(one)) == ()


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufe0f"), max_size=60)
ESCAPES = st.sampled_from(
    ["&", "&amp;", "&lt;", "&gt;b", "&quot;", "&#39;", "&#x27;", "&Eacute;", "&nbsp;", "; ", "amp;"]
)
NAMES = (
    st.lists(WORDS | ESCAPES, min_size=1, max_size=6)
    .map("".join)
    .filter(lambda name: any(map(str.isalnum, folded(name))))
)
EMOJI = st.sampled_from(["🎉", "👩‍👩‍👧", "⚙️", "\u2139\ufe0f", "🏳️‍🌈", "☎", "👍🏽"])


def escaped(text: str, times: int) -> str:
    for _ in range(times):
        text = html.escape(text)
    return text


@given(NAMES, EMOJI, st.integers(1, 30))
def test_what_services_do_to_a_name_is_folded_away(name: str, emoji: str, times: int) -> None:
    made = [
        html.escape(name),
        escaped(name, times),
        escaped(name, times).upper(),
        escaped(name, times).title(),
        name.replace("&", "&#38;"),
        unicodedata.normalize("NFKC", name),
        " ".join(name.split()),
        name.lower(),
        name.upper(),
        name.title(),
        name.casefold(),
        f"{emoji} {name}",
        f"{name}{emoji}",
        f"{name}\ufffd",  # half of one
    ]

    assert {folded(one) for one in made} == {folded(name)}


@pytest.mark.parametrize(
    ("one", "other"), [("afk!", "afk"), ("café", "cafe"), ("top 10", "top 1"), ("🎉", "🎊")]
)
def test_punctuation_accents_digits_and_emoji_alone_count(one: str, other: str) -> None:
    assert folded(one) != folded(other)


def test_spaces_between_emoji_alone_do_not_count() -> None:
    assert folded("🎉 🎊") == folded("🎉🎊")


@given(NAMES)
def test_folding_once_is_enough(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(st.text("abcXYZ", min_size=SHORTEST_CUT, max_size=200), st.text("abc", max_size=9))
def test_a_cut_through_an_emoji_says_how_many_characters_were_kept(start: str, rest: str) -> None:
    sent, stored = f"{start}🎉{rest}", f"{start}\ufffd"

    (found,) = rewrites(sent=text(sent), stored=text(stored))

    assert agrees(stored, sent=sent)
    assert found.how == f"cut at {len(start)} characters"
    assert found.advice == f"shorten it to {len(start)} characters"


@given(st.text("abc XYZ-&<", min_size=SHORTEST_CUT + 1, max_size=200), st.data())
def test_a_cut_is_recognised_from_its_shortest_length_on(sent: str, data: st.DataObject) -> None:
    length = data.draw(st.integers(1, len(sent)))
    start = sent[:length]
    half_entity = folded(start) != folded(sent)[: len(folded(start))]

    found = is_cut(start, sent=sent)

    if SHORTEST_CUT <= len(folded(start)) < len(folded(sent)) and not half_entity:
        assert found or "&" in start
    if len(folded(start)) < SHORTEST_CUT:
        assert not found
    assert agrees(start, sent=sent) or not found


def test_a_text_that_hides_escapes_in_other_characters_is_folded_a_few_times_only() -> None:
    hidden = "#xff06;"  # a wide ampersand, which begins the next one when it is folded

    assert hidden in folded("\uff06" + hidden * 20)
    assert hidden not in folded("\uff06" + hidden * 2)


@given(EXACT_NAMES, EXACT_NAMES)
def test_a_command_that_a_service_keeps_as_it_is_agrees_with_nothing_else(
    sent: str, stored: str
) -> None:
    assert text_agrees(slash(stored), sent=slash(sent)) is (stored == sent)
    assert not text_agrees(slash(sent, "Does IT."), sent=slash(sent, "Does it."))
    assert text_agrees(text("Does IT."), sent=text("Does it."))
