"""The verdict of a run: made from plans, results and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from commandsync import report
from commandsync.document import failure_kind
from commandsync.errors import CommandsyncError
from commandsync.report import github, summary
from commandsync.sync import exits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commandsync.apply.outcomes import Result
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan
    from commandsync.report.github import Annotation

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
_DRIFTED = "the listing differs from the manifest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome of a run, ready to report.

    Attributes:
        word: The outcome, in a word.
        code: The exit code.
        text: For the log.
        markdown: For the summary and the comment.
        annotations: For the manifest's lines.
        reason: The reason of a failure, in a word; empty without one.
        plans: The plans.
        changed: Whether changes are pending, or were or may have been written; None if that is
            unknown.
    """

    word: Word
    code: int
    text: str
    markdown: str
    annotations: tuple[Annotation, ...] = ()
    reason: str = ""
    plans: tuple[Plan, ...] = ()
    changed: bool | None = None


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


def of_error(error: CommandsyncError, *, code: int | None = None) -> Verdict:
    """Return the verdict of an error that ended the run before anything was written."""
    return Verdict(
        word="failed",
        code=exits.of_error(error) if code is None else code,
        text=report.render_failure(error, format="text"),
        markdown=report.render_failure(error, format="markdown"),
        annotations=tuple(github.failure_annotations(error)),
        reason=_REASONS.get(failure_kind(error), _INCOMPLETE),
    )


def of_plans(
    planned: Sequence[Plan | CommandsyncError],
    *,
    fail_on_changes: bool,
    refusals: Sequence[CommandsyncError] = (),
    drift: bool = False,
) -> Verdict:
    """Return the verdict of plans that were not applied, and of the errors in place of plans."""
    plans = tuple(item for item in planned if not isinstance(item, CommandsyncError))
    errors = [item for item in planned if isinstance(item, CommandsyncError)]
    pending = any(plan.changes for plan in plans)
    notes = [note for plan in plans for note in github.plan_annotations(plan)]
    notes += [note for error in errors for note in github.failure_annotations(error)]
    if drift:
        notes += [_drifted(plan) for plan in plans if plan.changes]
    heading = [f"**Drift**: {_DRIFTED}.\n"] if drift and pending else []
    worst = min((*errors, *refusals), key=exits.rank, default=None)
    changed_code = exits.Exit.CHANGES if pending and fail_on_changes else exits.Exit.DONE
    return Verdict(
        word="failed" if worst else "changes" if pending else "no-changes",
        code=exits.worst([*map(exits.of_error, (*errors, *refusals)), changed_code]),
        text=_joined(_rendered(plans, errors, "text")),
        markdown=_joined([*heading, *_rendered(plans, errors, "markdown")]),
        annotations=tuple(notes),
        reason=_REASONS.get(failure_kind(worst), _INCOMPLETE) if worst else "",
        plans=plans,
        changed=pending if plans else None,
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
        reason="" if complete else _reason(results),
        plans=plans,
        changed=touched,
    )


def of_comparison(plans: Sequence[Plan], why: CommandsyncError) -> Verdict:
    """Return the verdict of a comparison with the base branch; `why` kept the listing unread."""
    heading = (
        "**Compared with the manifest of the base branch, not with the listing**: without a "
        "token the service refuses to show the listing, which may differ."
    )
    return Verdict(
        word="compared",
        code=exits.Exit.DONE,
        text="Compared with the manifest of the base branch, not with the listing "
        f"({failure_kind(why)}).\n\n" + report.render_plans(plans, format="text"),
        markdown=f"{heading}\n\n" + report.render_plans(plans, format="markdown"),
        annotations=tuple(
            github.notice_annotations(notice for plan in plans for notice in plan.notices)
        ),
    )


def _reason(results: Sequence[Result]) -> str:
    """Return why results are not complete, in a word."""
    if any(result.touched or result.interrupted for result in results):
        return _INCOMPLETE
    causes = [change.cause for result in results for change in result.settled if change.cause]
    return _REASONS.get(failure_kind(causes[0]), _INCOMPLETE) if causes else _INCOMPLETE


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


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(parts)
