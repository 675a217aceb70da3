from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.report.linediff import cut, diff_rows, shortened

long_lines = st.text("ab \n", max_size=400) | st.text("a", max_size=300)


def _shown(old: str, new: str) -> list[str]:
    return [f"{row.sign} {row.text}" for row in diff_rows(old, new)]


def test_a_short_text_is_not_cut() -> None:
    assert cut("x" * 100) == "x" * 100
    assert shortened("") == ("", "")


def test_a_cut_text_says_how_much_is_left_out() -> None:
    assert cut("x" * 1200) == "x" * 80 + "… (1,120 more characters)"


def test_one_line_of_many_is_shown_with_its_neighbours() -> None:
    old = "one\ntwo\nthree\nfour\nfive"

    assert _shown(old, old.replace("three", "THREE")) == ["│ two", "- three", "+ THREE", "│ four"]


def test_lines_between_two_differences_are_counted() -> None:
    old = "\n".join("abcdefgh")

    assert _shown(old, old.replace("b", "B").replace("g", "G")) == [
        "│ a",
        "- b",
        "+ B",
        "│ c",
        "… 2 unchanged lines",
        "│ f",
        "- g",
        "+ G",
        "│ h",
    ]


def test_few_lines_between_two_differences_are_all_shown() -> None:
    assert _shown("a\nb\nc\nd\ne", "A\nb\nc\nd\nE") == [
        "- a",
        "+ A",
        "│ b",
        "│ c",
        "│ d",
        "- e",
        "+ E",
    ]


def test_lines_that_only_came_stand_alone() -> None:
    assert _shown("a\nd", "a\nb\nc\nd") == ["│ a", "+ b", "+ c", "│ d"]


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
