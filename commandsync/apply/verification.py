"""Verification: which records a run made, and the evidence of reads for each change.

`Claims` assigns the records of a collection that no earlier read showed to the adds of the run.
`conclude` compares each change that was sent with the last read, and gives it its outcome. At the
end, `compare` enters what a new plan from the same read still has to do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self, TypeGuard, assert_never

from commandsync.api.policy import Doubt
from commandsync.apply.check import progress_of
from commandsync.apply.ledger import Ledger, Write
from commandsync.apply.outcomes import FINDINGS, Finding, State
from commandsync.diagnostics import Do, Notice
from commandsync.errors import ManifestError, StalePlanError
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace, field_changes
from commandsync.plan.matching import match
from commandsync.plan.plan import RecordPlan
from commandsync.records.rewrites import Rewrite, name_key, rewrites
from commandsync.records.snapshot import Entry, Identity, Snapshot, by_identity
from commandsync.records.texts import Resource, Text, named, object_of

Listed = Mapping[Identity, Text]

_HOW = {
    State.UNKNOWN: "has an unknown result",
    State.REFUSED: "was refused",
    State.SKIPPED: "was not sent",
}
_RENAMED = (
    "if the service changed the name, write it in the manifest as it is listed; otherwise the next "
    "apply adds it again"
)
_CUT = (
    "the list may be cut, or show new records late: look for it on the bot's page first, because "
    "another apply adds it again"
)
_AS_STORED = "write it as the service stores it"
_NEXT = (
    "somebody else changed it meanwhile, or the service did not keep the text: run plan, "
    "then apply again"
)


@dataclass(slots=True)
class Claims:
    """The records of one collection that appear during the run."""

    ledger: Ledger
    resource: Resource
    writes: Sequence[Write]
    known: set[Identity]  # the records that some earlier read showed: none of them is new
    before: Mapping[str, Entry]  # the records with usable ids in the first read, by their ids
    without_id: int  # how many of them had no usable id in the first read
    listed: Listed = field(default_factory=dict)  # the texts in the last read since the writes
    entries: tuple[Entry, ...] | None = None  # the same read's entries; None before it
    # New records that no add of this run made, and their texts.
    unclaimed: dict[Identity, Text] = field(default_factory=dict)
    copies: frozenset[Text] = frozenset()  # the texts among these that equal an add of this run

    @classmethod
    def opened(cls, ledger: Ledger, resource: Resource, entries: Sequence[Entry]) -> Self:
        """Begin with the records as read before the first write."""
        listed = by_identity(entries)
        writes = tuple(w for w in ledger.writes if w.change.resource is resource)
        half = [write for write in writes if write.state is State.ADDED]
        new = [Entry(write.change.texts[0]) for write in half]
        for w, n in match(new, entries, exact=resource.exact).pairs.items():
            half[w].record, half[w].stored = entries[n].id, entries[n].text
        before = {entry.id: entry for entry in entries if entry.writable}
        return cls(ledger, resource, writes, set(listed), before, _without_id(listed))

    def frees(self, write: Write) -> bool:
        """Whether no other record has the name that a write gives to its record.

        Only an exact kind can have no two records of a name.
        """
        if not self.resource.exact:
            return True
        key, own = name_key(write.change.texts[0]), getattr(write.change, "id", None)
        holders = {id_ for id_, entry in self.before.items() if name_key(entry.text) == key}
        moved = (each for each in self.writes if each.state is State.DONE)
        return holders - {own} <= {each.change.id for each in moved if _gives_up(each.change, key)}

    def assign(self, entries: tuple[Entry, ...]) -> None:
        """Assign the records that no earlier read showed to the adds that made them.

        An add made the record that equals it, else a record of its name, exactly, folded or cut; in
        an exact kind it made the record of its type and name.
        """
        self.entries, self.listed = entries, by_identity(entries)
        for write in self.writes:
            write.stored = self.listed.get(write.record)
        adds = [write for write in self.writes if write.awaits_record]
        new = {i: text for i, text in self.listed.items() if i not in self.known}
        identities = list(new)
        for a, n in _matched(adds, new, exact=self.resource.exact).items():
            adds[a].record, adds[a].stored = identities[n], new.pop(identities[n])
            if adds[a].adds and (adds[a].state, Finding.LISTED) in FINDINGS:
                self.ledger.settle_added(adds[a])
        self.unclaimed |= new
        self.known.update(identities)

    def lost_ids(self, listed: Listed) -> bool:
        """Whether records are listed without the ids that they had: such a read proves nothing."""
        now = _without_id(listed)
        has_ids = bool(self.known) and not self.without_id
        added = sum(write.sent and not isinstance(write.change, Delete) for write in self.writes)
        return now > self.without_id + (0 if has_ids else added)

    def hold_back_deletes(self) -> None:
        """Skip the deletes where a record that was to be added is missing."""
        missing = [write for write in self.writes if write.adds and write.state is not State.DONE]
        if not missing or self.ledger.stopped:
            return
        first = missing[0]
        again = first.state in {State.UNKNOWN, State.SKIPPED}
        how = _HOW.get(first.state, "failed")
        mend = first.hint or "run again" if again else "correct that entry and run again"
        why = f"deletes wait for adds, and the add of {first.change.name!r} {how}"
        hint = Do.DELETE_ALONE(mend=mend)
        for write in self.writes:
            if isinstance(write.change, Delete) and write.state is State.PENDING:
                self.ledger.settle(write, State.SKIPPED, why, hint)

    def settle_missing(self, write: Write, why: str, then: str = "") -> None:
        """Settle a change that is not listed as unknown; an add may be a record of another name.

        `why` is what is not listed, and `then` the consequence, as the end of the sentence.
        """
        others = self.unclaimed.values() if write.awaits_record else ()
        names = [repr(text[0]) for text in others]
        new = f"; new under another name: {named(names, most=3)}" if names else ""
        accepted = write.awaits_record and write.failure is None
        shows_none = self.entries is not None and not any(write.record for write in self.writes)
        hint = _RENAMED if names else _CUT if accepted and shows_none else ""
        self.ledger.settle(write, State.UNKNOWN, why + new + then, hint)

    def note_copies(self) -> None:
        """Report the records that equal an add of this run and that it did not make."""
        sent = {write.change.texts[0] for write in self.writes if write.sent and write.is_add}
        copies = [text for i, text in self.listed.items() if i in self.unclaimed and text in sent]
        self.copies = frozenset(copies)
        if copies:
            kind, count = self.resource, len(copies)
            what, verb = (kind, "equals an add") if count == 1 else (kind.collection, "equal adds")
            names = named([repr(text[0]) for text in copies])
            message = f"{count} more {what} {verb} of this run ({names}): a second run may "
            message += "have added them at the same time"
            hint = "run again: with prune on, it deletes the copies; no limit counts them"
            self.ledger.notices.append(Notice(message, hint))
            self.ledger.as_wanted = False

    def note_reposts(self) -> None:
        """Report posts that every apply sends again, for the service changes their texts."""
        plan = self.ledger.plan
        replaces = plan.target.abilities[self.resource].posts and plan.manages(self.resource)
        if replaces and any(write.rewrites for write in self.writes):
            posts = self.resource.collection
            message = f"{posts} whose text the service changes are posted again by every apply"
            hint = f"write them in the manifest as they are listed, or set sync.{posts} to append"
            self.ledger.notices.append(Notice(message, hint))

    def deletes_copy(self, change: Change) -> bool:
        """Whether a change would delete a copy of a record that this run added."""
        return isinstance(change, Delete) and change.before in self.copies


def _gives_up(change: Change, key: str) -> TypeGuard[Edit | Delete]:
    """Whether a change takes the name of a key from the record that it is about."""
    if isinstance(change, Edit):
        return name_key(change.after) != key
    return isinstance(change, Delete)


def _matched(adds: Sequence[Write], new: Listed, *, exact: bool) -> Mapping[int, int]:
    """Return which adds made which new records, by their places."""
    claims = match(
        [Entry(write.change.texts[0], id=write.returned_id) for write in adds],
        [Entry(text, id=i if isinstance(i, str) else "") for i, text in new.items()],
        exact=exact,
    )
    return claims.pairs | claims.unwritable


def _without_id(listed: Listed) -> int:
    """Count the records that have no usable id."""
    return sum(not isinstance(identity, str) for identity in listed)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a read for a change that was sent."""

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


