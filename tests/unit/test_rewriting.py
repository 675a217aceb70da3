from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.rewriting import rewrites
from commandsync.texts import CommandText


def text(description: str) -> CommandText:
    return CommandText("a", description, "/a")


@pytest.mark.parametrize(
    ("sent", "stored", "how"),
    [
        ("x" * 120, "x" * 100, "cut at 100 characters"),
        ("a  b\nc", "a b c", "trimmed: blanks were removed or collapsed"),
        ("a & <b>", "a &amp; &lt;b&gt;", "escaped: HTML characters were replaced"),
        ("Ban HIM", "ban him", "lower-cased"),
        ("Ban HIM", "BAN HIM", "upper-cased"),
        ("ban him", "Ban Him", "written with other capitals"),
        ("A & B", "a &amp; b", "escaped and lower-cased"),
        ("A  & B", "a &amp; b", "escaped, trimmed and lower-cased"),
        ("AB " * 40, ("ab " * 40)[:99], "lower-cased and cut at 99 characters"),
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


def test_a_cut_says_to_what_length() -> None:
    (found,) = rewrites(sent=text("abcdef"), stored=text("abc"))

    assert found.advice == "shorten it to 3 characters"


def test_a_cut_that_is_not_all_says_what_else_to_change() -> None:
    (found,) = rewrites(sent=text("Ab" * 40), stored=text("ab" * 20))

    assert found.advice == "shorten it to 40 characters, and write it as the service stores it"
    assert found.ways == ("cased", "cut")


@pytest.mark.parametrize(
    ("sent", "stored"),
    [("one", "two"), ("one", ""), ("", "one"), ("All of it", "all"), ("a" * 40, "&" + "x" * 10)],
)
def test_another_text_is_not_explained(sent: str, stored: str) -> None:
    (found,) = rewrites(sent=text(sent), stored=text(stored))

    assert found.how == "changed"
    assert not found.known


def test_each_field_is_told_in_the_order_of_the_record() -> None:
    found = rewrites(sent=CommandText("A", "B", "C", "D"), stored=CommandText("a", "B", "c", "D"))

    assert [one.field for one in found] == ["name", "syntax"]


@given(st.text())
def test_equal_texts_are_not_rewritten(one: str) -> None:
    assert rewrites(sent=text(one), stored=text(one)) == ()
