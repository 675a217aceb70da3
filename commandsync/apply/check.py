"""The one check before a first write, and the comparison after the last one.

The command line, the Action, `run` and `run_async` ask `plan_refusal` about each plan: token,
owners of deleted records, listing, limit. After a run, `compare` enters the rest in its ledger.

Owners: a record that some version of the manifest had, in all fields, was put on the page by an
apply, and a later version took it away. A record that no version had was put there by somebody
else (`unexplained`). In an exact kind, its type and its name are enough: no two records share them.

The listing: `progress_of` reads only the records that the plan touches; others may have changed
meanwhile. So an interrupted or repeated run finishes a saved plan and repeats nothing. Only
equality proves that something is done.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import assert_never

from commandsync import errors
from commandsync.api.credentials import Token, token_refusal
from commandsync.apply.ledger import Claims, Ledger
from commandsync.apply.outcomes import State
from commandsync.diagnostics import Do, Notice
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace, sent_texts
from commandsync.plan.matching import GROUP_LIMIT, count_same_name, starts_of
from commandsync.plan.plan import ListPlan, Plan, RecordPlan
from commandsync.plan.rules import countable, with_copies
from commandsync.records.rewrites import name_key, start_key, text_agrees
from commandsync.records.snapshot import Entry, Snapshot, by_identity, shown_time
from commandsync.records.texts import Resource, Text, named

_LISTED = "somebody else listed it: add it to the manifest"
_REGISTERED = (
    "something else registered it: add it to the manifest (commandsync import discord reads it), "
    "leave it alone with ignore: below sync:"
)


def plan_refusal(
    plan: Plan,
    *,
    listed: Snapshot,
    token: Token | None,
    others: Sequence[Token] = (),
    versions: Iterable[Snapshot] | None = None,
    body: object = None,
) -> errors.RefusedError | None:
    """Return why a plan must not be applied; None if it may be.

    `listed` is the listing now, every collection of the plan's scope. The token is None for a run
    that only plans, and `others` are all other tokens of the run. `versions` is what each
    version of the manifest wanted, the newest first, of a run that deletes and replaces its own
    records only; None for a run that may take away anybody's records. `body` is a whole list.
    """
    bot = plan.target.bot if isinstance(plan, RecordPlan) else ""
    texts = (*sent_texts(plan.changes), ("the objects that were imported from the platform", body))
    by_token = token_refusal(token, bot, texts, others=others)
    if by_token is None and isinstance(plan, ListPlan) and (refused := plan.unsendable):
        error: type[errors.RefusedError] = (
            errors.UnknownListError if refused == plan.unseen else errors.RefusedError
        )
        error = errors.TooLargeError if refused is plan.excess else error
        by_token = error(refused.message, hint=refused.hint)
    not_owned = None if versions is None else _not_owned(plan, versions)
    return by_token or not_owned or _outdated_or_limited(plan, listed)


def _not_owned(plan: Plan, versions: Iterable[Snapshot]) -> errors.RefusedError | None:
    """Return the refusal of a plan that takes away records of somebody else."""
    foreign = unexplained(plan, versions=versions)
    if not foreign:
        return None
    names = named([f"{change.resource} {change.name!r}" for change in foreign], most=5)
    is_registered = all(change.resource.exact for change in foreign)
    return errors.NotOwnedError(
        f"apply would delete or replace records that no version of the manifest had: {names}",
        hint=Do.APPLY_ALL(first=_REGISTERED if is_registered else _LISTED),
    )


def _outdated_or_limited(plan: Plan, listed: Snapshot) -> errors.RefusedError | None:
    """Return the refusal of a plan whose rest does not fit the listing, or deletes too much."""
    try:
        states = progress_of(plan, listed)
    except errors.StalePlanError as error:
        return error
    both = zip(plan.changes, states, strict=True)  # pragma: no mutate - both have one length
    pending = [change for change, state in both if state is not State.DONE]
    # The last record of a text may have been a copy when a plan was saved.
    pending_now = with_copies(pending, listed)
    refused = plan.guarded(pending_now, countable(listed, plan.scope, plan.rules))
    return (
        None if refused is None else errors.TooManyDeletesError(refused.message, hint=refused.hint)
    )


Removal = Delete | Replace


def unexplained(plan: Plan, *, versions: Iterable[Snapshot]) -> list[Removal]:
    """Return the deletes and replaces of records that no version of the manifest had.

    A version had a record if it had one with all its fields: exactly, folded or cut, as services
    change texts. A name alone explains a record of an exact kind only. A record that has ended, or
    an exact copy of a record that stays, needs no explanation. The versions, the newest first, are
    read as far as necessary.
    """
    left = [
        change
        for change in plan.changes
        if isinstance(change, Delete | Replace) and not change.exempt
    ]
    seen: set[tuple[Resource, Text]] = set()
    for version in versions if left else ():
        texts = dict.fromkeys(text for text in _texts(version) if text not in seen)
        seen.update(texts)
        left = [removal for removal in left if (removal.resource, removal.before) not in texts]
        left = _not_rewritten(left, texts)
        if not left:
            break
    return left


def _texts(version: Snapshot) -> Iterator[tuple[Resource, Text]]:
    for resource, entries in version.collections.items():
        yield from ((resource, entry.text) for entry in entries)


def _not_rewritten(
    removals: Sequence[Removal], texts: Iterable[tuple[Resource, Text]]
) -> list[Removal]:
    """Return the removals of records that a service cannot have made from any of these texts."""
    by_name: defaultdict[str, list[tuple[Resource, Text]]] = defaultdict(list)
    if removals:
        for resource, text in texts:
            by_name[name_key(text)].append((resource, text))
    starts = dict.fromkeys(start_key(each.before) for each in removals)
    by_start: defaultdict[str, list[tuple[Resource, Text]]] = defaultdict(list)
    for whole, cuts in starts_of(by_name, starts):
        for cut in cuts:
            by_start[cut] += by_name[whole]
    return [
        each
        for each in removals
        if not any(
            resource == each.resource and (resource.exact or text_agrees(each.before, sent=text))
            for group in (by_name[name_key(each.before)], by_start[start_key(each.before)])
            for resource, text in islice(group, GROUP_LIMIT)
        )
    ]


def progress_of(plan: Plan, listed: Snapshot) -> tuple[State, ...]:
    """Return how far each change of a plan has got: pending, added or done.

    `listed` is the listing now, every collection of the plan's scope.

    Raises:
        StalePlanError: A record the plan touches is neither as it was nor as it is to be, an add
            may be listed under a text that the service rewrote, or it ended before it was made.
    """
    now = {
        resource: _Now(
            listed.collections[resource],
            [change for change in plan.changes if change.resource is resource],
            plan.applied if isinstance(plan, RecordPlan) else None,
        )
        for resource in plan.scope
    }
    states = [(change, now[change.resource].state(change)) for change in plan.changes]
    if stale := [change for change, state in states if state is None]:
        raise _stale([(change, now[change.resource]) for change in stale])
    return tuple(state for _, state in states if state is not None)


class _Now:
    """One collection as listed now, and how many of its records the adds of the plan claim."""

    def __init__(
        self, entries: Sequence[Entry], changes: Sequence[Change], applied: datetime | None
    ) -> None:
        self._applied = applied
        self._listed = by_identity(entries)
        touched = {change.id for change in changes if not isinstance(change, Add)}
        others = [entry.text for entry in entries if entry.id not in touched]
        adds = [change for change in changes if isinstance(change, Add | Replace)]
        same = Counter(add.after for add in adds)
        self._counts = count_same_name(same, others)
        self._claimed: Counter[Text] = Counter()
        # More records than adds of their text: some may be other adds of the name, rewritten.
        self._surplus: Counter[str] = Counter()
        for after, known in {add.after: add.same_text for add in adds}.items():
            more = self._counts[after][0] - known - same[after]
            self._surplus[name_key(after)] += max(more, 0)

    def state(self, change: Change) -> State | None:
        """Return how far a change has got; None when the plan no longer fits."""
        match change:
            case Add():
                return self._added(change)
            case Edit():
                now = self._listed.get(change.id)
                if now == change.after:
                    return State.DONE
                return State.PENDING if now == change.before else None
            case Replace():
                return self._replaced(change)
            case Delete():
                return self._deleted(change)
            case _:
                assert_never(change)

    def why_stale(self, change: Change) -> str:
        """Return the reason why a change no longer fits."""
        if until := self.end(change):
            return f"it ended at {shown_time(until)}"
        if not isinstance(change, Add):
            now = self._listed.get(change.id)
            if now is None:
                return "its record is no longer listed under its id"
            if now != change.before:
                return "its record was changed"
        return "one of that name is listed with another text: the service may have changed it"

    def _added(self, change: Add | Replace) -> State | None:
        """Decide by counting: two equal adds need two more records."""
        equal, same_name = self._counts[change.after]
        if equal - self._claimed[change.after] > change.same_text:
            self._claimed[change.after] += 1
            return State.DONE
        same_name += self._surplus[name_key(change.after)]
        is_stale = same_name > change.same_name or self.end(change) is not None
        return None if is_stale else State.PENDING

    def end(self, change: Change) -> datetime | None:
        """Return until when the new record of a change was to be listed, if that has passed."""
        until = None if isinstance(change, Edit | Delete) else change.until
        applied = self._applied
        return until if applied and until and until <= applied else None

    def _deleted(self, change: Delete | Replace) -> State | None:
        now = self._listed.get(change.id)
        if now is None:  # unless it only lost its id
            return None if (change.before, 0) in self._listed else State.DONE
        return State.PENDING if now == change.before else None

    def _replaced(self, change: Replace) -> State | None:
        added, deleted = self._added(change), self._deleted(change)
        if added is State.DONE and deleted is State.PENDING:
            return State.ADDED
        # else another writer deleted the old one, or the listing fits neither half
        return added if added is deleted else None


def _stale(changes: Sequence[tuple[Change, _Now]]) -> errors.StalePlanError:
    """Return the error for changes that no longer fit their collections."""
    late = all(now.end(change) for change, now in changes)
    names = [
        f"{change.action} of {change.resource} {change.name!r} ({now.why_stale(change)})"
        for change, now in changes
    ]
    why = "a scheduled time has passed" if late else "the listing changed"
    return errors.StalePlanError(
        f"{why} since the plan was made: {named(names, most=5)}",
        hint="make a new plan, review it, and apply that one",
    )


def compare(
    ledger: Ledger,
    listed: Snapshot,
    *,
    replan: Callable[[Snapshot], RecordPlan] | None,
    claims: Mapping[Resource, Claims],
) -> None:
    """Enter the changes that are left after reading back: by a new plan, or by the saved one."""
    written = ledger.read_back and ledger.sent
    try:
        plan = replan(listed) if replan and written else ledger.plan
    except errors.ManifestError as error:  # the new records of others leave no way to the manifest
        ledger.as_wanted = False
        ledger.notices += [Notice(p.message, p.hint, p.location) for p in error.problems]
        return
    if plan is ledger.plan:
        left = written and not _is_done(plan, listed)
    else:
        left = bool(plan.changes)
        _enter_remaining(ledger, plan, claims)
    ledger.as_wanted = ledger.as_wanted and not (left or plan.unwritable)
    if ledger.remaining:
        shown = named([f"{c.action} {c.resource} {c.name!r}" for c in ledger.remaining])
        message = f"the listing still differs from the manifest, left to do: {shown}"
        hint = (
            "somebody else changed it meanwhile, or the service did not keep the text: run plan, "
        )
        hint += "then apply again"
        ledger.notices.append(Notice(message, hint))


def _enter_remaining(ledger: Ledger, plan: RecordPlan, claims: Mapping[Resource, Claims]) -> None:
    """Enter the changes and notices of a new plan that the run does not report itself."""
    reported = [w.change for w in ledger.writes if w.rewrites or w.state is not State.DONE]
    goals = set(map(_goal, reported))
    ledger.remaining = tuple(
        change
        for change in plan.changes
        if _goal(change) not in goals
        and not (isinstance(change, Delete) and change.before in claims[change.resource].copies)
    )
    places = {change.location for change in reported} - {None}
    known = {*ledger.plan.notices, *ledger.notices}
    ledger.notices += [
        notice for notice in plan.notices if notice not in known and notice.location not in places
    ]


def _is_done(plan: RecordPlan, listed: Snapshot) -> bool:
    """Whether a listing shows every change of a plan."""
    try:
        return set(progress_of(plan, listed)) <= {State.DONE}
    except errors.StalePlanError:
        return False


def _goal(change: Change) -> tuple[object, ...]:
    """Return the same value for two changes of one listing that have the same goal."""
    if isinstance(change, Delete):
        return (change.resource, change.id)
    return (change.resource, change.after)
