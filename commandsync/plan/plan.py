"""The plan: the ordered changes, whether they are refused, and their fingerprint.

A plan is one of two: a `RecordPlan` changes records one by one, by their ids; a `ListPlan` replaces
a whole list in one request. `make_plan` compares the two sides, collection by collection, and puts
deletes last; `list_plan` makes the plan of a list from that. A plan is bound to its `Target`.
`expected_listing` returns the listing after an apply.

The plan of a list is compared with its `Baseline`, the knowledge of the list that a service shows
now, and the rules of `ListPlan` follow from it. A baseline is one of five values, by the source of
that knowledge. Each has the lists that may be shown: more than one may be, where a request may have
arrived or another machine may have sent its own.

Equal inputs give equal plans, to the byte when rendered: nothing here depends on a hash seed or the
environment. The time, by which scheduled entries are due, is an input.
"""

import hashlib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple, Self, TypeAlias, assert_never

from commandsync.diagnostics import Do, Notice
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.comparison import Comparison, Scheduled
from commandsync.plan.rules import SyncRules, countable, deletes_refusal, with_copies
from commandsync.records.losses import Loss
from commandsync.records.snapshot import Audience, Entry, Snapshot, labelled
from commandsync.records.texts import Abilities, Patterns, Resource, Text

THE_LIST = "list"  # the name of a list that a service returns


class PossibleList(NamedTuple):
    """A list that a service may show."""

    commands: Snapshot  # its commands, as the service shows them
    digest: str  # of the request that sends it
    name: str = ""  # such as `the list sent on 2026-06-01 09:30 UTC`
    has_texts: bool = True  # whether more than the names of its commands is known
    is_elsewhere: bool = False  # whether only another machine may have sent it

    @property
    def size(self) -> int:
        """How many commands it has."""
        return len(self.commands.collections[Resource.COMMAND])


@dataclass(frozen=True, slots=True)
class _Baseline:
    """The fields of every baseline."""

    # A plan shows the changes to the first one, and counts the deletes of each.
    lists: tuple[PossibleList, ...] = ()

    @property
    def first(self) -> PossibleList | None:
        """The list that the changes are compared with; None if nothing is known."""
        return self.lists[0] if self.lists else None


@dataclass(frozen=True, slots=True)
class AsRead(_Baseline):
    """The list as the service returned it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfVersion(_Baseline):
    """The list of an earlier version of the manifest."""

    name: str  # the revision or the file


@dataclass(frozen=True, slots=True, kw_only=True)
class LastSent(_Baseline):
    """The list that was sent last, and lists that may be shown in its place."""

    name: str  # when it was sent


@dataclass(frozen=True, slots=True)
class Unread(_Baseline):
    """Nothing before an apply: the service returns its list only with the token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(_Baseline):
    """Nothing that rules out another list; lists that may have arrived count all the same."""

    why: str = ""  # why nothing is known, where that is not usual
    accepted: bool = False  # whether the list may be replaced all the same
    error: Notice | None = None  # why it must not be: the sent list cannot be read or recorded

    @property
    def first(self) -> None:
        """Return None: there is no list that the changes are compared with."""
        return


Baseline: TypeAlias = AsRead | OfVersion | LastSent | Unread | Unknown


AS_READ = AsRead()
"""Of records, which are compared as they are listed."""


