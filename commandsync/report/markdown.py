"""Plans and results as GitHub's Markdown: a table per action, the most dangerous one first.

Every field that is written is shown: long texts below their table, long tables folded. Foreign text
is in code spans and fenced blocks only, where GitHub interprets no mention, issue, link or HTML; no
line of a block begins with it. A page can be cut by its headings (see `page`).
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote

from commandsync.api.credentials import redacted
from commandsync.apply.outcomes import Outcome, Result
from commandsync.diagnostics import Location, Notice, Problem, in_words
from commandsync.document.change import (
    BREAKING,
    DONE,
    ENDS,
    ChangeView,
    DifferenceView,
    SettledView,
    Verb,
)
from commandsync.document.view import (
    Foreign,
    Name,
    PlanView,
    ResultView,
    Sentence,
    laid_out,
    managed,
    plan_view,
    result_view,
)
from commandsync.errors import CommandsyncError
from commandsync.plan.changes import Add, Delete
from commandsync.plan.plan import ListPlan, Plan, Unknown
from commandsync.records.texts import counted
from commandsync.report import text
from commandsync.report.lines import (
    Screen,
    code,
    cut,
    diff_rows,
    distinct,
    fenced,
    table,
    visible_line,
)

if TYPE_CHECKING:
    from commandsync.manifest import Manifest  # loads pydantic and yaml

_LISTINGS = ("Listing", "Add", "Edit", "Delete", "Losses", "Compared with")
_SETTLED = ("Change", "Name", "Where", "Why", "What to do")
_DANGEROUS: dict[Verb, str] = {
    "delete": "Delete",
    "replace": "Replace: the new one is added, the old one deleted",
}
_OTHERS: dict[Verb, str] = {"edit": "Edit", "rename": "Rename", "add": "Add"}
_DONE: dict[Verb, str] = {
    "delete": "Deleted",
    "replace": "Replaced",
    "edit": "Edited",
    "rename": "Renamed",
    "add": "Added",
}
_CELL = 60  # characters of a changed text that a cell shows; a longer one follows the table
_WHOLE_CELL = 200  # of an added or deleted text, as above
_LONG = 25  # lines that are shown without being folded
_BELOW = "*see below*"


def plans(plans: Sequence[Plan], *, screen: Screen) -> str:
    """Return plans one after the other; listings are below a table, the dangerous ones first."""
    views, head = list(map(plan_view, plans)), list[str]()
    if listings := [view for view in views if view.plan.label]:
        views = sorted(listings, key=lambda view: not _is_dangerous(view))
        head = [table(_LISTINGS, map(_row, views, _names(views)))]
    return _joined([*head, *(block for view in views for block in _plan(view, screen))])


def _is_dangerous(view: PlanView) -> bool:
    """Whether a plan is refused, deletes something, or is not compared with anything."""
    return any((view.refusal, view.unseen, *(view.counts[verb] for verb in _DANGEROUS)))


def _names(views: Sequence[PlanView]) -> list[str]:
    """Return the name of each listing, with its bot if another listing has the same name."""
    names = [view.plan.label for view in views]
    return [
        code(name) if names.count(name) == 1 else f"{code(name)}, bot {code(view.plan.target.bot)}"
        for name, view in zip(names, views, strict=True)
    ]


def _row(view: PlanView, name: str) -> Sequence[str]:
    """Return the cells of a row of `_LISTINGS`."""
    plan, count = view.plan, view.counts
    edits = count["edit"] + count["rename"] + count["replace"]
    counts = [str(each) if plan.known else "?" for each in (count["add"], edits, count["delete"])]
    lost = ", ".join(f"{loss.field} ({loss.count:,})" for loss in plan.losses) or "none"
    compared = _sentence(view.compared) or "not compared"
    if isinstance(plan, ListPlan) and isinstance(plan.baseline, Unknown):
        compared = f"**nothing: replaced unseen ({counted(plan.size, 'command')})**"
    return [name, *counts, lost, compared]


def _sentence(sentence: Sentence) -> str:
    return laid_out(sentence, _foreign)


def _foreign(text: Foreign) -> str:
    return code(cut(text) if isinstance(text, Name) else text)


def _plan(view: PlanView, screen: Screen) -> Iterator[str]:
    label = view.plan.label
    yield f"### {code(label) if label else 'Plan'}: {view.summary}"
    yield "".join(map(_sentence, view.headings[0]))
    if view.origin:
        yield _sentence(view.origin)
    if view.unseen:
        yield f"**Not compared**: {_sentence(view.unseen)}"
    if view.refusal:
        yield f"**Refused**: {code(f'this plan {view.refusal.message}')}"
        yield f"What to do: {code(in_words(view.refusal.hint, screen.words))}"
    if view.nothing:
        yield view.nothing
    yield from map(_sentence, view.scheduled)
    yield from view.kept
    yield from _sections(view.shown, _DANGEROUS, screen)
    yield from _notices(view.notices, screen)
    yield from _sections(view.shown, _OTHERS, screen)


def _sections(
    changes: Sequence[ChangeView], titles: Mapping[Verb, str], screen: Screen
) -> Iterator[str]:
    for title, group in _by_verb(changes, titles):
        yield f"#### {title} ({len(group):,})"
        yield from _changes(group, screen.files)


def _by_verb(
    changes: Sequence[ChangeView], titles: Mapping[Verb, str]
) -> Iterator[tuple[str, list[ChangeView]]]:
    """Group the changes of these verbs, in the order of the titles."""
    for verb, title in titles.items():
        if group := [change for change in changes if change.verb == verb]:
            yield title, group


def results(results: Sequence[Result], *, screen: Screen) -> str:
    """Return results, each with a table for each outcome; listings are below a table."""
    views = [result_view(result, screen.words) for result in results]
    of_listings = [view for view in views if view.plan.plan.label]
    names = _names([view.plan for view in of_listings])
    rows = zip(names, (view.summary for view in of_listings), strict=True)
    head = [table(("Listing", "Result"), rows)] if names else []
    return _joined([*head, *(block for view in views for block in _result(view, screen))])


def _result(view: ResultView, screen: Screen) -> Iterator[str]:
    label = view.plan.plan.label
    yield f"### {code(label) if label else 'Apply'}: {view.summary}"
    yield "".join(map(_sentence, view.plan.headings[0]))
    yield from map(_sentence, view.plan.scheduled)
    if view.stop:
        yield f"**{view.stop[0]}**: {_sentence(view.stop[1])}"
    for end in (*ENDS[2:], *ENDS[:2]):
        if some := [each for each in view.settled if each.end == end]:
            yield f"#### {end.capitalize()} ({len(some):,})"
            yield from _settled(some, end, screen)
    if view.rewritten:
        yield f"#### Changed by the service ({len(view.rewritten):,})"
        for each in view.rewritten:
            for rewrite in each.settled.rewrites:
                yield f"{_label(each.change, rewrite.field)} {rewrite.how}; {rewrite.advice}"
                yield from _folded([_difference_block(rewrite.sent, rewrite.stored)], "long text")
    yield from _notices(view.result.notices, screen)


def _settled(some: Sequence[SettledView], end: str, screen: Screen) -> Iterator[str]:
    """Yield changes of one end: the texts that were written, or the reasons of a failure."""
    changes, outcome = [each.change for each in some], some[0].settled.outcome
    if outcome is Outcome.SENT or end == DONE:
        for title, group in _by_verb(changes, _DONE):
            yield f"{title} ({len(group):,}):"
            yield from _changes(group, screen.files)
        return
    known = 3 if outcome is Outcome.DONE else len(_SETTLED)
    rows = [
        (
            each.change.title,
            code(cut(each.change.name)),
            place(each.change.location, screen.files),
            "<br>".join(map(code, each.reasons)),
            _cell(in_words(each.settled.hint, screen.words)),
        )[:known]
        for each in some
    ]
    yield from _folded([table(_SETTLED[:known], rows)], counted(len(rows), "row"))
    for _, group in _by_verb(changes, _DONE):
        if group[0].parts:  # the name describes any other change
            yield from _changes(group, screen.files)


def _changes(changes: Sequence[ChangeView], files: str) -> Iterator[str]:
    """Yield the table of changes of one verb, then the texts too long for it, whole.

    Deletes begin with the most used records, and are never folded. Places are links below the URL
    `files`, which may be empty.
    """
    first, below = changes[0], list[str]()
    if isinstance(first.change, Add | Delete):
        head, rows = _records(changes, below, files)
    elif first.verb == "rename":
        head, rows = _renames(changes, below, files)
    else:
        head = ["Name", "Where", "Field", "Old", "New"]
        rows = [
            [_name(change), place(change.location, files), _field(change, each), old, new]
            for change in changes
            for each in change.differences
            for old, new in [_cells(change, each, below)]
        ]
    shown, dangerous = [table(head, rows)], first.verb in _DANGEROUS
    yield from shown if dangerous else _folded(shown, counted(len(rows), "row"))
    yield from _folded(below, counted(len(below) // 2, "long text"))


def _records(
    changes: Sequence[ChangeView], below: list[str], files: str
) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of whole records, without empty columns.

    Texts that are too long for a cell are put `below`.
    """
    adds, records = changes[0].verb == "add", [change.record for change in changes]
    fields, rows = _columns(records), []
    # The most used records first; the order of others stays.
    pairs = zip(changes, records, strict=True)
    for change, record in sorted(pairs, key=lambda pair: -pair[0].uses):
        texts = [record.get(field, "") for field in fields]
        cells = list(map(_cell, texts))
        if cut(change.name) != change.name:
            below += _whole(change, change.change.resource.fields[0], change.name)
        for n, field in enumerate(fields):
            if not _fits(texts[n], _WHOLE_CELL):
                cells[n] = _BELOW
                below += _whole(change, field, texts[n])
        rows.append([_name(change), *([place(change.location, files)] if adds else []), *cells])
    titles = [field.capitalize() if field.isalpha() else code(field) for field in fields]
    return ["Name", *(["Where"] if adds else []), *titles], rows


