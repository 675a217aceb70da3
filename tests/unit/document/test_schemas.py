import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Location, Notice, Problem
from commandsync.document.plan import plan_document
from commandsync.document.schemas import (
    failure_document,
    joined_document,
    result_document,
    schema_text,
)
from commandsync.errors import ManifestError
from commandsync.plan.plan import RecordPlan
from commandsync.records.rewrites import Rewrite
from tests.support import registered
from tests.support.plans import command, plan_of, plans

PLAN = Draft202012Validator(json.loads(schema_text("plan")))
RESULT = Draft202012Validator(json.loads(schema_text("result")))


@pytest.mark.parametrize("name", ["docs", "plan", "result"])
def test_the_schemas_are_valid(name: str) -> None:
    Draft202012Validator.check_schema(json.loads(schema_text(name)))


def _result(plan: RecordPlan) -> Result:
    kinds = list(Outcome)
    rewrite = Rewrite("description", "long", "lo", "cut at 2 characters", "shorten it")
    settled = tuple(
        Settled(change, kinds[n % len(kinds)], "why", "hint", rewrites=(rewrite,))
        for n, change in enumerate(plan.changes)
    )
    return Result(
        plan=plan,
        settled=settled,
        notices=(Notice("odd", "even", Location("a.yaml")), Notice("x")),
        stopped="why",
    )


@given(st.one_of(plans(), registered.plans()))
def test_real_documents_have_the_shape_of_the_schemas(plan: RecordPlan) -> None:
    PLAN.validate(plan_document(plan))
    RESULT.validate(result_document(_result(plan)))


def test_several_documents_and_failures_have_it_too() -> None:
    plan = plan_of([command("help")])
    failure = failure_document(ManifestError([Problem(Location("a.yaml"), "odd", "even")]))

    PLAN.validate(joined_document([plan_document(plan), failure]))
    RESULT.validate(joined_document([result_document(_result(plan)), failure]))
    PLAN.validate(failure)
    RESULT.validate(failure)


@pytest.mark.parametrize(
    "wrong",
    [{"version": 2}, {"extra": 1}, {"changes": [{}]}, {"fingerprint": "md5:1"}, {"bot": None}],
)
def test_what_is_wrong_does_not_have_it(wrong: dict[str, Any]) -> None:
    document = plan_document(plan_of([command("help")])) | wrong

    with pytest.raises(ValidationError):
        PLAN.validate(document)
