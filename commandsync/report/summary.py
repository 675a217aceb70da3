"""The sentences that all formats have in common."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from commandsync.apply.outcomes import Outcome
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.records.schedule import shown_time
from commandsync.records.texts import Resource
from commandsync.report.wording import worded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commandsync.apply.outcomes import Result, Settled
    from commandsync.diagnostics import Location
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan
    from commandsync.records.snapshot import Snapshot


DONE, _ALREADY = "done", "done already"
ENDS = (DONE, _ALREADY, "failed", "unknown", "skipped")
"""The ends of a change; one that is done already was done before the run."""

_VERBS = ("add", "edit", "rename", "replace", "delete")


def of_plan(plan: Plan) -> str:
    """Return a plan's counts: the last line of its text, which scripts may rely on."""
    replaces = plan.count("replace")
    replaced = f"{replaces} to replace, " if replaces else ""
    return (
        f"Plan: {plan.count('add')} to add, {plan.count('edit')} to edit, {replaced}"
        f"{plan.count('delete')} to delete, {plan.unchanged} unchanged."
    )


def of_result(result: Result) -> str:
    """Return a result's counts and its verification: the last line of its text."""
    counts = Counter(map(ended, result.settled))
    parts = [f"{counts[name]} {name}" for name in ENDS if name != _ALREADY or counts[name]]
    return f"Apply: {', '.join(parts)}. {_verdict(result)}"


def ended(settled: Settled) -> str:
    """Return how a change ended, in a word or two of `ENDS`."""
    return _ALREADY if settled.already else settled.outcome.value


def no_changes(plan: Plan) -> str:
    """Return the remark on a plan without changes; empty for one that has some."""
    if plan.changes:
        return ""
    if not plan.scope:
        keys = " nor ".join(f"{kind.collection}:" for kind in Resource)
        return f"Nothing is managed: the manifest has neither {keys}."
    if plan.unwritable:
        count = counted(len(plan.unwritable), "listed record")
        return f"No changes can be made: {count} to change or delete without a usable id."
    return f"No changes: {_nothing_left(plan)}"


def in_flight(result: Result) -> str:
    """Return the state of the writes in flight when a run was interrupted, and what to do."""
    state = "requests in flight were finished"
    if result.count(Outcome.UNKNOWN):
        state = "a request in flight may still arrive"
    return f"{state}. {go_on(result)}"


def go_on(result: Result) -> str:
    """Return what to do about a run that was stopped."""
    hint = worded(result.stopped_hint) or "run again to finish the rest"
    return hint[:1].upper() + hint[1:] + ("" if hint.endswith("?") else ".")


def kept(plan: Plan) -> list[str]:
    """Return a sentence on each collection with records that are not in the manifest and stay."""
    sentences = []
    for resource, count in Counter(kind for kind, _ in plan.unmanaged).items():
        are, stay = ("is", "stays") if count == 1 else ("are", "stay")
        what = counted(count, f"listed {resource}")
        why = why_kept(plan, resource)
        sentences.append(f"{what} {are} not in the manifest and {stay} ({why}).")
    return sentences


def why_kept(plan: Plan, resource: Resource) -> str:
    """Return why listed records stay that the manifest does not want; empty if they do not."""
    if not plan.rules.manages(resource):
        return f"{resource.collection} are only appended"
    return "" if plan.rules.prune else "prune is off"


def refused(plan: Plan) -> str:
    """Return that apply refuses a plan, and why; empty when it does not."""
    refusal = plan.refusal
    return f"this plan {refusal.message}; apply refuses it" if refusal else ""


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, singular or plural."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def remark_on(change: Change) -> str:
    """Return why the manifest asks for a delete, and how many uses are lost; empty for neither."""
    until = change.until if isinstance(change, Delete) else None
    uses = None if isinstance(change, Add | Edit) else change.uses
    why = f"its until, {shown_time(until)}, has passed" if until else ""
    lost = f"{counted(uses, 'use')} {'goes' if uses == 1 else 'go'} with it" if uses else ""
    return "; ".join(filter(None, (why, lost)))


def question(changes: Sequence[Change]) -> str:
    """Return the counts of what is about to be written, and how many uses are lost with it."""
    renames = sum(isinstance(change, Edit) and change.renames for change in changes)
    actions = Counter[str](change.action for change in changes)
    actions.update({"edit": -renames, "rename": renames})
    parts = [f"{actions[verb]:,} to {verb}" for verb in _VERBS if actions[verb]]
    lost = sum(change.uses or 0 for change in changes if isinstance(change, Delete | Replace))
    return ", ".join(parts) + (f" ({counted(lost, 'use')})" if lost else "")


def named(change: Change) -> str:
    """Return the action and the kind of record of a change; the format adds the name."""
    verb = "rename" if isinstance(change, Edit) and change.renames else change.action
    return f"{verb} {change.resource}"


def heading(plan: Plan, shown: Callable[[str], str]) -> tuple[str, str]:
    """Return the listing of a plan, and the files it was made from; `shown` escapes them."""
    bot, url = plan.target.bot, plan.target.base_url
    files = ", ".join(map(shown, plan.manifest))
    if not bot:  # two manifests are compared, and neither names one
        return "Manifest", f" {files}" if files else ""
    where = f"Bot {shown(bot)}" + (f" at {shown(url)}" if url else "")
    return where, f" from {files}" if files else ""


def location_of(change: Change) -> Location | None:
    """Return the place of a change in the manifest; None for a delete, which has none."""
    return None if isinstance(change, Delete) else change.location


def kind_prefix(change: Change) -> str:
    """Return the kind of record before its name; empty for the usual kind, the first."""
    return "" if change.resource is next(iter(Resource)) else f"{change.resource} "


def managed(snapshot: Snapshot) -> str:
    """Return the counts of the collections of a manifest."""
    collections = snapshot.collections.items()
    counts = [counted(len(entries), resource) for resource, entries in collections]
    return ", ".join(counts) or "nothing managed"


def _nothing_left(plan: Plan) -> str:
    if plan.saved:
        return "the listing shows every change of the saved plan."
    return f"nothing is left to do{' of what --only asks for' if plan.left_out else ''}."


def _verdict(result: Result) -> str:
    if result.verified:
        before = result.settled and all(settled.already for settled in result.settled)
        begin = "All was done already" if before else "Verified"
        return f"{begin}: {_nothing_left(result.plan)}"
    if not result.touched:
        return "Nothing was changed."
    if not result.read_back:
        how = "was not" if result.interrupted else "could not be"
        return f"Not verified: the listing {how} read again. Run plan to see what is listed now."
    if result.remaining:
        return f"Read again: {counted(len(result.remaining), 'more change')} left to do."
    if result.rewritten:
        count = counted(len(result.rewritten), "record")
        return f"Read again: the service changed the text of {count}."
    return "Read again: not everything is done."
