"""Plans and results for GitHub: the annotations and outputs of a job, and pages cut to fit.

The log of a job has annotations above the whole text. A summary or a comment is a page: a heading,
notes and a report. Its least dangerous parts are cut first, whichever of several plans they belong
to: adds, then edits, renames, and the warnings. Deletes, refusals and failures are cut last.
"""

import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from commandsync.apply.outcomes import Outcome, Result
from commandsync.diagnostics import Hint, Location, Notice, Problem, Words, in_words
from commandsync.document.view import laid_out, plan_view, result_view
from commandsync.errors import CommandsyncError
from commandsync.plan.plan import Plan
from commandsync.report import text
from commandsync.report.lines import Screen, code, command_data, command_property, visible

if TYPE_CHECKING:
    from commandsync.manifest import Manifest  # loads pydantic and yaml


LONGEST_SUMMARY = 1_000_000  # bytes: GitHub drops a step's summary of more than 1 MiB
LONGEST_COMMENT = 60_000  # bytes: GitHub refuses a comment of more than 65,536 characters
_CUT_FIRST = (
    "#### Add",
    "#### Done already",
    "#### Edit",
    "#### Rename",
    "#### Skipped",
    "#### Done",
    "#### Sent",
    "#### Warn",
)
_HEADING = re.compile(r"#{2,4} ")
_FENCE = re.compile(r"(`{3,})\w*")
_FOLD, _UNFOLD = "<details>", "</details>"
_ROOM = 600  # bytes for the remark at the end


def page(markdown: str, *, label: str = "", title: str = "", notes: Iterable[str] = ()) -> str:
    """Return a report with its heading and notes; only the label is foreign text."""
    heading = "## " + ": ".join(filter(None, ("commandsync", label and code(label), title)))
    return "\n\n".join((heading, *notes, markdown.strip("\n"))) + "\n"


def cut_page(markdown: str, *, most: int, pointer: str) -> str:
    """Return a page of at most `most` bytes of UTF-8: whole lines, with no block left open.

    The pointer is a sentence that says where the rest is; it has no foreign text.
    """
    sections = list(_sections(markdown))
    for heading in _CUT_FIRST:
        excess = sum(map(_size, sections)) - most
        for n, section in reversed([*enumerate(sections)]):
            if excess > 0 and section[0].startswith(heading):
                cut = _cut(section, _size(section) - excess, pointer)
                sections[n] = min(section, cut, key=_size)
                excess -= _size(section) - _size(sections[n])
    lines = [line for section in sections for line in section]
    return "\n".join(_cut(lines, most, pointer)).rstrip("\n") + "\n"


def _sections(markdown: str) -> Iterator[list[str]]:
    section: list[str] = []
    fence = ""
    for line in markdown.splitlines():
        if section and not fence and _HEADING.match(line):
            yield section
            section = []
        section.append(line)
        fence = _open_fence(fence, line)
    yield section


def _cut(lines: list[str], most: int, pointer: str) -> list[str]:
    """Return the first line and the following lines that fit, and a remark on the others."""
    if _size(lines) <= most:
        return lines
    kept, left = lines[:1], most - _ROOM - _size(lines[:1])
    fence = _open_fence("", lines[0])
    for line in lines[1:]:  # pragma: no branch - it breaks before the end
        left -= _size([line])
        if left < len(fence):
            break
        kept.append(line)
        fence = _open_fence(fence, line)
    dropped = lines[len(kept) :]
    folds = dropped.count(_UNFOLD) - dropped.count(_FOLD)  # the folds that end in the dropped lines
    ends = [*([fence] if fence else []), *["", _UNFOLD] * folds]
    return [*kept, *ends, "", f"*Cut here. {pointer}*", ""]


def _open_fence(fence: str, line: str) -> str:
    """Return the fence of the block that is open after a line; empty for none."""
    if not fence and (opening := _FENCE.fullmatch(line)):
        return opening[1]
    return "" if line == fence else fence


def _size(lines: Sequence[str]) -> int:
    """Return the bytes of lines, with their ends."""
    return sum(len(line.encode()) + 1 for line in lines)


