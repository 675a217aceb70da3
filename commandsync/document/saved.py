"""A saved plan: the document of a plan, read back from a file and checked."""

import json
from collections import Counter
from typing import Annotated, Any, NoReturn, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from commandsync.api.arguments import parse_address
from commandsync.api.content import check_size
from commandsync.diagnostics import Do
from commandsync.document import VERSION, part
from commandsync.document.plan import ListedRecord, PlanDocument, digest_of, plan_document
from commandsync.errors import CommandsyncError, FileError, RefusedError
from commandsync.plan.baseline import THE_LIST
from commandsync.plan.plan import RecordPlan, Target
from commandsync.records.snapshot import Phase
from commandsync.records.texts import Resource
from commandsync.services.abilities import DISCORD_ABILITIES, PAGE_ABILITIES

LARGEST_PLAN = 32 * 2**20
"""Bytes of a file: of 20,000 commands, as many as an answer of the service can list."""

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
            raise ValueError("its scope is that of two services")
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
