"""Folding: what a person types and what a bot's page says meet as the same words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.server.search.words import LONGEST_PART, MOST_PARTS, endings, fold, parts, plain


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Café CRÈME", "cafe creme"),
        ("Ünïcödé", "unicode"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("Ёлка", "елка"),
        ("Ελλάς", "ελλασ"),
        ("\uff2d\uff35\uff33\uff29\uff23 \ufb01ne", "music fine"),
        ("音楽・翻訳", "音楽 翻訳"),
        ("がぎ ひらがな", "がぎ ひらがな"),
        ("한국어", "한국어"),
        ("हिन्दी", "हिन्दी"),
        ("foo-bar_baz.qux", "foo bar baz qux"),
        ("C++ a|b 5$", "c++ a|b 5$"),
        ("\u2764\ufe0f\u200d\U0001f525 \u2764", "\u2764\U0001f525 \u2764"),
        ("zero\u200bwidth so\u00adft", "zerowidth soft"),
        ("nul\0l half\ud800pair\t\n", "nul l half pair"),
        ("\"*'NEAR( %)\\", "near"),
        ("", ""),
    ],
)
def test_words_are_folded(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text(st.characters()))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(st.characters()))
def test_folded_words_contain_nothing_that_a_query_language_takes_for_syntax(text: str) -> None:
    assert not set("\"'\\*()&!:%_\0\t\n") & set(fold(text))


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>One</p><p>two</p>", "one two"),
        ("<a href='x'>link</a> &amp; &eacute;", "link e"),
        ("<style>.a > .b { color: red }</style>Seen", "seen"),
        ("Seen<script>hidden()", "seen"),
        ("<SCRIPT>a</b>c</script >Seen", "seen"),
        ("3 < 4 and 5 > 4", "3 < 4 and 5 > 4"),
        ("I <3 bots", "i <3 bots"),
        ("**bold** [link](https://a.example)", "bold link https a example"),
        ("<!-- hidden --> seen", "seen"),
    ],
)
def test_markup_is_not_text(markup: str, text: str) -> None:
    assert fold(plain(markup)) == text


@pytest.mark.parametrize("untrusted", ["<style>", "<a", "<", "<style><", "<!--", "&#"])
def test_untrusted_markup_is_read_in_linear_time(untrusted: str) -> None:
    markup = untrusted * 200_000  # a quadratic pattern takes hours

    assert len(plain(markup)) <= len(markup)


def test_every_ending_of_a_word_is_indexed() -> None:
    assert endings("bot music") == "bot c ic music ot sic t usic"


def test_long_endings_are_cut() -> None:
    assert endings("a" * 40).split() == ["a" * length for length in range(1, LONGEST_PART + 1)]


def test_a_query_is_its_words_each_once() -> None:
    assert parts('  Foo-bar "foo') == ("foo", "bar")


def test_a_long_word_is_searched_in_parts() -> None:
    assert parts("ab" * 10) == ("ab" * 8, "ab" * 2)


def test_a_query_has_a_limit() -> None:
    words = [f"w{number}" for number in range(100)]

    assert parts(" ".join(words)) == tuple(words[:MOST_PARTS])


@pytest.mark.parametrize("text", ["", " ", "*", '"', "\0", "\ud800", "(-)", "%_"])
def test_a_query_without_words_has_no_parts(text: str) -> None:
    assert parts(text) == ()
