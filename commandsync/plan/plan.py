"""What would be changed: ordered changes, the guard's verdict, and a fingerprint of both.

Equal inputs give equal plans, to the byte when rendered: nothing here asks a clock, a hash seed or
the environment.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, assert_never

from commandsync.diagnostics import Notice
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.plan.diff import field_changes
from commandsync.plan.guard import countable, refusal
from commandsync.plan.hints import lost_renames, rename_hints
from commandsync.plan.matching import count_alike, match
from commandsync.plan.rules import SyncRules
from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commandsync.plan.changes import Change
    from commandsync.plan.diff import FieldChange
    from commandsync.plan.guard import Refusal
    from commandsync.records.snapshot import Entry, Snapshot
    from commandsync.records.texts import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Which listing a plan is for.

    Attributes:
        bot: The bot's id.
        base_url: The service's base URL, in its one spelling.
    """

    bot: str
    base_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would be changed, and what has to hold for it.

    Attributes:
        target: The listing it is for, and bound to.
        manifest: The files it was made from.
        scope: The collections that are managed.
        changes: What to do, in the order shown: adds, edits and replaces as the manifest says
            them, then deletes as they are listed.
        unchanged: How many wanted records are listed as they should be.
        listed: How many records each collection showed, without the ignored ones.
        rules: The limits it was made under; it is guarded by them again when applied later.
        kept: Listed records that the manifest does not have and that stay all the same.
        stuck: Listed records that should change or go and cannot, for want of a usable id.
        notices: What the user should know, in no way part of what is done.
        left_out: How many changes `only` left out.
    """

    target: Target
    manifest: tuple[str, ...]
    scope: tuple[Resource, ...]
    changes: tuple[Change, ...]
    unchanged: int
    listed: Mapping[Resource, int]
    rules: SyncRules = field(default_factory=SyncRules)
    kept: tuple[tuple[Resource, Entry], ...] = ()
    stuck: tuple[tuple[Resource, Entry], ...] = ()
    notices: tuple[Notice, ...] = ()
    left_out: int = 0

    @property
    def refusal(self) -> Refusal | None:
        """Why apply would refuse it; None when it would not."""
        return refusal(self.changes, listed=self.listed, rules=self.rules)

    def count(self, action: str) -> int:
        """How many changes there are of one action."""
        return sum(change.action == action for change in self.changes)

    def only(self, pattern: str) -> Plan:
        """Return this plan with only the changes whose old or new name matches a pattern.

        Everything else stays, so that the guard counts over whole collections.

        Args:
            pattern: With `*`, `?` and `[...]`; upper and lower case differ.
        """
        names = SyncRules(ignore=(pattern,))
        some = tuple(one for one in self.changes if any(map(names.ignores, _names(one))))
        left_out = len(self.changes) - len(some)
        what = f"{left_out} more {'change is' if left_out == 1 else 'changes are'} left out"
        notice = Notice(f"only what matches {pattern!r} is planned: {what}")
        notices = (*self.notices, notice) if left_out else self.notices
        return replace(self, changes=some, notices=notices, left_out=left_out)

    @property
    def fingerprint(self) -> str:
        """`sha256:` and the digest over the target and the changes, and nothing else."""
        content = {
            "bot": self.target.bot,
            "base_url": self.target.base_url,
            "changes": [_essence(change) for change in self.changes],
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def make_plan(
    *,
    desired: Snapshot,
    listed: Snapshot,
    target: Target,
    rules: SyncRules,
    manifest: Sequence[str] = (),
    notices: Sequence[Notice] = (),
) -> Plan:
    """Compare the two sides and say what would make the listing match.

    Args:
        desired: The manifest's side; only its collections are looked at.
        listed: The service's side; must hold every collection of `desired`.
        target: The listing.
        rules: What may be deleted and what is ignored.
        manifest: The files the desired side was read from.
        notices: Warnings of the manifest, to be carried along.
    """
    parts = [
        _compare(resource, desired.collections[resource], listed.collections[resource], rules=rules)
        for resource in desired.scope
    ]
    changes = [change for part in parts for change in part.changes]
    return Plan(
        target=target,
        manifest=tuple(manifest),
        scope=desired.scope,
        changes=tuple(sorted(changes, key=lambda change: isinstance(change, Delete))),
        unchanged=sum(part.unchanged for part in parts),
        listed=countable({r: listed.collections[r] for r in desired.scope}, rules=rules),
        rules=rules,
        kept=tuple(kept for part in parts for kept in part.kept),
        stuck=tuple(stuck for part in parts for stuck in part.stuck),
        notices=(*notices, *(notice for part in parts for notice in part.notices)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The comparison of one collection."""

    changes: list[Change]
    unchanged: int
    kept: list[tuple[Resource, Entry]]
    stuck: list[tuple[Resource, Entry]]
    notices: list[Notice]


