"""The JSON document of a failure, and of several manifests."""

from collections.abc import Sequence
from typing import Generic, Literal, TypeVar

from commandsync.diagnostics import Problem
from commandsync.document import VERSION
from commandsync.document.part import Document, HintField, Model, Place, optional
from commandsync.errors import CommandsyncError, ManifestError

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
        "The listing that it is about, of a manifest with listings:.", default=""
    )


class Several(Model, Generic[D]):
    """The documents of several manifests, or the failures in their place."""

    version: Literal[1]
    results: tuple[D | Failure, ...]


def failure_document(error: CommandsyncError) -> Document:
    """Return the document of a failure."""
    problems = error.problems if isinstance(error, ManifestError) else ()
    return Failure.of(
        version=VERSION,
        error=Reason.of(error),
        problems=tuple(map(listed_problem, problems)),
        listing=error.listing,
    ).model_dump(mode="json")


def listed_problem(problem: Problem) -> ListedProblem:
    """Return the part for a problem in a manifest."""
    return ListedProblem.of(problem.location, message=problem.message, hint=problem.hint)


def joined_document(documents: Sequence[Document]) -> Document:
    """Return one document for all manifests: the only one itself, several as a list."""
    if len(documents) == 1:
        return documents[0]
    return {"version": VERSION, "results": list(documents)}
