import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.server.pages.difference import difference

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
def test_the_words_that_differ_are_told_apart(
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