def _compare(
    resource: Resource, wanted: Sequence[Entry], listed: Sequence[Entry], *, rules: SyncRules
) -> _Part:
    touchable = [entry for entry in listed if not rules.ignores(entry.name)]
    # What is wanted may be an ignored record, by its pin or its rewritten name: it is not added.
    meant = [*touchable, *(entry for entry in listed if rules.ignores(entry.name))]
    ignoring = range(len(touchable), len(meant))
    matching = match(wanted, meant, pins_first=resource is Resource.COMMAND, not_renamed=ignoring)
    ignored = {
        w: meant[n]
        for w, n in (matching.pairs | matching.stuck).items()
        if n >= len(touchable) and meant[n].text != wanted[w].text
    }
    pairs = {w: meant[n] for w, n in matching.pairs.items() if w not in ignored}
    managed = resource is Resource.COMMAND or rules.announcements == "mirror"
    differing = [w for w, entry in pairs.items() if entry.text != wanted[w].text]
    edits = differing if managed else []
    stuck = [touchable[n] for n in matching.stuck.values() if n < len(touchable) and managed]
    kept = []
    deletes = []
    for entry in (touchable[n] for n in matching.listed if n < len(touchable)):
        if not (rules.prune and managed):
            kept.append(entry)
        elif entry.writable:
            deletes.append(entry)
        else:
            stuck.append(entry)
    touched = {entry.id for entry in (*(pairs[w] for w in edits), *deletes)}
    adding = {wanted[w].text for w in (*matching.wanted, *edits)}
    counts = count_alike(adding, [entry.text for entry in listed if entry.id not in touched])
    fields = field_changes([(pairs[w].text, wanted[w].text) for w in edits])
    by_place: dict[int, Change] = {
        w: _edit(resource, pairs[w], wanted[w], fields[n], counts) for n, w in enumerate(edits)
    }
    for w in matching.wanted:
        equal, alike = counts[wanted[w].text]
        by_place[w] = Add(
            resource=resource,
            after=wanted[w].text,
            listed=equal,
            alike=alike,
            location=wanted[w].location,
        )
    changes = [
        *(change for _, change in sorted(by_place.items())),
        *(Delete(resource=resource, id=one.id, before=one.text) for one in deletes),
    ]
    return _Part(
        changes=changes,
        unchanged=len(pairs) - len(differing),
        kept=[(resource, entry) for entry in kept],
        stuck=[(resource, entry) for entry in stuck],
        notices=[
            *(_lost_pin(wanted[w]) for w in matching.lost_pins),
            *(_ignored(wanted[w], entry) for w, entry in ignored.items()),
            *(
                _not_posted(wanted[w])
                for w in (*differing, *matching.stuck)
                if not managed and w not in ignored
            ),
            *(_unwritable(resource, entry) for entry in stuck),
            *lost_renames(wanted, pairs, deletes),
            *rename_hints(changes, wanted=wanted),
        ],
    )


def _edit(
    resource: Resource,
    before: Entry,
    after: Entry,
    fields: tuple[FieldChange, ...],
    counts: Mapping[Text, tuple[int, int]],
) -> Edit | Replace:
    if resource is Resource.COMMAND:
        return Edit(
            resource=resource,
            id=before.id,
            before=before.text,
            after=after.text,
            fields=fields,
            location=after.location,
        )
    equal, alike = counts[after.text]
    return Replace(
        resource=resource,
        id=before.id,
        before=before.text,
        after=after.text,
        fields=fields,
        listed=equal,
        alike=alike,
        location=after.location,
    )


def _lost_pin(entry: Entry) -> Notice:
    return Notice(
        f"{entry.name!r} is pinned to the id {entry.id!r}, which is not listed; it is matched by "
        "its text instead",
        "remove the id, or correct it",
        entry.location,
    )


def _ignored(entry: Entry, listed: Entry) -> Notice:
    return Notice(
        f"{entry.name!r} is listed as {listed.name!r}, which sync.ignore matches: it is left as it "
        "is",
        "change the pattern to manage it, or remove the entry",
        entry.location,
    )


def _not_posted(entry: Entry) -> Notice:
    return Notice(
        f"an announcement titled {entry.name!r} is listed with another text and is not posted",
        "write it as it is listed, or give it a new title; announcements: mirror replaces it",
        entry.location,
    )


def _unwritable(resource: Resource, entry: Entry) -> Notice:
    return Notice(
        f"the listed {resource} {entry.name!r} has no usable id: it cannot be changed or deleted",
        "edit or remove it on the service's page",
    )


def _names(change: Change) -> set[str]:
    """Return the name that a change finds, and the one that it leaves."""
    return {text[0] for text in (getattr(change, side, ()) for side in ("before", "after")) if text}


def _essence(change: Change) -> dict[str, object]:
    """Return what a change does, without where it was said."""
    match change:
        case Add():
            return {
                "add": change.resource,
                "after": change.after,
                "listed": change.listed,
                "alike": change.alike,
            }
        case Edit():
            return {
                "edit": change.resource,
                "id": change.id,
                "before": change.before,
                "after": change.after,
            }
        case Replace():
            return {
                "replace": change.resource,
                "id": change.id,
                "before": change.before,
                "after": change.after,
                "listed": change.listed,
                "alike": change.alike,
            }
        case Delete():
            return {"delete": change.resource, "id": change.id, "before": change.before}
        case _:
            assert_never(change)
