"""The difference of two files shows every changed line with its number, and no other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.report.linediff import file_lines
from commandsync.report.lines import PLAIN, joined
from commandsync.sources.changeset import FileEdit
from tests.support.calls import calls_of
from tests.support.wording import Wording

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "", "  - x"]), max_size=12)


def shown(before: str | None, after: str) -> list[str]:
    return joined(file_lines(FileEdit("x.yaml", before, after)), PLAIN).splitlines()


def test_changed_lines_are_shown_between_the_lines_around_them() -> None:
    before = "".join(f"line {number}\n" for number in range(1, 21))
    after = before.replace("line 4\n", "line four\n").replace("line 15\n", "")

    assert shown(before, after) == [
        "x.yaml",
        "     2 │ line 2",
        "     3 │ line 3",
        "     4 - line 4",
        "     4 + line four",
        "     5 │ line 5",
        "     6 │ line 6",
        "       …",
        "    13 │ line 13",
        "    14 │ line 14",
        "    15 - line 15",
        "    15 │ line 16",
        "    16 │ line 17",
    ]


def test_a_new_file_is_shown_whole() -> None:
    assert shown(None, "a\n::error::b\x1b\n") == [
        "x.yaml (new)",
        "     1 + a",
        r"     2 + ::error::b\x1b",
    ]


def test_a_change_of_line_ends_alone_is_said(wording: Wording) -> None:
    wording(*shown("a\r\n", "a\n"))


@given(LINES, LINES)
def test_the_rows_lead_from_one_text_to_the_other(old: list[str], new: list[str]) -> None:
    rows = shown("".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new))[1:]
    signs = [(row[7], int(row[:6]), row[9:]) for row in rows if row[7] in "-+│"]
    removed = {number: text for sign, number, text in signs if sign == "-"}
    others = {number: text for sign, number, text in signs if sign != "-"}
    added = {number for sign, number, _ in signs if sign == "+"}

    assert all(old[number - 1] == text for number, text in removed.items())
    assert all(new[number - 1] == text for number, text in others.items())
    assert [line for number, line in enumerate(old, 1) if number not in removed] == [
        line for number, line in enumerate(new, 1) if number not in added
    ]


def test_the_work_grows_with_the_number_of_lines() -> None:
    def work(count: int) -> int:
        lines = [
            f"- name: {number}\n  category: Fun\n  text: {'new' if number % 3 else number}\n"
            for number in range(count)
        ]
        after = "".join(lines)
        return calls_of(lambda: shown(after.replace("new", "old"), after))

    assert work(2_000) < 5 * work(500)


@pytest.mark.parametrize("key", ["category: Fun", "syntax: /x"])
def test_an_entry_that_is_added_or_removed_begins_where_it_begins(key: str) -> None:
    entries = [f"  - name: {name}\n    {key}\n    category: Fun\n" for name in "abc"]
    more, less = "".join(entries), entries[0] + entries[2]
    block = ["  - name: b", f"    {key}", "    category: Fun"]

    for old, new, sign in ((less, more, "+"), (more, less, "-")):
        changed = [row[9:] for row in shown(old, new)[1:] if row[7] == sign]
        assert changed == block


def test_very_different_parts_are_shown_as_replaced() -> None:
    rows = shown("a\n" * 1_500, "b\na\n" * 750 + "b\n")

    assert rows[1:3] == ["     1 - a", "     2 - a"]
    assert rows[-1] == "  1501 + b"
