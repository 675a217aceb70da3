"""Plans, results and failures as JSON documents.

The documents are plain dicts in the order in which they are printed; their models, which only
reading and the schemas need, are in `shapes` and `schemas`.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Protocol

from commandsync.apply.outcomes import Outcome
from commandsync.errors import (
    FileError,
    Forbidden,
    ListingError,
    ManifestError,
    RateLimited,
    RefusedError,
    ServerError,
    StalePlanError,
    TransportError,
    Unauthorized,
    UsageError,
)
from commandsync.plan.changes import Add, Delete, Edit, Replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.apply.outcomes import Difference, Result
    from commandsync.diagnostics import Location, Notice, Problem
    from commandsync.errors import CommandsyncError
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan
    from commandsync.records.snapshot import Entry, Snapshot
    from commandsync.records.texts import Resource

    Document = dict[str, Any]

VERSION = 1
"""The version of every document; another one is never guessed at."""

_KINDS: tuple[tuple[tuple[type[CommandsyncError], ...], str], ...] = (
    ((UsageError,), "usage"),
    ((ManifestError,), "invalid"),
    ((FileError,), "file"),
    ((StalePlanError,), "stale"),
    ((RefusedError,), "refused"),
    ((Unauthorized, Forbidden), "auth"),
    ((RateLimited,), "rate-limited"),
    ((TransportError, ServerError), "network"),
    ((ListingError,), "service"),
)


class Validated(Protocol):
    """What `validate` says about one valid manifest; the manifest's own value has it all."""

    @property
    def path(self) -> str:
        """The file as the user named it."""

    @property
    def snapshot(self) -> Snapshot:
        """The desired entries."""

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What is valid and yet hardly meant."""


def plan_document(plan: Plan) -> Document:
    """Return a plan as it is printed and saved; its digest tells whether it was edited."""
    document = _plan_document(plan)
    return document | {"digest": digest_of(document)}


def digest_of(document: Document) -> str:
    """Return the digest over a plan's whole document but the digest itself, however laid out."""
    digest = hashlib.sha256()
    for key in sorted(document.keys() - {"digest"}):
        digest.update(json.dumps([key, document[key]], sort_keys=True).encode())
    return f"sha256:{digest.hexdigest()}"


def _plan_document(plan: Plan) -> Document:
    actions = ("add", "edit", "delete", "replace")
    rules, refusal = plan.rules, plan.refusal
    return {
        "version": VERSION,
        "bot": plan.target.bot,
        "base_url": plan.target.base_url,
        "manifest": list(plan.manifest),
        "scope": [resource.collection for resource in plan.scope],
        "summary": {action: plan.count(action) for action in actions}
        | {"unchanged": plan.unchanged},
        "listed": {resource.collection: plan.listed[resource] for resource in plan.scope},
        "limits": {
            "prune": rules.prune,
            "max_deletes": None if rules.max_deletes is None else str(rules.max_deletes),
            "announcements": rules.announcements,
            "ignore": list(rules.ignore),
        },
        "refused": refusal and {"message": refusal.message, "hint": refusal.hint},
        "changes": [_change_document(change) for change in plan.changes],
        "kept": [_listed_document(resource, entry) for resource, entry in plan.unmanaged],
        "stuck": [_listed_document(resource, entry) for resource, entry in plan.unwritable],
        "warnings": [_notice_document(notice) for notice in plan.notices],
        "fingerprint": plan.fingerprint,
    }


def result_document(result: Result) -> Document:
    """Return what became of a plan: what the plan's document says and how each change ended."""
    return _plan_document(result.plan) | {
        "changes": [
            _change_document(one.change)
            | {
                "outcome": one.outcome.value,
                "already": one.already,
                "error": one.error,
                "hint": one.hint,
            }
            for one in result.settled
        ],
        "outcomes": {outcome.value: result.count(outcome) for outcome in Outcome},
        "verified": result.verified,
        "left": [_change_document(change) for change in result.remaining],
        "stopped": result.stopped,
        "stopped_hint": result.stopped_hint,
        "interrupted": result.interrupted,
        "differences": [_difference_document(one) for one in result.differences],
        "notices": [_notice_document(notice) for notice in result.notices],
    }


