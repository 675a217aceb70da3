"""The documents as JSON text: for programs, and as the file of a saved plan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from commandsync.apply.outcomes import Result
from commandsync.document import documents
from commandsync.errors import CommandsyncError
from commandsync.report.escape import json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.document.documents import Validated
    from commandsync.plan.plan import Plan


def plans(plans: Sequence[Plan], *, color: bool) -> str:  # noqa: ARG001 - json has no colours
    """Return one document for all plans."""
    return dumped(documents.documents([documents.plan_document(plan) for plan in plans]))


def results(results: Sequence[Result], *, color: bool) -> str:  # noqa: ARG001 - as above
    """Return one document for all results."""
    return dumped(documents.documents([documents.result_document(one) for one in results]))


def failure(error: CommandsyncError, *, color: bool, kind: str) -> str:  # noqa: ARG001 - as above
    """Return the document of a failure."""
    return dumped(documents.failure_document(error, kind=kind))


def validated(manifests: Sequence[Validated], *, color: bool) -> str:  # noqa: ARG001 - as above
    """Return one document for all manifests."""
    return dumped(documents.validated_document(manifests))


def mixed(outcomes: Sequence[Plan | Result | CommandsyncError]) -> str:
    """Return one document for what came of several manifests."""
    return dumped(documents.documents([_document(one) for one in outcomes]))


def _document(outcome: Plan | Result | CommandsyncError) -> dict[str, Any]:
    if isinstance(outcome, CommandsyncError):
        return documents.failure_document(outcome)
    if isinstance(outcome, Result):
        return documents.result_document(outcome)
    return documents.plan_document(outcome)


def dumped(document: dict[str, Any]) -> str:
    """Return a document as text that no CI runner takes for a command."""
    return json_text(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"
