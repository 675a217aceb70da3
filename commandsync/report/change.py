"""The parts of a plan as text: its block, the sentences on scheduled entries, and its changes.

`blocks_of` joins the plans of listings that show the same. `scheduled` names the entries that wait,
are due, end, or stay after their end. `change_lines` returns the action of a change, its place in
the manifest and its fields.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from operator import attrgetter
from typing import NamedTuple, assert_never

from commandsync.api.credentials import redacted
from commandsync.diagnostics import Location, Notice
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.comparison import Scheduled
from commandsync.plan.plan import ListPlan, Plan, RecordPlan, Target
from commandsync.records.display import common_length
from commandsync.records.snapshot import Phase, shown_time
from commandsync.records.texts import Text, named
from commandsync.report import summary
from commandsync.report.lines import (
    CYAN,
    DIM,
    GREEN,
    RED,
    YELLOW,
    Screen,
    Value,
    beginning,
    columns_of,
    cut_at,
    distinct,
    highlight,
    paint,
    visible,
    visible_line,
)
from commandsync.report.parts import (
    AROUND,
    BREAKING,
    DiffRow,
    Shown,
    cut,
    diff_rows,
    shortened,
    shown_changes,
    whole_fields,
)

_ANY = Target(bot="", base_url="", abilities={})


class Block(NamedTuple):
    """Plans that show the same: `shown` is one of them, for a listing with the names of all."""

    shown: Plan
    plans: list[Plan]


def blocks_of(plans: Sequence[Plan]) -> list[Block]:
    """Return the blocks of plans, in the order of their first plans.

    Plans of whole lists show the same if nothing but the listing and the warnings differ: a warning
    names its listing. A warning that several listings have is in the first block only, and names
    them all.
    """
    blocks: list[tuple[object, list[Plan]]] = []
    listings: dict[Notice, list[str]] = {}  # those that each notice is about
    for plan in plans:
        key = _without_names(plan) if isinstance(plan, ListPlan) else None
        alike = next((some for known, some in blocks if key and known == key), None)
        if alike is None:
            blocks.append((key, alike := []))
        alike.append(plan)
        for notice in plan.notices:
            listings.setdefault(_anonymous(plan, notice), []).append(plan.label)
    return [Block(_shown(alike, listings), alike) for _, alike in blocks]


def _shown(alike: Sequence[Plan], listings: dict[Notice, list[str]]) -> Plan:
    """Return the plan of a block with all names; each shared notice is taken once."""
    plan, notices = alike[0], list[Notice]()
    for own, notice in [(each, notice) for each in alike for notice in each.notices]:
        anonymous = _anonymous(own, notice)
        if anonymous is notice:
            if own is plan or notice not in notices:
                notices.append(notice)
        elif about := listings.pop(anonymous, []):
            named = ", ".join(dict.fromkeys(about))
            notices.append(replace(notice, message=named + anonymous.message))
    if isinstance(plan, RecordPlan):
        return replace(plan, notices=tuple(notices))
    names = " and ".join(each.label for each in alike)
    return replace(plan, notices=tuple(notices), name=names, audience=None)


def _without_names(plan: ListPlan) -> object:
    """Return a value that is equal for all plans that show the same."""
    anonymous = replace(
        plan,
        target=_ANY,
        name="",
        audience=None,
        baseline=replace(plan.baseline, lists=()),
        commands=(),
        digest="",
        losses=(),
        notices=(),
    )
    return anonymous, plan.size, plan.pending, plan.writes


def _anonymous(plan: Plan, notice: Notice) -> Notice:
    """Return a notice without the name of its listing, with which it begins; else the notice."""
    name = plan.label
    if not name or not notice.message.startswith(f"{name}: "):
        return notice
    return replace(notice, message=notice.message.removeprefix(name))


_MOST_NAMES = 10
_VERBS = {  # of a sentence on one entry, and on several
    "waits": "wait",
    "is due": "are due",
    "ends": "end",
    "has ended and stays listed": "have ended and stay listed",
}
_WAITS, _IS_DUE, _ENDS, _STAYS = _VERBS


def scheduled(plan: Plan, shown: Callable[[str], str], *, applied: bool = False) -> Iterator[str]:
    """Yield the sentences on scheduled entries; `shown` escapes and quotes their names.

    An entry that is listed without an end, or has ended and is no longer listed, needs no sentence,
    nor does one that is due once the plan is applied: the result says how that ended.
    """
    if isinstance(plan, ListPlan):  # only what is due is sent
        return
    for kind in plan.scope:
        why = summary.why_kept(plan, kind)
        verb_of = partial(_verb, stays=bool(why), applied=applied)
        of_kind = [entry for entry in plan.scheduled if entry.resource is kind]
        for verb, plural in _VERBS.items():
            if group := [entry for entry in of_kind if verb_of(entry) == verb]:
                count = summary.counted(len(group), kind)
                does = verb if len(group) == 1 else plural
                reason = f" ({why})" if verb == _STAYS else ""
                names = [f"{shown(entry.name)} {_times(entry)}" for entry in group]
                yield f"{count} {does}{reason}: {named(names, most=_MOST_NAMES)}."


def in_quotes(name: str) -> str:
    """Return a name for a sentence that is text."""
    return f'"{visible(cut(name))}"'


def _verb(entry: Scheduled, *, stays: bool, applied: bool) -> str:
    """Return the verb of a sentence on an entry; empty if it needs none.

    Where none `stays` after its end, the plan deletes it.
    """
    match entry.phase:
        case Phase.WAITING:
            return _WAITS
        case Phase.DUE if not entry.is_listed:
            return "" if applied else _IS_DUE
        case Phase.DUE:
            return _ENDS if entry.schedule.until else ""
        case _:
            return _STAYS if entry.is_listed and stays else ""


def _times(entry: Scheduled) -> str:
    """Return from when and until when an entry is to be listed."""
    publish, until = entry.schedule.publish, entry.schedule.until
    if until and entry.phase is Phase.DUE and entry.is_listed:
        return f"on {shown_time(until)}"
    begin = "from" if entry.phase is Phase.WAITING else "since"
    listed = "(one is listed already, and stays)"
    parts = [
        f"{begin} {shown_time(publish)}" if publish else "",
        f"until {shown_time(until)}" if until else "",
        listed if entry.phase is Phase.WAITING and entry.is_listed else "",
    ]
    return " ".join(filter(None, parts))


_INLINE = 72  # characters of both texts of a field that fit on its line
_MOST_LINES = 20  # of one text
_SIGNS = {
    "add": ("+", GREEN),
    "edit": ("~", YELLOW),
    "rename": ("»", CYAN),
    "replace": ("±", YELLOW),
    "delete": ("-", RED),
}
LEGEND = {  # of the signs that other programs' diffs do not have
    "rename": "» is a rename: the id and the uses are kept.",
    "exact rename": "» is a rename: the id and the permissions are kept.",
    "replace": "± is a replace: a new record is added, then the old one is deleted.",
}
_ROW_COLORS = {"-": RED, "+": GREEN, "│": DIM, "…": DIM}


def change_lines(change: Change, screen: Screen) -> Iterator[str]:
    """Return a change, with its fields below it."""
    verb = summary.verb_of(change)
    renamed, (sign, color) = verb == "rename", _SIGNS[verb]
    names = [text[0] for text in reversed(change.texts)] if renamed else [change.name]
    name = " → ".join(_name(name, screen, of=len(names)) for name in names)
    head = paint(f"{sign} {summary.kind_prefix(change)}{name}", color)
    where, remark = in_brackets(change.location), summary.remark_on(change)
    yield f"  {head}{paint(where, DIM)}{paint(f'  ({remark})' if remark else '', RED)}"
    match change:
        case Add(after=text) | Delete(before=text):
            yield from _whole(text, screen)
        case Edit() | Replace():
            yield from _fields(shown_changes(change), screen)
        case _:
            assert_never(change)


def _name(name: str, screen: Screen, *, of: int) -> str:
    """Return a name; all of a line take two thirds of a terminal, so that the rest fits."""
    if screen.full:
        return visible(name)
    shown = visible(cut(name))
    return shown if screen.width is None else cut_at(shown, screen.width * 2 // 3 // of)


def in_brackets(place: Location | None) -> str:
    """Return a place in a file, to be appended to a line; empty for none."""
    return f"  ({visible(str(place))})" if place else ""


def difference_lines(old: str, new: str, screen: Screen) -> Iterator[str]:
    """Return the differences between two texts, highlighted within each line."""
    rows = diff_rows(old, new, full=screen.full, after=screen.width or AROUND)
    for row, text in zip(rows, _highlighted(rows), strict=True):
        yield Value(f"        {paint(f'{row.sign} {text}'.rstrip(), _ROW_COLORS[row.sign])}")


def _whole(text: Text, screen: Screen) -> Iterator[str]:
    """Show a whole record: its fields but the name, without the empty ones."""
    fields = {beginning(cut(key)): value for key, value in whole_fields(text).items() if value}
    width = max(map(columns_of, fields), default=0)
    for name, value in fields.items():
        label = paint(f"{name}:{' ' * (width - columns_of(name))}", DIM)
        if "\n" in value:
            yield f"      {paint(f'{name}:', DIM)}"
            yield from _text_lines(value, screen)
        else:
            shown, remark = _shortened(value, screen)
            yield Value(f"      {label} {_quoted(shown)}{remark}")


def _text_lines(text: str, screen: Screen) -> Iterator[str]:
    lines = text.split("\n")
    most = len(lines) if screen.full else _MOST_LINES
    for line in lines[:most]:
        shown = visible_line("".join(_shortened(line, screen)))
        yield Value(f"        {paint('│', DIM)} {shown}".rstrip())
    if most < len(lines):
        yield paint(f"        … {len(lines) - most:,} more lines", DIM)


def _shortened(text: str, screen: Screen) -> tuple[str, str]:
    """Cut a text where nothing else does: a terminal cuts lines where it ends."""
    if screen.full:
        return text, ""
    return shortened(text) if screen.width is None else (redacted(text)[: screen.width * 2], "")


def _fields(changes: Sequence[Shown], screen: Screen) -> Iterator[str]:
    labels = [beginning(cut(change.label)) for change in changes]
    fields = zip(labels, changes, strict=True)
    width = max((len(label) for label, each in fields if not each.is_whole), default=0) + 1
    for name, change in zip(labels, changes, strict=True):
        old, new, label = change.old, change.new, f"{name}:"
        remark = paint(f"  ({BREAKING})", RED) if change.breaking else ""
        before, after = map(_quoted, distinct(old, new))
        is_short = len(old) + len(new) <= _INLINE
        if screen.width is not None:
            is_short = columns_of(f"      {label:<{width}} {before} → {after}") <= screen.width
        if change.is_whole:
            value = "".join(_shortened(old + new, screen))
            yield Value(f"      {paint(label, GREEN if new else RED)} {_quoted(value)}{remark}")
        elif is_short and "\n" not in old + new:
            label = paint(f"{label:<{width}}", DIM)
            yield f"      {label} {paint(before, RED)} → {paint(after, GREEN)}{remark}"
        else:
            yield f"      {paint(label, DIM)}{remark}"
            yield from difference_lines(old, new, screen)


def _highlighted(rows: Sequence[DiffRow]) -> list[str]:
    """Return the rows' visible texts, with the changed part of a line marked in both lines."""
    texts = [visible_line(row.text) for row in rows]
    groups = [(sign, len(list(group))) for sign, group in groupby(rows, attrgetter("sign"))]
    start = 0
    for (sign, count), following in pairwise([*groups, ("", 0)]):
        if sign == "-" and following == ("+", count):
            for n in range(start, start + count):
                texts[n], texts[n + count] = _marked(texts[n], texts[n + count])
        start += count
    return texts


def _marked(old: str, new: str) -> list[str]:
    """Mark the words in which two lines differ, unless they have none in common."""
    begin = old.rfind(" ", 0, common_length(old, new)) + 1
    end = common_length(old[begin:][::-1], new[begin:][::-1])
    end = end - old[len(old) - end :].find(" ") if " " in old[len(old) - end :] else 0
    if not begin and not end:
        return [old, new]

    tails = ((line, len(line) - end) for line in (old, new))
    return [f"{line[:begin]}{highlight(line[begin:at])}{line[at:]}" for line, at in tails]


def _quoted(text: str) -> str:
    shown = visible(text)
    mark = "'" if '"' in shown and "'" not in shown else '"'
    return f"{mark}{shown}{mark}"
