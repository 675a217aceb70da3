import re
from dataclasses import replace

from hypothesis import given, settings

from commandsync.apply.outcomes import Result
from commandsync.diagnostics import Location
from commandsync.plan.plan import Plan
from commandsync.report import render_plans, render_results
from commandsync.report.github import Annotation
from tests.support.plans import plans


def _annotations(shown: str) -> list[str]:
    return [line for line in shown.splitlines() if line.startswith("::")]


def test_standard_input_is_no_file() -> None:
    assert str(Annotation("error", "T", "x", location=Location("-"))) == "::error title=T::x"


def test_ten_of_a_kind_are_annotated_at_most(every_change: Plan) -> None:
    noisy = replace(every_change, notices=every_change.notices * 25)
    shown = render_plans([noisy], format="github")

    assert len(_annotations(shown)) == 11
    assert shown.count("warning: commands.yaml") == 25


def test_a_result_without_trouble_is_not_annotated(trouble: Result) -> None:
    result = replace(trouble, settled=(), stopped="", notices=())

    assert _annotations(render_results([result], format="github")) == []


@settings(max_examples=60)
@given(plans())
def test_a_runner_obeys_our_annotations_and_nothing_else(plan: Plan) -> None:
    for line in render_plans([plan], format="github").splitlines():
        assert not re.search(r"##\w*\[", line)
        if line.lstrip().startswith("::"):
            assert re.match(r"::(error|warning|notice) [^:]*::", line)
