"""The sentences that all formats have in common."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import assert_never

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Words, in_words
from commandsync.plan.changes import Add, Change, Delete, Edit
from commandsync.plan.plan import (
    AsRead,
    LastSent,
    ListPlan,
    OfVersion,
    Plan,
    RecordPlan,
    Unknown,
    Unread,
)
from commandsync.records.snapshot import Snapshot, shown_time
from commandsync.records.texts import OF_MANIFEST, Resource

DONE, _ALREADY = "done", "done already"
ENDS = (DONE, _ALREADY, "sent", "failed", "unknown", "skipped")
"""The ends of a change; one that is done already was done before the run."""

ASKS = "apply asks before it does that."
"""The sentence on a list that is replaced unseen, where somebody is there to be asked."""

_VERBS = ("add", "edit", "rename", "replace", "delete")
_ALWAYS = {"add", "edit", "delete"}


def plan_line(plan: Plan) -> str:
    """Return a plan's counts: the last line of its text, which scripts may rely on."""
    if not plan.known:
        return f"Plan: {counted(plan.size, 'command')} to send{_sub_commands(plan)}."
    return f"Plan: {_counts(plan.changes)}, {plan.unchanged} unchanged."


def _sub_commands(plan: Plan) -> str:
    """Return the remark that commands are counted as people call them, where that differs."""
    if not isinstance(plan, ListPlan) or not any(" " in each.name for each in plan.commands):
        return ""
    return ", each sub-command counted"


def total_line(plans: Sequence[Plan]) -> str:
    """Return the counts of all listings of a manifest; empty where there is one only."""
    if len(plans) == 1 or not all(plan.label for plan in plans):
        return ""
    known = [plan for plan in plans if plan.known]
    unknown = len(plans) - len(known)
    counts = _counts([change for plan in known for change in plan.changes])
    unchanged = sum(plan.unchanged for plan in known)
    unseen = f"; {counted(unknown, 'list')} to send whose content is not known" if unknown else ""
    return f"All listings: {counts}, {unchanged} unchanged{unseen}."


def unseen(plan: Plan, shown: Callable[[str], str] = str) -> str:
    """Return the effect of apply on an unknown list; empty for any other."""
    if plan.known:
        return ""
    size, names = counted(plan.size, "command"), plan.label.split(" and ")
    name = " and ".join(map(shown, names))
    s, their, it, them = (
        ("s", "its", "it", "it") if len(names) == 1 else ("", "their", "each", "them")
    )
    if isinstance(plan.baseline, Unread):
        lists = f"{name} return{s} {their} list only with the token"
        return f"{lists}: apply reads and compares {them} first."
    do = "does" if s else "do"
    size += _sub_commands(plan)
    return (
        f"{name} {do} not return {their} list: apply replaces {it} as a whole with {size}, "
        "whatever is there now."
    )


def result_line(result: Result) -> str:
    """Return a result's counts and its verification: the last line of its text."""
    counts = Counter(map(ended, result.settled))
    parts = [f"{counts[name]} {name}" for name in ENDS if counts[name]]
    verdict = _verdict(result)
    if result.verified is None:
        verdict = _UNREAD.get(result.sent, "The listing was not changed.")
        verdict += " The sent list is not recorded." if result.unrecorded else ""
    resent = result.sent in {Outcome.DONE, Outcome.SENT} and not result.settled
    nothing = "the list was sent again" if resent else "0 done"
    return f"Apply: {', '.join(parts) or nothing}. {verdict}"


def ended(settled: Settled) -> str:
    """Return how a change ended, in a word or two of `ENDS`."""
    return _ALREADY if settled.already else settled.outcome.value


