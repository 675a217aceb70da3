"""The JSON Schemas of what plan and apply print, generated from the models of the documents."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from commandsync.document.shapes import (
    AddShape,
    AnyChange,
    Count,
    DeleteShape,
    EditShape,
    Head,
    Kind,
    Place,
    PlanShape,
    ReplaceShape,
    Shape,
    Warned,
)


class Ending(Shape):
    """How a change ended."""

    outcome: Literal["done", "failed", "unknown", "skipped"]
    already: bool = Field(
        description="Whether it was done before this run, which sent nothing for it."
    )
    error: str = Field(description="Why it is not done; empty when it is.")
    hint: str = Field(description="What to do about it; may be empty.")


class SettledAdd(AddShape, Ending):
    """An add and how it ended."""


class SettledEdit(EditShape, Ending):
    """An edit and how it ended."""


class SettledReplace(ReplaceShape, Ending):
    """A replace and how it ended."""


class SettledDelete(DeleteShape, Ending):
    """A delete and how it ended."""


class Outcomes(Shape):
    """How many changes ended how."""

    done: Count
    failed: Count
    unknown: Count
    skipped: Count


class RewrittenField(Shape):
    """A field that the listing shows otherwise than it was sent."""

    field: str
    sent: str
    stored: str
    how: str
    advice: str


class RewrittenRecord(Shape):
    """A record that the listing shows otherwise than it was sent."""

    resource: Kind
    id: str | None
    name: str
    location: Place | None
    fields: list[RewrittenField]


class ResultShape(Head):
    """What became of a plan."""

    changes: list[
        Annotated[
            SettledAdd | SettledEdit | SettledReplace | SettledDelete,
            Field(discriminator="action"),
        ]
    ]
    outcomes: Outcomes
    verified: bool = Field(
        description="Whether planning again, from the listing as read back, leaves nothing to do."
    )
    left: list[AnyChange] = Field(
        description="What planning again would do, other than changes that are not done."
    )
    stopped: str = Field(description="Why the rest was skipped; empty when nothing was.")
    stopped_hint: str = Field(description="What to do about that; may be empty.")
    interrupted: bool
    differences: list[RewrittenRecord]
    notices: list[Warned]


class FailureReason(Shape):
    """Why there is no result."""

    kind: str
    message: str
    hint: str


class ProblemShape(Shape):
    """Something wrong at a place in a manifest."""

    path: str
    line: int = Field(ge=1)
    column: int = Field(ge=1)
    message: str
    hint: str


class Failure(Shape):
    """What is printed when there is no plan or result."""

    version: Literal[1]
    error: FailureReason
    problems: list[ProblemShape]


class SeveralPlans(Shape):
    """The plans of several manifests, or why there is none."""

    version: Literal[1]
    results: list[PlanShape | Failure]


class SeveralResults(Shape):
    """The results of several manifests, or why there is none."""

    version: Literal[1]
    results: list[ResultShape | Failure]


def plan_schema_text() -> str:
    """Return the JSON Schema of what `plan --format json` prints."""
    return _schema_text(
        TypeAdapter(PlanShape | SeveralPlans | Failure), title="commandsync plan, version 1"
    )


def result_schema_text() -> str:
    """Return the JSON Schema of what `apply --format json` prints."""
    return _schema_text(
        TypeAdapter(ResultShape | SeveralResults | Failure), title="commandsync result, version 1"
    )


def _schema_text(adapter: TypeAdapter[Any], *, title: str) -> str:
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return json.dumps(head | adapter.json_schema(), indent=2) + "\n"
