"""The differences of two texts and of two files show every changed line, and no other."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.report.lines import PLAIN, cut, diff_rows, file_lines, joined, shortened
from commandsync.sources.changeset import FileEdit
from tests.support.plans import calls_of

long_lines = st.text("ab \n", max_size=400) | st.text("a", max_size=300)


def _shown(old: str, new: str) -> list[str]:
    return [f"{row.sign} {row.text}" for row in diff_rows(old, new)]


def test_a_short_text_is_not_cut() -> None:
    assert cut("x" * 100) == "x" * 100
    assert shortened("") == ("", "")


def test_a_cut_text_says_how_much_is_left_out() -> None:
    assert cut("x" * 1200) == "x" * 80 + "… (1,120 more characters)"


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ("one two three four five", "one two THREE four five", "│ two; - three; + THREE; │ four"),
        (
            "a b c d e f g h",
            "a B c d e f G h",
            "│ a; - b; + B; │ c; … 2 unchanged lines; │ f; - g; + G; │ h",
        ),
        ("a b c d e", "A b c d E", "- a; + A; │ b; │ c; │ d; - e; + E"),
        ("a d", "a b c d", "│ a; + b; + c; │ d"),
    ],
    ids=["neighbours", "lines between are counted", "few lines between", "lines that came"],
)
def test_changed_lines_are_shown_with_those_around_them(old: str, new: str, rows: str) -> None:
    """A word for each line."""
    assert _shown(old.replace(" ", "\n"), new.replace(" ", "\n")) == rows.split("; ")


def test_a_long_line_is_cut_around_its_difference() -> None:
    old = "a" * 200 + "OLD" + "z" * 200

    assert _shown(old, old.replace("OLD", "NEW")) == [
        "- …" + "a" * 24 + "OLD" + "z" * 24 + "…",
        "+ …" + "a" * 24 + "NEW" + "z" * 24 + "…",
    ]


def test_a_long_line_that_differs_at_both_ends_is_shown_from_its_beginning() -> None:
    assert _shown("A" + "x" * 120 + "B", "C" + "x" * 120 + "D") == [
        "- A" + "x" * 120 + "B",
        "+ C" + "x" * 120 + "D",
    ]


def test_twenty_lines_are_shown_of_what_went_and_of_what_came() -> None:
    rows = _shown("x", "\n".join(f"line {n}" for n in range(1000)))

    assert rows[0] == "- x"
    assert rows[1:21] == [f"+ line {n}" for n in range(20)]
    assert rows[21:] == ["… 980 more lines"]


def test_many_differences_of_one_field_are_not_all_shown() -> None:
    old = [f"line {n}" for n in range(90)]
    rows = _shown("\n".join(old), "\n".join(f"{line}{n % 2 or ''}" for n, line in enumerate(old)))

    assert len(rows) == 61
    assert rows[-1].startswith("… more ")


def test_texts_of_very_many_lines_are_not_searched_for_lines_in_common() -> None:
    old = "\n".join(f"{n % 7}" for n in range(20_000))
    new = "\n".join(f"{n % 5}" for n in range(20_000))

    assert len(diff_rows(old, new)) < 60


@given(long_lines, long_lines)
@example("a\n", "\na")
def test_two_texts_never_look_the_same(old: str, new: str) -> None:
    rows = diff_rows(old, new)
    before = [row.text for row in rows if row.sign != "+"]
    after = [row.text for row in rows if row.sign != "-"]

    assert (before == after) == (old == new)


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


def test_a_change_of_line_ends_alone_is_said() -> None:
    assert shown("a\r\n", "a\n") == [
        "x.yaml",
        "       only line ends change",
    ]


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
