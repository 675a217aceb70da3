"""The JSON document of a plan: one model builds it, describes it and checks it when it is read.

`SavedPlan` is the document in a file, which can be applied: it is read back and checked.
"""

import hashlib
import json
from collections import Counter
from datetime import datetime
from itertools import product
from typing import Annotated, Any, Literal, NoReturn, Self

from pydantic import AfterValidator, Field, ValidationError, WithJsonSchema, model_validator

from commandsync.api.arguments import parse_address
from commandsync.api.content import check_size
from commandsync.diagnostics import LIBRARY, Do, Words
from commandsync.document import VERSION, part
from commandsync.document.view import PlanView, plan_view
from commandsync.errors import CommandsyncError, FileError, RefusedError
from commandsync.plan.comparison import Scheduled
from commandsync.plan.plan import THE_LIST, ListPlan, Plan, RecordPlan, Target, name_of
from commandsync.plan.rules import SyncRules, parse_delete_limit
from commandsync.records.losses import Instead, Loss, LossReason, instead_of
from commandsync.records.snapshot import Entry, Phase, Schedule
from commandsync.records.texts import Resource
from commandsync.services.abilities import DISCORD_ABILITIES, PAGE_ABILITIES


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
    """The reason of a refusal by apply, and advice."""

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
    """A part of the manifest that a service does not show."""

    field: str
    count: part.Count
    names: tuple[str, ...] = Field(strict=False)
    instead: str = Field(description="The consequence in words.")

    def loss(self) -> Loss:
        """Return the loss; raises `ValueError` if nothing is lost in this way."""
        for reason, instead in product(LossReason, Instead):
            loss = Loss(self.field, reason, instead, self.names)
            if instead_of(loss) == self.instead:
                return loss
        raise ValueError(f"{self.instead!r} is not the consequence of a loss")


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
        description="Its phase: it waits for publish, is due, or has ended.",
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
    """Return a field that only a manifest with `listings:` has."""
    absent = "Absent without listings: in the manifest."
    return part.optional(f"{description} {absent}", strict=strict)


