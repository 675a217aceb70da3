"""The JSON document of a plan: one model builds it, describes it and checks it when it is read."""

import hashlib
import json
from datetime import datetime
from typing import Annotated, Any, Literal, Self, assert_never

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from commandsync.diagnostics import LIBRARY, Words
from commandsync.document import VERSION, part
from commandsync.plan.baseline import name_of
from commandsync.plan.comparison import Scheduled
from commandsync.plan.plan import ListPlan, Plan, RecordPlan
from commandsync.plan.rules import SyncRules, parse_delete_limit
from commandsync.records.losses import instead_of
from commandsync.records.snapshot import Entry, Phase, Schedule
from commandsync.records.texts import Resource


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


class Refused(part.Model):
    """Why apply refuses the plan, and what allows it."""

    message: str
    hint: part.HintField


class ListedRecord(part.Model):
    """A listed record that stays as it is."""

    resource: part.ResourceField
    id: str
    name: str
    text: part.TextField

    @model_validator(mode="after")
    def _check(self) -> Self:
        part.check_texts(self.resource, self.text)
        return self

    def record(self) -> tuple[Resource, Entry]:
        """Return the record."""
        return self.resource, Entry(self.text, self.id)


class LossPart(part.Model):
    """What a service does not show of the manifest."""

    field: str
    count: part.Count
    names: tuple[str, ...]
    instead: str = Field(description="What happens instead, in words.")


class AudiencePart(part.Model):
    """The audience of a list."""

    scope: str
    language: str = Field(description="Two letters; empty for all languages without a list.")


class ScheduledEntry(part.Model):
    """An entry of the manifest with a schedule."""

    resource: Annotated[
        part.ResourceField, part.one_of(kind for kind, can in part.ABILITIES.items() if can.posts)
    ]
    name: str
    publish: part.TimeField | None
    until: part.TimeField | None
    phase: Phase = Field(
        strict=False,
        description="Where in its schedule it is: it waits for publish, is due, or has ended.",
    )
    is_listed: bool = Field(
        alias="listed",
        description="Whether a listed record matches it; after its end, only its own record.",
    )
    location: part.LocationField | None

    def scheduled(self, now: datetime) -> Scheduled:
        """Return the entry at the time of the plan."""
        schedule = Schedule(publish=self.publish, until=self.until)
        others = {"resource", "name", "is_listed", "location"}
        values = {key: value for key, value in self if key in others}
        return Scheduled(schedule=schedule, phase=schedule.phase(now), **values)


def _of_listings(description: str, *, strict: bool | None = None) -> Any:  # noqa: ANN401 - as of `Field`
    """Return a field of the documents of a manifest with `listings:`."""
    absent = "Absent without listings: in the manifest."
    return part.optional(f"{description} {absent}", strict=strict)


class Head(part.Model):
    """The keys that a plan and a result have in common."""

    version: Literal[1]
    listing: str | None = _of_listings("The service's name, or the host of a page.")
    audience: AudiencePart | None = part.optional(
        "For whom the list is, of a service with several lists; else absent."
    )
    known: bool | None = _of_listings("Whether the plan is compared with a list.")
    compared_with: str | None = _of_listings(
        '"list", or the revision or file that was sent last; empty for nothing.'
    )
    losses: tuple[LossPart, ...] | None = _of_listings(
        "What the service does not show.", strict=False
    )
    bot: str
    base_url: str
    guild: str | None = part.optional(
        "The server at Discord whose commands they are; absent for global ones."
    )
    manifest: tuple[str, ...] = Field(strict=False, description="The files it was made from.")
    scope: tuple[Collection, ...] = Field(strict=False, description="The managed collections.")
    summary: Summary
    listed: dict[Collection, part.Count] = Field(
        description="How many records were listed, without ignored ones and exact copies."
    )
    limits: Limits
    refused: Refused | None
    changes: tuple[part.PlannedChange, ...]
    kept: tuple[ListedRecord, ...] = Field(
        strict=False, description="Records that are not in the manifest and stay listed."
    )
    stuck: tuple[ListedRecord, ...] = Field(
        strict=False, description="Records to change or delete that have no usable id."
    )
    planned_at: part.TimeField | None = part.optional(
        "The time of the plan, if the manifest schedules anything; else absent."
    )
    scheduled: tuple[ScheduledEntry, ...] = part.optional(
        "The entries with a schedule; absent for none.", default=(), strict=False
    )
    warnings: tuple[part.NoticeField, ...] = Field(strict=False)
    fingerprint: Digest = Field(description="Over bot, base URL and changes, and nothing else.")


