"""The verdict of a run: made from plans, results and errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Literal

from commandsync import report
from commandsync.document import failure_kind
from commandsync.errors import Invalid, NotFound
from commandsync.plan.userchanges import user_changes
from commandsync.report import github, summary, userchanges
from commandsync.report.escape import code
from commandsync.report.imports import import_annotations, render_import
from commandsync.sync import exits
from commandsync.sync.job import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commandsync.apply.outcomes import Result
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan
    from commandsync.report.github import Annotation
    from commandsync.sources.outcome import Import

Word = Literal["valid", "no-changes", "changes", "applied", "compared", "failed"]

_REASONS = {
    "usage": "invalid",
    "invalid": "invalid",
    "file": "invalid",
    "refused": "refused",
    "stale": "stale",
    "auth": "auth",
    "rate-limited": "rate-limited",
    "network": "network",
    "service": "network",
}
_INCOMPLETE = "incomplete"
_MOST_SENTENCES = 10
_DRIFTED = "the listing differs from the manifest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome of a run, in a word and ready to report.

    The text is for the log, the markdown for the summary and the comment, whose heading ends with
    the title. `changed` means that changes are pending, or were or may have been written; None if
    that is unknown. `complete` means that the plans were applied to their end, and `compared` that
    a listing is unknown: manifests were compared.
    """

    word: Word
    code: int
    text: str
    markdown: str
    annotations: tuple[Annotation, ...] = ()
    reason: str = ""
    plans: tuple[Plan, ...] = ()
    changed: bool | None = None
    title: str = ""
    complete: bool = False
    compared: bool = False


def of_validated(manifests: Sequence[Manifest]) -> Verdict:
    """Return the verdict of valid manifests."""
    return Verdict(
        word="valid",
        code=exits.Exit.DONE,
        text=report.render_validated(manifests, format="text"),
        markdown=report.render_validated(manifests, format="markdown"),
        annotations=tuple(
            github.notice_annotations(
                problem for manifest in manifests for problem in manifest.warnings
            )
        ),
    )


def with_imports(verdict: Verdict, imports: Sequence[Import]) -> Verdict:
    """Return a verdict that also fails if a manifest is not up to date with its sources."""
    outdated = [result for result in imports if result.files]
    if not outdated:
        return verdict
    notes = (note for result in outdated for note in import_annotations(result, check=True))
    texts = [render_import(result, format="text") for result in outdated]
    pages = [render_import(result, format="markdown") for result in outdated]
    heading = "**The manifest is not up to date with its sources**: run `commandsync import`.\n"
    return replace(
        verdict,
        word="failed",
        code=verdict.code or exits.Exit.CHANGES,
        text="\n".join([*texts, verdict.text]),
        markdown="\n".join([heading, *pages, verdict.markdown]),
        annotations=(*notes, *verdict.annotations),
        reason=verdict.reason or "outdated",
    )


def of_error(error: CommandsyncError, *, code: int | None = None) -> Verdict:
    """Return the verdict of an error that ended the run before anything was written."""
    return Verdict(
        word="failed",
        code=exits.of_error(error) if code is None else code,
        text=report.render_failure(error, format="text"),
        markdown=report.render_failure(error, format="markdown"),
        annotations=tuple(github.failure_annotations(error)),
        reason=_reason_of(error),
    )


def of_plans(
    planned: Sequence[Plan | CommandsyncError],
    *,
    fail_on_changes: bool,
    refusals: Sequence[CommandsyncError] = (),
    drift: bool = False,
) -> Verdict:
    """Return the verdict of plans that were not applied, and of the errors in place of plans."""
    plans, errors = split(planned)
    pending = [plan for plan in plans if plan.changes]
    drifted = list(map(_drifted, pending)) if drift else []
    heading = [f"**Drift**: {_DRIFTED}.\n"] if drifted else []
    worst = min((*errors, *refusals), key=exits.rank, default=None)
    changed_code = exits.Exit.CHANGES if pending and fail_on_changes else exits.Exit.DONE
    notes = (*map(github.plan_annotations, plans), *map(github.failure_annotations, errors))
    return Verdict(
        word="failed" if worst else "changes" if pending else "no-changes",
        code=exits.worst([*map(exits.of_error, (*errors, *refusals)), changed_code]),
        text="\n".join(_rendered(plans, errors, "text")),
        markdown="\n".join([*heading, *_rendered(plans, errors, "markdown")]),
        annotations=(*chain.from_iterable(notes), *drifted),
        reason=_reason_of(worst) if worst else "",
        plans=plans,
        changed=bool(pending) if plans else None,
    )