def no_changes(plan: Plan) -> str:
    """Return the remark on a plan without changes; empty if it has some."""
    if plan.changes or plan.pending or not plan.known:
        return ""
    if isinstance(plan, ListPlan) and plan.writes:
        since = f" since {plan.baseline.name}" if isinstance(plan.baseline, LastSent) else ""
        return f"No changes{since}; apply sends the list again."
    if not plan.scope:
        keys = " and no ".join(f"{kind.collection}:" for kind in OF_MANIFEST)
        return f"No changes: the manifest has no {keys}."
    if plan.unwritable:
        count = counted(len(plan.unwritable), "listed record")
        return f"No changes can be made: {count} to change or delete without a usable id."
    return f"No changes: {_nothing_left(plan)}"


def _counts(changes: Sequence[Change]) -> str:
    actions = Counter(map(verb_of, changes))
    return ", ".join(
        f"{actions[verb]} to {verb}" for verb in _VERBS if actions[verb] or verb in _ALWAYS
    )


def in_flight(result: Result, words: Words) -> str:
    """Return the state of the writes in flight when a run was interrupted, and advice."""
    state = "requests in flight were finished"
    if result.count(Outcome.UNKNOWN) or result.sent is Outcome.UNKNOWN:
        state = "a request in flight may still arrive"
    return f"{state}. {go_on(result, words)}"


def go_on(result: Result, words: Words) -> str:
    """Return advice about a run that was stopped."""
    hint = in_words(result.stopped_hint, words) or "run again to finish the rest"
    return hint[:1].upper() + hint[1:] + ("" if hint.endswith("?") else ".")


def kept(plan: Plan) -> list[str]:
    """Return the records that stay without the manifest, and the former names it can drop."""
    sentences = []
    for resource, count in Counter(kind for kind, _ in plan.unmanaged).items():
        are, stay = ("is", "stays") if count == 1 else ("are", "stay")
        what = counted(count, f"listed {resource}")
        why = why_kept(plan, resource)
        sentences.append(f"{what} {are} not in the manifest and {stay} ({why}).")
    if isinstance(plan, RecordPlan) and plan.finished and plan.target.base_url:
        what, them = "1 formerly: entry is", "it"
        if plan.finished > 1:
            what, them = f"{plan.finished:,} formerly: entries are", "them"
        sentences.append(f"{what} no longer needed: remove {them} from the manifest.")
    return sentences


def why_kept(plan: Plan, resource: Resource) -> str:
    """Return why listed records stay that the manifest does not want; empty if they do not."""
    if not plan.manages(resource):
        return f"{resource.collection} are only appended"
    return "" if plan.rules.prune else "prune is off"


def in_a_line(error: str) -> str:
    """Return an error that may have a line for each wrong part as one line."""
    return "; ".join(error.splitlines())


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, singular or plural."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def remark_on(change: Change) -> str:
    """Return the reason of a delete or of its place, and the number of lost uses; or nothing."""
    until, first = None, ""
    if isinstance(change, Delete):
        until, first = change.until, _FIRST[change.first]
    uses = None if isinstance(change, Add | Edit) else change.uses
    why = f"it ended at {shown_time(until)}" if until else ""
    lost = f"{counted(uses, 'use')} {'goes' if uses == 1 else 'go'} with it" if uses else ""
    return "; ".join(filter(None, (why, first, lost)))


_FIRST = {
    "": "",
    "name": "first, since another one gets its name",
    "full": "first, since the list is full",
}


def question_of(plans: Sequence[Plan]) -> str:
    """Return the counts of the writes to come, with the uses that are lost.

    Of lists that are replaced unseen, it is their number alone.
    """
    changes = [change for plan in plans if plan.known for change in plan.changes]
    actions = Counter(map(verb_of, changes))
    counts = ", ".join(f"{actions[verb]:,} to {verb}" for verb in _VERBS if actions[verb])
    lost = sum(getattr(change, "uses", 0) or 0 for change in changes)
    counts += f" ({counted(lost, 'use')})" if lost else ""
    unknown = sum(not plan.known for plan in plans)
    lists = f"{counted(unknown, 'list')} to replace, whatever is there now" if unknown else ""
    return "; ".join(filter(None, (counts, lists)))


