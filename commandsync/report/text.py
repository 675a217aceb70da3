"""Plans and results as text for people; no line begins with foreign text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, assert_never

from commandsync.apply.outcomes import Outcome
from commandsync.errors import ManifestError
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.report import summary
from commandsync.report.escape import path, told_apart, visible, visible_line
from commandsync.report.linediff import cut, diff_rows, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commandsync.apply.outcomes import Result, Settled
    from commandsync.diagnostics import Notice, Problem
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.changes import Change
    from commandsync.plan.diff import FieldChange
    from commandsync.plan.plan import Plan
    from commandsync.records.texts import Text

    Style = Literal["add", "edit", "delete", "rename", "dim", "bold", "warning"]
    Paint = Callable[[str, Style], str]

_INLINE = 72  # characters of both texts of a field that fit on its line
_INLINE_STORED = 60  # characters of each text that fit on its line
_MOST_SKIPPED = 10  # a change that was not sent is as the plan shows it

_COLORS: dict[Style, str] = {
    "add": "32",
    "edit": "33",
    "delete": "31",
    "rename": "36",
    "dim": "2",
    "bold": "1",
    "warning": "33",
}
_SIGNS: dict[str, tuple[str, Style]] = {
    "add": ("+", "add"),
    "edit": ("~", "edit"),
    "rename": ("»", "rename"),
    "replace": ("±", "edit"),
    "delete": ("-", "delete"),
}
_ROW_STYLES: dict[str, Style] = {"-": "delete", "+": "add", "│": "dim", "…": "dim"}
_OUTCOME_STYLES: dict[Outcome, Style] = {
    Outcome.DONE: "add",
    Outcome.FAILED: "delete",
    Outcome.UNKNOWN: "warning",
    Outcome.SKIPPED: "dim",
}


def plans(plans: Sequence[Plan], *, color: bool) -> str:
    """Return plans one after the other; each ends with its counts."""
    paint = _painter(color=color)
    return "\n".join(_joined(_plan(plan, paint)) for plan in plans)


def results(results: Sequence[Result], *, color: bool, planned: bool = True) -> str:
    """Return the changes that are not done, and what the service changed; then the counts.

    Args:
        results: The results.
        color: Whether the text is for a terminal that shows colours.
        planned: Whether the plans are shown above, with the remark that nothing is to do.
    """
    paint = _painter(color=color)
    several = len(results) > 1
    return "".join(_joined(_result(result, paint, several, planned)) for result in results)


def failure(error: CommandsyncError, *, color: bool) -> str:
    """Return an error, and a manifest's problems each at its place."""
    paint = _painter(color=color)
    lines: list[str] = []
    if isinstance(error, ManifestError):
        for problem in error.problems:
            lines += _problem(problem, "error", paint)
        lines += [""] if lines else []
    lines.append(f"{paint('error', 'delete')}: {visible(error.message)}")
    return _joined([*lines, *_hint(error.hint, paint)])


def validated(manifests: Sequence[Manifest], *, color: bool) -> str:
    """Return the warnings of valid manifests, then a line of counts for each."""
    paint = _painter(color=color)
    lines: list[str] = []
    for manifest in manifests:
        for warning in manifest.warnings:
            lines += _problem(warning, "warning", paint)
    for manifest in manifests:
        warnings = summary.counted(len(manifest.warnings), "warning")
        counts = [
            summary.managed(manifest.snapshot),
            warnings if manifest.warnings else "no problems",
        ]
        lines.append(f"{path(manifest.path)}: {', '.join(counts)}")
    return _joined(lines)


def notices(notices: Sequence[Notice], *, color: bool) -> str:
    """Return warnings, each with its place and what to do."""
    return _joined(_notices(notices, _painter(color=color)))


def settled(settled: Settled, *, color: bool) -> str:
    """Return the outcome of one change, on one line."""
    error = f": {visible(settled.error)}" if settled.error else ""
    return _headline(settled, _painter(color=color)) + error


def _painter(*, color: bool) -> Paint:
    """Return what paints text, to its end and no further; without colours it does not."""
    if color:
        return lambda text, style: f"\x1b[{_COLORS[style]}m{text}\x1b[0m" if text else text
    return lambda text, _: text


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _plan(plan: Plan, paint: Paint) -> Iterator[str]:
    yield from (_heading(plan, paint), "")
    for change in plan.changes:
        yield from _change(change, paint)
    if plan.changes:
        yield ""
    after = [*_notices(plan.notices, paint), *summary.kept(plan), *_refusal(plan, paint)]
    if nothing := summary.no_changes(plan):
        after.append(nothing)
    yield from [*after, ""] if after else []
    yield paint(summary.of_plan(plan), "bold")


def _result(result: Result, paint: Paint, several: bool, planned: bool) -> Iterator[str]:  # noqa: FBT001 - as `results`
    if several:
        yield from ("", _heading(result.plan, paint), "")
    yield from _unfinished(result, paint)
    yield from _differences(result, paint)
    if result.interrupted:
        yield from (f"Interrupted: {summary.in_flight(result)}", "")
    elif result.stopped:
        yield from (f"Stopped: {visible(result.stopped)}. {summary.go_on(result)}", "")
    yield from _notices(result.notices, paint)
    nothing = "" if planned else summary.no_changes(result.plan)
    if nothing:
        yield nothing
    if nothing or result.notices:
        yield ""
    yield paint(summary.of_result(result), "bold")


