"""The comparison of one collection: the manifest's entries with the listed ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commandsync.diagnostics import Notice
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.plan.diff import field_changes
from commandsync.plan.hints import lost_renames, rename_hints
from commandsync.plan.matching import count_same_name, match

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.plan.changes import Change
    from commandsync.plan.diff import FieldChange
    from commandsync.plan.rules import SyncRules
    from commandsync.records.snapshot import Entry
    from commandsync.records.texts import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs in one collection.

    Attributes:
        changes: What would make it match: first what the manifest has, in its order.
        unchanged: How many wanted records are listed as they should be.
        unmanaged: Listed records that the manifest does not have and that stay all the same.
        unwritable: Listed records that should be changed or deleted and have no usable id.
        notices: What the user should know.
    """

    changes: list[Change]
    unchanged: int
    unmanaged: list[Entry]
    unwritable: list[Entry]
    notices: list[Notice]


def compare(
    resource: Resource, wanted: Sequence[Entry], listed: Sequence[Entry], rules: SyncRules
) -> Comparison:
    """Compare one collection.

    Args:
        resource: The kind of its records.
        wanted: The manifest's entries.
        listed: The service's entries.
        rules: What may be deleted and what is ignored.
    """
    managed = rules.manages(resource)
    touchable = [entry for entry in listed if not rules.ignores(entry.name)]
    # A pin or a rewritten name may mean an ignored record: then the entry is not added.
    entries = [*touchable, *(entry for entry in listed if rules.ignores(entry.name))]
    ignoring = range(len(touchable), len(entries))
    matching = match(wanted, entries, pins_first=resource.editable, not_renamed=ignoring)
    ignored = {
        w: entries[n]
        for w, n in (matching.pairs | matching.unwritable).items()
        if n in ignoring and entries[n].text != wanted[w].text
    }
    pairs = {w: entries[n] for w, n in matching.pairs.items() if w not in ignored}
    differing = [w for w, entry in pairs.items() if entry.text != wanted[w].text]
    surplus = [touchable[n] for n in matching.listed if n not in ignoring]
    prunable = surplus if rules.prune and managed else []
    deletes = [entry for entry in prunable if entry.writable]
    unwritable = [
        *(touchable[n] for n in matching.unwritable.values() if managed and n not in ignoring),
        *(entry for entry in prunable if not entry.writable),
    ]
    changed = {w: pairs.get(w) for w in sorted([*(differing if managed else ()), *matching.wanted])}
    changes = [
        *_changes(resource, [(wanted[w], entry) for w, entry in changed.items()], deletes, listed),
        *(Delete(resource=resource, id=entry.id, before=entry.text) for entry in deletes),
    ]
    unposted = () if managed else (*differing, *matching.unwritable)
    return Comparison(
        changes=changes,
        unchanged=len(pairs) - len(differing),
        unmanaged=[] if rules.prune and managed else surplus,
        unwritable=unwritable,
        notices=[
            *(_lost_pin(wanted[w]) for w in matching.lost_pins),
            *(_ignored(wanted[w], entry) for w, entry in ignored.items()),
            *(_not_posted(resource, wanted[w]) for w in unposted if w not in ignored),
            *(_unwritable(resource, entry) for entry in unwritable),
            *lost_renames(wanted, pairs, deletes),
            *rename_hints(changes, wanted=wanted),
        ],
    )


def _changes(
    resource: Resource,
    pairs: Sequence[tuple[Entry, Entry | None]],
    deletes: Sequence[Entry],
    listed: Sequence[Entry],
) -> list[Change]:
    """Return the changes to what is listed for each wanted entry; None for nothing."""
    touched = {entry.id for entry in (*(old for _, old in pairs if old), *deletes)}
    others = [entry.text for entry in listed if entry.id not in touched]
    counts = count_same_name({new.text for new, _ in pairs}, others)
    fields = iter(field_changes([(old.text, new.text) for new, old in pairs if old]))
    return [
        _change(resource, new, old, next(fields) if old else (), counts[new.text])
        for new, old in pairs
    ]


def _change(
    resource: Resource,
    wanted: Entry,
    listed: Entry | None,
    fields: tuple[FieldChange, ...],
    counts: tuple[int, int],
) -> Change:
    new: dict[str, Any] = {"resource": resource, "after": wanted.text, "location": wanted.location}
    equal, same_name = counts
    if listed is None:
        return Add(**new, listed=equal, same_name=same_name)
    old: dict[str, Any] = {"id": listed.id, "before": listed.text, "fields": fields}
    if resource.editable:
        return Edit(**new, **old)
    return Replace(**new, **old, listed=equal, same_name=same_name)


def _lost_pin(entry: Entry) -> Notice:
    return Notice(
        f"{entry.name!r} is pinned to the id {entry.id!r}, which is not listed; it is matched by "
        "its text instead",
        "remove the id, or correct it",
        entry.location,
    )


def _ignored(entry: Entry, listed: Entry) -> Notice:
    return Notice(
        f"{entry.name!r} is listed as {listed.name!r}, which sync.ignore matches: it stays "
        "as it is",
        "change the pattern to manage it, or remove the entry",
        entry.location,
    )


def _not_posted(kind: Resource, entry: Entry) -> Notice:
    return Notice(
        f"{kind.with_article} titled {entry.name!r} is listed with another text and is not posted",
        f"write it as it is listed, or give it a new title; {kind.collection}: mirror replaces it",
        entry.location,
    )


def _unwritable(resource: Resource, entry: Entry) -> Notice:
    return Notice(
        f"the listed {resource} {entry.name!r} has no usable id: it cannot be changed or deleted",
        "edit or remove it on the service's page",
    )