def of_results(results: Sequence[Result], *, code: int) -> Verdict:
    """Return the verdict of plans that were applied."""
    plans = tuple(result.plan for result in results)
    complete = all(result.complete for result in results)
    touched = any(result.touched for result in results)
    pending = any(plan.changes for plan in plans)
    return Verdict(
        word="failed" if not complete else "applied" if pending else "no-changes",
        code=code,
        text=report.render_results(results, format="text"),
        markdown=report.render_results(results, format="markdown"),
        annotations=tuple(note for result in results for note in github.result_annotations(result)),
        reason="" if complete else _reason_of_results(results),
        plans=plans,
        changed=touched,
        complete=complete,
    )


def with_comparison(
    verdict: Verdict, plans: Sequence[Plan], why: CommandsyncError, *, fail_on_changes: bool
) -> Verdict:
    """Return the verdict of other plans, and of comparisons with the base branch.

    `why` kept the listing unread. A comparison is limited as a plan is: it must not delete more.
    """
    instead = "Compared with the manifest of the base branch, not with the listing"
    heading = (
        f"**{instead}**: without a token the service refuses to show the listing, which may differ."
    )
    text = f"{instead} ({failure_kind(why)}).\n\n{report.render_plans(plans, format='text')}"
    markdown = f"{heading}\n\n{report.render_plans(plans, format='markdown')}"
    refused = any(plan.refusal for plan in plans)
    pending = fail_on_changes and any(plan.changes for plan in plans)
    codes = [verdict.code, *[exits.Exit.REFUSED] * refused, *[exits.Exit.CHANGES] * pending]
    return replace(
        verdict,
        word="failed" if refused or verdict.word == "failed" else "compared",
        code=exits.worst(codes),
        text="\n".join(filter(None, (verdict.text, text))),
        markdown="\n".join(filter(None, (verdict.markdown, markdown))),
        annotations=(
            *verdict.annotations,
            *chain.from_iterable(map(github.plan_annotations, plans)),
        ),
        reason="refused" if refused else verdict.reason,
        plans=(),
        changed=None,
        compared=True,
    )


def with_note(verdict: Verdict, note: str) -> Verdict:
    """Return a verdict that begins with a note, if there is one; foreign text is in code spans."""
    if not note:
        return verdict
    return replace(
        verdict, text=f"{note}\n\n{verdict.text}", markdown=f"{note}\n\n{verdict.markdown}"
    )


def with_user_changes(
    verdict: Verdict, bases: Sequence[Manifest], manifests: Sequence[Manifest]
) -> Verdict:
    """Return a verdict that begins with what users will notice of each manifest.

    Args:
        verdict: The verdict.
        bases: The manifests of the base branch; none where they are not known.
        manifests: Those of the proposal, in the same order.
    """
    compared = [
        (manifest.path, user_changes(old=base.snapshot, new=manifest.snapshot))
        for base, manifest in zip(bases, manifests, strict=bool(bases))
    ]
    noticed = [(path, changes) for path, changes in compared if changes.count]
    texts, pages = [], []
    for path, changes in noticed:
        of_several = f" of {code(path)}" if len(noticed) > 1 else ""
        texts.append(userchanges.text(changes))
        page = userchanges.markdown(changes, most=_MOST_SENTENCES)
        pages.append(f"**What users will notice{of_several}**\n\n{page}")
    return replace(
        verdict,
        text="\n".join((*texts, verdict.text)),
        markdown="\n".join((*pages, verdict.markdown)),
    )


def _reason_of_results(results: Sequence[Result]) -> str:
    """Return why results are not complete, in a word."""
    if any(result.touched or result.interrupted for result in results):
        return _INCOMPLETE
    causes = [change.cause for result in results for change in result.settled if change.cause]
    return _reason_of(causes[0]) if causes else _INCOMPLETE


def _reason_of(error: CommandsyncError) -> str:
    if isinstance(error, Invalid | NotFound):
        return "rejected"
    return _REASONS.get(failure_kind(error), _INCOMPLETE)


def _drifted(plan: Plan) -> Annotation:
    message = f"{_DRIFTED}. {summary.of_plan(plan)}"
    return github.Annotation("warning", "Drift", message, location=github.top_of(plan))


def _rendered(
    plans: Sequence[Plan], errors: Sequence[CommandsyncError], form: Literal["text", "markdown"]
) -> Iterator[str]:
    if plans:
        yield report.render_plans(plans, format=form)
    for error in errors:
        yield report.render_failure(error, format=form)
