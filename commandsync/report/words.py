"""The sentences that every format says in the same words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from commandsync.apply.outcomes import Outcome
from commandsync.plan.changes import Edit
from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from commandsync.apply.outcomes import Result, Settled
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan


_ALREADY = "done already"
ENDS = ("done", _ALREADY, "failed", "unknown", "skipped")
"""How a change can end; one that is done already was done before the run."""


def summary(plan: Plan) -> str:
    """Return a plan's counts: the last line of its text, which scripts may rely on."""
    replaces = plan.count("replace")
    replaced = f"{replaces} to replace, " if replaces else ""
    return (
        f"Plan: {plan.count('add')} to add, {plan.count('edit')} to edit, {replaced}"
        f"{plan.count('delete')} to delete, {plan.unchanged} unchanged."
    )


def outcome_summary(result: Result) -> str:
    """Return a result's counts and what reading again showed: the last line of its text."""
    counts = Counter(map(ended, result.settled))
    said = [f"{counts[name]} {name}" for name in ENDS if name != _ALREADY or counts[name]]
    return f"Apply: {', '.join(said)}. {_verdict(result)}"


def ended(settled: Settled) -> str:
    """Return how a change ended, in a word or two of `ENDS`."""
    return _ALREADY if settled.already else settled.outcome.value


def no_changes(plan: Plan) -> str:
    """Return what is said of a plan that changes nothing; empty for one that does."""
    if plan.changes:
        return ""
    if not plan.scope:
        return "Nothing is managed: the manifest has neither commands: nor announcements:."
    if plan.unwritable:
        count = counted(len(plan.unwritable), "listed record")
        return f"No changes can be made: {count} without a usable id should change or go."
    return f"No changes: {_nothing_left(plan)}"


def in_flight(result: Result) -> str:
    """Return what became of the writes in flight when a run was interrupted, and what to do."""
    ended = "may yet arrive" if result.count(Outcome.UNKNOWN) else "was finished"
    return f"what was in flight {ended}. {go_on(result)}"


def go_on(result: Result) -> str:
    """Return what to do about a run that was stopped: to run again helps no refused token."""
    hint = result.stopped_hint or "run again to finish the rest"
    return hint[:1].upper() + hint[1:] + ("" if hint.endswith("?") else ".")


def kept(plan: Plan) -> list[str]:
    """Return a sentence for each collection of which records stay that the manifest has not."""
    said = []
    for resource in plan.scope:
        count = sum(kind is resource for kind, _ in plan.unmanaged)
        if not count:
            continue
        what = f"{counted(count, 'listed ' + resource)} {'is' if count == 1 else 'are'} not in the"
        stay = "stays" if count == 1 else "stay"
        appends = resource is Resource.ANNOUNCEMENT and plan.rules.announcements == "append"
        why = "announcements are only appended" if appends else "prune is off"
        said.append(f"{what} manifest and {stay} ({why}).")
    return said


def refused(plan: Plan) -> str:
    """Return that apply refuses a plan, and why; empty when it does not."""
    refusal = plan.refusal
    return f"this plan {refusal.message}; apply refuses it" if refusal else ""


def counted(count: int, noun: str) -> str:
    """Return a number and its noun in the number it takes."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def named(change: Change) -> str:
    """Return in two words what a change does to what; its name is left to the format."""
    verb = "rename" if isinstance(change, Edit) and change.renames else change.action
    return f"{verb} {change.resource}"


def _nothing_left(plan: Plan) -> str:
    if plan.saved:
        return "the listing shows every change of the saved plan."
    return f"nothing is left to do{' of what --only asks for' if plan.left_out else ''}."


def _verdict(result: Result) -> str:
    if result.verified:
        before = result.settled and all(one.already for one in result.settled)
        begin = "All was done already" if before else "Verified"
        return f"{begin}: {_nothing_left(result.plan)}"
    if not result.touched:
        return "Nothing was changed."
    if not result.read_back:
        how = "was not" if result.interrupted else "could not be"
        return f"Not verified: the listing {how} read again. Run plan to see what is listed now."
    if result.remaining:
        return f"Read again: {counted(len(result.remaining), 'more change')} left to do."
    if result.differences:
        count = counted(len(result.differences), "record")
        return f"Read again: the service changed the text of {count}."
    return "Read again: not everything is done."