def name_of(baseline: Baseline) -> str:
    """Return the name of a baseline in documents; empty for none."""
    match baseline:
        case AsRead():
            return THE_LIST
        case OfVersion(name=name) | LastSent(name=name):
            return name
        case Unread() | Unknown():
            return ""
        case _:
            assert_never(baseline)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Which listing a plan is for."""

    bot: str
    base_url: str  # the service's base URL, in its one spelling
    abilities: Abilities = field(repr=False)  # of the service, for each kind of record
    guild: str = ""  # the server at Discord whose commands they are; empty for global ones
    name: str = field(default="", compare=False)  # of the application, at Discord; empty if unknown
    bot_from: str = field(default="", compare=False)  # the source of the id; empty for the manifest
    base_url_from: str = field(default="", compare=False)  # as `bot_from` of the base URL


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
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
    notices: tuple[Notice, ...] = ()  # for the user; nothing depends on them
    losses: tuple[Loss, ...] = ()  # the parts of the manifest that the service does not show
    left_out: int = 0  # how many changes `only` left out

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
        # The effect of each change, without its place in the manifest.
        keys = {"id": "id", "before": "before", "after": "after"}
        keys |= {"same_text": "listed", "same_name": "alike"}
        changes = [
            {change.action: change.resource}
            | {key: getattr(change, name) for name, key in keys.items() if hasattr(change, name)}
            for change in self.changes
        ]
        target = self.target
        content = {"bot": target.bot, "base_url": target.base_url, "changes": changes}
        content |= {"guild": target.guild} if target.guild else {}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPlan(_Plan):
    """The changes of records with ids, which are made one by one."""

    label: str = ""  # its name, or the host of a page, among several; empty for the only one
    baseline: Baseline = AS_READ  # the other side of the comparison
    scheduled: tuple[Scheduled, ...] = ()  # the manifest's entries with a schedule, by phase
    now: datetime | None = None  # by which they are due or have ended, in UTC; None for none
    finished: int = 0  # how many entries have former names that are no longer needed
    saved: bool = False  # whether it was read from a file
    # When a plan from a file is applied, in UTC; None for a plan that is made in this run.
    applied: datetime | None = None

    @property
    def known(self) -> bool:
        """Whether the plan is compared with something."""
        return not isinstance(self.baseline, Unread | Unknown)

    @property
    def size(self) -> int:
        """How many records apply would add: all wanted ones if the listing is not read."""
        return self.count("add")

    @property
    def pending(self) -> bool:
        """Whether the listing is known to differ from the manifest."""
        return self.known and bool(self.changes)

    @property
    def writes(self) -> bool:
        """Whether apply sends anything."""
        return bool(self.changes)

    @property
    def refusal(self) -> Notice | None:
        """Why apply would refuse it; None when it would not."""
        return self.guarded(self.changes, self.sizes)

    def guarded(self, changes: Iterable[Change], sizes: Mapping[Resource, int]) -> Notice | None:
        """Return why these changes of it delete too much; arguments as in `deletes_refusal`."""
        return deletes_refusal(changes, sizes=sizes, rules=self.rules, saved=self.saved)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPlan(_Plan):
    """A list that is replaced as a whole, and the changes to the list that it is compared with."""

    name: str  # the service's name
    audience: Audience | None = None  # the users of the list, if the service has several lists
    baseline: Baseline  # the other side of the comparison
    commands: tuple[Entry, ...] = field(repr=False)  # the whole list that is sent
    digest: str  # of the request that sends it
    wants_none: bool = False  # whether the manifest itself has no commands
    excess: Notice | None = None  # why the service does not take a list of this size
    # Of each other list that may be shown: its name, the changes to it, and how many it shows.
    beside: tuple[tuple[str, tuple[Change, ...], Mapping[Resource, int]], ...] = ()

    @property
    def label(self) -> str:
        """The title of the list among all of the manifest."""
        return labelled(self.name, self.audience)

    @property
    def size(self) -> int:
        """How many commands are sent."""
        return len(self.commands)

    @property
    def is_read(self) -> bool:
        """Whether the list was read, and is read again after it was sent."""
        return isinstance(self.baseline, AsRead)

    @property
    def known(self) -> bool:
        """Whether the plan is compared with something."""
        return not isinstance(self.baseline, Unread | Unknown)

    @property
    def pending(self) -> bool:
        """Whether the list is known to differ, or another one may be shown that does."""
        lists = [each for each in self.baseline.lists if not each.is_elsewhere]
        return self.known and any(each.digest != self.digest for each in lists)

    @property
    def writes(self) -> bool:
        """Whether apply sends the list: always, unless it was read and is equal."""
        return self.pending or not self.is_read

    @property
    def is_asked(self) -> bool:
        """Whether apply asks before it replaces the list: nothing is known about it."""
        baseline = self.baseline
        is_unseen = isinstance(baseline, Unknown) and not (baseline.accepted or baseline.error)
        return self.writes and not (self.excess or self._is_emptied) and is_unseen

    @property
    def refusal(self) -> Notice | None:
        """Why apply would refuse it; None when it would not."""
        return self.unsendable or self.guarded(self.changes, self.sizes)

    @property
    def unsendable(self) -> Notice | None:
        """Why the list must not be sent, whatever it deletes; None if it may be."""
        if not self.writes:
            return None
        if self.excess:
            return self.excess
        if self._is_emptied:
            why = "" if self.wants_none else ": the service shows none of the manifest's commands"
            allow = Do.ALLOW_DELETES(limit="all") if self.wants_none else ""
            return Notice(f"would send an empty list{why}", allow)
        return self.unseen

    @property
    def unseen(self) -> Notice | None:
        """Why the unknown list must not be replaced; None if it may be."""
        baseline = self.baseline
        if not isinstance(baseline, Unknown) or baseline.accepted:
            return None
        if baseline.error:
            message = f"would replace the whole list of {self.label}: {baseline.error.message}"
            return replace(baseline.error, message=message)
        why = baseline.why
        hint = Do.REPLACE_UNMATCHED(why=why) if why else Do.REPLACE_UNSEEN()
        message = f"would replace the whole list of {self.label}, whose content is not known"
        return Notice(message, hint)

    @property
    def _is_emptied(self) -> bool:
        """Whether an empty list would be sent, and the manifest and its limit do not ask for it."""
        limit = self.rules.max_deletes
        return not (self.size or (self.wants_none and limit and limit.unlimited))

    def guarded(self, changes: Iterable[Change], sizes: Mapping[Resource, int]) -> Notice | None:
        """Return why these changes of it delete too much; arguments as in `deletes_refusal`.

        Each other list that may be shown is guarded as the first one is.
        """
        refused = deletes_refusal(changes, sizes=sizes, rules=self.rules)
        for name, others, shown in () if refused else self.beside:
            if refused := deletes_refusal(others, sizes=shown, rules=self.rules):
                message = f"{refused.message}, if the service shows {name}"
                return replace(refused, message=message)
        return refused


Plan: TypeAlias = RecordPlan | ListPlan


def make_plan(  # noqa: PLR0913 - the two sides, and all else that decides on a plan
    *,
    desired: Snapshot,
    listed: Snapshot,
    target: Target,
    rules: SyncRules,
    now: datetime | None = None,
    manifest: Sequence[str] = (),
    notices: Sequence[Notice] = (),
    untouched: Container[str] = (),
) -> RecordPlan:
    """Compare the two sides and plan the changes that make the listing match.

    Only the collections of `desired` are compared, and `listed` has every one of them. `now` is the
    time of the run, in UTC; `ValueError` without it if an entry has a schedule. `manifest` are the
    files of the desired side, and `notices` its warnings. `untouched` are the ids of listed records
    that are left alone, as ignored ones are.

    Raises `ManifestError` if records of an exact kind cannot get the names that they are to have.
    """
    comparison = Comparison(target.abilities, rules, now, untouched)
    for resource in desired.scope:
        comparison.compare(resource, desired.collections[resource], listed.collections[resource])
    changes = sorted(comparison.changes, key=lambda change: isinstance(change, Delete))
    return RecordPlan(
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


def list_plan(  # noqa: PLR0913 - the parts of a list beside its changes
    compared: RecordPlan,
    *,
    name: str,
    audience: Audience | None,
    baseline: Baseline,
    commands: Snapshot,
    digest: str,
    losses: tuple[Loss, ...],
    wants_none: bool,
    excess: Notice | None = None,
    beside: Sequence[tuple[str, RecordPlan]] = (),
) -> ListPlan:
    """Return the plan that sends a list, of its comparison with the baseline by `make_plan`.

    `beside` has the names of other lists that may be shown, and the comparisons with them.
    """
    return ListPlan(
        target=compared.target,
        manifest=compared.manifest,
        scope=compared.scope,
        changes=compared.changes,
        unchanged=compared.unchanged,
        sizes=compared.sizes,
        rules=compared.rules,
        unmanaged=compared.unmanaged,
        unwritable=compared.unwritable,
        notices=compared.notices,
        left_out=compared.left_out,
        name=name,
        audience=audience,
        baseline=baseline,
        commands=commands.collections[Resource.COMMAND],
        digest=digest,
        losses=losses,
        wants_none=wants_none,
        excess=excess,
        beside=tuple((other, plan.changes, plan.sizes) for other, plan in beside),
    )


def expected_listing(plan: Plan, listed: Snapshot) -> dict[Resource, tuple[Text, ...]]:
    """Return the collections of a listing as they are once a plan is applied.

    An edited record keeps its place, and added records follow in the order of the manifest: also
    the new text of an announcement that is replaced. Unmanaged records stay.
    """
    expected: dict[Resource, tuple[Text, ...]] = {}
    for resource, entries in listed.collections.items():
        changes = [change for change in plan.changes if change.resource is resource]
        changed = {change.id: change for change in changes if not isinstance(change, Add)}
        texts: list[Text] = []
        for entry in entries:
            change = changed.get(entry.id)
            if change is None:
                texts.append(entry.text)
            elif isinstance(change, Edit):
                texts.append(change.after)
        texts += (change.after for change in changes if isinstance(change, Add | Replace))
        expected[resource] = tuple(texts)
    return expected
