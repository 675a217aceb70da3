"""How far a sync may go: the manifest's `sync:` policy, and the guard against mass deletes.

The policy (`SyncRules`) is read by the plan. The guard counts the listed records
that a plan takes away, and refuses too many of them, with the arithmetic in its message. It is
asked before the first write, and again before a saved plan is applied.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, assert_never

from commandsync.diagnostics import Do, Notice
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.records.snapshot import Snapshot, callables, lost_callables
from commandsync.records.texts import Abilities, Patterns, Resource, Text

MOST_WILDCARDS = 100  # patterns with a wildcard to ignore by; each is tried on every name
MOST_WILD_CHARACTERS = 2_000  # of these together: each is compared with those of every name
LIMIT_DECIMALS = 6  # of a percentage, at most
_TRAILING_ZEROS = re.compile(r"\.?0+$")
_PERCENTAGE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%")
_COUNT = re.compile(r"[0-9]{1,9}")
_WHOLE = 100.0


def shortest(value: float, decimals: int) -> str:
    """Write a number with at most so many decimals, without the zeros at its end."""
    return _TRAILING_ZEROS.sub("", f"{value:.{decimals}f}")


@dataclass(frozen=True, slots=True)
class DeleteLimit:
    """The number of deletes that one run may make. At most one field is set; none means `all`."""

    count: int | None = None  # a number of records; 0 means none
    percent: float | None = None  # a percentage of the listed records, 0 to 100

    @property
    def unlimited(self) -> bool:
        """Whether every delete is allowed."""
        return self.count is None and self.percent is None

    def __str__(self) -> str:
        if self.percent is not None:
            return shortest(self.percent, LIMIT_DECIMALS) + "%"
        return "all" if self.count is None else str(self.count)


def parse_delete_limit(text: str) -> DeleteLimit:
    """Read a limit as users write it: `12`, `30%`, `12.5%` or `all`.

    Raises `ValueError` if it is none of these, or more than 100 %.
    """
    stripped = text.strip()
    if stripped.lower() == "all":
        return DeleteLimit()
    if _COUNT.fullmatch(stripped):
        return DeleteLimit(count=int(stripped))
    match = _PERCENTAGE.fullmatch(stripped)
    if match is None or float(match[1]) > _WHOLE:
        raise ValueError(f"{text!r} is not a limit: give a number, a percentage up to 100%, or all")
    return DeleteLimit(percent=float(match[1]))


@dataclass(frozen=True)
class SyncRules:
    """The permissions of a sync beyond adding and editing."""

    prune: bool = True  # delete listed commands that the manifest does not have
    # Patterns (`*`, `?`, `[...]`) of names and titles that are never touched, in any case.
    ignore: tuple[str, ...] = ()
    max_deletes: DeleteLimit | None = None  # the guard's limit; None when nothing was configured
    # `append` adds missing ones; `mirror` also replaces and deletes.
    announcements: Literal["append", "mirror"] = "append"

    def manages(self, resource: Resource, abilities: Abilities) -> bool:
        """Whether listed records are changed and deleted: posts only where a policy says so."""
        posts = abilities[resource].posts
        return not posts or getattr(self, resource.collection, "append") == "mirror"

    def ignores(self, name: str) -> bool:
        """Whether a listed name or title (canonical) is never to be touched."""
        return self._ignored.match(name)

    @cached_property
    def _ignored(self) -> Patterns:
        return Patterns(self.ignore)


DEFAULT_LIMIT = DeleteLimit(percent=30.0)  # when nothing was configured
ALWAYS_ALLOWED = 3  # so few deletes of the whole listing are always allowed then
_UNIGNORED = " that are not ignored"
_UNENDED = " that have not ended"
_UNCOPIED = " (exact copies do not count)"
_EACH = " (each sub-command counts)"
_END, _COPY = "end", "copy"
_REMOVALS = {"delete", "replace"}


def deletes_refusal(
    changes: Iterable[Change],
    *,
    sizes: Mapping[Resource, int],
    rules: SyncRules,
    saved: bool = False,
) -> Notice | None:
    """Return why these changes are refused; None when they are not.

    A replace counts as a delete. So does each command that users call in a record: of a group, its
    sub-commands, and those that it loses by an edit. A number limits the whole listing, a
    percentage each collection.
    Unless the limit is `all`, deleting everything that is listed is refused whatever is added.
    A record whose `until` has passed does not count, neither as deleted nor as listed: the manifest
    asks for this very delete, which may be of the only record. Nor does an exact copy, with which
    nothing is lost.

    `sizes` is how many records each collection shows now, as `countable` counts them; `saved`
    means that the changes are those of a saved plan.
    """
    limit = rules.max_deletes
    if limit is not None and limit.unlimited:
        return None
    done = Counter[tuple[str, Resource]]()
    for change in changes:
        action, count = _removal(change)
        done[action, change.resource] += count
    resources = [kind for (action, kind), n in done.items() if n and action in _REMOVALS]
    losses = [
        _loss(resource, done, of=sizes.get(resource, 0), ignores=bool(rules.ignore))
        for resource in dict.fromkeys(resources)
    ]
    allow = Do.ALLOW_DELETES_OF_NEW_PLAN if saved else Do.ALLOW_DELETES
    return _emptied(losses, allow) or _over(losses, limit, allow)


def _removal(change: Change) -> tuple[str, int]:
    """Return how a change counts, and for how many commands: those that users call in a record."""
    match change:
        case Add():
            return change.action, 0
        case Edit():
            return "delete", lost_callables(change.before, change.after)
        case Delete() | Replace():
            action = _COPY if change.exempt else change.action
            return _END if change.ends_record else action, len(callables(change.before))
        case _:
            assert_never(change)


def removals_refused(removed: int, *, of: int, rules: SyncRules) -> Notice | None:
    """Return why an import that removes so many of a manifest's commands is refused, else None."""
    limit = rules.max_deletes
    if not removed or (limit is not None and limit.unlimited):
        return None
    losses = [_Loss(what="commands of the manifest", deleted=removed, replaced=0, of=of)]
    return _emptied(losses, Do.ALLOW_DELETES) or _over(losses, limit, Do.ALLOW_DELETES)


