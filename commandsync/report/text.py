"""Plans and results as text for people; no line begins with foreign text."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Hint, Notice, Problem, Words, in_words
from commandsync.errors import CommandsyncError, ManifestError
from commandsync.plan.changes import Change
from commandsync.plan.plan import ListPlan, Plan, Unknown
from commandsync.records.losses import MOST_NAMED
from commandsync.records.texts import named
from commandsync.report import summary
from commandsync.report.change import (
    LEGEND,
    Block,
    blocks_of,
    change_lines,
    difference_lines,
    in_brackets,
    in_quotes,
    scheduled,
)
from commandsync.report.lines import (
    BLUE,
    BOLD,
    DIM,
    GREEN,
    RED,
    YELLOW,
    CopiedLine,
    Screen,
    Value,
    beginning,
    columns_of,
    joined,
    paint,
    path,
    visible,
)
from commandsync.report.parts import cut

if TYPE_CHECKING:
    from commandsync.manifest import Manifest  # loads pydantic and yaml

_INLINE_STORED = 60  # characters of each text that fit on its line

_LIBRARY = "to set these uses again, with client = commandsync.Client.from_env():"
_ACCEPTED = {Outcome.DONE, Outcome.SENT}
_OUTCOME_COLORS = {"done": GREEN, "sent": GREEN, "failed": RED, "unknown": YELLOW, "skipped": DIM}


def plans(plans: Sequence[Plan], *, screen: Screen) -> str:
    """Return plans one after the other; each ends with its counts."""
    if screen.quiet:
        return joined(_brief(plans, screen), screen)
    unexplained = dict(LEGEND)  # the signs that no plan before shows
    sections = [joined(_block(each, screen, unexplained), screen) for each in blocks_of(plans)]
    if total := summary.total_line(plans):
        sections.append(joined([paint(total, BOLD)], screen))
    return "\n".join(sections)


def results(results: Sequence[Result], *, screen: Screen, planned: bool = True) -> str:
    """Return the changes that are not done and the texts that the service changed, then the counts.

    `planned` means that the plans are shown above, with the remark that nothing is to do.
    """
    lines: list[str] = []
    for result in results:
        if len(results) > 1:
            name = result.plan.label
            lines += ("", paint(visible(name), BOLD) if name else _heading(result.plan), "")
        lines += _result(result, "" if planned else summary.no_changes(result.plan), screen)
    return joined(lines, screen)


def failure(error: CommandsyncError, *, screen: Screen) -> str:
    """Return an error, and the problems in files each at its place."""
    label = paint("error", RED)
    lines: list[str] = []
    for problem in error.problems:
        lines += _problem(problem, label, screen)
    if isinstance(error, ManifestError) and error.is_unread:
        return joined(lines, screen)
    lines += [""] if lines else []
    lines += (f"{label}: {visible(error.message)}", *_hint(error.hint, screen))
    return joined(lines, screen)


def validated(manifests: Sequence["Manifest"], *, screen: Screen) -> str:
    """Return the warnings of valid manifests, then a line of counts for each."""
    lines: list[str] = []
    for manifest in () if screen.quiet else manifests:
        for warning in manifest.warnings:
            lines += _problem(warning, paint("warning", YELLOW), screen)
    for manifest in manifests:
        count = len(manifest.warnings)
        warnings = summary.counted(count, "warning") if count else "no problems"
        lines.append(f"{path(manifest.path)}: {summary.managed(manifest.snapshot)}, {warnings}")
    return joined(lines, screen)


def notices(notices: Sequence[Notice], *, screen: Screen) -> str:
    """Return warnings, each with its place and its hint."""
    return joined(_notices(notices, screen), screen)


def settled(settled: Settled, *, screen: Screen) -> str:
    """Return the outcome of one change, on one line."""
    error = f": {visible(summary.in_a_line(settled.error))}" if settled.error else ""
    return joined([_headline(settled) + error], screen).removesuffix("\n")


def _brief(plans: Sequence[Plan], screen: Screen) -> Iterator[str]:
    """Return the counts of plans, and which of them is refused."""
    for plan in plans:
        if len(plans) > 1:
            yield _heading(plan)
        yield from _refused(plan, screen)
        yield paint(summary.plan_line(plan), BOLD)


def _block(block: Block, screen: Screen, unexplained: dict[str, str]) -> Iterator[str]:
    plan = block.shown
    yield from (*map(_heading, block.plans), *summary.origin(plan, visible), "")
    unseen = summary.unseen(plan)
    changes = () if unseen else plan.changes
    for change in changes:
        yield from change_lines(change, screen)
    # A list that is sent as a whole has neither ids nor uses to keep.
    verbs = {} if unseen or isinstance(plan, ListPlan) else dict.fromkeys(map(_sign_of, changes))
    legend = [paint(unexplained.pop(verb), DIM) for verb in verbs if verb in unexplained]
    yield from [""] if changes else []
    yield from [*legend, ""] if legend else []
    kept = [*scheduled(plan, in_quotes), *summary.kept(plan)]
    after = [
        *_notices(plan.notices, screen),
        *kept,
        *([unseen] if unseen else []),
        *_refused(plan, screen),
    ]
    after += filter(None, [summary.no_changes(plan)])
    yield from [*after, ""] if after else []
    yield paint(summary.plan_line(plan), BOLD)


def _sign_of(change: Change) -> str:
    """Return the key of `LEGEND` that explains the sign of a change, if any."""
    verb = summary.verb_of(change)
    return f"exact {verb}" if change.resource.exact and verb == "rename" else verb


def _refused(plan: Plan, screen: Screen) -> Iterator[str]:
    asks = screen.asks and isinstance(plan, ListPlan) and plan.is_asked
    refusal = None if asks else plan.refusal
    if refusal:
        yield f"{paint('refused', RED)}: this plan {visible(refusal.message)}"
        yield from _hint(refusal.hint, screen)
    elif isinstance(plan.baseline, Unknown) and plan.baseline.why:  # else the hint says it
        yield f"Nothing is known of that list: {visible(plan.baseline.why)}."
    if asks:
        yield summary.ASKS


def _result(result: Result, nothing: str, screen: Screen) -> Iterator[str]:
    yield from _unfinished(result, screen.words)
    if result.rewritten:
        yield f"The service changed the text of {summary.counted(len(result.rewritten), 'record')}:"
        for settled in result.rewritten:
            yield f"  {_named(settled.change)}"
            for rewrite in settled.rewrites:
                sent, stored = rewrite.sent, rewrite.stored
                yield f"      {beginning(cut(rewrite.field))}: {rewrite.how}; {rewrite.advice}"
                if "\n" in sent + stored or max(len(sent), len(stored)) > _INLINE_STORED:
                    yield from difference_lines(sent, stored, screen)
                else:
                    yield Value(paint(f'        sent:   "{visible(sent)}"', DIM))
                    yield Value(paint(f'        stored: "{visible(stored)}"', DIM))
        yield ""
    if result.interrupted:
        yield from (f"Interrupted: {summary.in_flight(result, screen.words)}", "")
    elif result.stopped:
        yield from (
            f"Stopped: {visible(result.stopped)}. {summary.go_on(result, screen.words)}",
            "",
        )
    remarks = (
        [] if screen.quiet else [*_notices(result.notices, screen), *([nothing] if nothing else [])]
    )
    yield from [*remarks, ""] if remarks else []
    yield paint(summary.result_line(result), BOLD)


def _unfinished(result: Result, words: Words) -> Iterator[str]:
    """Yield the changes that are not done, with each reason once.

    The skipped changes are one line, as are all changes of a list that is sent in one request.
    """
    groups: dict[tuple[Outcome, str, str], list[Settled]] = {}
    for settled in result.settled:
        if settled.outcome not in _ACCEPTED:
            reason = (settled.outcome, settled.error, in_words(settled.hint, words))
            groups.setdefault(reason, []).append(settled)
    for reason in sorted(groups, key=lambda reason: reason[0] is Outcome.SKIPPED):
        (outcome, error, _), alike = reason, groups[reason]
        is_skipped = outcome is Outcome.SKIPPED
        together = (is_skipped or isinstance(result.plan, ListPlan)) and len(alike) > 1
        yield from [_together(alike)] if together else map(_headline, alike)
        if not is_skipped or error != result.stopped:  # that is said below
            yield from _reason(alike[0], words)
    yield from [""] if groups else []


def _together(alike: Sequence[Settled]) -> str:
    names = [f"{summary.named(each.change)} {cut(each.change.name)}" for each in alike]
    shown = f"{summary.counted(len(alike), 'change')} ({visible(named(names, most=MOST_NAMED))})"
    return f"{_label(alike[0])} {shown}"


def _reason(settled: Settled, words: Words) -> Iterator[str]:
    # Discord refuses a command with a line for each part of it that is wrong.
    for number, line in enumerate(settled.error.splitlines()):
        yield f"    {'      ' if number else 'why:  '}{visible(line)}"
    if hint := in_words(settled.hint, words):
        yield f"    next: {visible(hint)}"
    elif settled.outcome is Outcome.UNKNOWN:
        yield "    next: run plan to see whether it arrived; apply makes the other changes"


def _headline(settled: Settled) -> str:
    return f"{_label(settled)} {_named(settled.change)}"


def _label(settled: Settled) -> str:
    return paint(f"{summary.ended(settled)}:", _OUTCOME_COLORS[settled.outcome])


def _named(change: Change) -> str:
    return f"{summary.named(change)} {visible(cut(change.name))}{in_brackets(change.location)}"


def _heading(plan: Plan) -> str:
    where, files = summary.heading(plan, visible)
    return paint(where, BOLD) + files


def _notices(notices: Iterable[Notice], screen: Screen) -> Iterator[str]:
    notices = [*notices]
    for renaming, group in groupby(notices, lambda each: each.renaming and each.renaming.message):
        alike = [*group]
        if renaming and len(alike) > 1:
            yield from _renamings(renaming, alike, screen)
        else:
            yield from chain.from_iterable(_notice(each, screen) for each in alike)
    hints = (in_words(notice.hint, screen.words) for notice in notices if notice.runs)
    calls = [CopiedLine(f"  {visible(hint)}") for hint in hints]
    yield from (_LIBRARY, *calls) if calls else ()


def _notice(notice: Notice, screen: Screen) -> list[str]:
    where = f"{visible(str(notice.location))}: " if notice.location else ""
    warning = f"{paint('warning', YELLOW)}: {where}{visible(notice.message)}"
    return [warning] if notice.runs else [warning, *_hint(notice.hint, screen)]


def _renamings(message: str, notices: Sequence[Notice], screen: Screen) -> Iterator[str]:
    """Show several renames as a table, with one hint."""
    yield f"{paint('warning', YELLOW)}: {message.format(count=len(notices))}"
    renamings = [(each.renaming, each.location) for each in notices if each.renaming]
    rows = [
        (
            beginning(cut(each.new)),
            f"← {visible(cut(each.old))}",
            each.uses,
            f"({visible(str(at))})",
        )
        for each, at in renamings
    ]
    widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell + " " * (width - columns_of(cell)) for cell, width in zip(row, widths, strict=True)
        )
        yield Value(f"    {'  '.join(cells)}".rstrip())
    yield from _hint(renamings[0][0].hint, screen)


def _problem(problem: Problem, label: str, screen: Screen) -> Iterator[str]:
    where = paint(path(str(problem.location)), BOLD)
    yield f"{where}: {label}: {visible(problem.message)}"
    if (excerpt := problem.excerpt) and screen.width:
        number, bar = str(problem.location.line), paint("|", BLUE)
        before = columns_of(visible(excerpt.text[: excerpt.caret]))
        yield Value(f"  {paint(number, BLUE)} {bar} {visible(excerpt.text)}".rstrip())
        yield Value(f"  {' ' * len(number)} {bar} {' ' * before}{paint('^', RED)}")
    yield from _hint(problem.hint, screen)


def _hint(hint: str | Hint, screen: Screen) -> list[str]:
    text = in_words(hint, screen.words)
    return [f"  {paint('hint:', DIM)} {visible(text)}"] if text else []
