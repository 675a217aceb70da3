"""The result of a plan: an outcome for each change, and what reading again showed."""

from dataclasses import dataclass, field
from enum import StrEnum

from commandsync.diagnostics import Hint, Notice
from commandsync.errors import Exit, ListingError
from commandsync.plan.changes import Change
from commandsync.plan.plan import Plan
from commandsync.records.rewrites import Rewrite


class Outcome(StrEnum):
    """How one change ended."""

    DONE = "done"  # the listing has it, as the service acknowledged or as reading showed
    SENT = "sent"  # the service accepted it, and does not return its list: it cannot be read back
    FAILED = "failed"  # it certainly did not happen
    UNKNOWN = "unknown"  # it may have happened or may yet happen; only a later read can tell
    SKIPPED = "skipped"  # it was never sent


@dataclass(frozen=True, slots=True)
class Settled:
    """One change and how it ended."""

    change: Change
    outcome: Outcome
    error: str = ""  # why it is not done, in one sentence; empty when it is
    hint: str | Hint = ""
    already: bool = False  # whether it was done before this run, which made no request for it
    rewrites: tuple[Rewrite, ...] = ()  # which fields are listed with another text, and how
    # What was raised, where something was; not part of what is compared.
    cause: ListingError | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a plan."""

    plan: Plan
    settled: tuple[Settled, ...]  # every change with its outcome, in the plan's order
    notices: tuple[Notice, ...] = ()  # what else reading showed, such as copies of another run
    # What a new plan from the listing as read back would do, other than changes that are not done.
    remaining: tuple[Change, ...] = ()
    read_back: bool = True  # whether every managed collection was read again after the writes
    # Whether nothing is left to do, by the listing as it was read after the writes; with nothing to
    # write, as it was read for the plan. None where it cannot be read.
    verified: bool | None = True
    sent: Outcome | None = None  # of the request that replaces a whole list; None for none
    touched: bool = False  # whether something was or may have been written
    stopped: str = ""  # why the rest was skipped; empty when nothing was
    stopped_hint: str | Hint = ""  # what to do about that; empty where running again is enough
    interrupted: bool = False  # whether the run was stopped from outside

    @property
    def rewritten(self) -> tuple[Settled, ...]:
        """The changes whose record is listed with another text than was written."""
        return tuple(settled for settled in self.settled if settled.rewrites)

    @property
    def complete(self) -> bool:
        """Whether everything is done and seen, or accepted where nothing can be seen."""
        outcomes = {settled.outcome for settled in self.settled} | {self.sent or Outcome.DONE}
        accepted = outcomes <= {Outcome.DONE, Outcome.SENT}
        return accepted and self.verified is not False and not self.interrupted

    def count(self, outcome: Outcome) -> int:
        """How many changes ended so."""
        return sum(settled.outcome is outcome for settled in self.settled)


def skipped(plan: Plan, why: str) -> Result:
    """Return the result of a plan of which nothing was tried; `why` is the reason in a word."""
    settled = tuple(Settled(change, Outcome.SKIPPED, why) for change in plan.changes)
    return Result(plan=plan, settled=settled, verified=not settled, stopped=why, interrupted=True)


def exit_code(*results: Result, unread: bool = False) -> Exit:
    """Return the exit code of applied plans; `FAILED` means that no listing was changed.

    `unread` is whether there is a listing for which no plan could be made.
    """
    if all(result.complete for result in results) and not unread:
        return Exit.DONE
    changed = any(result.touched or result.rewritten for result in results)
    return Exit.INCOMPLETE if changed else Exit.FAILED
