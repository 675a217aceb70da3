"""Plans and results as text for people; no line begins with foreign text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from commandsync.apply.outcomes import Outcome
from commandsync.errors import ManifestError
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.report import summary
from commandsync.report.escape import path, told_apart, visible, visible_line
from commandsync.report.linediff import cut, diff_rows, shortened
from commandsync.report.screen import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commandsync.apply.outcomes import Result, Settled
    from commandsync.diagnostics import Excerpt, Location, Notice, Problem
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.changes import Change
    from commandsync.plan.diff import FieldChange
    from commandsync.plan.plan import Plan
    from commandsync.records.texts import Text
    from commandsync.report.screen import Screen

_INLINE = 72  # characters of both texts of a field that fit on its line
_INLINE_STORED = 60  # characters of each text that fit on its line
_MOST_SKIPPED = 10  # a change that was not sent is as the plan shows it

# The numbers of colours and styles in a terminal's escapes.
_RED, _GREEN, _YELLOW, _BLUE, _CYAN, _DIM, _BOLD = 31, 32, 33, 34, 36, 2, 1
_PAINT = re.compile(r"\x1b\[[0-9]+m")
_SIGNS = {
    "add": ("+", _GREEN),
    "edit": ("~", _YELLOW),
    "rename": ("»", _CYAN),
    "replace": ("±", _YELLOW),
    "delete": ("-", _RED),
}
_ROW_COLORS = {"-": _RED, "+": _GREEN, "│": _DIM, "…": _DIM}
_OUTCOME_COLORS = {"done": _GREEN, "failed": _RED, "unknown": _YELLOW, "skipped": _DIM}


def plans(plans: Sequence[Plan], *, screen: Screen) -> str:
    """Return plans one after the other; each ends with its counts."""
    return "\n".join(_joined(_plan(plan), screen=screen) for plan in plans)


def results(results: Sequence[Result], *, screen: Screen, planned: bool = True) -> str:
    """Return the changes that are not done, and what the service changed; then the counts.

    `planned` means that the plans are shown above, with the remark that nothing is to do.
    """
    lines: list[str] = []
    for result in results:
        if len(results) > 1:
            lines += ("", _heading(result.plan), "")
        lines += _result(result, "" if planned else summary.no_changes(result.plan))
    return _joined(lines, screen=screen)


def failure(error: CommandsyncError, *, screen: Screen) -> str:
    """Return an error, and a manifest's problems each at its place."""
    label = _paint("error", _RED)
    lines: list[str] = []
    if isinstance(error, ManifestError):
        for problem in error.problems:
            lines += _problem(problem, label, screen)
        lines += [""] if lines else []
    lines += (f"{label}: {visible(error.message)}", *_hint(error.hint))
    return _joined(lines, screen=screen)


def validated(manifests: Sequence[Manifest], *, screen: Screen) -> str:
    """Return the warnings of valid manifests, then a line of counts for each."""
    lines: list[str] = []
    for manifest in manifests:
        for warning in manifest.warnings:
            lines += _problem(warning, _paint("warning", _YELLOW), screen)
    for manifest in manifests:
        count = len(manifest.warnings)
        warnings = summary.counted(count, "warning") if count else "no problems"
        lines.append(f"{path(manifest.path)}: {summary.managed(manifest.snapshot)}, {warnings}")
    return _joined(lines, screen=screen)


def notices(notices: Sequence[Notice], *, screen: Screen) -> str:
    """Return warnings, each with its place and what to do."""
    return _joined(_notices(notices), screen=screen)


def settled(settled: Settled, *, screen: Screen) -> str:
    """Return the outcome of one change, on one line."""
    error = f": {visible(settled.error)}" if settled.error else ""
    return _joined([_headline(settled) + error], screen=screen).removesuffix("\n")


def _paint(text: str, color: int) -> str:
    """Paint a text; `_joined` removes it again where no colours are shown."""
    return f"\x1b[{color}m{text}\x1b[0m" if text else text


def _joined(lines: Iterable[str], *, screen: Screen) -> str:
    """Join lines; foreign text in them is visible, so each escape is one of `_paint`."""
    text = "".join(f"{line}\n" for line in lines)
    return text if screen.color else _PAINT.sub("", text)


def _plan(plan: Plan) -> Iterator[str]:
    yield from (_heading(plan), "")
    for change in plan.changes:
        yield from _change(change)
    if plan.changes:
        yield ""
    after = [*_notices(plan.notices), *summary.kept(plan)]
    if refusal := plan.refusal:
        refused = visible(summary.refused(plan))
        after += (f"{_paint('refused', _RED)}: {refused}", *_hint(refusal.hint))
    if nothing := summary.no_changes(plan):
        after.append(nothing)
    yield from [*after, ""] if after else []
    yield _paint(summary.of_plan(plan), _BOLD)


def _result(result: Result, nothing: str) -> Iterator[str]:
    yield from _unfinished(result)
    yield from _differences(result)
    if result.interrupted:
        yield from (f"Interrupted: {summary.in_flight(result)}", "")
    elif result.stopped:
        yield from (f"Stopped: {visible(result.stopped)}. {summary.go_on(result)}", "")
    remarks = [*_notices(result.notices), *([nothing] if nothing else [])]
    yield from [*remarks, ""] if remarks else []
    yield _paint(summary.of_result(result), _BOLD)


def _unfinished(result: Result) -> Iterator[str]:
    """Show the changes that are not done, and why."""
    skipped = 0
    for settled in result.settled:
        skipped += settled.outcome is Outcome.SKIPPED
        if settled.outcome is Outcome.SKIPPED and skipped > _MOST_SKIPPED:
            continue
        if settled.outcome is not Outcome.DONE:
            yield _headline(settled)
            yield from _reason(settled)
    if skipped > _MOST_SKIPPED:
        yield _paint(f"skipped: and {skipped - _MOST_SKIPPED:,} more", _DIM)
    if any(settled.outcome is not Outcome.DONE for settled in result.settled):
        yield ""


