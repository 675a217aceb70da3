"""A saved plan read back from its file, believing nothing that it says about itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn, assert_never

from commandsync.api.jsontext import TooLargeError, check_size
from commandsync.diagnostics import Location, Notice
from commandsync.document.documents import VERSION, digest_of, plan_document
from commandsync.errors import FileError, RefusedError
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.plan.diff import FieldChange
from commandsync.plan.plan import Plan, Target
from commandsync.plan.rules import SyncRules, parse_delete_limit
from commandsync.records.snapshot import Entry
from commandsync.records.texts import AnnouncementText, CommandText, Resource

if TYPE_CHECKING:
    from commandsync.document import shapes
    from commandsync.document.documents import Document
    from commandsync.plan.changes import Change
    from commandsync.records.texts import Text

LARGEST_PLAN = 32 * 2**20
"""Bytes of a file: of 20,000 commands, as many as an answer of the service can list."""

_AGAIN = "make the plan again with plan --out"
_REVIEW = _AGAIN + ", look at it, and apply that one"
_TELLTALE = {
    "results": "holds several plans: save each manifest's plan in its own file",
    "error": "holds the report of a failure, not a plan",
    "verified": "holds the result of an apply, not a plan",
}


def load_plan(text: str, path: str) -> Plan:
    """Read a saved plan.

    Whatever it shows must follow from its changes, so that who reviewed the file has seen what it
    does. Its limits are asked again by whoever applies it.

    Args:
        text: The file's content.
        path: The file's name, for messages.

    Raises:
        FileError: It is not a saved plan.
        RefusedError: It is of another version, or it was edited or damaged.
    """
    from commandsync.document import shapes  # noqa: PLC0415 - pydantic

    data, digest = _parsed(text, path)
    _check_kind(data, path)
    _check_written(data, digest, path)
    try:
        plan = _plan(shapes.checked_plan(data))  # the shapes' memory is free again after this
    except shapes.ShapeError as error:
        raise FileError(f"{path} is not a saved plan: {error}", hint=_AGAIN) from error
    _check_derived(plan_document(plan), data, path)
    return plan


def _parsed(text: str, path: str) -> tuple[Document, str]:
    """Return the JSON object that a file holds, and the digest over it."""
    if len(text) > LARGEST_PLAN:
        raise FileError(f"{path} is not a saved plan: it is too large", hint=_AGAIN)
    try:
        check_size(text)
        data = json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_unique, parse_constant=_no_number
        )
        if not isinstance(data, dict):
            raise FileError(f"{path} is not a saved plan: it is not a JSON object", hint=_AGAIN)
        return data, digest_of(data)
    except TooLargeError as error:
        raise FileError(f"{path} is not a saved plan: {error}", hint=_AGAIN) from error
    except (ValueError, RecursionError) as error:
        why = "it nests too deep" if isinstance(error, RecursionError) else str(error)
        raise FileError(
            f"{path} is not a saved plan: it is not valid JSON: {why}", hint=_AGAIN
        ) from error


def _check_kind(data: Document, path: str) -> None:
    """Refuse what is not a plan, or not of this version."""
    version = data.get("version")
    if type(version) is int and version != VERSION:
        raise RefusedError(
            f"{path} is of another version than {VERSION}, the only one known here",
            hint="apply it with the version of commandsync that made it, or " + _AGAIN,
        )
    if "digest" in data:
        return
    for key, what in _TELLTALE.items():
        if key in data:
            raise FileError(f"{path} {what}", hint=_AGAIN)
    if "fingerprint" not in data:
        raise FileError(f"{path} is not a saved plan: it has no digest", hint=_AGAIN)


def _check_written(data: Document, digest: str, path: str) -> None:
    """Refuse what is not as it was written.

    The digest is not a signature: whoever edits the file on purpose can also renew it.
    """
    if data.get("digest") != digest:
        raise RefusedError(
            f"{path} was edited or damaged: its digest does not match its content", hint=_REVIEW
        )
    if type(data.get("version")) is not int:
        raise FileError(f"{path} is not a saved plan: it has no version", hint=_AGAIN)


def _unique(pairs: list[tuple[str, Any]]) -> Document:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _check_derived(derived: Document, data: Document, path: str) -> None:
    """Compare what follows from the plan with what the file says.

    The words of the refusal are left out: the guard speaks them anew when the plan is applied.
    """
    for key in ("fingerprint", *derived):
        if key not in {"refused", "digest"} and derived[key] != data[key]:
            raise RefusedError(
                f"{path} was edited or damaged: its {key} is not what its changes come to",
                hint=_REVIEW,
            )


def _plan(shape: shapes.SavedPlan) -> Plan:
    """Return the plan that a file says, with what differs worked out again."""
    limits = shape.limits
    most = limits.max_deletes
    return Plan(
        target=Target(bot=shape.bot, base_url=shape.base_url),
        manifest=tuple(shape.manifest),
        scope=tuple(r for r in Resource if r.collection in shape.scope),
        changes=tuple(_change(change) for change in shape.changes),
        unchanged=shape.summary.unchanged,
        listed={r: shape.listed[r.collection] for r in Resource if r.collection in shape.listed},
        rules=SyncRules(
            prune=limits.prune,
            ignore=limits.ignore,
            max_deletes=None if most is None else parse_delete_limit(most),
            announcements=limits.announcements,
        ),
        unmanaged=tuple(_listed(one) for one in shape.kept),
        unwritable=tuple(_listed(one) for one in shape.stuck),
        notices=tuple(
            Notice(one.message, one.hint, _location(one.location)) for one in shape.warnings
        ),
    )


def _change(shape: shapes.AnyChange) -> Change:
    resource = Resource(shape.resource)
    match shape.action:
        case "add":
            return Add(
                resource=resource,
                after=_text(shape.after),
                listed=shape.listed,
                same_name=shape.alike,
                location=_location(shape.location),
            )
        case "edit":
            return Edit(
                resource=resource,
                id=shape.id,
                before=_text(shape.before),
                after=_text(shape.after),
                fields=_field_changes(_text(shape.before), _text(shape.after)),
                location=_location(shape.location),
            )
        case "replace":
            return Replace(
                resource=resource,
                id=shape.id,
                before=_text(shape.before),
                after=_text(shape.after),
                fields=_field_changes(_text(shape.before), _text(shape.after)),
                listed=shape.listed,
                same_name=shape.alike,
                location=_location(shape.location),
            )
        case "delete":
            return Delete(resource=resource, id=shape.id, before=_text(shape.before))
        case _:
            assert_never(shape)


def _listed(shape: shapes.Kept) -> tuple[Resource, Entry]:
    return Resource(shape.resource), Entry(_text(shape.text), shape.id)


def _field_changes(before: Text, after: Text) -> tuple[FieldChange, ...]:
    """Say again what differs: a file's word for it is only compared."""
    pairs = zip(before._fields, before, after, strict=True)
    return tuple(FieldChange(name, old, new) for name, old, new in pairs if old != new)


def _text(shape: shapes.Fields) -> Text:
    values = shape.model_dump()
    return CommandText(**values) if "name" in values else AnnouncementText(**values)


def _location(shape: shapes.Place | None) -> Location | None:
    return None if shape is None else Location(shape.path, shape.line, shape.column)