def _columns(records: Sequence[Mapping[str, str]]) -> list[str]:
    known = dict.fromkeys(chain.from_iterable(records))
    # Options are the last column, in whichever record they come first.
    fields = sorted(known, key=lambda key: key == "options")
    return [field for field in fields if any(record.get(field) for record in records)]


def _whole(change: ChangeView, field: str, text: str) -> tuple[str, str]:
    """Return the words for a field of a record, and its whole text."""
    sign = "-" if change.verb == "delete" else "+"
    lines = [f"{sign} {visible_line(line)}" for line in redacted(text).split("\n")]
    return _label(change, field), fenced(lines, "diff")


def _renames(
    changes: Sequence[ChangeView], below: list[str], files: str
) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of renames; long texts are put `below`."""
    rows = []
    for change in changes:
        if cut(change.name) != change.name:
            below += _whole(change, change.change.resource.fields[0], change.name)
        also = []
        for each in change.differences:
            old, new = _cells(change, each, below)
            also.append(f"{_field(change, each)}: {old if old == _BELOW else f'{old} → {new}'}")
        names = [code(cut(name)) for name in distinct(change.old_name, change.name)]
        rows.append([*names, "kept", place(change.location, files), "; ".join(also)])
    kept = "Id" if changes[0].is_exact else "Uses"
    return ["Old name", "New name", kept, "Where", "Also changed"], rows


def _cells(change: ChangeView, difference: DifferenceView, below: list[str]) -> tuple[str, str]:
    """Return the cells of a changed field; if its texts are too long, put their diff `below`."""
    old, new = difference.old, difference.new
    if difference.is_whole and _fits(old + new, _WHOLE_CELL):
        return _cell(old), _cell(new)
    if _fits(old) and _fits(new):
        old, new = map(code, distinct(old, new))
        return old, new
    below += (_label(change, difference.label), _difference_block(old, new))
    return _BELOW, _BELOW


def _field(change: ChangeView, difference: DifferenceView) -> str:
    name = code(cut(difference.label)) if change.is_exact else difference.label
    return f"{name} **({BREAKING})**" if difference.breaking else name


def _name(change: ChangeView) -> str:
    name = change.prefix + code(cut(change.name))
    return name + (f" **({change.remark})**" if change.remark else "")


def _label(change: ChangeView, field: str) -> str:
    """Return the words for a field of a change, in front of its text."""
    name = code(cut(field)) if change.is_exact else field
    return f"{change.prefix}{code(cut(change.name))}, {name}:"


def _fits(text: str, width: int = _CELL) -> bool:
    return len(text) <= width and "\n" not in text


def _difference_block(old: str, new: str) -> str:
    """Return the differences between two texts as a block that neither of them can end."""
    rows = diff_rows(old, new, full=True)
    return fenced([f"{row.sign} {visible_line(row.text)}" for row in rows], "diff")


def _folded(blocks: Sequence[str], title: str) -> Iterator[str]:
    """Yield blocks, folded below a title without foreign text if they are long."""
    if sum(block.count("\n") for block in blocks) <= _LONG:
        yield from blocks
        return
    yield f"<details>\n<summary>{title}</summary>"
    yield from blocks
    yield "</details>"


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
        (code(manifest.path), managed(manifest.snapshot), str(len(manifest.warnings)))
        for manifest in manifests
    ]
    warnings = [warning for manifest in manifests for warning in manifest.warnings]
    blocks = ["### Valid", table(("Manifest", "Holds", "Warnings"), rows)]
    return _joined([*blocks, _problems("Warning", warnings, screen)] if warnings else blocks)


def _problems(column: str, problems: Iterable[Problem], screen: Screen) -> str:
    cells = (
        (
            place(problem.location, screen.files),
            code(problem.message),
            _cell(in_words(problem.hint, screen.words)),
        )
        for problem in problems
    )
    return table(("Where", column, "What to do"), cells)


def _notices(notices: Sequence[Notice], screen: Screen) -> Iterator[str]:
    if notices:
        plain = Screen(words=screen.words)
        yield f"#### Warnings ({len(notices):,})"
        yield fenced(text.notices(notices, screen=plain).splitlines(), "text")


def _cell(text: str) -> str:
    """Return foreign text for a cell, which is empty without any."""
    return code(text) if text else ""


def place(location: Location | None, files: str) -> str:
    """Return a place in the manifest for a cell; empty for none.

    It is a link if the URL `files` of the manifest's folder is known.
    """
    if location is None:
        return ""
    shown, path = code(str(location)), posixpath.normpath(location.path)
    if not files or path.startswith(("../", "/")):
        return shown
    return f"[{shown}]({files}/{quote(path, errors='surrogateescape')}#L{location.line})"


def _joined(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"
