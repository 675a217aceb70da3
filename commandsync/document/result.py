"""The JSON document of a result: the plan's, and how each change ended."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import LIBRARY, Words
from commandsync.document import part
from commandsync.document.plan import Head, head_values


class Ending(part.Model):
    """How a change ended."""

    outcome: Outcome
    already: bool = Field(
        description="Whether it was done before this run, which sent nothing for it."
    )
    error: str = Field(description="Why it is not done; empty when it is.")
    hint: part.HintField = Field(description="What to do about it; may be empty.")


class SettledAdd(Ending, part.PlannedAdd):
    """An add and how it ended."""


class SettledEdit(Ending, part.PlannedEdit):
    """An edit and how it ended."""


class SettledReplace(Ending, part.PlannedReplace):
    """A replace and how it ended."""


class SettledDelete(Ending, part.PlannedDelete):
    """A delete and how it ended."""


_SETTLED: Mapping[str, type[part.PlannedChange]] = {
    "add": SettledAdd,
    "edit": SettledEdit,
    "replace": SettledReplace,
    "delete": SettledDelete,
}


class Outcomes(part.Model):
    """The number of changes with each outcome."""

    done: part.Count
    sent: part.Count = part.optional(
        "Accepted by a service that does not return its list; absent for none.", default=0
    )
    failed: part.Count
    unknown: part.Count
    skipped: part.Count


class RewrittenField(part.Model):
    """A field that the service changed."""

    field: str
    sent: str
    stored: str
    how: str
    advice: str


class RewrittenRecord(part.Model):
    """A record whose text the service changed."""

    resource: part.ResourceField
    id: str | None
    name: str
    location: part.LocationField | None
    fields: tuple[RewrittenField, ...]


class ResultDocument(Head):
    """The outcome of a plan."""

    changes: tuple[
        Annotated[
            SettledAdd | SettledEdit | SettledReplace | SettledDelete, Field(discriminator="action")
        ],
        ...,
    ]
    outcomes: Outcomes
    verified: bool | None = Field(
        description="Whether planning again, from the listing as read back, leaves nothing to do; "
        "null where the service does not return its list."
    )
    left: tuple[part.AnyChange, ...] = Field(
        description="What planning again would do, other than changes that are not done."
    )
    stopped: str = Field(description="Why the rest was skipped; empty when nothing was.")
    stopped_hint: part.HintField = Field(description="What to do about that; may be empty.")
    interrupted: bool
    differences: tuple[RewrittenRecord, ...]
    notices: tuple[part.NoticeField, ...]


def result_document(result: Result, words: Words = LIBRARY) -> part.Document:
    """Return the document of a result, with hints in the words of a program."""
    counts = {outcome.value: result.count(outcome) for outcome in Outcome}
    return ResultDocument.of(
        result,
        **head_values(result.plan),
        changes=tuple(map(_settled, result.settled)),
        outcomes=Outcomes.of(**counts),
        left=tuple(map(part.change_part, result.remaining)),
        differences=tuple(map(_rewritten, result.rewritten)),
    ).model_dump(mode="json", context=words)


def _settled(settled: Settled) -> part.PlannedChange:
    ending = {name: getattr(settled, name) for name in Ending.model_fields}
    return part.change_part(settled.change, _SETTLED, **ending)


def _rewritten(settled: Settled) -> RewrittenRecord:
    change = settled.change
    return RewrittenRecord.of(
        change,
        id=getattr(change, "id", None),
        fields=tuple(map(RewrittenField.of, settled.rewrites)),
    )
