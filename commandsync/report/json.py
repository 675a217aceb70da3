"""Plans, results and failures as JSON: for programs, and as the file of a saved plan."""

from collections.abc import Sequence
from typing import Any

from commandsync.apply.outcomes import Result
from commandsync.diagnostics import Words
from commandsync.document import VERSION
from commandsync.document.part import json_of
from commandsync.document.plan import plan_document
from commandsync.document.schemas import (
    failure_document,
    joined_document,
    listed_problem,
    result_document,
)
from commandsync.errors import CommandsyncError
from commandsync.manifest import Manifest
from commandsync.plan.plan import Plan
from commandsync.report.lines import Screen, json_text


def plans(outcomes: Sequence[Plan | Result | CommandsyncError], *, screen: Screen) -> str:
    """Return one document for all plans, results and failures."""
    return dumped(joined_document([_document(outcome, screen.words) for outcome in outcomes]))


results = plans


def failure(error: CommandsyncError, *, screen: Screen) -> str:
    """Return the document of a failure."""
    return dumped(failure_document(error, screen.words))


def validated(manifests: Sequence[Manifest], *, screen: Screen) -> str:
    """Return one document for all manifests."""
    counted, warnings = [], []
    for manifest in manifests:
        collections = manifest.snapshot.collections.items()
        counts = {kind.collection: len(entries) for kind, entries in collections}
        counted.append({"path": manifest.path} | counts)
        warnings += [
            listed_problem(each).model_dump(mode="json", context=screen.words)
            for each in manifest.warnings
        ]
    return dumped({"version": VERSION, "manifests": counted, "warnings": warnings})


def _document(outcome: Plan | Result | CommandsyncError, words: Words) -> dict[str, Any]:
    if isinstance(outcome, CommandsyncError):
        return failure_document(outcome, words)
    if isinstance(outcome, Result):
        return result_document(outcome, words)
    return plan_document(outcome, words)


def dumped(document: dict[str, Any]) -> str:
    """Return a document as text without commands to a CI runner."""
    return json_text(json_of(document)) + "\n"
