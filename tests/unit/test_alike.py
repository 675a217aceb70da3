from __future__ import annotations

from collections import Counter

import pytest

from commandsync.alike import Alike, Habits
from commandsync.texts import AnnouncementText, Text
from tests.support.runs import announcement, command

CUT = "x" * 100


def test_equal_texts_are_counted_apart_from_rewritten_ones() -> None:
    listed = Alike(Counter([command("a"), command("a"), command("A")]))

    assert listed.equal(command("a")) == 2
    assert listed.rewritten(command("a")) == 1
    assert listed.equal(command("b")) == listed.rewritten(command("b")) == 0


def test_what_is_taken_is_not_found_again() -> None:
    lower = command("foo", "all of it")
    listed = Alike(Counter([lower, lower]))
    listed.take(lower)

    assert listed.rewritten(command("Foo", "All of it", "/foo")) == 1
    assert listed.take_rewritten(command("Foo", "All of it", "/foo")) == lower
    assert listed.rewritten(command("Foo", "All of it", "/foo")) == 0


def test_what_is_listed_less_than_once_is_not_listed() -> None:
    counts: Counter[Text] = Counter([command("a")])
    counts.subtract([command("a"), command("b")])

    assert Alike(counts).equal(command("b")) == 0


def test_another_text_with_the_same_beginning_is_no_rewriting() -> None:
    listed = Alike(Counter([command("a", "The same beginning, and then not.")]))

    assert listed.rewritten(command("a", "The same beginning, but then no.")) == 0


def test_of_many_with_one_beginning_only_whole_ones_are_compared() -> None:
    same = "The same beginning "
    listed = Alike(Counter(command("a", f"{same}{n}".upper()) for n in range(60)))

    assert listed.rewritten(command("a", f"{same}7")) == 1
    assert listed.rewritten(command("a", f"{same}99")) == 0


@pytest.mark.parametrize(
    ("sent", "stored", "others"),
    [
        ("Big News", "big news", ["small"]),
        ("Big News", "BIG NEWS", ["LOUD"]),
        ("a  b", "a b", ["c d"]),
        ("a & b", "a &amp; b", ["&lt;c&gt;"]),
        ("x" * 120, CUT, ["y" * 100, "z"]),
        ("x" * 98 + "  yy", "x" * 98, ["y" * 100]),
        ("x" * 300, "x" * 255, []),
        ("X" * 120, CUT, ["y" * 100]),
    ],
)
def test_a_habit_that_nothing_listed_contradicts_is_believed(
    sent: str, stored: str, others: list[str]
) -> None:
    texts = [announcement("t", text) for text in [stored, *others]]

    found = Habits(texts).explain(sent=announcement("t", sent), stored=announcement("t", stored))

    assert [one.field for one in found] == ["description"]


@pytest.mark.parametrize(
    ("sent", "stored", "others"),
    [
        ("Big News", "big news", ["Small"]),
        ("big news", "Big News", []),
        ("a  b", "a b", ["c  d"]),
        ("a & b", "a &amp; b", ["<c>"]),
        ("a & b", "a &amp; b", ["c & d"]),
        ("a & b", "a &amp; b", ["c &; d"]),
        ("x" * 120, CUT, ["y" * 101]),
        ("x" * 120, "x" * 99, []),
        ("X" * 120, CUT, ["Y"]),
        ("Another text", "a text", []),
    ],
)
def test_a_text_that_may_have_been_changed_by_its_author_is_not_explained(
    sent: str, stored: str, others: list[str]
) -> None:
    texts = [announcement("t", text) for text in [stored, *others]]

    assert (
        Habits(texts).explain(sent=announcement("t", sent), stored=announcement("t", stored)) == ()
    )


def test_a_habit_of_one_field_says_nothing_of_another() -> None:
    texts = [AnnouncementText("v1", "Big"), AnnouncementText("big news", "Bigger")]

    (found,) = Habits(texts).explain(
        sent=AnnouncementText("Big News", "Bigger"), stored=AnnouncementText("big news", "Bigger")
    )

    assert found.field == "title"
