from __future__ import annotations

from commandsync.report import page


def test_what_fits_is_left_alone() -> None:
    assert page.cut("short\n", most=1000, pointer="See there.") == "short\n"


def test_a_summary_that_is_too_long_is_cut_at_a_line_and_says_where_the_rest_is() -> None:
    rows = "".join(f"| `row {number}` | ✔️ |\n" for number in range(90_000))
    shown = page.cut(rows, most=page.LONGEST_SUMMARY, pointer="See there.")

    assert 990_000 < len(shown.encode()) < 1_000_000
    assert shown.endswith("|\n\n*Cut here. See there.*\n")


def test_a_block_that_is_cut_is_closed() -> None:
    block = "````diff\n" + "+ ``` line\n" * 500 + "````\n"
    shown = page.cut(f"{block}{block}", most=7_000, pointer="See there.")

    assert shown.splitlines()[-3:] == ["````", "", "*Cut here. See there.*"]
    assert shown.count("\n````\n") == 2 + shown.count("\n````diff\n") - 1


def test_a_label_is_foreign_text() -> None:
    shown = page.page("Body.", label="a`<!-- b\n@all", notes=["Note."])

    assert shown == "## commandsync: ``a`<!-- b\\n@all``\n\nNote.\n\nBody.\n"
