"""Plans and results as GitHub's Markdown: a table per action, with nothing foreign interpreted.

Foreign text is in code spans and fenced blocks only, where GitHub interprets no mention, issue,
link or HTML.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, assert_never

from commandsync.apply.outcomes import Outcome
from commandsync.errors import ManifestError
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.records.texts import Resource
from commandsync.report import summary, text
from commandsync.report.escape import code, fenced, told_apart, visible_line
from commandsync.report.linediff import cut, diff_rows
from commandsync.report.screen import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commandsync.apply.outcomes import Result, Settled
    from commandsync.diagnostics import Location, Notice, Problem
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan

_CELL = 60  # characters of a text that a cell shows; longer differences follow the table
_WHOLE = dict.fromkeys(  # the fields of a whole record that a table shows
    field.capitalize() for kind in Resource for field in reversed(kind.required[1:])
)
_BAR = r"\|"
_SETTLED = ("Change", "Name", "Where", "Why", "What to do")
_TITLES: dict[str, str] = {
    "add": "Add",
    "edit": "Edit",
    "replace": "Replace: the new one is added, the old one deleted",
    "delete": "Delete",
}


def plans(plans: Sequence[Plan]) -> str:
    """Return plans one after the other."""
    return _joined(block for plan in plans for block in _plan(plan))


def results(results: Sequence[Result]) -> str:
    """Return results one after the other, with a table for each outcome."""
    return _joined(block for result in results for block in _result(result))


def failure(error: CommandsyncError) -> str:
    """Return an error, and a manifest's problems in a table."""
    blocks = [f"### Failed\n\n{code(error.message)}"]
    blocks += [f"What to do: {code(error.hint)}"] if error.hint else []
    if isinstance(error, ManifestError):
        blocks.append(_problems("Problem", error.problems))
    return _joined(blocks)


def validated(manifests: Sequence[Manifest]) -> str:
    """Return the counts of valid manifests, and their warnings."""
    rows = [
        (code(manifest.path), summary.managed(manifest.snapshot), str(len(manifest.warnings)))
        for manifest in manifests
    ]
    warnings = [warning for manifest in manifests for warning in manifest.warnings]
    blocks = ["### Valid", _table(("Manifest", "Holds", "Warnings"), rows)]
    return _joined([*blocks, _problems("Warning", warnings)] if warnings else blocks)


def _plan(plan: Plan) -> Iterator[str]:
    yield f"### {summary.of_plan(plan)}"
    yield "".join(summary.heading(plan, code))
    if plan.refusal is not None:
        yield f"**Refused**: {code(summary.refused(plan))}"
        yield f"What to do: {code(plan.refusal.hint)}"
    if nothing := summary.no_changes(plan):
        yield nothing
    for action, title in _TITLES.items():
        changes = [change for change in plan.changes if change.action == action]
        if changes:
            yield f"#### {title} ({len(changes):,})"
            yield from _changes(changes)
    yield from summary.kept(plan)
    yield from _notices(plan.notices)


def _changes(changes: Sequence[Change]) -> Iterator[str]:
    """Return the table of changes of one action, then the differences too long for it."""
    rows: list[tuple[str, ...]] = []
    below: list[str] = []
    for change in changes:
        match change:
            case Add(after=record) | Delete(before=record):
                values = (getattr(record, column.lower(), None) for column in _WHOLE)
                cells: Iterable[str] = (
                    "" if value is None else code(cut(value, _CELL)) for value in values
                )
                rows.append((*_who(change), *cells))
            case Edit() | Replace():
                for field in change.fields:
                    old, new = field.old, field.new
                    cells = map(code, told_apart(old, new))
                    if "\n" in old + new or max(len(old), len(new)) > _CELL:
                        cells = repeat("*see below*", 2)
                        below.append(f"{code(cut(change.name))}, {field.field}:")
                        below.append(_difference_block(old, new))
                    rows.append((*_who(change), field.field, *cells))
            case _:
                assert_never(change)
    wholes = isinstance(changes[0], Add | Delete)
    columns = _WHOLE if wholes else ("Field", "Old", "New")
    yield _table(("Name", "Where", *columns), rows)
    yield from below


def _who(change: Change) -> tuple[str, str]:
    lost = summary.lost_with(change)
    name = summary.kind_prefix(change) + code(cut(change.name)) + (f" ({lost})" if lost else "")
    return name, _place(summary.location_of(change))


def _difference_block(old: str, new: str) -> str:
    rows = diff_rows(old, new)
    return fenced([f"{row.sign} {visible_line(row.text)}" for row in rows], "diff")


def _result(result: Result) -> Iterator[str]:
    yield f"### {summary.of_result(result)}"
    yield "".join(summary.heading(result.plan, code))
    if result.interrupted:
        yield f"**Interrupted**: {summary.in_flight(result)}"
    elif result.stopped:
        yield f"**Stopped**: {code(result.stopped)}. {summary.go_on(result)}"
    for end in (*summary.ENDS[2:], *summary.ENDS[:2]):
        some = [settled for settled in result.settled if summary.ended(settled) == end]
        if some:
            yield f"#### {end.capitalize()} ({len(some):,})"
            columns = ("Change", "Name", "Where", "Why", "What to do")
            known = 3 if some[0].outcome is Outcome.DONE else len(columns)
            yield _table(columns[:known], [_settled(settled)[:known] for settled in some])
    if result.rewritten:
        yield f"#### Changed by the service ({len(result.rewritten):,})"
        for settled in result.rewritten:
            yield from _rewritten(settled)
    yield from _notices(result.notices)


def _settled(settled: Settled) -> tuple[str, ...]:
    change = settled.change
    why, what_to_do = map(_optional, (settled.error, settled.hint))
    place = _place(summary.location_of(change))
    return summary.named(change), code(cut(change.name)), place, why, what_to_do


def _optional(text: str) -> str:
    return code(text) if text else ""


def _rewritten(settled: Settled) -> Iterator[str]:
    name = code(cut(settled.change.name))
    for rewrite in settled.rewrites:
        yield f"{name}, {rewrite.field}: {rewrite.how}; {rewrite.advice}"
        yield _difference_block(rewrite.sent, rewrite.stored)


def _notices(notices: Sequence[Notice]) -> Iterator[str]:
    if notices:
        yield fenced(text.notices(notices, screen=PLAIN).splitlines(), "text")


def _problems(column: str, problems: Iterable[Problem]) -> str:
    cells = (
        (_place(problem.location), code(problem.message), _optional(problem.hint))
        for problem in problems
    )
    return _table(("Where", column, "What to do"), cells)


def _place(location: Location | None) -> str:
    return "" if location is None else code(str(location))


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar would end a cell even inside a code span."""
    lines = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    lines += [f"| {' | '.join(cell.replace('|', _BAR) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def _joined(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"
