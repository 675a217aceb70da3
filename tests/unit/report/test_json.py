import json
import re
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from commandsync.apply.outcomes import Result
from commandsync.diagnostics import Location, Problem
from commandsync.document.plan import plan_document
from commandsync.document.schemas import failure_document, result_document
from commandsync.errors import CommandsyncError, StalePlanError
from commandsync.manifest import Manifest
from commandsync.plan.plan import RecordPlan
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.report import (
    Screen,
    render_failure,
    render_plans,
    render_results,
    render_validated,
)
from tests.support.plans import command, plan_of, plans
from tests.support.registered import untrusted_plans


def _no_constant(word: str) -> Any:  # noqa: ANN401 - it never returns
    raise AssertionError(word)


@given(st.one_of(plans(), untrusted_plans()))
def test_a_plan_is_one_document_that_no_runner_obeys(plan: RecordPlan) -> None:
    text = render_plans([plan], format="json")

    assert json.loads(text, parse_constant=_no_constant) == plan_document(plan)
    assert "::" not in text
    assert not re.search(r"##\w*\[", text)
    assert text == render_plans([plan], format="json", screen=Screen(color=True))
    assert text.endswith("}\n")


def test_several_plans_are_one_document(every_change: RecordPlan, refused: RecordPlan) -> None:
    document = json.loads(render_plans([every_change, refused], format="json"))

    assert document["version"] == 1
    assert [one["summary"]["delete"] for one in document["results"]] == [1, 4]


def test_a_result_is_its_document(trouble: Result) -> None:
    assert json.loads(render_results([trouble], format="json")) == result_document(trouble)


def test_a_failure_is_a_document_too() -> None:
    error = StalePlanError("the listing changed", hint="plan again")

    assert json.loads(render_failure(error, format="json")) == {
        "version": 1,
        "error": {"kind": "stale", "message": "the listing changed", "hint": "plan again"},
        "problems": [],
    }
    odd = CommandsyncError("it is odd", kind="odd")
    assert json.loads(render_failure(odd, format="json"))["error"]["kind"] == "odd"


def test_plans_results_and_failures_make_one_document(
    every_change: RecordPlan, trouble: Result
) -> None:
    error = StalePlanError("the listing changed")

    document = json.loads(render_plans([every_change, trouble, error], format="json"))
    assert document["results"] == [
        plan_document(every_change),
        result_document(trouble),
        failure_document(error),
    ]


def test_no_valid_manifest_is_still_a_document() -> None:
    assert json.loads(render_validated([], format="json")) == {
        "version": 1,
        "manifests": [],
        "warnings": [],
    }


def test_valid_manifests_are_counted_with_their_warnings() -> None:
    manifest = Manifest(
        "a.yaml",
        snapshot=Snapshot({Resource.COMMAND: (command("help"),)}),
        warnings=(Problem(Location("a.yaml", 2, 3), "twins"),),
    )

    assert json.loads(render_validated([manifest], format="json")) == {
        "version": 1,
        "manifests": [{"path": "a.yaml", "commands": 1}],
        "warnings": [{"path": "a.yaml", "line": 2, "column": 3, "message": "twins", "hint": ""}],
    }


def test_a_name_of_a_file_that_is_not_text_is_written_as_an_escape() -> None:
    plan = replace(plan_of(), manifest=("a\udcff.yaml",))

    assert '"a\\udcff.yaml"' in render_plans([plan], format="json")
