"""Plans and results as GitHub's Markdown: a table per action, with nothing foreign interpreted.

Foreign text stands in code spans and in fenced blocks only: there GitHub knows no mention, no
issue, no link and no HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from commandsync.apply.outcomes import Outcome
from commandsync.errors import ManifestError
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.report import summary
from commandsync.report.escape import code, fenced, told_apart, visible, visible_line
from commandsync.report.linediff import cut, diff_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commandsync.apply.outcomes import Difference, Result, Settled
    from commandsync.diagnostics import Location, Notice, Problem
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan

_CELL = 60  # characters of a text that a cell shows; longer differences stand below the table
_WHOLE = ("Syntax", "Description")  # the fields of a whole record that a table shows
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
    """Return results one after the other: what was changed, and what was not."""
    return _joined(block for result in results for block in _result(result))


def failure(error: CommandsyncError) -> str:
    """Return an error, and a manifest's problems in a table."""
    blocks = [f"### Failed\n\n{code(error.message)}"]
    if error.hint:
        blocks.append(f"What to do: {code(error.hint)}")
    if isinstance(error, ManifestError):
        blocks.append(_problems("Problem", error.problems))
    return _joined(blocks)


def validated(manifests: Sequence[Manifest]) -> str:
    """Return what valid manifests hold, and the warnings about them."""
    rows = [
        (code(one.path), summary.managed(one.snapshot), str(len(one.warnings))) for one in manifests
    ]
    warnings = [warning for one in manifests for warning in one.warnings]
    blocks = ["### Valid", _table(("Manifest", "Holds", "Warnings"), rows)]
    return _joined([*blocks, _problems("Warning", warnings)] if warnings else blocks)


def _plan(plan: Plan) -> Iterator[str]:
    yield f"### {summary.of_plan(plan)}"
    yield _target(plan)
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


def _target(plan: Plan) -> str:
    target = plan.target
    files = ", ".join(map(code, plan.manifest))
    if not target.bot:  # two manifests are compared, and neither names one
        return f"Manifest {files}" if files else "Manifest"
    url = f" at {code(target.base_url)}" if target.base_url else ""
    return f"Bot {code(target.bot)}{url}" + (f" from {files}" if files else "")


def _changes(changes: Sequence[Change]) -> Iterator[str]:
    """Return the table of changes of one action, then the differences too long for it."""
    rows: list[tuple[str, ...]] = []
    below: list[str] = []
    for change in changes:
        match change:
            case Add(after=text) | Delete(before=text):
                texts = (getattr(text, column.lower(), None) for column in _WHOLE)
                cells = ("" if text is None else code(cut(text, _CELL)) for text in texts)
                rows.append((*_who(change), *cells))
            case Edit() | Replace():
                rows += _field_rows(change)
                below += _long_differences(change)
            case _:
                assert_never(change)
    wholes = isinstance(changes[0], Add | Delete)
    columns = _WHOLE if wholes else ("Field", "Old", "New")
    yield _table(("Name", "Where", *columns), rows)
    yield from below


def _who(change: Change) -> tuple[str, str]:
    return summary.kind_prefix(change) + code(cut(change.name)), _where(change)


def _where(change: Change) -> str:
    return _place(getattr(change, "location", None))


def _field_rows(change: Edit | Replace) -> Iterator[tuple[str, ...]]:
    for one in change.fields:
        if _is_long(one.old, one.new):
            yield (*_who(change), one.field, "*see below*", "*see below*")
        else:
            yield (*_who(change), one.field, *map(code, told_apart(one.old, one.new)))


def _long_differences(change: Edit | Replace) -> Iterator[str]:
    for one in change.fields:
        if _is_long(one.old, one.new):
            yield f"{code(cut(change.name))}, {one.field}:"
            yield _difference_block(one.old, one.new)


def _is_long(old: str, new: str) -> bool:
    return "\n" in old + new or max(len(old), len(new)) > _CELL


def _difference_block(old: str, new: str) -> str:
    rows = diff_rows(old, new)
    return fenced([f"{row.sign} {visible_line(row.text)}" for row in rows], "diff")


def _result(result: Result) -> Iterator[str]:
    yield f"### {summary.of_result(result)}"
    yield _target(result.plan)
    if result.interrupted:
        yield f"**Interrupted**: {summary.in_flight(result)}"
    elif result.stopped:
        yield f"**Stopped**: {code(result.stopped)}. {summary.go_on(result)}"
    for end in (*summary.ENDS[2:], *summary.ENDS[:2]):
        some = [one for one in result.settled if summary.ended(one) == end]
        if some:
            yield f"#### {end.capitalize()} ({len(some):,})"
            columns = ("Change", "Name", "Where", "Why", "What to do")
            known = 3 if some[0].outcome is Outcome.DONE else len(columns)
            yield _table(columns[:known], [_settled(one)[:known] for one in some])
    if result.differences:
        yield f"#### Changed by the service ({len(result.differences):,})"
        for difference in result.differences:
            yield from _difference(difference)
    yield from _notices(result.notices)


def _settled(one: Settled) -> tuple[str, ...]:
    return (
        summary.named(one.change),
        code(cut(one.change.name)),
        _where(one.change),
        code(one.error) if one.error else "",
        code(one.hint) if one.hint else "",
    )


def _difference(difference: Difference) -> Iterator[str]:
    for one in difference.rewrites:
        yield f"{code(cut(difference.change.name))}, {one.field}: {one.how}; {one.advice}"
        yield _difference_block(one.sent, one.stored)


def _notices(notices: Sequence[Notice]) -> Iterator[str]:
    if not notices:
        return
    lines = []
    for notice in notices:
        where = f"{visible(str(notice.location))}: " if notice.location else ""
        lines.append(f"warning: {where}{visible(notice.message)}")
        if notice.hint:
            lines.append(f"  hint: {visible(notice.hint)}")
    yield fenced(lines, "text")


def _problems(column: str, problems: Iterable[Problem]) -> str:
    rows = [
        (_place(one.location), code(one.message), code(one.hint) if one.hint else "")
        for one in problems
    ]
    return _table(("Where", column, "What to do"), rows)


def _place(location: Location | None) -> str:
    return "" if location is None else code(str(location))


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar would end a cell even inside a code span."""
    lines = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    lines += [f"| {' | '.join(_escaped(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def _escaped(cell: str) -> str:
    return cell.replace("|", r"\|")


def _joined(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"
