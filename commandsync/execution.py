"""The books of one run of apply: what was sent, what came of it, and what is still unclear."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from commandsync.changes import Delete, Replace
from commandsync.errors import Forbidden, ListingError, StoppedError, Unauthorized
from commandsync.evidence import Absent, Rewritten, Shown
from commandsync.location import Notice
from commandsync.outcomes import Difference, Outcome, Result, Settled
from commandsync.policy import FAILURES_IN_A_ROW, may_have_happened, says_it_failed
from commandsync.rewriting import made_of
from commandsync.settling import claim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commandsync.evidence import Evidence
    from commandsync.plan import Plan
    from commandsync.policy import Health
    from commandsync.rewriting import Rewrite
    from commandsync.snapshot import Identity
    from commandsync.steps import Answered
    from commandsync.texts import Resource, Text


@dataclass(slots=True)
class Execution:
    """The books of one run.

    Attributes:
        plan: What is being done.
        health: How the service has been answering.
        seen: The records of each collection that some earlier read showed: none of them is new.
        settled: The outcome of each change that has one.
        unclear: How each write ended that may or may not have happened.
        again: How the first try of an add ended that may be sent once more.
        acknowledged: Changes whose last write the service itself called done.
        written: Changes that were or may have been written in this run.
        sent: The text of every add among them: each may claim a record.
        told: The id that the answer to an add told.
        records: The record that each add is known to have made.
        nameless: How many records of each collection the first read showed without a usable id.
        strangers: New records that no add of this run claims.
        added: Replaces whose new record is there, and whose old one is still to go.
        differences: Where the listing does not show what was written.
        notices: What else reading showed.
        stopped: Why nothing new is started; empty while all is well.
        interrupted: Whether it was stopped from outside.
        verified: Whether the reads after writing showed everything.
    """

    plan: Plan
    health: Health
    seen: dict[Resource, set[Identity]]
    settled: dict[int, Settled] = field(default_factory=dict)
    unclear: dict[int, ListingError] = field(default_factory=dict)
    again: dict[int, ListingError] = field(default_factory=dict)
    acknowledged: set[int] = field(default_factory=set)
    written: set[int] = field(default_factory=set)
    sent: dict[int, Text] = field(default_factory=dict)
    told: dict[int, str] = field(default_factory=dict)
    records: dict[int, Identity] = field(default_factory=dict)
    nameless: dict[Resource, int] = field(default_factory=dict)
    strangers: dict[Resource, set[Identity]] = field(default_factory=dict)
    added: set[int] = field(default_factory=set)
    differences: dict[int, Difference] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    stopped: str = ""
    interrupted: bool = False
    verified: bool = True
    _news: dict[int, Settled] = field(default_factory=dict)

    def settle(
        self, index: int, outcome: Outcome, error: ListingError | None = None, why: str = ""
    ) -> None:
        """Give a change its outcome; a later, better founded one replaces it."""
        message = why + (error.message if error else "")
        hint = error.hint if error else ""
        one = Settled(self.plan.changes[index], outcome, message, hint, cause=error)
        self.unclear.pop(index, None)
        if self.settled.get(index) != one:
            self.settled[index] = self._news[index] = one

    def note_standing(self, index: int, rewrites: tuple[Rewrite, ...]) -> None:
        """Enter a change that the listing shows to be done already, be it rewritten."""
        self.settle(index, Outcome.DONE)
        if rewrites:
            self.differences[index] = Difference(self.plan.changes[index], rewrites)

    def news(self) -> tuple[Settled, ...]:
        """Return the outcomes settled since the last call."""
        news = tuple(self._news.values())
        self._news.clear()
        return news

    def interrupt(self) -> None:
        """Start nothing new from now on: the user wants to stop."""
        self.interrupted = True
        self.stopped = self.stopped or "interrupted"

    def note(self, index: int, answer: Answered) -> None:
        """Enter how an edit or a delete ended: done, failed for certain, or unclear."""
        error = answer.error
        self.acknowledged.discard(index)
        if error is None:
            self.written.add(index)
            self.acknowledged.add(index)
            self.settle(index, Outcome.DONE)
        elif isinstance(error, StoppedError):
            self.interrupt()  # it was never sent: it is left over, like all that follows
        elif may_have_happened(error):
            self.written.add(index)
            self.unclear[index] = error
        else:
            self.settle(index, Outcome.FAILED, error, self.half_done(index))
        self.watch(error)

    def note_add(self, index: int, answer: Answered) -> None:
        """Enter how an add ended; one that may have happened may claim a record from now on."""
        self.note(index, answer)
        if index in self.written:
            change = self.plan.changes[index]
            self.sent[index] = change.before if isinstance(change, Delete) else change.after
        if answer.error is None:
            self.told[index] = answer.value
            self.has_added(index)

    def has_added(self, index: int) -> None:
        """Enter that an add happened: an add is done with that, a replace half done."""
        if isinstance(self.plan.changes[index], Replace):
            self.added.add(index)
            self.unclear.pop(index, None)
            self.settled.pop(index, None)
            self._news.pop(index, None)
        else:
            self.settle(index, Outcome.DONE)

    def claim_records(
        self, resource: Resource, listed: Mapping[Identity, Text]
    ) -> dict[int, Identity]:
        """Assign the new records of a read to the adds that made them.

        Returns:
            The mere guesses, good for this read alone: their text does not tell that they are ours.
        """
        changes = self.plan.changes
        taken = {one for n, one in self.records.items() if changes[n].resource is resource}
        new = {
            one: text
            for one, text in listed.items()
            if one not in self.seen[resource] and one not in taken
        }
        adds = {
            index: text
            for index, text in self.sent.items()
            if index not in self.records and changes[index].resource is resource
        }
        claimed = claim(adds, new, known=self.told)
        guesses = {}
        for index, one in claimed.items():
            told = one == self.told.get(index)
            if told or made_of(new[one], sent=adds[index]):
                self.records[index] = one
            else:
                guesses[index] = one
        others = self.strangers.setdefault(resource, set())
        others.update(new)
        others.difference_update(claimed.values())
        return guesses

    def blurred(self, resource: Resource, listed: Mapping[Identity, Text]) -> bool:
        """Whether a read shows records without the ids that they had before: it tells nothing."""
        before = self.nameless.get(resource, 0)
        now = sum(not isinstance(one, str) for one in listed)
        has_ids = bool(self.seen[resource]) and not before
        return now > before + (0 if has_ids else len(self.sent))

    def note_copies(self, resource: Resource, listed: Mapping[Identity, Text]) -> None:
        """Name the records that equal an add of this run and are not what it made.

        Where pruning removes them they are too much, so that the listing is not as wanted yet.
        """
        sent = set(self.sent.values())
        others = self.strangers.get(resource, set())
        copies = [text[0] for one, text in listed.items() if one in others and text in sent]
        if copies:
            self.notices.append(_copies(resource, copies))
            self.verified = self.verified and not self.plan.rules.prunes(resource)

    def conclude(self, index: int, evidence: Evidence | None, *, certain: bool) -> None:
        """Give a written change the outcome that reading shows.

        Args:
            index: Which change.
            evidence: What the last read shows of it; None when none came through.
            certain: Whether there were enough reads to believe that what does not show did not
                happen.
        """
        error = self.unclear.get(index)
        acknowledged = index in self.acknowledged
        failed = certain and error is not None and says_it_failed(error)
        match evidence:
            case None:
                self.verified = False
            case Shown():
                self.settle(index, Outcome.DONE)
            case Rewritten(rewrites=found) if acknowledged or evidence.conclusive:
                self.settle(index, Outcome.DONE)
                self.differences[index] = Difference(self.plan.changes[index], found)
            case Absent(what=what) if acknowledged:
                self.settle(index, Outcome.UNKNOWN, why=f"the service accepted it, but {what}")
            case Absent() | Rewritten(unchanged=True) if failed:
                self.settle(index, Outcome.FAILED, error, self.half_done(index))
            case _:
                pass

    def unclear_adds(self, resource: Resource) -> list[int]:
        """Return the adds of one collection that may or may not have happened."""
        changes = self.plan.changes
        return [n for n in self.unclear if n in self.sent and changes[n].resource is resource]

    def half_done(self, index: int) -> str:
        """Begin the sentence on why a replace is not done when its new record is there already."""
        return (
            "the new one is added, but the old one is not deleted: " if index in self.added else ""
        )

    def watch(self, error: ListingError | None) -> None:
        """Start nothing new when an error says that it would be of no use."""
        if isinstance(error, Unauthorized | Forbidden):
            self.stopped = self.stopped or error.message
        elif self.health.down:
            self.stopped = self.stopped or f"{FAILURES_IN_A_ROW} requests in a row failed"

    def result(self) -> Result:
        """Close the books: what is still unclear stays unknown, what was never sent is skipped."""
        for index, error in list(self.unclear.items()):
            self.settle(index, Outcome.UNKNOWN, error)
        for index in range(len(self.plan.changes)):
            if index in self.settled:
                continue
            if index in self.again:
                self.settle(index, Outcome.FAILED, self.again[index])
            else:
                why = self.half_done(index) + (self.stopped or "it was not tried")
                self.settle(index, Outcome.SKIPPED, why=why)
        settled = tuple(self.settled[index] for index in range(len(self.plan.changes)))
        uncertain = {Outcome.DONE, Outcome.UNKNOWN}
        touched = any(settled[index].outcome in uncertain for index in self.written)
        return Result(
            plan=self.plan,
            settled=settled,
            differences=tuple(self.differences[index] for index in sorted(self.differences)),
            notices=tuple(self.notices),
            verified=self.verified
            and not self.plan.stuck
            and not self.differences
            and all(one.outcome is Outcome.DONE for one in settled),
            touched=touched or bool(self.added & self.written),
            stopped=self.stopped,
            interrupted=self.interrupted,
        )


def _copies(resource: Resource, names: list[str]) -> Notice:
    few = 20
    shown = ", ".join(map(repr, names[:few])) + (" ..." if len(names) > few else "")
    count = f"{len(names)} {resource if len(names) == 1 else resource.collection}"
    return Notice(
        f"{count} equal to what this run added {'is' if len(names) == 1 else 'are'} listed besides "
        f"({shown}): a second run at the same time?",
        "run again: where pruning is on, what is too much is removed "
        f"(--max-deletes {len(names)} allows so many)",
    )
