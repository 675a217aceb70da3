"""The plan: the ordered changes, whether they are refused, and their fingerprint.

`make_plan` compares the two sides, collection by collection, and puts deletes last. A plan is bound
to its `Target`; as one of several listings of a manifest it has a `PlannedListing`, which knows how
the list is read and replaced. `expected_listing` says what an apply leaves.

Equal inputs give equal plans, to the byte when rendered: nothing here depends on a hash seed or the
environment. The time, by which scheduled entries are due, is an input.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple, Self

from commandsync.diagnostics import Do, Notice
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.comparison import Comparison, Scheduled
from commandsync.plan.rules import SyncRules, countable, refusal, with_copies
from commandsync.records.losses import Loss
from commandsync.records.snapshot import Audience, Entry, Snapshot, labelled
from commandsync.records.texts import Abilities, Patterns, Resource, Text

THE_LIST = "list"  # what a plan is compared with where the service returns its list


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedListing:
    """One of the listings of a manifest, as it is planned."""

    name: str  # the service's name; of a page, its host
    audience: Audience | None = None  # for whom the list is, of a service with several lists
    whole: bool = False  # whether the list is replaced as a whole, in one request
    readable: bool = True  # whether the list is read
    returned: bool = False  # whether the service returns its list, at least with the token
    compared_with: str = THE_LIST  # or a file, or a revision; empty where nothing is known
    equal: bool = False  # whether the request is equal to the one that it is compared with
    digest: str = ""  # of the request that replaces a whole list
    size: int = 0  # how many commands a whole list contains that is sent
    sent: int = 0  # how many commands were sent last, at least
    losses: tuple[Loss, ...] = ()  # what the service does not show of the manifest
    unlike: str = ""  # why an earlier version that was named is not compared; empty for none
    unseen: bool = False  # whether a list may be replaced of which nothing is known
    resend: bool = False  # whether the list is sent even if the requests are equal
    wants_none: bool = False  # whether the manifest itself has no commands

    @property
    def label(self) -> str:
        """The title of the list among all of the manifest."""
        return labelled(self.name, self.audience)

    @property
    def known(self) -> bool:
        """Whether the plan is compared with something."""
        return bool(self.compared_with)

    @property
    def gone(self) -> int:
        """How many commands a whole list has lost since it was sent last, at least."""
        return max(0, self.sent - self.size)

    @property
    def sends(self) -> bool:
        """Whether apply sends the whole list."""
        return self.whole and not (self.known and self.equal and not self.resend)

    def is_asked(self, rules: SyncRules) -> bool:
        """Whether apply asks before it replaces the list: nothing is known of it."""
        allowed = replace(self, unseen=True)
        return self.refusal(rules) is not None and allowed.refusal(rules) is None

    def refusal(self, rules: SyncRules) -> Notice | None:
        """Return why apply must not send the whole list; None if it may."""
        if not self.sends:
            return None
        limit = rules.max_deletes
        if not (self.size or (self.wants_none and limit and limit.unlimited)):
            why = "" if self.wants_none else ": the service shows none of the manifest's commands"
            return Notice(
                f"would send an empty list{why}",
                Do.ALLOW_DELETES(limit="all") if self.wants_none else "",
            )
        if not (self.known or self.unseen or self.returned):
            return self._unseen()
        return None

    def _unseen(self) -> Notice:
        hint = Do.REPLACE_UNMATCHED(why=self.unlike) if self.unlike else Do.REPLACE_UNSEEN()
        message = f"would replace the whole list of {self.label}, of which nothing is known"
        return Notice(message, hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Which listing a plan is for."""

    bot: str
    base_url: str  # the service's base URL, in its one spelling
    abilities: Abilities = field(repr=False)  # what the service can do with each kind of record
    bot_from: str = field(default="", compare=False)  # what the id is from; empty for the manifest
    base_url_from: str = field(default="", compare=False)  # as `bot_from` of the base URL


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The changes that would be made, and the conditions under which they may be."""

    target: Target  # the listing it is for, and bound to
    manifest: tuple[str, ...]  # the files it was made from
    scope: tuple[Resource, ...]  # the collections that are managed
    # In the order shown: adds, edits and replaces as in the manifest, then deletes as listed.
    changes: tuple[Change, ...]
    unchanged: int  # how many wanted records are listed as they should be
    # How many records each collection showed, without ignored ones and exact copies.
    sizes: Mapping[Resource, int]
    # The limits it was made under; it is guarded by them again when applied later.
    rules: SyncRules = field(default_factory=SyncRules)
    # Listed records that the manifest does not have and that stay all the same.
    unmanaged: tuple[tuple[Resource, Entry], ...] = ()
    # Listed records that should be changed or deleted and have no usable id.
    unwritable: tuple[tuple[Resource, Entry], ...] = ()
    notices: tuple[Notice, ...] = ()  # what the user should know; nothing depends on them
    left_out: int = 0  # how many changes `only` left out
    scheduled: tuple[Scheduled, ...] = ()  # the manifest's entries with a schedule, by phase
    now: datetime | None = None  # by which they are due or have ended, in UTC; None for none
    finished: int = 0  # how many entries have former names that are no longer needed
    # What is known of it as one of several listings; None for the only one.
    listing: PlannedListing | None = None
    saved: bool = False  # whether it was read from a file
    # When a plan from a file is applied, in UTC; None for one that is made in this run.
    applied: datetime | None = None

    @property
    def refusal(self) -> Notice | None:
        """Why apply would refuse it; None when it would not."""
        refused = self.listing and self.listing.refusal(self.rules)
        return refused or self.guarded(self.changes, self.sizes)

    def guarded(self, changes: Iterable[Change], sizes: Mapping[Resource, int]) -> Notice | None:
        """Return why these changes of it delete too much; arguments as of `rules.refusal`."""
        gone = (self.listing.gone, self.listing.sent) if self.listing else (0, 0)
        return refusal(changes, sizes=sizes, rules=self.rules, saved=self.saved, gone=gone)

    @property
    def pending(self) -> bool:
        """Whether the listing is known to differ from the manifest."""
        if self.listing and self.listing.whole:
            return self.listing.known and not self.listing.equal
        return bool(self.changes)

    @property
    def known(self) -> bool:
        """Whether it is compared with something, as that of a page always is."""
        return self.listing is None or self.listing.known

    @property
    def writes(self) -> bool:
        """Whether apply sends anything: a whole list also without changes that are known."""
        if self.listing and self.listing.whole:
            return self.listing.sends
        return bool(self.changes)

    def manages(self, resource: Resource) -> bool:
        """Whether listed records of a kind are changed and deleted, as `SyncRules.manages` says."""
        return self.rules.manages(resource, self.target.abilities)

    def count(self, action: str) -> int:
        """How many changes there are of one action."""
        return sum(change.action == action for change in self.changes)

    def only(self, pattern: str) -> Self:
        """Return this plan with only the changes whose old or new name matches a pattern.

        Everything else stays, so that the guard counts over whole collections.
        """
        names = Patterns((pattern,))
        changes = tuple(c for c in self.changes if any(names.match(t[0]) for t in c.texts))
        left_out = len(self.changes) - len(changes)
        what = f"{left_out} more {'change is' if left_out == 1 else 'changes are'} left out"
        notice = Notice(f"only what matches {pattern!r} is planned: {what}")
        notices = (*self.notices, notice) if left_out else self.notices
        return replace(self, changes=changes, notices=notices, left_out=left_out)

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


def make_plan(  # noqa: PLR0913 - the two sides, and what else decides on a plan
    *,
    desired: Snapshot,
    listed: Snapshot,
    target: Target,
    rules: SyncRules,
    now: datetime | None = None,
    manifest: Sequence[str] = (),
    notices: Sequence[Notice] = (),
) -> Plan:
    """Compare the two sides and plan the changes that make the listing match.

    Only the collections of `desired` are compared, and `listed` has every one of them. `now` is the
    time of the run, in UTC; `ValueError` without it if an entry has a schedule. `manifest` are the
    files of the desired side, and `notices` its warnings.
    """
    comparison = Comparison(target.abilities, rules, now)
    for resource in desired.scope:
        comparison.compare(resource, desired.collections[resource], listed.collections[resource])
    changes = sorted(comparison.changes, key=lambda change: isinstance(change, Delete))
    return Plan(
        target=target,
        manifest=tuple(manifest),
        scope=desired.scope,
        changes=with_copies(changes, listed),
        unchanged=comparison.unchanged,
        sizes=countable(listed, desired.scope, rules),
        rules=rules,
        unmanaged=tuple(comparison.unmanaged),
        unwritable=tuple(comparison.unwritable),
        notices=(*notices, *comparison.notices),
        scheduled=tuple(comparison.scheduled),
        now=now if comparison.scheduled else None,
        finished=comparison.finished,
    )


def _essence(change: Change) -> dict[str, object]:
    """Return the effect of a change, without its place in the manifest."""
    keys = {"id": "id", "before": "before", "after": "after"}
    keys |= {"same_text": "listed", "same_name": "alike"}
    fields = {key: getattr(change, name) for name, key in keys.items() if hasattr(change, name)}
    return {change.action: change.resource, **fields}


class ExpectedRecord(NamedTuple):
    """A record as it is listed once a plan is applied."""

    text: Text
    position: int | None  # its index in its collection as listed before; None if the plan adds it
    change: Add | Edit | Replace | None  # how the plan changes it; None if it stays as it is


def expected_listing(plan: Plan, listed: Snapshot) -> dict[Resource, tuple[ExpectedRecord, ...]]:
    """Return the collections of a listing as they are once a plan is applied.

    An edited record keeps its place, and what is added follows in the order of the manifest: also
    the new text of an announcement that is replaced. What the plan does not manage stays.
    """
    return {
        resource: tuple(_expected(entries, [c for c in plan.changes if c.resource is resource]))
        for resource, entries in listed.collections.items()
    }


def _expected(entries: Iterable[Entry], changes: Sequence[Change]) -> Iterator[ExpectedRecord]:
    changed = {change.id: change for change in changes if not isinstance(change, Add)}
    for position, entry in enumerate(entries):
        change = changed.get(entry.id)
        if change is None:
            yield ExpectedRecord(entry.text, position, None)
        elif isinstance(change, Edit):
            yield ExpectedRecord(change.after, position, change)
    for new in changes:
        if isinstance(new, Add | Replace):
            yield ExpectedRecord(new.after, None, new)