def countable(listed: Snapshot, scope: Iterable[Resource], rules: SyncRules) -> dict[Resource, int]:
    """Count the listed records of each collection that the guard's arithmetic is about.

    Ignored ones are never deleted, so they do not make a delete a smaller part of the list.
    Of records that are equal, those with uses count, else one. Of a group, its sub-commands count.
    """
    counts = {}
    for resource in scope:
        live = [entry for entry in listed.collections[resource] if not rules.ignores(entry.name)]
        used = [entry.text for entry in live if entry.uses]
        texts = [*used, *{entry.text for entry in live}.difference(used)]
        counts[resource] = len(texts)
        if resource.exact:
            called = (name for text in texts for name in callables(text))
            counts[resource] = sum(not rules.ignores(name) for name in called)
    return counts


def with_copies(changes: Sequence[Change], listed: Snapshot) -> tuple[Change, ...]:
    """Return changes with the deletes of exact copies marked, by a listing of their collections."""
    going = {
        (change.resource, change.id): change
        for change in changes
        if isinstance(change, Delete) and not change.ends_record
    }
    if not going:
        return tuple(changes)
    equals = _texts_beside(going, listed)
    for key, change in sorted(going.items(), key=lambda item: -(item[1].uses or 0)):
        text = (change.resource, change.before)
        going[key] = replace(change, exact_copy=text in equals and not change.uses)
        equals.add(text)
    return tuple(
        going.get((change.resource, change.id), change) if isinstance(change, Delete) else change
        for change in changes
    )


def _texts_beside(
    going: Container[tuple[Resource, str]], listed: Snapshot
) -> set[tuple[Resource, Text]]:
    return {
        (resource, entry.text)
        for resource, entries in listed.collections.items()
        for entry in entries
        if (resource, entry.id) not in going
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loss:
    """The records that changes take away from one collection."""

    what: str
    deleted: int
    replaced: int
    of: int

    @property
    def count(self) -> int:
        return self.deleted + self.replaced


def _loss(
    resource: Resource, done: Mapping[tuple[str, Resource], int], *, of: int, ignores: bool
) -> _Loss:
    """Return the records that a collection of `of` countable ones loses."""
    limits = (
        (_UNIGNORED, ignores),
        (_UNENDED, done[_END, resource]),
        (_UNCOPIED, done[_COPY, resource]),
        (_EACH, resource.exact),
    )
    return _Loss(
        what="".join([f"listed {resource.collection}", *(text for text, is_so in limits if is_so)]),
        deleted=done["delete", resource],
        replaced=done["replace", resource],
        of=of - done[_END, resource],
    )


def _emptied(losses: Sequence[_Loss], allow: Do) -> Notice | None:
    for loss in losses:
        if loss.deleted and loss.deleted >= loss.of:
            return Notice(f"{_would(loss)}, which keeps none of them", allow(limit="all"))
    return None


def _over(losses: Sequence[_Loss], limit: DeleteLimit | None, allow: Do) -> Notice | None:
    total = sum(loss.count for loss in losses)
    if limit is None and total <= ALWAYS_ALLOWED:
        return None
    limit = limit or DEFAULT_LIMIT
    hint = allow(limit=total)
    if limit.percent is None:
        over = total > (limit.count or 0)
        return Notice(f"{_would(*losses)}; the limit is {limit.count}", hint) if over else None
    for loss in losses:
        if loss.count * 100 > round(limit.percent * loss.of, LIMIT_DECIMALS):
            share = _percent(100 * loss.count / max(loss.of, 1), over=limit.percent)
            return Notice(f"{_would(loss)} ({share}); the limit is {_percent(limit.percent)}", hint)
    return None


def _would(*losses: _Loss) -> str:
    verb = "delete or replace" if any(loss.replaced for loss in losses) else "delete"
    parts = [f"{loss.count} of {loss.of} {loss.what}" for loss in losses]
    return f"would {verb} {' and '.join(parts)}"


def _percent(value: float, *, over: float | None = None) -> str:
    """Write a percentage. If it is over a limit, its decimals are as many as show that."""
    if over is None:
        return shortest(value, LIMIT_DECIMALS) + " %"
    places = range(2, 16)  # pragma: no mutate - no share of a list needs so many
    enough = next((n for n in places if round(value, n) > over), 16)
    return shortest(value, enough) + " %"