def _unfinished(result: Result, paint: Paint) -> Iterator[str]:
    """Show the changes that are not done, and why."""
    skipped = 0
    for settled in result.settled:
        skipped += settled.outcome is Outcome.SKIPPED
        if settled.outcome is Outcome.SKIPPED and skipped > _MOST_SKIPPED:
            continue
        if settled.outcome is not Outcome.DONE:
            yield _headline(settled, paint)
            yield from _reason(settled)
    if skipped > _MOST_SKIPPED:
        yield paint(f"skipped: and {skipped - _MOST_SKIPPED:,} more", "dim")
    if any(settled.outcome is not Outcome.DONE for settled in result.settled):
        yield ""


def _reason(settled: Settled) -> Iterator[str]:
    if settled.error:
        yield f"    why:  {visible(settled.error)}"
    if settled.hint:
        yield f"    next: {visible(settled.hint)}"
    elif settled.outcome is Outcome.UNKNOWN:
        yield "    next: run plan to see whether it arrived; apply does what is left"


def _headline(settled: Settled, paint: Paint) -> str:
    label = paint(f"{summary.ended(settled)}:", _OUTCOME_STYLES[settled.outcome])
    return f"{label} {_named(settled.change)}"


def _named(change: Change) -> str:
    return f"{summary.named(change)} {visible(cut(change.name))}{_place(change)}"


def _differences(result: Result, paint: Paint) -> Iterator[str]:
    """Show the texts that the service changed."""
    if not result.rewritten:
        return
    yield f"The service changed the text of {summary.counted(len(result.rewritten), 'record')}:"
    for settled in result.rewritten:
        yield from _rewritten(settled, paint)
    yield ""


def _rewritten(settled: Settled, paint: Paint) -> Iterator[str]:
    yield f"  {_named(settled.change)}"
    for rewrite in settled.rewrites:
        yield f"      {rewrite.field}: {rewrite.how}; {rewrite.advice}"
        texts = {"sent:": rewrite.sent, "stored:": rewrite.stored}
        if "\n" in "".join(texts.values()) or max(map(len, texts.values())) > _INLINE_STORED:
            rows = diff_rows(rewrite.sent, rewrite.stored)
            lines = [f"{row.sign} {visible_line(row.text)}" for row in rows]
        else:
            lines = [f'{label:<7} "{visible(cut(text))}"' for label, text in texts.items()]
        yield from (paint(f"        {line}", "dim") for line in lines)


def _heading(plan: Plan, paint: Paint) -> str:
    where, files = summary.heading(plan, visible)
    return paint(where, "bold") + files


def _change(change: Change, paint: Paint) -> Iterator[str]:
    renamed = isinstance(change, Edit) and change.renames
    sign, style = _SIGNS["rename" if renamed else change.action]
    name = visible(cut(change.name))
    if isinstance(change, Edit) and renamed:
        name = f"{visible(cut(change.before[0]))} → {name}"
    yield f"  {paint(f'{sign} {summary.kind_prefix(change)}{name}', style)}{_place(change, paint)}"
    match change:
        case Add(after=text) | Delete(before=text):
            yield from _whole(text, paint)
        case Edit(fields=fields) | Replace(fields=fields):
            shown = [field for field in fields if not (renamed and field.field == "name")]
            width = max((len(field.field) for field in shown), default=0)
            for field in shown:
                yield from _field(field, width, paint)
        case _:
            assert_never(change)


def _place(change: Change, paint: Paint | None = None) -> str:
    location = summary.location_of(change)
    if location is None:
        return ""
    shown = f"({visible(str(location))})"
    return "  " + (paint(shown, "dim") if paint else shown)


def _whole(text: Text, paint: Paint) -> Iterator[str]:
    """Show a whole record: its fields but the name, without the empty ones."""
    width = max(len(name) for name in text._fields[1:])
    for name, value in zip(text._fields[1:], text[1:], strict=True):
        if value:
            shown, remark = shortened(value)
            label = paint(f"{name + ':':<{width + 1}}", "dim")
            yield f"      {label} {_quoted(shown)}{remark}"


def _field(change: FieldChange, width: int, paint: Paint) -> Iterator[str]:
    label = paint(f"{change.field + ':':<{width + 1}}", "dim")
    if "\n" not in change.old + change.new and len(change.old) + len(change.new) <= _INLINE:
        old, new = map(_quoted, told_apart(change.old, change.new))
        yield f"      {label} {paint(old, 'delete')} → {paint(new, 'add')}"
        return
    yield f"      {label.rstrip()}"
    for row in diff_rows(change.old, change.new):
        yield f"        {paint(f'{row.sign} {visible_line(row.text)}', _ROW_STYLES[row.sign])}"


def _quoted(text: str) -> str:
    shown = visible(text)
    mark = "'" if '"' in shown and "'" not in shown else '"'
    return f"{mark}{shown}{mark}"


def _notices(notices: Iterable[Notice], paint: Paint) -> Iterator[str]:
    for notice in notices:
        where = f"{visible(str(notice.location))}: " if notice.location else ""
        yield f"{paint('warning', 'warning')}: {where}{visible(notice.message)}"
        yield from _hint(notice.hint, paint)


def _refusal(plan: Plan, paint: Paint) -> Iterator[str]:
    if plan.refusal is not None:
        yield f"{paint('refused', 'delete')}: {visible(summary.refused(plan))}"
        yield from _hint(plan.refusal.hint, paint)


def _problem(problem: Problem, severity: Literal["error", "warning"], paint: Paint) -> list[str]:
    label = paint(severity, "delete" if severity == "error" else "warning")
    where = paint(path(str(problem.location)), "bold")
    return [f"{where}: {label}: {visible(problem.message)}", *_hint(problem.hint, paint)]


def _hint(hint: str, paint: Paint) -> list[str]:
    return [f"  {paint('hint:', 'dim')} {visible(hint)}"] if hint else []
