"""Plans and results as GitHub's Markdown: a table per action, the most dangerous one first.

Foreign text is in code spans and fenced blocks only, where GitHub interprets no mention, issue,
link or HTML; no line of a block begins with it. A page can be cut by its headings (see `page`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Notice, Problem, in_words
from commandsync.errors import CommandsyncError
from commandsync.plan.changes import Change, Edit, Replace
from commandsync.plan.plan import ListPlan, Plan, Unknown
from commandsync.report import summary, text
from commandsync.report.change import scheduled
from commandsync.report.lines import Screen, code, fenced
from commandsync.report.parts import cut
from commandsync.report.tables import (
    cell,
    change_blocks,
    difference_block,
    folded,
    label,
    place,
    table,
)

if TYPE_CHECKING:
    from commandsync.manifest import Manifest  # loads pydantic and yaml

_LISTINGS = ("Listing", "Add", "Edit", "Delete", "Losses", "Compared with")
_SETTLED = ("Change", "Name", "Where", "Why", "What to do")
_DANGEROUS = {"delete": "Delete", "replace": "Replace: the new one is added, the old one deleted"}
_OTHERS = {"edit": "Edit", "rename": "Rename", "add": "Add"}
_DONE = {
    "delete": "Deleted",
    "replace": "Replaced",
    "edit": "Edited",
    "rename": "Renamed",
    "add": "Added",
}


def plans(plans: Sequence[Plan], *, screen: Screen) -> str:
    """Return plans one after the other; of listings, the dangerous ones first, below a table."""
    head: list[str] = []
    if listings := [plan for plan in plans if plan.label]:
        plans = sorted(listings, key=lambda plan: not _is_dangerous(plan))
        head = [table(_LISTINGS, map(_row, plans, _names(plans)))]
    return _joined([*head, *(block for plan in plans for block in _plan(plan, screen))])


def results(results: Sequence[Result], *, screen: Screen) -> str:
    """Return results one after the other, with a table for each outcome; of listings below one."""
    of_listings = [result for result in results if result.plan.label]
    ends = [summary.result_line(result).partition(": ")[2] for result in of_listings]
    names = _names([result.plan for result in of_listings])
    head = [table(("Listing", "Result"), zip(names, ends, strict=True))] if names else []
    return _joined([*head, *(block for result in results for block in _result(result, screen))])


def failure(error: CommandsyncError, *, screen: Screen) -> str:
    """Return an error, and the problems in files in a table."""
    blocks = [f"### Failed\n\n{code(error.message)}"]
    hint = in_words(error.hint, screen.words)
    blocks += [f"What to do: {code(hint)}"] if hint else []
    if error.problems:
        blocks.append(_problems("Problem", error.problems, screen))
    return _joined(blocks)


def validated(manifests: Sequence["Manifest"], *, screen: Screen) -> str:
    """Return the counts of valid manifests, and their warnings."""
    rows = [
        (code(manifest.path), summary.managed(manifest.snapshot), str(len(manifest.warnings)))
        for manifest in manifests
    ]
    warnings = [warning for manifest in manifests for warning in manifest.warnings]
    blocks = ["### Valid", table(("Manifest", "Holds", "Warnings"), rows)]
    return _joined([*blocks, _problems("Warning", warnings, screen)] if warnings else blocks)


def _is_dangerous(plan: Plan) -> bool:
    """Whether a plan is refused, deletes something, or is not compared with anything."""
    return any((plan.refusal, *map(plan.count, _DANGEROUS), summary.unseen(plan)))


def _names(plans: Sequence[Plan]) -> list[str]:
    """Return the name of each listing, with the bot where another one has that name too."""
    names = [plan.label for plan in plans]
    return [
        code(name) if names.count(name) == 1 else f"{code(name)}, bot {code(plan.target.bot)}"
        for name, plan in zip(names, plans, strict=True)
    ]


def _row(plan: Plan, name: str) -> Sequence[str]:
    """Return the cells of a row of `_LISTINGS`."""
    actions = (("add",), ("edit", "replace"), ("delete",))
    counts = [str(sum(map(plan.count, each))) if plan.known else "?" for each in actions]
    lost = ", ".join(f"{loss.field} ({loss.count:,})" for loss in plan.losses) or "none"
    compared = summary.compared(plan, code).removeprefix("compared with ")
    if isinstance(plan, ListPlan) and isinstance(plan.baseline, Unknown):
        compared = f"**nothing: replaced unseen ({summary.counted(plan.size, 'command')})**"
    return [name, *counts, lost, compared]


def _heading(plan: Plan, line: str) -> str:
    """Return the first line of a plan or a result, with the name of its listing in front."""
    return f"{code(plan.label)}: {line.partition(': ')[2]}" if plan.label else line


def _plan(plan: Plan, screen: Screen) -> Iterator[str]:
    yield f"### {_heading(plan, summary.plan_line(plan))}"
    yield "".join(summary.heading(plan, code))
    yield from summary.origin(plan, code)
    if unseen := summary.unseen(plan, code):
        yield f"**Not compared**: {unseen}"
    if plan.refusal is not None:
        yield f"**Refused**: {code(f'this plan {plan.refusal.message}')}"
        yield f"What to do: {code(in_words(plan.refusal.hint, screen.words))}"
    if nothing := summary.no_changes(plan):
        yield nothing
    yield from scheduled(plan, _title)
    yield from summary.kept(plan)
    changes = () if unseen else plan.changes
    yield from _sections(changes, _DANGEROUS, screen.files)
    yield from _notices(plan.notices, screen)
    yield from _sections(changes, _OTHERS, screen.files)


def _title(name: str) -> str:
    return code(cut(name))


def _sections(changes: Sequence[Change], titles: Mapping[str, str], files: str) -> Iterator[str]:
    for title, group in _by_action(changes, titles):
        yield f"#### {title} ({len(group):,})"
        yield from change_blocks(group, files)


def _by_action(
    changes: Sequence[Change], titles: Mapping[str, str]
) -> Iterator[tuple[str, list[Change]]]:
    """Group the changes of these actions, in the order of the titles."""
    for action, title in titles.items():
        if group := [change for change in changes if summary.verb_of(change) == action]:
            yield title, group


def _result(result: Result, screen: Screen) -> Iterator[str]:
    yield f"### {_heading(result.plan, summary.result_line(result))}"
    yield "".join(summary.heading(result.plan, code))
    yield from scheduled(result.plan, _title, applied=True)
    if result.interrupted:
        yield f"**Interrupted**: {summary.in_flight(result, screen.words)}"
    elif result.stopped:
        yield f"**Stopped**: {code(result.stopped)}. {summary.go_on(result, screen.words)}"
    for end in (*summary.ENDS[2:], *summary.ENDS[:2]):
        some = [settled for settled in result.settled if summary.ended(settled) == end]
        if some:
            yield f"#### {end.capitalize()} ({len(some):,})"
            yield from _settled_blocks(some, end, screen)
    if result.rewritten:
        yield f"#### Changed by the service ({len(result.rewritten):,})"
        for settled in result.rewritten:
            for rewrite in settled.rewrites:
                name = label(settled.change, rewrite.field)
                yield f"{name} {rewrite.how}; {rewrite.advice}"
                yield from folded([difference_block(rewrite.sent, rewrite.stored)], "long text")
    yield from _notices(result.notices, screen)


def _settled_blocks(some: Sequence[Settled], end: str, screen: Screen) -> Iterator[str]:
    """Return changes of one end: the texts that were written, or the reasons of a failure."""
    changes = [settled.change for settled in some]
    if some[0].outcome is Outcome.SENT or end == summary.DONE:
        for title, group in _by_action(changes, _DONE):
            yield f"{title} ({len(group):,}):"
            yield from change_blocks(group, screen.files)
        return
    known = 3 if some[0].outcome is Outcome.DONE else len(_SETTLED)
    rows = [_settled(settled, screen)[:known] for settled in some]
    yield from folded([table(_SETTLED[:known], rows)], summary.counted(len(rows), "row"))
    for _, group in _by_action(changes, _DONE):
        if isinstance(group[0], Edit | Replace):  # of others, the name says what it is about
            yield from change_blocks(group, screen.files)


def _settled(settled: Settled, screen: Screen) -> tuple[str, ...]:
    change = settled.change
    why = "<br>".join(map(code, settled.error.splitlines()))
    what_to_do = cell(in_words(settled.hint, screen.words))
    at = place(change.location, screen.files)
    return summary.named(change), _title(change.name), at, why, what_to_do


def _notices(notices: Sequence[Notice], screen: Screen) -> Iterator[str]:
    if notices:
        plain = Screen(words=screen.words)
        yield f"#### Warnings ({len(notices):,})"
        yield fenced(text.notices(notices, screen=plain).splitlines(), "text")


def _problems(column: str, problems: Iterable[Problem], screen: Screen) -> str:
    cells = (
        (
            place(problem.location, screen.files),
            code(problem.message),
            cell(in_words(problem.hint, screen.words)),
        )
        for problem in problems
    )
    return table(("Where", column, "What to do"), cells)


def _joined(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"