class Head(part.Model):
    """The keys that a plan and a result have in common."""

    version: Literal[1]
    listing: str | None = _of_listings("The service's name, or the host of a page.")
    audience: AudiencePart | None = part.optional(
        "The audience of the list, if its service has several lists; else absent."
    )
    known: bool | None = _of_listings("Whether the plan is compared with a list.")
    compared_with: str | None = _of_listings(
        '"list", or the revision or file that was sent last; empty for nothing.'
    )
    losses: tuple[LossPart, ...] | None = _of_listings(
        "The parts that the service does not show.", strict=False
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
    view = plan_view(plan)
    changes = tuple(map(part.change_part, view.changes))
    model = PlanDocument.of(**head_values(view), changes=changes, digest="")
    del view  # a large plan has no room for it beside the document
    document = model.model_dump(mode="json", context=words)
    return document | {"digest": digest_of(document)}


def head_values(view: PlanView) -> part.Document:
    """Return the values of `Head` but the changes."""
    plan, counts, limit = view.plan, view.counts, view.plan.rules.max_deletes
    scheduled: list[ScheduledEntry] = []
    if isinstance(plan, RecordPlan):  # of a whole list, only what is due is sent
        for each in plan.scheduled:
            times = {"publish": each.schedule.publish, "until": each.schedule.until}
            scheduled.append(ScheduledEntry.of(each, **times))
    return {
        "version": VERSION,
        **_listing_values(plan),
        "bot": plan.target.bot,
        "base_url": plan.target.base_url,
        "guild": plan.target.guild or None,
        "manifest": plan.manifest,
        "scope": tuple(resource.collection for resource in plan.scope),
        "summary": Summary(
            add=counts["add"],
            edit=counts["edit"] + counts["rename"],
            delete=counts["delete"],
            replace=counts["replace"],
            unchanged=plan.unchanged,
        ),
        "listed": {resource.collection: plan.sizes[resource] for resource in plan.scope},
        "limits": Limits.of(plan.rules, max_deletes=None if limit is None else str(limit)),
        "refused": view.refusal and Refused.of(view.refusal),
        "kept": tuple(ListedRecord.of(entry, resource=kind) for kind, entry in plan.unmanaged),
        "stuck": tuple(ListedRecord.of(entry, resource=kind) for kind, entry in plan.unwritable),
        "planned_at": plan.now if isinstance(plan, RecordPlan) else None,
        "scheduled": tuple(scheduled),
        "warnings": view.notices,
        "fingerprint": plan.fingerprint,
    }


def _listing_values(plan: Plan) -> part.Document:
    """Return the values of the keys that only a manifest with `listings:` has."""
    if not plan.label:
        return dict.fromkeys(("listing", "audience", "known", "compared_with", "losses"))
    audience = plan.audience if isinstance(plan, ListPlan) else None
    return {
        "listing": plan.name if isinstance(plan, ListPlan) else plan.label,
        "audience": audience and AudiencePart.of(audience),
        "known": plan.known,
        "compared_with": name_of(plan.baseline),
        "losses": tuple(LossPart.of(loss, instead=instead_of(loss)) for loss in plan.losses),
    }


def digest_of(document: part.Document) -> str:
    """Return the digest over a plan's whole document but the digest itself, in any layout."""
    digest = hashlib.sha256()
    for key in sorted(document.keys() - {"digest"}):
        digest.update(json.dumps([key, document[key]], sort_keys=True).encode())
    return f"sha256:{digest.hexdigest()}"


LARGEST_PLAN = 32 * 2**20
"""Bytes of a file: enough for 20,000 commands, the most that the service lists in an answer."""

_AGAIN = Do.MAKE_PLAN(then="")
_REVIEW = Do.MAKE_PLAN(then=", review it, and apply that one")
_OTHERS = {
    "results": "it holds several plans: save the plan of each manifest in its own file",
    "error": "it holds the report of a failure",
    "verified": "it holds the result of an apply",
}


def _check_base_url(base_url: str) -> str:
    try:
        address = parse_address(base_url, insecure_http=True)  # sending checks it, with the flag
    except CommandsyncError as error:
        raise ValueError(error.message) from error
    if str(address) != base_url:
        raise ValueError(f"a plan writes it as {address}")
    return base_url


class SavedPlan(PlanDocument):
    """A plan that can be applied: it names its bot and service."""

    bot: str = Field(min_length=1)
    base_url: Annotated[str, AfterValidator(_check_base_url)]

    @model_validator(mode="after")
    def _check_scope(self) -> Self:
        if self.scope != tuple(kind.collection for kind in self._kinds()):
            raise ValueError("its scope is not a list of collections in their order")
        if len({kind.exact for kind in self._kinds()}) > 1:
            raise ValueError("its scope belongs to two services")
        if self.listed.keys() != set(self.scope):
            raise ValueError("it does not count the records of each collection in its scope")
        records = (*self.changes, *self.kept, *self.stuck)
        if any(record.resource.collection not in self.scope for record in records):
            raise ValueError("it contains a record of a collection outside its scope")
        ids = [(change.resource, change.id) for change in self.changes if change.id is not None]
        if len(set(ids)) < len(ids):
            raise ValueError("it changes one record twice")
        return self

    @model_validator(mode="after")
    def _check_reading(self) -> Self:
        if self.compared_with not in {None, THE_LIST}:
            raise ValueError("the listing was not read for it")
        return self

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        if (self.planned_at is None) != (not self.scheduled):
            raise ValueError("it has a time without scheduled entries, or they have no time")
        ends = {entry.until for entry in self.scheduled if entry.phase is Phase.ENDED}
        deletes = [each for each in self.changes if isinstance(each, part.PlannedDelete)]
        if not ends.issuperset(delete.until for delete in deletes if delete.until is not None):
            raise ValueError("it deletes a record that has not ended")
        return self

    def plan(self) -> RecordPlan:
        """Return the plan."""
        now = self.planned_at
        at_discord = any(kind.exact for kind in self._kinds())
        return RecordPlan(
            target=Target(
                bot=self.bot,
                base_url=self.base_url,
                abilities=DISCORD_ABILITIES if at_discord else PAGE_ABILITIES,
                guild=self.guild or "",
            ),
            label=(self.listing or "") if at_discord else "",
            manifest=self.manifest,
            scope=self._kinds(),
            changes=tuple(change.change() for change in self.changes),
            unchanged=self.summary.unchanged,
            sizes={kind: self.listed[kind.collection] for kind in self._kinds()},
            rules=self.limits.rules(),
            unmanaged=tuple(map(ListedRecord.record, self.kept)),
            unwritable=tuple(map(ListedRecord.record, self.stuck)),
            notices=self.warnings,
            losses=tuple(each.loss() for each in self.losses or ()),
            scheduled=tuple(each.scheduled(now) for each in self.scheduled if now),
            now=now,
        )

    def _kinds(self) -> tuple[Resource, ...]:
        return tuple(kind for kind in Resource if kind.collection in self.scope)


def load_plan(text: str, path: str) -> RecordPlan:
    """Read a saved plan.

    Everything in the file must follow from its changes, so that a reviewer of the file has seen
    the writes of apply. Apply checks the limits again. Raises `FileError` if it is not a saved
    plan, and `RefusedError` if it is of another version, or it was edited or damaged.
    """
    try:
        data, digest = _parse(text)
        _check_head(data, digest, path)
        plan = SavedPlan.model_validate(data).plan()
        _check_derived(plan, data)
    except _EditedError as error:
        raise RefusedError(f"{path} was edited or damaged: {error}", hint=_REVIEW) from error
    except ValidationError as error:
        raise FileError(f"{path} is not a saved plan: {_first(error)}", hint=_AGAIN) from error
    except ValueError as error:
        raise FileError(f"{path} is not a saved plan: {error}", hint=_AGAIN) from error
    return plan


class _EditedError(ValueError):
    """The file is not as it was written."""


def _parse(text: str) -> tuple[part.Document, str]:
    """Return the JSON object in a file, and the digest over it."""
    if len(text) > LARGEST_PLAN:
        raise ValueError("it is too large")
    check_size(text)
    try:
        data = json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_unique, parse_constant=_refuse_constant
        )
        if isinstance(data, dict):
            return data, digest_of(data)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"it is not valid JSON: {why}") from error
    raise ValueError("it is not a JSON object")


