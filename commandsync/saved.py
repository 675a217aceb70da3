"""A saved plan's shape as the plan it says, for `documents` to check and apply to carry out."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from commandsync.changes import Add, Delete, Edit, Replace
from commandsync.diff import FieldChange
from commandsync.location import Location, Notice
from commandsync.plan import Plan, Target
from commandsync.rules import SyncRules, parse_delete_limit
from commandsync.snapshot import Entry
from commandsync.texts import AnnouncementText, CommandText, Resource

if TYPE_CHECKING:
    from commandsync import shapes
    from commandsync.changes import Change
    from commandsync.texts import Text


def plan_of(shape: shapes.SavedPlan) -> Plan:
    """Return the plan that a saved one says, with what differs worked out again."""
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
        kept=tuple(_listed(one) for one in shape.kept),
        stuck=tuple(_listed(one) for one in shape.stuck),
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
                rewritten=shape.rewritten,
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
                rewritten=shape.rewritten,
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
