"""Plans and results as text for people: calm, exact, and no line that begins with foreign text."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from commandsync.errors import ManifestError
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.report import outcome, words
from commandsync.report.differing import cut, differing_rows, shortened
from commandsync.report.escape import path, told_apart, visible, visible_line
from commandsync.report.palette import Palette

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commandsync.apply.outcomes import Result
    from commandsync.diagnostics import Location, Notice, Problem
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.changes import Change
    from commandsync.plan.diff import FieldChange
    from commandsync.plan.plan import Plan
    from commandsync.records.texts import Text
    from commandsync.report.palette import Style

_INLINE = 72  # characters of both texts of a field that fit on its line

_SIGNS: dict[str, tuple[str, Style]] = {
    "add": ("+", "add"),
    "edit": ("~", "edit"),
    "rename": ("»", "rename"),
    "replace": ("±", "edit"),
    "delete": ("-", "delete"),
}
_ROW_STYLES: dict[str, Style] = {"-": "delete", "+": "add", "│": "dim", "…": "dim"}


def plans(plans: Sequence[Plan], *, color: bool) -> str:
    """Return plans one after the other; each ends with its counts."""
    palette = Palette(color)
    return "\n".join("".join(f"{line}\n" for line in _plan(plan, palette)) for plan in plans)


def results(results: Sequence[Result], *, color: bool, planned: bool = True) -> str:
    """Return what is not plain about results; each ends with its counts.

    Args:
        results: What became of plans.
        color: Whether the text is for a terminal that shows colours.
        planned: Whether the plans stand above, which say already that nothing is to do.
    """
    palette = Palette(color)
    return "".join(
        "".join(
            f"{line}\n"
            for line in (
                *(["", _heading(one.plan, palette), ""] if len(results) > 1 else ()),
                *_result(one, palette, planned=planned),
                palette.paint(words.outcome_summary(one), "bold"),
            )
        )
        for one in results
    )


def failure(error: CommandsyncError, *, color: bool, kind: str) -> str:  # noqa: ARG001 - kinds are for programs
    """Return an error, and a manifest's problems each at its place."""
    palette = Palette(color)
    lines: list[str] = []
    if isinstance(error, ManifestError):
        for problem in error.problems:
            lines += _problem(problem, "error", palette)
        lines += [""] if lines else []
    lines.append(f"{palette.paint('error', 'delete')}: {visible(error.message)}")
    lines += _hint(error.hint, palette)
    return "".join(f"{line}\n" for line in lines)


def validated(manifests: Sequence[Manifest], *, color: bool) -> str:
    """Return what valid manifests hold: their warnings, then a line for each."""
    palette = Palette(color)
    lines: list[str] = []
    for one in manifests:
        for warning in one.warnings:
            lines += _problem(warning, "warning", palette)
    for one in manifests:
        counts = [
            words.counted(len(entries), resource)
            for resource, entries in one.snapshot.collections.items()
        ] or ["nothing managed"]
        found = words.counted(len(one.warnings), "warning") if one.warnings else "no problems"
        lines.append(f"{path(one.path)}: {', '.join([*counts, found])}")
    return "".join(f"{line}\n" for line in lines)


def notices(notices: Sequence[Notice], *, color: bool) -> str:
    """Return warnings, each with its place and what to do."""
    return "".join(f"{line}\n" for line in _notices(notices, Palette(color)))


def _plan(plan: Plan, palette: Palette) -> Iterator[str]:
    yield _heading(plan, palette)
    yield ""
    for change in plan.changes:
        yield from _change(change, palette)
    if plan.changes:
        yield ""
    after = [
        *_notices(plan.notices, palette),
        *words.kept(plan),
        *_refusal(plan, palette),
        *filter(None, [words.no_changes(plan)]),
    ]
    yield from after
    if after:
        yield ""
    yield palette.paint(words.summary(plan), "bold")


def _result(result: Result, palette: Palette, *, planned: bool) -> Iterator[str]:
    yield from outcome.result_lines(result, palette)
    yield from _notices(result.notices, palette)
    nothing = "" if planned else words.no_changes(result.plan)
    if nothing:
        yield nothing
    if nothing or result.notices:
        yield ""


