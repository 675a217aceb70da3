"""The documents that are not a plan, and the JSON Schema of each document.

The document of a result is the document of its plan, with the end of each change. A failure, with a
manifest's problems each at its place, is the document of a run that ends without a result;
`joined_document` puts the documents of several manifests into one. `docs` prints a list of
commands.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field, TypeAdapter

from commandsync.apply.outcomes import Outcome, Result
from commandsync.diagnostics import LIBRARY, Problem, Words
from commandsync.document import VERSION, part
from commandsync.document.part import Document, HintField, Model, Place, optional
from commandsync.document.plan import Head, PlanDocument, head_values
from commandsync.document.view import result_view
from commandsync.errors import CommandsyncError
from commandsync.records.texts import CommandText


class Ending(part.Model):
    """How a change ended."""

    outcome: Outcome
    already: bool = Field(
        description="Whether it was done before this run, which sent nothing for it."
    )
    error: str = Field(description="Why it is not done; empty when it is.")
    hint: part.HintField = Field(description="Advice about it; may be empty.")


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
        description="The changes that a new plan would have, apart from the changes that are not "
        "done here."
    )
    stopped: str = Field(description="Why the rest was skipped; empty when nothing was.")
    stopped_hint: part.HintField = Field(description="Advice about that; may be empty.")
    interrupted: bool
    differences: tuple[RewrittenRecord, ...]
    notices: tuple[part.NoticeField, ...]


def result_document(result: Result, words: Words = LIBRARY) -> part.Document:
    """Return the document of a result, with hints in the words of a program."""
    view = result_view(result, words)
    changes, rewritten = [], []
    for each in view.settled:
        ending = {name: getattr(each.settled, name) for name in Ending.model_fields}
        changes.append(part.change_part(each.change, _SETTLED, **ending))
    for each in view.rewritten:
        change = each.change.change
        fields = tuple(map(RewrittenField.of, each.settled.rewrites))
        rewritten.append(RewrittenRecord.of(change, id=getattr(change, "id", None), fields=fields))
    return ResultDocument.of(
        result,
        **head_values(view.plan),
        changes=tuple(changes),
        outcomes=Outcomes.of(**{each: result.count(each) for each in Outcome}),
        left=tuple(map(part.change_part, view.remaining)),
        differences=tuple(rewritten),
    ).model_dump(mode="json", context=words)


D = TypeVar("D", bound=Model)


class ListedProblem(Place):
    """A problem at a place in a manifest."""

    message: str
    hint: HintField


class Reason(Model):
    """The reason of a failure."""

    kind: str
    message: str
    hint: HintField


class Failure(Model):
    """The document of a failure."""

    version: Literal[1]
    error: Reason
    problems: tuple[ListedProblem, ...]
    listing: str = optional(
        "The listing that it is about, if the manifest has listings:.", default=""
    )


class Several(Model, Generic[D]):
    """The documents of several manifests, or the failures in their place."""

    version: Literal[1]
    results: tuple[D | Failure, ...]


def failure_document(error: CommandsyncError, words: Words = LIBRARY) -> Document:
    """Return the document of a failure, with hints in the words of a program."""
    return Failure.of(
        version=VERSION,
        error=Reason.of(error),
        problems=tuple(map(listed_problem, error.problems)),
        listing=error.listing,
    ).model_dump(mode="json", context=words)


def listed_problem(problem: Problem) -> ListedProblem:
    """Return the part for a problem in a manifest."""
    return ListedProblem.of(problem.location, message=problem.message, hint=problem.hint)


def joined_document(documents: Sequence[Document]) -> Document:
    """Return one document for all manifests: the only one itself, several as a list."""
    if len(documents) == 1:
        return documents[0]
    return {"version": VERSION, "results": list(documents)}


class CommandList(part.Model):
    """The commands of a manifest, in its order, with the prefix filled in."""

    version: Literal[1]
    commands: tuple[part.CommandField, ...]


def command_list_document(commands: Iterable[CommandText]) -> part.Document:
    """Return the document of a command list."""
    return CommandList.of(version=VERSION, commands=tuple(commands)).model_dump(mode="json")


def is_command_list(text: str) -> bool:
    """Return whether a text is the document of a command list, with any commands."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.keys() == CommandList.model_fields.keys()


_DOCUMENTS: dict[str, tuple[str, type[Model]]] = {
    "plan": ("commandsync plan, version 1", PlanDocument),
    "result": ("commandsync result, version 1", ResultDocument),
    "docs": ("commandsync command list", CommandList),
}
"""The title and the model of each document."""


def schema_text(name: str) -> str:
    """Return the JSON Schema of a document or a failure; of plans and results, also for several."""
    title, model = _DOCUMENTS[name]
    shapes: Any = model | Failure
    if name in {"plan", "result"}:
        shapes = model | Several[model] | Failure  # type: ignore[valid-type]  # known at run time
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return json.dumps(head | TypeAdapter(shapes).json_schema(), indent=2) + "\n"
