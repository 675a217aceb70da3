"""What a plan says of the scheduled entries: which wait, are due, end, or stay after their end."""

from collections.abc import Callable, Iterator

from commandsync.plan.comparison import Scheduled
from commandsync.plan.plan import Plan
from commandsync.records.snapshot import Phase, shown_time
from commandsync.records.texts import named
from commandsync.report import summary
from commandsync.report.escape import visible
from commandsync.report.linediff import cut

_MOST_NAMES = 10
_VERBS = {  # what a sentence says of one entry, and of several
    "waits": "wait",
    "is due": "are due",
    "ends": "end",
    "has ended and stays listed": "have ended and stay listed",
}
_WAITS, _IS_DUE, _ENDS, _STAYS = _VERBS


def scheduled(plan: Plan, shown: Callable[[str], str], *, applied: bool = False) -> Iterator[str]:
    """Yield the sentences on scheduled entries; `shown` escapes and quotes their names.

    What is listed and has no end, or has ended and is no longer listed, needs no sentence, nor does
    what is due once the plan is applied: the result says how that ended.
    """
    entries = plan.scheduled
    for kind in dict.fromkeys(entry.resource for entry in entries):
        why = summary.why_kept(plan, kind)
        verbs = [_WAITS, *[_IS_DUE] * (not applied), _ENDS]
        verbs += [_STAYS] * bool(why)  # else the plan deletes it
        for verb in verbs:
            if group := [each for each in entries if each.resource is kind and _verb(each) == verb]:
                count = summary.counted(len(group), kind)
                does = verb if len(group) == 1 else _VERBS[verb]
                reason = f" ({why})" if verb == _STAYS else ""
                names = [f"{shown(entry.name)} {_times(entry)}" for entry in group]
                yield f"{count} {does}{reason}: {named(names, most=_MOST_NAMES)}."


def in_quotes(name: str) -> str:
    """Return a name for a sentence that is text."""
    return f'"{visible(cut(name))}"'


def _verb(entry: Scheduled) -> str:
    """Return what a sentence says of an entry; empty for one that needs none."""
    match entry.phase:
        case Phase.WAITING:
            return _WAITS
        case Phase.DUE if not entry.listed:
            return _IS_DUE
        case Phase.DUE:
            return _ENDS if entry.schedule.until else ""
        case _:
            return _STAYS if entry.listed else ""


def _times(entry: Scheduled) -> str:
    """Return from when and until when an entry is to be listed."""
    publish, until = entry.schedule.publish, entry.schedule.until
    if until and _verb(entry) == _ENDS:
        return f"on {shown_time(until)}"
    begin = "from" if entry.phase is Phase.WAITING else "since"
    listed = "(one is listed already, and stays)"
    parts = [
        f"{begin} {shown_time(publish)}" if publish else "",
        f"until {shown_time(until)}" if until else "",
        listed if entry.phase is Phase.WAITING and entry.listed else "",
    ]
    return " ".join(filter(None, parts))