def _rewrites(*, sent: Text, stored: Text) -> tuple[Rewrite, ...]:
    """Return the fields, or the parts of an object, that the listing has with another value.

    A service of objects is not known to change any.
    """
    if object_of(sent) is None:
        return rewrites(sent=sent, stored=stored)
    parts = field_changes(sent, stored) if sent != stored else ()
    return tuple(Rewrite(*part, how="changed", advice=_AS_STORED, known=False) for part in parts)


def _added(wanted: Text, record: Identity, listed: Mapping[Identity, Text]) -> Evidence:
    stored = listed.get(record)
    if stored is None:
        return Evidence("it is not listed")
    return Evidence(rewrites=_rewrites(sent=wanted, stored=stored))


def _edited(change: Edit, stored: Text | None) -> Evidence:
    if stored is None:
        return Evidence("it is no longer listed")
    differences = _rewrites(sent=change.after, stored=stored)
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

    `certain` means that enough reads were made: a change that they do not show was not made.
    """
    evidence = evidence_of(write.change, listed=claims.listed, record=write.record)
    if evidence.missing and (write.state, Finding.LISTED) in FINDINGS:
        _settle_missing(write, evidence.missing, claims, certain=certain)
        return
    write.rewrites = evidence.rewrites
    if evidence.missing:
        if write.state is State.DONE:
            why = f"{'it was done before' if write.already else 'the service accepted it'}, but "
            if evidence.rewrites:
                hint = "write it in the manifest as the service stores it"
                claims.ledger.settle(write, State.UNKNOWN, why + evidence.missing, hint)
            else:
                claims.settle_missing(write, why + evidence.missing)
    # only equality proves an edit whose result is unknown: another text may be another writer's
    elif write.may_become(State.DONE) and not (
        isinstance(write.change, Edit) and evidence.rewrites
    ):
        claims.ledger.settle(write, State.DONE)


def finding_of(write: Write, claims: Claims, *, certain: bool) -> Finding:
    """Return the finding of the last read, which lacks a change; arguments as in `conclude`."""
    if isinstance(write.change, Edit) and write.change.id not in claims.listed:
        return Finding.GONE
    if write.adds and claims.unclaimed:
        return Finding.OTHERS
    refused = write.failure is not None and write.failure.doubt is Doubt.REFUSED
    return Finding.ABSENT if certain and refused else Finding.UNPROVEN


def _settle_missing(write: Write, missing: str, claims: Claims, *, certain: bool) -> None:
    """Settle a change that its answer did not accept and a read does not show."""
    finding = finding_of(write, claims, certain=certain)
    if FINDINGS[write.state, finding] is State.FAILED:
        claims.ledger.settle(write, State.FAILED, write.half_done)
    elif finding is Finding.GONE:
        claims.ledger.settle(write, State.UNKNOWN, missing, "run plan again")
    else:
        claims.settle_missing(write, missing)


def compare(
    ledger: Ledger,
    listed: Snapshot,
    *,
    replan: Callable[[Snapshot], RecordPlan] | None,
    claims: Mapping[Resource, Claims],
) -> None:
    """Enter the changes that are left after reading back: by a new plan, or by the saved one."""
    written = ledger.read_back and any(write.sent for write in ledger.writes)
    try:
        plan = replan(listed) if replan and written else ledger.plan
    except ManifestError as error:  # what others listed meanwhile leaves no way to the manifest
        ledger.as_wanted = False
        ledger.notices += [Notice(p.message, p.hint, p.location) for p in error.problems]
    else:
        _compare(ledger, plan, listed, claims, written=written)


def _compare(
    ledger: Ledger,
    plan: RecordPlan,
    listed: Snapshot,
    claims: Mapping[Resource, Claims],
    *,
    written: bool,
) -> None:
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


def _enter_remaining(ledger: Ledger, plan: RecordPlan, claims: Mapping[Resource, Claims]) -> None:
    """Enter the changes and notices of a new plan that the run does not report itself."""
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


def _is_done(plan: RecordPlan, listed: Snapshot) -> bool:
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
