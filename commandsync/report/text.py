"""Plans and results as text for people; no line begins with foreign text."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise, repeat
from operator import attrgetter
from typing import TYPE_CHECKING

from commandsync.api.credentials import redacted
from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Hint, Location, Notice, Problem, Words, in_words
from commandsync.document.change import (
    BREAKING,
    ChangeView,
    DifferenceView,
    SettledView,
    Verb,
    settled_view,
)
from commandsync.document.view import (
    Foreign,
    Heading,
    Name,
    PlanView,
    ResultView,
    Sentence,
    blocks_of,
    laid_out,
    managed,
    plan_view,
    result_view,
    total_of,
)
from commandsync.errors import CommandsyncError, ManifestError
from commandsync.plan.changes import Add, Delete
from commandsync.plan.plan import ListPlan, Plan, Unknown
from commandsync.records.display import common_length
from commandsync.records.losses import MOST_NAMED
from commandsync.records.texts import counted, named
from commandsync.report import lines
from commandsync.report.lines import (
    BLUE,
    BOLD,
    CYAN,
    DIM,
    GREEN,
    RED,
    YELLOW,
    Screen,
    Value,
    beginning,
    columns_of,
    cut,
    joined,
    paint,
    visible,
)

if TYPE_CHECKING:
    from commandsync.manifest import Manifest  # loads pydantic and yaml

_INLINE = 72  # characters of both texts of a field that fit on its line
_INLINE_STORED = 60  # characters of each text that fit on its line
_MOST_LINES = 20  # of one text
_SIGNS: dict[Verb, tuple[str, int]] = {
    "add": ("+", GREEN),
    "edit": ("~", YELLOW),
    "rename": ("»", CYAN),
    "replace": ("±", YELLOW),
    "delete": ("-", RED),
}
_ROW_COLORS = {"-": RED, "+": GREEN, "│": DIM, "…": DIM}
_OUTCOME_COLORS = {"done": GREEN, "sent": GREEN, "failed": RED, "unknown": YELLOW, "skipped": DIM}
_ACCEPTED = {Outcome.DONE, Outcome.SENT}
_ASKS = "apply asks before it does that."
_LIBRARY = "to set these uses again, with client = commandsync.Client.from_env():"


def plans(plans: Sequence[Plan], *, screen: Screen) -> str:
    """Return plans one after the other; each ends with its counts."""
    if screen.quiet:
        rows: list[str] = []
        for view in map(plan_view, plans):
            rows += [_heading(view.headings[0])] if len(plans) > 1 else []
            rows += (*_refused(view, screen), paint(f"Plan: {view.summary}", BOLD))
        return joined(rows, screen)
    sections = [joined(_block(block, screen), screen) for block in blocks_of(plans)]
    if total := total_of(plans):
        sections.append(joined([paint(total, BOLD)], screen))
    return "\n".join(sections)


def _block(view: PlanView, screen: Screen) -> Iterator[str]:
    yield from map(_heading, view.headings)
    yield from [_sentence(view.origin), ""] if view.origin else [""]
    for change in view.shown:
        yield from change_lines(change, screen)
    yield from [""] if view.shown else []
    yield from [*(paint(line, DIM) for line in view.legend), ""] if view.legend else []
    after = [
        *_notices(view.notices, screen),
        *map(_sentence, view.scheduled),
        *view.kept,
        *([_sentence(view.unseen)] if view.unseen else []),
        *_refused(view, screen),
        *([view.nothing] if view.nothing else []),
    ]
    yield from [*after, ""] if after else []
    yield paint(f"Plan: {view.summary}", BOLD)


def _heading(heading: Heading) -> str:
    return paint(_sentence(heading.where), BOLD) + _sentence(heading.source)


def _sentence(sentence: Sentence) -> str:
    return laid_out(sentence, _foreign)


def _foreign(text: Foreign) -> str:
    return f'"{visible(cut(text))}"' if isinstance(text, Name) else visible(text)


def _refused(view: PlanView, screen: Screen) -> Iterator[str]:
    plan = view.plan
    asks = screen.asks and isinstance(plan, ListPlan) and plan.is_asked
    if view.refusal and not asks:
        yield f"{paint('refused', RED)}: this plan {visible(view.refusal.message)}"
        yield from _hint(view.refusal.hint, screen)
    elif isinstance(plan.baseline, Unknown) and plan.baseline.why:  # else the hint says it
        yield f"Nothing is known of that list: {visible(plan.baseline.why)}."
    if asks:
        yield _ASKS


def change_lines(change: ChangeView, screen: Screen) -> Iterator[str]:
    """Return a change with its place in the manifest, and its fields below it."""
    sign, color = _SIGNS[change.verb]
    names = [change.old_name, change.name] if change.verb == "rename" else [change.name]
    if not screen.full:
        names = list(map(cut, names))
    names = list(map(visible, names))
    if screen.width is not None and not screen.full:
        # All names take two thirds of a terminal's line, so that the rest fits.
        names = [lines.cut_at(name, screen.width * 2 // 3 // len(names)) for name in names]
    head = paint(f"{sign} {change.prefix}{' → '.join(names)}", color)
    remark = paint(f"  ({change.remark})" if change.remark else "", RED)
    yield f"  {head}{paint(in_brackets(change.location), DIM)}{remark}"
    if isinstance(change.change, Add | Delete):
        yield from _record(change.record, screen)
    else:
        yield from _differences(change.differences, screen)


def in_brackets(place: Location | None) -> str:
    """Return a place in a file, to be appended to a line; empty for none."""
    return f"  ({visible(str(place))})" if place else ""


def _record(record: dict[str, str], screen: Screen) -> Iterator[str]:
    """Show the fields of a whole record, without the empty ones."""
    fields = {beginning(cut(key)): value for key, value in record.items() if value}
    width = max(map(columns_of, fields), default=0)
    for name, value in fields.items():
        if "\n" not in value:
            label = paint(f"{name}:{' ' * (width - columns_of(name))}", DIM)
            shown, remark = _shortened(value, screen)
            yield Value(f"      {label} {_quoted(shown)}{remark}")
            continue
        yield f"      {paint(f'{name}:', DIM)}"
        rows = value.split("\n")
        most = len(rows) if screen.full else _MOST_LINES
        for row in rows[:most]:
            shown = lines.visible_line("".join(_shortened(row, screen)))
            yield Value(f"        {paint('│', DIM)} {shown}".rstrip())
        if most < len(rows):
            yield paint(f"        … {len(rows) - most:,} more lines", DIM)


def _shortened(text: str, screen: Screen) -> tuple[str, str]:
    """Cut a text, unless the end of a terminal's line cuts it."""
    if screen.full:
        return text, ""
    if screen.width is None:
        return lines.shortened(text)
    return redacted(text)[: screen.width * 2], ""