def documents(several: Sequence[Document]) -> Document:
    """Return one document for all manifests: a single one's own, else a list of them."""
    return several[0] if len(several) == 1 else {"version": VERSION, "results": list(several)}


def failure_document(error: CommandsyncError, *, kind: str = "") -> Document:
    """Return why there is no other document.

    Args:
        error: What went wrong.
        kind: What sort of failure it is, in one word for programs; by default `failure_kind`.
    """
    problems = error.problems if isinstance(error, ManifestError) else ()
    said = {
        "kind": kind or failure_kind(error),
        "message": error.message,
        "hint": error.hint,
    }
    found = [_problem_document(problem) for problem in problems]
    return {"version": VERSION, "error": said, "problems": found}


def failure_kind(error: CommandsyncError) -> str:
    """Return in one word what sort of failure an error is."""
    return next((kind for classes, kind in _KINDS if isinstance(error, classes)), "failed")


def validated_document(manifests: Sequence[Validated]) -> Document:
    """Return what `validate` found in valid manifests."""
    return {
        "version": VERSION,
        "manifests": [
            {"path": one.path}
            | {r.collection: len(entries) for r, entries in one.snapshot.collections.items()}
            for one in manifests
        ],
        "warnings": [_problem_document(problem) for one in manifests for problem in one.warnings],
    }


def plan_schema_text() -> str:
    """Return the JSON Schema of what `plan --format json` prints."""
    from commandsync.document import schemas  # noqa: PLC0415 - pydantic

    return schemas.plan_schema_text()


def result_schema_text() -> str:
    """Return the JSON Schema of what `apply --format json` prints."""
    from commandsync.document import schemas  # noqa: PLC0415 - pydantic

    return schemas.result_schema_text()


def _change_document(change: Change) -> Document:
    document: Document = {
        "action": change.action,
        "resource": change.resource.value,
        "id": None if isinstance(change, Add) else change.id,
        "name": change.name,
        "before": None if isinstance(change, Add) else change.before._asdict(),
        "after": None if isinstance(change, Delete) else change.after._asdict(),
        "fields": {},
        "location": None if isinstance(change, Delete) else _place(change.location),
    }
    if isinstance(change, Edit | Replace):
        document["fields"] = {one.field: {"old": one.old, "new": one.new} for one in change.fields}
    if isinstance(change, Edit):
        document["renamed_from"] = change.before[0] if change.renames else None
    if isinstance(change, Add | Replace):
        document["listed"] = change.listed
        document["alike"] = change.same_name
    return document


def _listed_document(resource: Resource, entry: Entry) -> Document:
    return {
        "resource": resource.value,
        "id": entry.id,
        "name": entry.name,
        "text": entry.text._asdict(),
    }


def _difference_document(difference: Difference) -> Document:
    change = difference.change
    return {
        "resource": change.resource.value,
        "id": None if isinstance(change, Add) else change.id,
        "name": change.name,
        "location": None if isinstance(change, Delete) else _place(change.location),
        "fields": [
            {
                "field": one.field,
                "sent": one.sent,
                "stored": one.stored,
                "how": one.how,
                "advice": one.advice,
            }
            for one in difference.rewrites
        ],
    }


def _notice_document(notice: Notice) -> Document:
    place = _place(notice.location)
    return {"message": notice.message, "hint": notice.hint, "location": place}


def _problem_document(problem: Problem) -> Document:
    location = _place(problem.location) or {}
    return location | {"message": problem.message, "hint": problem.hint}


def _place(location: Location | None) -> Document | None:
    if location is None:
        return None
    return {"path": location.path, "line": location.line, "column": location.column}