def verb_of(change: Change) -> str:
    """Return the action of a change, in a word of `_VERBS`."""
    return "rename" if isinstance(change, Edit) and change.renames else change.action


def named(change: Change) -> str:
    """Return the action and the kind of record of a change; the format adds the name."""
    return f"{verb_of(change)} {change.resource}"


def heading(plan: Plan, shown: Callable[[str], str]) -> tuple[str, str]:
    """Return the listing of a plan, and the files it was made from; `shown` escapes them."""
    bot, url = plan.target.bot, plan.target.base_url
    files = ", ".join(map(shown, plan.manifest))
    if isinstance(plan, ListPlan):
        whose = f"bot {shown(bot)}" if bot else "the bot of the token"
        where = f"{shown(plan.label)}: {whose} at {shown(url)}"
        return where, f" from {files}, {compared(plan, shown)}"
    if any(kind.exact for kind in plan.scope):
        named = f" ({shown(plan.target.name)})" if plan.target.name else ""
        whose = f"application {shown(bot)}{named}" if bot else "the application of the token"
        where = f"{shown(plan.label)}: {whose} at {shown(url)}"
        return where, f" from {files}, {compared(plan, shown)}"
    if not bot:  # two manifests are compared, and neither names one
        return "Manifest", f" {files}" if files else ""
    where = f"Bot {shown(bot)}" + (f" at {shown(url)}" if url else "")
    return where, f" from {files}" if files else ""


def compared(plan: Plan, shown: Callable[[str], str]) -> str:
    """Return what a plan is compared with; `shown` escapes a revision."""
    match plan.baseline:
        case AsRead():
            return "compared with its list"
        case OfVersion(name=name) | LastSent(name=name):
            return f"compared with {shown(name)}"
        case Unread() | Unknown():
            return "not compared"
        case _:
            assert_never(plan.baseline)


def origin(plan: Plan, shown: Callable[[str], str]) -> list[str]:
    """Return where the bot's id and the base URL are from, where that is not the manifest."""
    sources = {"bot's id": plan.target.bot_from, "base URL": plan.target.base_url_from}
    parts = [f"the {what} is from {shown(source)}" for what, source in sources.items() if source]
    sentence = ", and ".join(parts)
    return [f"{sentence[0].upper()}{sentence[1:]}."] if parts else []


def kind_prefix(change: Change) -> str:
    """Return the kind of record before its name; empty for a command."""
    return "" if change.resource.is_command else f"{change.resource} "


def managed(snapshot: Snapshot) -> str:
    """Return the counts of the collections of a manifest."""
    collections = snapshot.collections.items()
    counts = [counted(len(entries), resource) for resource, entries in collections]
    return ", ".join(counts) or "no records"


def _nothing_left(plan: Plan) -> str:
    if isinstance(plan, RecordPlan) and plan.saved:
        return "the listing shows every change of the saved plan."
    return f"nothing is left to do{' for the selected records' if plan.left_out else ''}."


_UNREAD = {
    None: "Nothing was sent.",
    Outcome.SENT: "Accepted; the list cannot be read back.",
    Outcome.UNKNOWN: "Not verified: the list cannot be read back.",
}


def _verdict(result: Result) -> str:
    if result.verified:
        before = result.settled and all(settled.already for settled in result.settled)
        begin = "Everything was done already" if before else "Verified"
        return f"{begin}: {_nothing_left(result.plan)}"
    if not result.touched:
        return "The listing was not changed."
    if not result.read_back:
        how = "was not" if result.interrupted else "could not be"
        return f"Not verified: the listing {how} read again. Run plan to see the listed records."
    if result.remaining:
        return f"Read again: {counted(len(result.remaining), 'more change')} left to do."
    if result.rewritten:
        count = counted(len(result.rewritten), "record")
        return f"Read again: the service changed the text of {count}."
    return "Read again: not everything is done."