def _differences(differences: Sequence[DifferenceView], screen: Screen) -> Iterator[str]:
    labels = [beginning(cut(difference.label)) for difference in differences]
    fields = list(zip(labels, differences, strict=True))
    width = max((len(label) for label, each in fields if not each.is_whole), default=0) + 1
    for name, difference in fields:
        old, new, label = difference.old, difference.new, f"{name}:"
        remark = paint(f"  ({BREAKING})", RED) if difference.breaking else ""
        before, after = map(_quoted, lines.distinct(old, new))
        is_short = len(old) + len(new) <= _INLINE
        if screen.width is not None:
            is_short = columns_of(f"      {label:<{width}} {before} → {after}") <= screen.width
        if difference.is_whole:
            value = "".join(_shortened(old + new, screen))
            yield Value(f"      {paint(label, GREEN if new else RED)} {_quoted(value)}{remark}")
        elif is_short and "\n" not in old + new:
            label = paint(f"{label:<{width}}", DIM)
            yield f"      {label} {paint(before, RED)} → {paint(after, GREEN)}{remark}"
        else:
            yield f"      {paint(label, DIM)}{remark}"
            yield from _difference_lines(old, new, screen)


def _quoted(text: str) -> str:
    shown = visible(text)
    mark = "'" if '"' in shown and "'" not in shown else '"'
    return f"{mark}{shown}{mark}"


def _difference_lines(old: str, new: str, screen: Screen) -> Iterator[str]:
    """Return the differences between two texts, highlighted within each line."""
    rows = lines.diff_rows(old, new, full=screen.full, after=screen.width or lines.AROUND)
    texts = [lines.visible_line(row.text) for row in rows]
    groups = [(sign, len(list(group))) for sign, group in groupby(rows, attrgetter("sign"))]
    start = 0
    for (sign, count), following in pairwise([*groups, ("", 0)]):
        if sign == "-" and following == ("+", count):
            for n in range(start, start + count):
                texts[n], texts[n + count] = _marked(texts[n], texts[n + count])
        start += count
    for row, text in zip(rows, texts, strict=True):
        yield Value(f"        {paint(f'{row.sign} {text}'.rstrip(), _ROW_COLORS[row.sign])}")


