from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings

from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError, UsageError
from commandsync.manifest import Manifest
from commandsync.records.snapshot import Snapshot
from commandsync.report import (
    github,
    render_failure,
    render_plans,
    render_results,
    render_validated,
)
from commandsync.report.github import Annotation
from tests.support.plans import plans

if TYPE_CHECKING:
    from commandsync.apply.outcomes import Result
    from commandsync.plan.plan import Plan


def _annotations(shown: str) -> list[str]:
    return [line for line in shown.splitlines() if line.startswith("::")]


def test_an_annotation_names_its_place() -> None:
    annotation = Annotation("error", "T", "what: 50%", "do\nit", Location("a,b:c.yaml", 3, 7))

    assert str(annotation) == (
        "::error file=a%2Cb%3Ac.yaml,line=3,col=7,title=T::what: 50%25%0Ado\\nit"
    )


def test_standard_input_is_no_file() -> None:
    assert str(Annotation("error", "T", "x", location=Location("-"))) == "::error title=T::x"


def test_warnings_and_deletes_are_annotated_before_the_text(every_change: Plan) -> None:
    shown = render_plans([every_change], format="github")

    assert shown == (
        "::warning file=commands.yaml,line=9,col=3,title=commandsync::"
        "a text is cut by ` #`%0Aquote it\n"
        "::notice file=commands.yaml,line=1,col=1,title=Planned delete::"
        "the listed command old is deleted\n"
    ) + render_plans([every_change], format="text")


def test_a_refusal_is_an_error_even_without_a_file(refused: Plan) -> None:
    shown = render_plans([replace(refused, manifest=())], format="github")

    assert _annotations(shown)[0] == (
        "::error title=Plan refused::this plan would delete 4 of 5 listed commands, "
        "80 %25 is over 30 %25; apply refuses it%0Aif that is meant, allow it with --max-deletes 4"
    )


def test_ten_of_a_kind_are_annotated_at_most(every_change: Plan) -> None:
    noisy = replace(every_change, notices=every_change.notices * 25)
    shown = render_plans([noisy], format="github")

    assert len(_annotations(shown)) == 11
    assert shown.count("warning: commands.yaml") == 25


def test_what_is_not_done_is_annotated(trouble: Result) -> None:
    assert _annotations(render_results([trouble], format="github")) == [
        (
            "::error file=commands.yaml,line=4,col=5,title=Change failed::"
            "edit command help: the service refuses it (400: too long)%0Ashorten it"
        ),
        (
            "::error file=commands.yaml,line=12,col=5,title=Change unknown::"
            "add command facts: no answer within 30 s"
        ),
        "::error title=Stopped::the token may not do this%0AIs it the token of this very bot?",
        (
            "::warning file=commands.yaml,line=8,col=5,title=Changed by the service::"
            "clear, description: cut at 4 characters%0Ashorten it to 4 characters"
        ),
        "::warning title=commandsync::another copy of 'help' is listed%0Arun again",
    ]


def test_a_result_without_trouble_is_not_annotated(trouble: Result) -> None:
    result = replace(trouble, settled=(), stopped="", differences=(), notices=())

    assert _annotations(render_results([result], format="github")) == []


def test_every_problem_is_annotated_at_its_line() -> None:
    error = ManifestError([Problem(Location("a.yaml", 3, 1), "unknown key", "drop it")])

    assert render_failure(error, format="github") == (
        "::error file=a.yaml,line=3,col=1,title=commandsync::unknown key%0Adrop it\n"
    ) + render_failure(error, format="text")


def test_another_error_is_annotated_without_a_line() -> None:
    error = UsageError("no bot", hint="give --bot")

    assert _annotations(render_failure(error, format="github")) == [
        "::error title=commandsync::no bot%0Agive --bot"
    ]


def test_warnings_of_valid_manifests_are_annotated() -> None:
    manifest = Manifest(
        "b.yaml", snapshot=Snapshot(), warnings=(Problem(Location("b.yaml", 2, 3), "twins"),)
    )

    assert _annotations(render_validated([manifest], format="github")) == [
        "::warning file=b.yaml,line=2,col=3,title=commandsync::twins"
    ]


@settings(max_examples=60)
@given(plans())
def test_a_runner_obeys_our_annotations_and_nothing_else(plan: Plan) -> None:
    for line in render_plans([plan], format="github").splitlines():
        assert not re.search(r"##\w*\[", line)
        if line.lstrip().startswith("::"):
            assert re.match(r"::(error|warning|notice) [^:]*::", line)


def test_what_fits_is_left_alone() -> None:
    assert github.cut_page("short\n", most=1000, pointer="See there.") == "short\n"


def test_a_summary_that_is_too_long_is_cut_at_a_line_and_says_where_the_rest_is() -> None:
    rows = "".join(f"| `row {number}` | ✔️ |\n" for number in range(90_000))
    shown = github.cut_page(rows, most=github.LONGEST_SUMMARY, pointer="See there.")

    assert 990_000 < len(shown.encode()) < 1_000_000
    assert shown.endswith("|\n\n*Cut here. See there.*\n")


def test_a_block_that_is_cut_is_closed() -> None:
    block = "````diff\n" + "+ ``` line\n" * 500 + "````\n"
    shown = github.cut_page(f"{block}{block}", most=7_000, pointer="See there.")

    assert shown.splitlines()[-3:] == ["````", "", "*Cut here. See there.*"]
    assert shown.count("\n````\n") == 2 + shown.count("\n````diff\n") - 1


def test_a_label_is_foreign_text() -> None:
    shown = github.page("Body.", label="a`<!-- b\n@all", notes=["Note."])

    assert shown == "## commandsync: ``a`<!-- b\\n@all``\n\nNote.\n\nBody.\n"