MOST_OF_A_KIND = 10  # a runner drops further annotations of one kind


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark that GitHub shows beside a line of a file; its title has no foreign text."""

    kind: Literal["error", "warning", "notice"]
    title: str
    message: str
    hint: str | Hint = ""
    location: Location | None = None

    def command(self, words: Words) -> str:
        """Return the workflow command, with the hint in the words of the program."""
        place, stated = self.location, f"title={command_property(self.title)}"
        if place is not None and place.path != "-":
            file = command_property(visible(place.path))
            stated = f"file={file},line={place.line},col={place.column},{stated}"
        hint = in_words(self.hint, words)
        message = visible(self.message) + (f"\n{visible(hint)}" if hint else "")
        return f"::{self.kind} {stated}::{command_data(message)}"


def plans(plans: Sequence[Plan], *, screen: Screen) -> str:
    """Return annotations for refusals, warnings and deletes, then the plans as text."""
    notes = (note for plan in plans for note in plan_annotations(plan))
    return annotated(notes, text.plans(plans, screen=screen), screen)


def results(results: Sequence[Result], *, screen: Screen) -> str:
    """Return annotations for failures and rewritten texts, then the results as text."""
    notes = (note for result in results for note in result_annotations(result, screen.words))
    return annotated(notes, text.results(results, screen=screen, planned=False), screen)


def failure(error: CommandsyncError, *, screen: Screen) -> str:
    """Return an annotation for each problem, then the failure as text."""
    return annotated(failure_annotations(error), text.failure(error, screen=screen), screen)


def validated(manifests: Sequence["Manifest"], *, screen: Screen) -> str:
    """Return an annotation for each warning, then the manifests as text."""
    warnings = (warning for manifest in manifests for warning in manifest.warnings)
    shown = text.validated(manifests, screen=screen)
    return annotated(notice_annotations(warnings), shown, screen)


def failure_annotations(error: CommandsyncError) -> Iterator[Annotation]:
    """Return a remark for an error, or for each problem in files at its place."""
    if error.problems:
        yield from notice_annotations(error.problems, kind="error")
    else:
        yield Annotation("error", "commandsync", error.message, error.hint)


def notice_annotations(
    notices: Iterable[Notice | Problem], *, kind: Literal["error", "warning"] = "warning"
) -> Iterator[Annotation]:
    """Return a remark for each problem or warning."""
    for notice in notices:
        yield Annotation(kind, "commandsync", notice.message, notice.hint, notice.location)


def plan_annotations(plan: Plan) -> Iterator[Annotation]:
    """Return a remark for a refusal, for each warning, and for each planned delete."""
    view, top = plan_view(plan), top_of(plan)
    if view.refusal:
        message = f"this plan {view.refusal.message}"
        yield Annotation("error", "Plan refused", message, view.refusal.hint, top)
    if view.unseen:
        yield Annotation("warning", "Not compared", laid_out(view.unseen, str), location=top)
    yield from notice_annotations(view.notices)
    for change in view.changes:
        if change.verb == "delete":
            message = f"the listed {change.change.resource} {change.name} is deleted"
            message += f" ({change.remark})" if change.remark else ""
            yield Annotation("notice", "Planned delete", message, location=top)


def top_of(plan: Plan) -> Location | None:
    """Return the first line of a plan's manifest, for remarks on the manifest as a whole."""
    return Location(plan.manifest[0]) if plan.manifest else None


def result_annotations(result: Result, words: Words) -> Iterator[Annotation]:
    """Return a remark for each change that is not done, or that the service changed."""
    view = result_view(result, words)
    for each in view.settled:
        outcome = each.settled.outcome
        if outcome in {Outcome.FAILED, Outcome.UNKNOWN}:
            message = f"{each.change.title} {each.change.name}: {'; '.join(each.reasons)}"
            title, hint = f"Change {outcome}", each.settled.hint
            yield Annotation("error", title, message, hint, each.change.location)
    if result.stopped:
        yield Annotation("error", "Stopped", result.stopped, view.advice)
    for each in view.rewritten:
        for rewrite in each.settled.rewrites:
            message = f"{each.change.name}, {rewrite.field}: {rewrite.how}"
            title, at = "Changed by the service", each.change.location
            yield Annotation("warning", title, message, rewrite.advice, at)
    yield from notice_annotations(result.notices)


def outputs(values: Mapping[str, str]) -> str:
    """Return a step's outputs as its `GITHUB_OUTPUT` file takes them.

    No value can contain its own end or another output: each has a new random delimiter.
    """
    lines = ""
    for name, value in values.items():
        delimiter = f"end-{secrets.token_hex(16)}"
        lines += f"{name}<<{delimiter}\n{value}\n{delimiter}\n"
    return lines


def mask(secret: str) -> str:
    """Return the command that lets a runner hide a text wherever the job's log shows it."""
    return f"::add-mask::{command_data(secret)}\n"


def annotated(annotations: Iterable[Annotation], shown: str, screen: Screen) -> str:
    """Return annotations, at most ten of a kind, above a text."""
    kinds: Counter[str] = Counter()
    lines = ""
    for annotation in annotations:
        kinds[annotation.kind] += 1
        if kinds[annotation.kind] <= MOST_OF_A_KIND:
            lines += f"{annotation.command(screen.words)}\n"
    return lines + shown
