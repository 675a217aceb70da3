"""The JSON document of a plan: one model builds it, describes it and checks it when it is read."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from commandsync.document import VERSION, part
from commandsync.document.failure import schema_text
from commandsync.document.scheduled import ScheduledEntry, scheduled_part
from commandsync.plan.rules import SyncRules, parse_delete_limit
from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from commandsync.plan.plan import Plan


def _check_limit(text: str) -> str:
    parse_delete_limit(text)
    return text


Collection = Annotated[str, WithJsonSchema({"enum": [kind.collection for kind in Resource]})]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class Summary(part.Model):
    """The number of changes of each action; a rename is an edit."""

    add: part.Count
    edit: part.Count
    delete: part.Count
    replace: part.Count
    unchanged: part.Count


class Limits(part.Model):
    """The limits of the sync."""

    prune: bool
    max_deletes: Annotated[str, AfterValidator(_check_limit)] | None = Field(
        description='A number, a percentage or "all"; null for the default.'
    )
    announcements: Literal["append", "mirror"]
    ignore: tuple[str, ...] = Field(strict=False)

    def rules(self) -> SyncRules:
        """Return the rules of the sync."""
        limit = self.max_deletes and parse_delete_limit(self.max_deletes)
        return SyncRules(**dict(self) | {"max_deletes": limit})


class Head(part.Model):
    """The keys that a plan and a result have in common."""

    version: Literal[1]
    bot: str
    base_url: str
    manifest: tuple[str, ...] = Field(strict=False, description="The files it was made from.")
    scope: tuple[Collection, ...] = Field(strict=False, description="The managed collections.")
    summary: Summary
    listed: dict[Collection, part.Count] = Field(
        description="How many records were listed, without the ignored ones."
    )
    limits: Limits
    refused: part.Refused | None
    changes: tuple[part.PlannedChange, ...]
    kept: tuple[part.ListedRecord, ...] = Field(
        strict=False, description="Records that are not in the manifest and stay listed."
    )
    stuck: tuple[part.ListedRecord, ...] = Field(
        strict=False, description="Records to change or delete that have no usable id."
    )
    planned_at: part.TimeField | None = Field(
        default=None,
        exclude_if=lambda time: time is None,
        description="The time of the plan, if the manifest schedules anything; else absent.",
    )
    scheduled: tuple[ScheduledEntry, ...] = Field(
        default=(),
        strict=False,
        exclude_if=lambda entries: not entries,
        description="The entries with a schedule; absent for none.",
    )
    warnings: tuple[part.NoticeField, ...] = Field(strict=False)
    fingerprint: Digest = Field(description="Over bot, base URL and changes, and nothing else.")


class PlanDocument(Head):
    """The changes that apply would make."""

    changes: tuple[part.AnyChange, ...] = Field(strict=False)
    digest: Digest = Field(description="Over all other keys: shows that a saved plan was edited.")


def plan_document(plan: Plan) -> part.Document:
    """Return the document of a plan, as it is printed and saved."""
    changes = tuple(map(part.change_part, plan.changes))
    model = PlanDocument.built(**head_values(plan), changes=changes, digest="")
    document = model.model_dump(mode="json")
    return document | {"digest": digest_of(document)}


def head_values(plan: Plan) -> part.Document:
    """Return the values of `Head` but the changes."""
    limit, refusal = plan.rules.max_deletes, plan.refusal
    counts = {action: plan.count(action) for action in part.PLANNED}
    return {
        "version": VERSION,
        "bot": plan.target.bot,
        "base_url": plan.target.base_url,
        "manifest": plan.manifest,
        "scope": tuple(resource.collection for resource in plan.scope),
        "summary": Summary.of(plan, **counts),
        "listed": {resource.collection: plan.listed[resource] for resource in plan.scope},
        "limits": Limits.of(plan.rules, max_deletes=None if limit is None else str(limit)),
        "refused": refusal and part.Refused.of(refusal),
        "kept": tuple(part.ListedRecord.of(entry, resource=kind) for kind, entry in plan.unmanaged),
        "stuck": tuple(
            part.ListedRecord.of(entry, resource=kind) for kind, entry in plan.unwritable
        ),
        "planned_at": plan.now,
        "scheduled": tuple(map(scheduled_part, plan.scheduled)),
        "warnings": plan.notices,
        "fingerprint": plan.fingerprint,
    }


def plan_schema_text() -> str:
    """Return the JSON Schema of the output of `plan --format json`."""
    return schema_text(PlanDocument, title="commandsync plan, version 1")


def digest_of(document: part.Document) -> str:
    """Return the digest over a plan's whole document but the digest itself, in any layout."""
    digest = hashlib.sha256()
    for key in sorted(document.keys() - {"digest"}):
        digest.update(json.dumps([key, document[key]], sort_keys=True).encode())
    return f"sha256:{digest.hexdigest()}"