class PlanDocument(Head):
    """The changes that apply would make."""

    changes: tuple[part.AnyChange, ...] = Field(strict=False)
    digest: Digest = Field(description="Over all other keys: shows that a saved plan was edited.")


def plan_document(plan: Plan, words: Words = LIBRARY) -> part.Document:
    """Return the document of a plan, as it is printed and saved, with hints in these words."""
    changes = tuple(map(part.change_part, plan.changes))
    model = PlanDocument.of(**head_values(plan), changes=changes, digest="")
    document = model.model_dump(mode="json", context=words)
    return document | {"digest": digest_of(document)}


def head_values(plan: Plan) -> part.Document:
    """Return the values of `Head` but the changes."""
    limit, refusal = plan.rules.max_deletes, plan.refusal
    counts = {action: plan.count(action) for action in part.PLANNED}
    return {
        "version": VERSION,
        **_listing_values(plan),
        "bot": plan.target.bot,
        "base_url": plan.target.base_url,
        "guild": plan.target.guild or None,
        "manifest": plan.manifest,
        "scope": tuple(resource.collection for resource in plan.scope),
        "summary": Summary.of(plan, **counts),
        "listed": {resource.collection: plan.sizes[resource] for resource in plan.scope},
        "limits": Limits.of(plan.rules, max_deletes=None if limit is None else str(limit)),
        "refused": refusal and Refused.of(refusal),
        "kept": tuple(ListedRecord.of(entry, resource=kind) for kind, entry in plan.unmanaged),
        "stuck": tuple(ListedRecord.of(entry, resource=kind) for kind, entry in plan.unwritable),
        **_schedule_values(plan),
        "warnings": plan.notices,
        "fingerprint": plan.fingerprint,
    }


def _listing_values(plan: Plan) -> part.Document:
    """Return the values of the keys that only a manifest with `listings:` has."""
    match plan:
        case RecordPlan(label=""):
            return dict.fromkeys(("listing", "audience", "known", "compared_with", "losses"))
        case RecordPlan():
            values = {"listing": plan.label, "audience": None, "losses": ()}
            return {**values, "known": plan.known, "compared_with": name_of(plan.baseline)}
        case ListPlan():
            losses = (LossPart.of(loss, instead=instead_of(loss)) for loss in plan.losses)
            return {
                "listing": plan.name,
                "audience": plan.audience and AudiencePart.of(plan.audience),
                "known": plan.known,
                "compared_with": name_of(plan.baseline),
                "losses": tuple(losses),
            }
        case _:
            assert_never(plan)


def _schedule_values(plan: Plan) -> part.Document:
    if isinstance(plan, ListPlan):  # only what is due is sent
        return {"planned_at": None, "scheduled": ()}
    entries = (
        ScheduledEntry.of(each, publish=each.schedule.publish, until=each.schedule.until)
        for each in plan.scheduled
    )
    return {"planned_at": plan.now, "scheduled": tuple(entries)}


def digest_of(document: part.Document) -> str:
    """Return the digest over a plan's whole document but the digest itself, in any layout."""
    digest = hashlib.sha256()
    for key in sorted(document.keys() - {"digest"}):
        digest.update(json.dumps([key, document[key]], sort_keys=True).encode())
    return f"sha256:{digest.hexdigest()}"
