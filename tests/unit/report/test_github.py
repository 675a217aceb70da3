import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from commandsync.apply.outcomes import Result
from commandsync.diagnostics import LIBRARY, Location
from commandsync.plan.plan import RecordPlan
from commandsync.plan.rules import SyncRules, parse_delete_limit
from commandsync.report import render_plans, render_results
from commandsync.report.github import LONGEST_COMMENT, LONGEST_SUMMARY, Annotation, cut_page, page
from tests.support.plans import command, plan_of, plans
from tests.support.registered import untrusted_plans

ALLOWED = SyncRules(max_deletes=parse_delete_limit("all"))


def test_what_fits_is_left_alone() -> None:
    assert cut_page("short\n", most=1000, pointer="See there.") == "short\n"


def test_a_summary_that_is_too_long_is_cut_at_a_line_and_says_where_the_rest_is() -> None:
    rows = "".join(f"| `row {number}` | ✔️ |\n" for number in range(90_000))
    shown = cut_page(rows, most=LONGEST_SUMMARY, pointer="See there.")

    assert 990_000 < len(shown.encode()) < 1_000_000
    assert shown.endswith("|\n\n*Cut here. See there.*\n")


def test_a_block_that_is_cut_is_closed() -> None:
    block = "````diff\n" + "+ ``` line\n" * 500 + "````\n"
    shown = cut_page(f"{block}{block}", most=7_000, pointer="See there.")

    assert shown.splitlines()[-3:] == ["````", "", "*Cut here. See there.*"]
    assert shown.count("\n````\n") == 2 + shown.count("\n````diff\n") - 1


def test_a_label_is_foreign_text() -> None:
    shown = page("Body.", label="a`<!-- b\n@all", notes=["Note."])

    assert shown == "## commandsync: ``a`<!-- b\\n@all``\n\nNote.\n\nBody.\n"


def large(adds: int, *, edits: int = 0, deletes: int = 0, letter: str = "d") -> RecordPlan:
    """Return a plan of so many changes."""
    changed = [command(f"edited-{n}", "New.", line=n + 1) for n in range(edits)]
    new = [command(f"{letter}-new-{n}", f"Is {n} long.", line=n + 1) for n in range(adds)]
    return plan_of(
        [*changed, *new],
        [
            *(command(f"edited-{n}", "Old.", id=f"e{n}") for n in range(edits)),
            *(command(f"{letter}-old-{n}", id=f"o{n}", uses=n) for n in range(deletes)),
        ],
        rules=ALLOWED,
    )


def test_adds_are_cut_before_edits_and_edits_before_anything_else() -> None:
    shown = render_plans([large(1_500, edits=300, deletes=40)], format="markdown")
    comment = cut_page(shown, most=LONGEST_COMMENT, pointer="See there.")
    tight = cut_page(shown, most=12_000, pointer="See there.")

    assert 55_000 < len(comment.encode()) <= LONGEST_COMMENT
    assert len(tight.encode()) <= 12_000
    for text in (comment, tight):
        assert all(f"`d-old-{n}`" in text for n in range(40))
        assert "#### Add (1,500)\n" in text
    assert all(f"| `edited-{n}` |" in comment for n in range(300))
    assert "`d-new-1499`" not in comment
    assert comment.endswith("\n</details>\n\n*Cut here. See there.*\n")
    assert "`d-new-0`" not in tight
    assert tight.count("*Cut here. See there.*") == 2


def test_no_plan_takes_the_room_for_another_ones_deletes() -> None:
    plans = [large(1_500, deletes=40, letter="a"), large(1_500, deletes=40, letter="b")]
    shown = render_plans(plans, format="markdown")
    comment = cut_page(shown, most=LONGEST_COMMENT, pointer="See there.")

    assert len(comment.encode()) <= LONGEST_COMMENT
    assert all(f"`{letter}-old-{n}`" in comment for letter in "ab" for n in range(40))
    assert "`a-new-0`" in comment


def test_too_many_deletes_begin_with_the_most_used_ones() -> None:
    shown = render_plans([large(9, deletes=3_000)], format="markdown")
    comment = cut_page(shown, most=LONGEST_COMMENT, pointer="See there.")

    assert len(comment.encode()) <= LONGEST_COMMENT
    assert "`d-old-2999`" in comment
    assert "`d-old-0`" not in comment
    assert comment.endswith("*Cut here. See there.*\n")


def test_a_page_that_contains_another_one_is_cut_with_its_folds_closed() -> None:
    plan = render_plans([large(1_500)], format="markdown")
    folded = f"<details>\n<summary>Before</summary>\n\n{plan}\n</details>\n"
    shown = cut_page(f"{folded}\n{plan}", most=LONGEST_COMMENT, pointer="See there.")
    within = cut_page(folded, most=9_000, pointer="See there.")

    for text in (shown, within):
        assert text.count("<details>\n") == text.count("</details>\n")
    assert shown.count("*Cut here. See there.*") == 2
    assert "`d-new-0`" in within


def test_a_section_that_a_cut_would_not_shorten_stays() -> None:
    shown = "### Plan\n\n" + "#### Add (1)\n\n| `a` |\n\n" * 40
    comment = cut_page(shown, most=900, pointer="See there, in a place with quite a long name.")

    assert len(comment.encode()) <= 900
    assert comment.count("*Cut here.") == 1


@given(
    st.lists(st.one_of(plans(), untrusted_plans()), min_size=1, max_size=3), st.integers(700, 4_000)
)
def test_a_page_is_cut_to_its_size_with_no_block_left_open(
    some: list[RecordPlan], most: int
) -> None:
    shown = cut_page(render_plans(some, format="markdown"), most=most, pointer="See there.")

    fence = ""
    for line in shown.splitlines():
        if not fence and (opening := re.fullmatch(r"(`{3,})\w*", line)):
            fence = opening[1]
        elif line == fence:
            fence = ""
    assert not fence
    assert len(shown.encode()) <= most
    assert shown.count("\n<details>\n") == shown.count("\n</details>\n")


def _annotations(shown: str) -> list[str]:
    return [line for line in shown.splitlines() if line.startswith("::")]


def test_standard_input_is_no_file() -> None:
    assert (
        Annotation("error", "T", "x", location=Location("-")).command(LIBRARY)
        == "::error title=T::x"
    )


def test_ten_of_a_kind_are_annotated_at_most(every_change: RecordPlan) -> None:
    noisy = replace(every_change, notices=every_change.notices * 25)
    shown = render_plans([noisy], format="github")

    assert len(_annotations(shown)) == 11
    assert shown.count("warning: commands.yaml") == 25


def test_a_result_without_trouble_is_not_annotated(trouble: Result) -> None:
    result = replace(trouble, settled=(), stopped="", notices=())

    assert _annotations(render_results([result], format="github")) == []


@given(st.one_of(plans(), untrusted_plans()))
def test_a_runner_obeys_our_annotations_and_nothing_else(plan: RecordPlan) -> None:
    for line in render_plans([plan], format="github").splitlines():
        assert not re.search(r"##\w*\[", line)
        if line.lstrip().startswith("::"):
            assert re.match(r"::(error|warning|notice) [^:]*::", line)