def _reason(settled: Settled) -> Iterator[str]:
    if settled.error:
        yield f"    why:  {visible(settled.error)}"
    if settled.hint:
        yield f"    next: {visible(settled.hint)}"
    elif settled.outcome is Outcome.UNKNOWN:
        yield "    next: run plan to see whether it arrived; apply does what is left"


def _headline(settled: Settled) -> str:
    label = _paint(f"{summary.ended(settled)}:", _OUTCOME_COLORS[settled.outcome])
    return f"{label} {_named(settled.change)}"


def _named(change: Change) -> str:
    return f"{summary.named(change)} {visible(cut(change.name))}{_place(change)}"


def _differences(result: Result) -> Iterator[str]:
    """Show the texts that the service changed."""
    if not result.rewritten:
        return
    yield f"The service changed the text of {summary.counted(len(result.rewritten), 'record')}:"
    for settled in result.rewritten:
        yield from _rewritten(settled)
    yield ""


def _rewritten(settled: Settled) -> Iterator[str]:
    yield f"  {_named(settled.change)}"
    for rewrite in settled.rewrites:
        yield f"      {rewrite.field}: {rewrite.how}; {rewrite.advice}"
        texts = {"sent:": rewrite.sent, "stored:": rewrite.stored}
        if "\n" in "".join(texts.values()) or max(map(len, texts.values())) > _INLINE_STORED:
            rows = diff_rows(rewrite.sent, rewrite.stored)
            lines = [f"{row.sign} {visible_line(row.text)}" for row in rows]
        else:
            lines = [f'{label:<7} "{visible(cut(text))}"' for label, text in texts.items()]
        yield from (_paint(f"        {line}", _DIM) for line in lines)


def _heading(plan: Plan) -> str:
    where, files = summary.heading(plan, visible)
    return _paint(where, _BOLD) + files


def _change(change: Change) -> Iterator[str]:
    renamed = isinstance(change, Edit) and change.renames
    sign, color = _SIGNS["rename" if renamed else change.action]
    name = visible(cut(change.name))
    if isinstance(change, Edit) and renamed:
        name = f"{visible(cut(change.before[0]))} → {name}"
    head = _paint(f"{sign} {summary.kind_prefix(change)}{name}", color)
    lost = summary.lost_with(change)
    yield f"  {head}{_paint(_place(change), _DIM)}{_paint(f'  ({lost})' if lost else '', _RED)}"
    match change:
        case Add(after=text) | Delete(before=text):
            yield from _whole(text)
        case Edit(fields=fields) | Replace(fields=fields):
            yield from _fields(fields[1:] if renamed else fields)
        case _:
            assert_never(change)


def _place(change: Change) -> str:
    location = summary.location_of(change)
    return f"  ({visible(str(location))})" if location else ""


def _whole(text: Text) -> Iterator[str]:
    """Show a whole record: its fields but the name, without the empty ones."""
    width = max(len(name) for name in text._fields[1:])
    for name, value in zip(text._fields[1:], text[1:], strict=True):
        if value:
            shown, remark = shortened(value)
            label = _paint(f"{name + ':':<{width + 1}}", _DIM)
            yield f"      {label} {_quoted(shown)}{remark}"


def _fields(changes: Sequence[FieldChange]) -> Iterator[str]:
    width = max((len(change.field) for change in changes), default=0) + 1
    for change in changes:
        old, new, label = change.old, change.new, f"{change.field}:"
        if "\n" not in old + new and len(old) + len(new) <= _INLINE:
            before, after = map(_quoted, told_apart(old, new))
            label = _paint(f"{label:<{width}}", _DIM)
            yield f"      {label} {_paint(before, _RED)} → {_paint(after, _GREEN)}"
            continue
        yield f"      {_paint(label, _DIM)}"
        for row in diff_rows(old, new):
            yield f"        {_paint(f'{row.sign} {visible_line(row.text)}', _ROW_COLORS[row.sign])}"


def _quoted(text: str) -> str:
    shown = visible(text)
    mark = "'" if '"' in shown and "'" not in shown else '"'
    return f"{mark}{shown}{mark}"


def _notices(notices: Iterable[Notice]) -> Iterator[str]:
    for notice in notices:
        where = f"{visible(str(notice.location))}: " if notice.location else ""
        yield f"{_paint('warning', _YELLOW)}: {where}{visible(notice.message)}"
        yield from _hint(notice.hint)


def _problem(problem: Problem, label: str, screen: Screen) -> Iterator[str]:
    where = _paint(path(str(problem.location)), _BOLD)
    yield f"{where}: {label}: {visible(problem.message)}"
    if problem.excerpt and screen.width:
        yield from _frame(problem.location, problem.excerpt)
    yield from _hint(problem.hint)


def _frame(location: Location, excerpt: Excerpt) -> Iterator[str]:
    """Show the line of a problem, with a caret below its column."""
    number, bar = str(location.line), _paint("|", _BLUE)
    before = columns_of(visible(excerpt.text[: excerpt.caret]))
    yield f"  {_paint(number, _BLUE)} {bar} {visible(excerpt.text)}".rstrip()
    yield f"  {' ' * len(number)} {bar} {' ' * before}{_paint('^', _RED)}"


def _hint(hint: str) -> list[str]:
    return [f"  {_paint('hint:', _DIM)} {visible(hint)}"] if hint else []