def _marked(old: str, new: str) -> list[str]:
    """Mark the words in which two lines differ, unless they have none in common."""
    begin = old.rfind(" ", 0, common_length(old, new)) + 1
    end = common_length(old[begin:][::-1], new[begin:][::-1])
    end = end - old[len(old) - end :].find(" ") if " " in old[len(old) - end :] else 0
    if not begin and not end:
        return [old, new]
    tails = ((line, len(line) - end) for line in (old, new))
    return [f"{line[:begin]}{lines.highlight(line[begin:at])}{line[at:]}" for line, at in tails]


def results(results: Sequence[Result], *, screen: Screen, planned: bool = True) -> str:
    """Return the changes that are not done and the texts that the service changed, then the counts.

    `planned` means that the plans are shown above, with a remark if they have no changes.
    """
    rows: list[str] = []
    for result in results:
        view = result_view(result, screen.words)
        if len(results) > 1:
            name = result.plan.label
            title = paint(visible(name), BOLD) if name else _heading(view.plan.headings[0])
            rows += ("", title, "")
        rows += _result(view, screen, planned=planned)
    return joined(rows, screen)


def _result(view: ResultView, screen: Screen, *, planned: bool) -> Iterator[str]:
    yield from _unfinished(view, screen.words)
    if view.rewritten:
        yield f"The service changed the text of {counted(len(view.rewritten), 'record')}:"
        for each in view.rewritten:
            yield f"  {_named(each.change)}"
            for rewrite in each.settled.rewrites:
                sent, stored = rewrite.sent, rewrite.stored
                yield f"      {beginning(cut(rewrite.field))}: {rewrite.how}; {rewrite.advice}"
                if "\n" in sent + stored or max(len(sent), len(stored)) > _INLINE_STORED:
                    yield from _difference_lines(sent, stored, screen)
                else:
                    yield Value(paint(f'        sent:   "{visible(sent)}"', DIM))
                    yield Value(paint(f'        stored: "{visible(stored)}"', DIM))
        yield ""
    if view.stop:
        yield from (f"{view.stop[0]}: {_sentence(view.stop[1])}", "")
    remarks: list[str] = []
    if not screen.quiet:
        remarks = _notices(view.result.notices, screen)
        remarks += [view.plan.nothing] if view.plan.nothing and not planned else []
    yield from [*remarks, ""] if remarks else []
    yield paint(f"Apply: {view.summary}", BOLD)


def _unfinished(view: ResultView, words: Words) -> Iterator[str]:
    """Yield the changes that are not done, with each reason once.

    The skipped changes are one line, as are all changes of a list that is sent in one request.
    """
    groups = _by_reason(view, words)
    for hint, alike in groups:
        first, is_skipped = alike[0], alike[0].settled.outcome is Outcome.SKIPPED
        together = is_skipped or isinstance(view.plan.plan, ListPlan)
        if together and len(alike) > 1:
            names = [f"{each.change.title} {cut(each.change.name)}" for each in alike]
            shown = f"({visible(named(names, most=MOST_NAMED))})"
            yield f"{_label(first)} {counted(len(alike), 'change')} {shown}"
        else:
            yield from map(_headline, alike)
        if is_skipped and first.settled.error == view.result.stopped:  # that is said below
            continue
        # Discord refuses a command with a line for each part of it that is wrong.
        for indent, line in zip(chain(["why:"], repeat("")), first.reasons, strict=False):
            yield f"    {indent:<6}{visible(line)}"
        if hint:
            yield f"    next: {visible(hint)}"
        elif first.settled.outcome is Outcome.UNKNOWN:
            yield "    next: run plan to see whether it arrived; apply makes the other changes"
    yield from [""] if groups else []


def _by_reason(view: ResultView, words: Words) -> list[tuple[str, list[SettledView]]]:
    """Return the changes that are not done by outcome and reason, the skipped ones last.

    Each group has the hint about it.
    """
    groups: dict[tuple[Outcome, str, str], list[SettledView]] = {}
    for each in view.settled:
        if each.settled.outcome not in _ACCEPTED:
            hint = in_words(each.settled.hint, words)
            groups.setdefault((each.settled.outcome, each.settled.error, hint), []).append(each)
    last = sorted(groups, key=lambda reason: reason[0] is Outcome.SKIPPED)
    return [(reason[2], groups[reason]) for reason in last]