def _check_head(data: part.Document, digest: str, path: str) -> None:
    """Refuse another version, another document, and a file that was edited.

    The digest is not a signature: it can be renewed on purpose. A plan without it was edited.
    """
    version = data.get("version")
    if type(version) is int and version != VERSION:
        raise RefusedError(
            f"{path} has another version than {VERSION}, the only one that is supported",
            hint=Do.MAKE_PLAN(then=", or apply it with the version of commandsync that made it"),
        )
    if not data.keys() & {"digest", "fingerprint"}:
        raise ValueError(next((_OTHERS[key] for key in _OTHERS if key in data), "it has no digest"))
    if data.get("digest") != digest:
        raise _EditedError("its digest does not match its content")
    if type(version) is not int:
        raise ValueError("it has no version")


def _check_derived(plan: RecordPlan, data: part.Document) -> None:
    """Compare the document of the plan with the file; apply itself checks the limits again."""
    derived = plan_document(plan)
    for key in ("fingerprint", *derived, *data):
        if key not in {"refused", "digest"} and derived.get(key) != data.get(key):
            raise _EditedError(f"its {key} does not follow from its changes")


def _first(error: ValidationError) -> str:
    """Return the first of the problems, with its place in the document."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"]))
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def _unique(pairs: list[tuple[str, Any]]) -> part.Document:
    data = dict(pairs)
    if len(data) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"duplicate key {key!r}")
    return data


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")
