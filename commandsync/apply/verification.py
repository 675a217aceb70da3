"""Verification: each change is compared with a later read, and the listing with the plan."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import assert_never

from commandsync.api.policy import Doubt
from commandsync.apply.claims import Claims
from commandsync.apply.ledger import Ledger, Write
from commandsync.apply.resume import progress_of
from commandsync.apply.states import FINDINGS, Finding, State
from commandsync.diagnostics import Notice
from commandsync.errors import StalePlanError
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.plan import Plan
from commandsync.records.rewrites import Rewrite, rewrites
from commandsync.records.snapshot import Identity, Snapshot
from commandsync.records.texts import Resource, Text, named

_NEXT = (
    "somebody else changed it meanwhile, or the service did not keep what was written: run plan, "
    "then apply again"
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a read shows of a change that was sent."""

    # What it shows instead of the change, as the end of a sentence; empty when it shows it.
    missing: str = ""
    rewrites: tuple[Rewrite, ...] = ()  # which fields differ from what was sent, and how

    @property
    def conclusive(self) -> bool:
        """Whether reading once more is of no use."""
        return not self.missing and all(rewrite.known for rewrite in self.rewrites)


def evidence_of(
    change: Change, *, listed: Mapping[Identity, Text], record: Identity = ""
) -> Evidence:
    """Look for one change in a listing; an add is looked for as the record that it made."""
    match change:
        case Add():
            return _added(change.after, record, listed)
        case Edit():
            return _edited(change, listed.get(change.id))
        case Replace():
            added = _added(change.after, record, listed)
            return added if added.missing else Evidence(_old(change, listed), added.rewrites)
        case Delete():
            return Evidence(_old(change, listed))
        case _:
            assert_never(change)


def _added(wanted: Text, record: Identity, listed: Mapping[Identity, Text]) -> Evidence:
    stored = listed.get(record)
    if stored is None:
        return Evidence("it is not listed")
    return Evidence(rewrites=rewrites(sent=wanted, stored=stored))


def _edited(change: Edit, stored: Text | None) -> Evidence:
    if stored is None:
        return Evidence("it is no longer listed")
    differences = rewrites(sent=change.after, stored=stored)
    if stored != change.before:
        return Evidence(rewrites=differences)
    known = all(rewrite.known for rewrite in differences)
    return Evidence("it is listed with its old text", differences if known else ())


def _old(change: Delete | Replace, listed: Mapping[Identity, Text]) -> str:
    if change.id in listed:
        return "the old one is still listed"
    return "an equal one is listed without an id" if (change.before, 0) in listed else ""


def are_shown(writes: Iterable[Write], claims: Claims) -> bool:
    """Whether the last read since the writes shows them, so that reading once more is of no use."""
    return claims.entries is not None and all(
        evidence_of(write.change, listed=claims.listed, record=write.record).conclusive
        for write in writes
    )


def conclude(write: Write, claims: Claims, *, certain: bool) -> None:
    """Give a written change the outcome that the last read of its collection shows.

    `certain` means that enough reads were made: what they do not show did not happen.
    """
    evidence = evidence_of(write.change, listed=claims.listed, record=write.record)
    if evidence.missing and (write.state, Finding.LISTED) in FINDINGS:
        _settle_missing(write, evidence.missing, claims, certain=certain)
        return
    write.rewrites = evidence.rewrites
    if evidence.missing:
        if write.state is State.DONE:
            _take_back(write, evidence, claims)
    # only equality proves an edit whose result is unknown: another text may be another writer's
    elif write.may_become(State.DONE) and not (
        isinstance(write.change, Edit) and evidence.rewrites
    ):
        claims.ledger.settle(write, State.DONE)


def finding_of(write: Write, claims: Claims, *, certain: bool) -> Finding:
    """Return what the last read shows, which lacks a change; the arguments are of `conclude`."""
    if isinstance(write.change, Edit) and write.change.id not in claims.listed:
        return Finding.GONE
    if write.adds and claims.unclaimed:
        return Finding.OTHERS
    refused = write.failure is not None and write.failure.doubt is Doubt.REFUSED
    return Finding.ABSENT if certain and refused else Finding.UNPROVEN


def _settle_missing(write: Write, missing: str, claims: Claims, *, certain: bool) -> None:
    """Settle what its answer did not accept and a read does not show."""
    finding = finding_of(write, claims, certain=certain)
    if FINDINGS[write.state, finding] is State.FAILED:
        claims.ledger.settle(write, State.FAILED, write.half_done)
    elif finding is Finding.GONE:
        claims.ledger.settle(write, State.UNKNOWN, missing, "run plan again")
    else:
        claims.settle_missing(write, missing)


def _take_back(write: Write, evidence: Evidence, claims: Claims) -> None:
    why = f"{'it was done before' if write.already else 'the service accepted it'}, but "
    if evidence.rewrites:
        hint = "write it in the manifest as the service stores it"
        claims.ledger.settle(write, State.UNKNOWN, why + evidence.missing, hint)
    else:
        claims.settle_missing(write, why + evidence.missing)


def compare(
    ledger: Ledger,
    listed: Snapshot,
    *,
    replan: Callable[[Snapshot], Plan] | None,
    claims: Mapping[Resource, Claims],
) -> None:
    """Enter what the listing, read back, leaves to do: by a new plan, or by the saved one's own."""
    written = ledger.read_back and any(write.sent for write in ledger.writes)
    plan = replan(listed) if replan and written else ledger.plan
    if plan is ledger.plan:
        left = written and not _is_done(plan, listed)
    else:
        left = bool(plan.changes)
        _enter_remaining(ledger, plan, claims)
    ledger.as_wanted = ledger.as_wanted and not (left or plan.unwritable)
    if ledger.remaining:
        shown = named([f"{c.action} {c.resource} {c.name!r}" for c in ledger.remaining])
        message = f"the listing still differs from the manifest, left to do: {shown}"
        ledger.notices.append(Notice(message, _NEXT))


def _enter_remaining(ledger: Ledger, plan: Plan, claims: Mapping[Resource, Claims]) -> None:
    """Enter what a new plan still does and reports, but for what the run reports itself."""
    reported = [w.change for w in ledger.writes if w.rewrites or w.state is not State.DONE]
    goals = set(map(_goal, reported))
    ledger.remaining = tuple(
        change
        for change in plan.changes
        if _goal(change) not in goals and not claims[change.resource].deletes_copy(change)
    )
    places = {change.location for change in reported} - {None}
    known = {*ledger.plan.notices, *ledger.notices}
    ledger.notices += [
        notice for notice in plan.notices if notice not in known and notice.location not in places
    ]


def _is_done(plan: Plan, listed: Snapshot) -> bool:
    """Whether a listing shows every change of a plan."""
    try:
        return set(progress_of(plan, listed)) <= {State.DONE}
    except StalePlanError:
        return False


def _goal(change: Change) -> tuple[object, ...]:
    """Return the same value for two changes of one listing that have the same goal."""
    if isinstance(change, Delete):
        return (change.resource, change.id)
    return (change.resource, change.after)
