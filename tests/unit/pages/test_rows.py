from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.pages.rows import Mark, Row, difference, groups_of, listed_rows
from commandsync.records.texts import Resource

COMMAND = Resource.COMMAND


def command(name: str, category: str = "", **fields: str) -> dict[str, Any]:
    category_field = {"category": category} if category else {}
    return {"id": name, "name": name, "description": "d", "syntax": "s", **category_field, **fields}


def names(rows: list[Row]) -> list[str]:
    return [row.title for row in rows]


def test_an_edited_record_has_the_pieces_of_each_changed_field() -> None:
    before = {"description": "old text", "category": "Fun"}
    row = Row(COMMAND, command("a", description="new text"), "a", Mark.EDITED, before)

    assert [*row.changes] == [
        ("description", [("old", "old "), ("new", "new "), ("same", "text")]),
        ("category", [("old", "Fun")]),
    ]
    assert row.old_name == ""


@pytest.mark.parametrize("kind", Resource)
def test_a_renamed_record_has_its_old_name(kind: Resource) -> None:
    fields = dict(zip(kind.fields, "abcdefgh", strict=False))
    row = Row(kind, fields, "x", Mark.RENAMED, {kind.fields[0]: "h"})

    assert (row.title, row.old_name) == ("a", "h")
    assert {row.title, row.group, row.usage, *row.texts} - {""} == {*fields.values()}


LISTED = (("a", "Fun"), ("b", "Music"), ("c", "fun"), ("d", "Fun"))


def test_groups_are_in_the_order_of_their_first_command_and_count_none_that_is_gone() -> None:
    rows = [
        *listed_rows(COMMAND, [command(*each) for each in LISTED]),
        Row(COMMAND, command("old", "Fun"), "gone-1", Mark.GONE),
        Row(COMMAND, command("older"), "gone-2", Mark.GONE),
    ]

    assert [(group.name, names(group.rows), group.number) for group in groups_of(rows)] == [
        ("Fun", ["a", "d", "old"], 2),
        ("Music", ["b"], 1),
        ("fun", ["c"], 1),
        ("", ["older"], 0),
    ]


WORDS = st.lists(st.sampled_from(["a", "b", "one", " ", "\n", ".", "é"]), max_size=30).map("".join)


@pytest.mark.parametrize(
    ("old", "new", "pieces"),
    [
        ("same", "same", [("same", "same")]),
        ("", "all new", [("new", "all new")]),
        ("all gone", "", [("old", "all gone")]),
        (
            "Shows the help menu.",
            "Shows a help page.",
            [
                ("same", "Shows "),
                *(("old", "the "), ("new", "a ")),
                ("same", "help "),
                *(("old", "menu"), ("new", "page")),
                ("same", "."),
            ],
        ),
        ("one two three", "a b three", [("old", "one two "), ("new", "a b "), ("same", "three")]),
    ],
)
def test_the_words_that_differ_are_distinct(
    old: str, new: str, pieces: list[tuple[str, str]]
) -> None:
    assert difference(old, new) == pieces


@settings(max_examples=50)
@given(old=WORDS, new=WORDS)
def test_the_pieces_are_both_texts(old: str, new: str) -> None:
    pieces = difference(old, new)

    assert "".join(text for kind, text in pieces if kind != "new") == old
    assert "".join(text for kind, text in pieces if kind != "old") == new


def test_long_texts_are_one_difference_though_they_have_words_in_common() -> None:
    old, new = "a same b " * 200, "c same d " * 200

    assert difference(old, new) == [("old", old), ("new", new)]