def settled(settled: Settled, *, screen: Screen) -> str:
    """Return the outcome of one change, on one line."""
    view = settled_view(settled)
    error = f": {visible('; '.join(view.reasons))}" if view.reasons else ""
    return joined([_headline(view) + error], screen).removesuffix("\n")


def _headline(view: SettledView) -> str:
    return f"{_label(view)} {_named(view.change)}"


def _label(view: SettledView) -> str:
    return paint(f"{view.end}:", _OUTCOME_COLORS[view.settled.outcome])


def _named(change: ChangeView) -> str:
    return f"{change.title} {visible(cut(change.name))}{in_brackets(change.location)}"


def failure(error: CommandsyncError, *, screen: Screen) -> str:
    """Return an error, and the problems in files each at its place."""
    label = paint("error", RED)
    rows = [row for problem in error.problems for row in _problem(problem, label, screen)]
    if isinstance(error, ManifestError) and error.is_unread:
        return joined(rows, screen)
    rows += [""] if rows else []
    rows += (f"{label}: {visible(error.message)}", *_hint(error.hint, screen))
    return joined(rows, screen)


def validated(manifests: Sequence["Manifest"], *, screen: Screen) -> str:
    """Return the warnings of valid manifests, then a line of counts for each."""
    rows: list[str] = []
    for manifest in () if screen.quiet else manifests:
        for warning in manifest.warnings:
            rows += _problem(warning, paint("warning", YELLOW), screen)
    for manifest in manifests:
        count = len(manifest.warnings)
        warnings = counted(count, "warning") if count else "no problems"
        rows.append(f"{lines.path(manifest.path)}: {managed(manifest.snapshot)}, {warnings}")
    return joined(rows, screen)


def _problem(problem: Problem, label: str, screen: Screen) -> Iterator[str]:
    where = paint(lines.path(str(problem.location)), BOLD)
    yield f"{where}: {label}: {visible(problem.message)}"
    if (excerpt := problem.excerpt) and screen.width:
        number, bar = str(problem.location.line), paint("|", BLUE)
        before = columns_of(visible(excerpt.text[: excerpt.caret]))
        yield Value(f"  {paint(number, BLUE)} {bar} {visible(excerpt.text)}".rstrip())
        yield Value(f"  {' ' * len(number)} {bar} {' ' * before}{paint('^', RED)}")
    yield from _hint(problem.hint, screen)


def notices(notices: Sequence[Notice], *, screen: Screen) -> str:
    """Return warnings, each with its place and its hint."""
    return joined(_notices(notices, screen), screen)


def _notices(notices: Iterable[Notice], screen: Screen) -> list[str]:
    """Return warnings, renames of one kind as a table, and below them the calls to be copied."""
    rows, calls = list[str](), list[str]()
    for renaming, group in groupby(notices, lambda each: each.renaming and each.renaming.message):
        alike = [*group]
        calls += [in_words(notice.hint, screen.words) for notice in alike if notice.runs]
        if renaming and len(alike) > 1:
            rows += _renamings(renaming, alike, screen)
            continue
        for notice in alike:
            where = f"{visible(str(notice.location))}: " if notice.location else ""
            rows.append(f"{paint('warning', YELLOW)}: {where}{visible(notice.message)}")
            rows += [] if notice.runs else _hint(notice.hint, screen)
    copied = [lines.CopiedLine(f"  {visible(call)}") for call in calls]
    return [*rows, _LIBRARY, *copied] if copied else rows


def _renamings(message: str, notices: Sequence[Notice], screen: Screen) -> Iterator[str]:
    """Show several renames as a table, with one hint."""
    yield f"{paint('warning', YELLOW)}: {message.format(count=len(notices))}"
    renamings = [(each.renaming, each.location) for each in notices if each.renaming]
    table = [
        (
            beginning(cut(each.new)),
            f"← {visible(cut(each.old))}",
            each.uses,
            f"({visible(str(at))})",
        )
        for each, at in renamings
    ]
    widths = [max(map(columns_of, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (
            cell + " " * (width - columns_of(cell)) for cell, width in zip(row, widths, strict=True)
        )
        yield Value(f"    {'  '.join(cells)}".rstrip())
    yield from _hint(renamings[0][0].hint, screen)


def _hint(hint: str | Hint, screen: Screen) -> list[str]:
    text = in_words(hint, screen.words)
    return [f"  {paint('hint:', DIM)} {visible(text)}"] if text else []