def _heading(plan: Plan, palette: Palette) -> str:
    bot, url = visible(plan.target.bot), visible(plan.target.base_url)
    files = ", ".join(visible(file) for file in plan.manifest)
    if not bot:  # two manifests are compared, and neither names one
        return palette.paint("Manifest", "bold") + (f" {files}" if files else "")
    where = f"Bot {bot}" + (f" at {url}" if url else "")
    return palette.paint(where, "bold") + (f" from {files}" if files else "")


def _change(change: Change, palette: Palette) -> Iterator[str]:
    renamed = isinstance(change, Edit) and change.renames
    sign, style = _SIGNS["rename" if renamed else change.action]
    kind = "announcement " if change.resource == "announcement" else ""
    name = visible(cut(change.name))
    if isinstance(change, Edit) and renamed:
        name = f"{visible(cut(change.before[0]))} → {name}"
    where = "" if isinstance(change, Delete) else _place(change.location, palette)
    yield f"  {palette.paint(f'{sign} {kind}{name}', style)}{where}"
    match change:
        case Add(after=text) | Delete(before=text):
            yield from _whole(text, palette)
        case Edit(fields=fields) | Replace(fields=fields):
            shown = [one for one in fields if not (renamed and one.field == "name")]
            width = max((len(one.field) for one in shown), default=0)
            for one in shown:
                yield from _field(one, width, palette)
        case _:
            assert_never(change)


def _place(location: Location | None, palette: Palette) -> str:
    return "" if location is None else "  " + palette.paint(f"({visible(str(location))})", "dim")


def _whole(text: Text, palette: Palette) -> Iterator[str]:
    """Show a record that comes or goes: its fields but the name, the empty ones left out."""
    width = max(len(name) for name in text._fields[1:])
    for name, value in zip(text._fields[1:], text[1:], strict=True):
        if value:
            label = palette.paint(f"{name + ':':<{width + 1}}", "dim")
            shown, remark = shortened(value)
            yield f"      {label} {_quoted(shown)}{remark}"


def _field(change: FieldChange, width: int, palette: Palette) -> Iterator[str]:
    label = palette.paint(f"{change.field + ':':<{width + 1}}", "dim")
    if "\n" not in change.old + change.new and len(change.old) + len(change.new) <= _INLINE:
        old, new = map(_quoted, told_apart(change.old, change.new))
        yield f"      {label} {palette.paint(old, 'delete')} → {palette.paint(new, 'add')}"
        return
    yield f"      {label.rstrip()}"
    for row in differing_rows(change.old, change.new):
        line = f"{row.sign} {visible_line(row.text)}"
        yield f"        {palette.paint(line, _ROW_STYLES[row.sign])}"


def _quoted(text: str) -> str:
    shown = visible(text)
    mark = "'" if '"' in shown and "'" not in shown else '"'
    return f"{mark}{shown}{mark}"


def _notices(notices: Iterable[Notice], palette: Palette) -> Iterator[str]:
    for notice in notices:
        where = f"{visible(str(notice.location))}: " if notice.location else ""
        yield f"{palette.paint('warning', 'warning')}: {where}{visible(notice.message)}"
        yield from _hint(notice.hint, palette)


def _refusal(plan: Plan, palette: Palette) -> Iterator[str]:
    if plan.refusal is not None:
        yield f"{palette.paint('refused', 'delete')}: {visible(words.refused(plan))}"
        yield from _hint(plan.refusal.hint, palette)


def _problem(problem: Problem, severity: str, palette: Palette) -> Iterator[str]:
    style: Style = "delete" if severity == "error" else "warning"
    where = palette.paint(path(str(problem.location)), "bold")
    yield f"{where}: {palette.paint(severity, style)}: {visible(problem.message)}"
    yield from _hint(problem.hint, palette)


def _hint(hint: str, palette: Palette) -> Iterator[str]:
    if hint:
        yield f"  {palette.paint('hint:', 'dim')} {visible(hint)}"
