"""The verdict of a run: made from plans, results and errors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from typing import Literal, Self

from commandsync import report
from commandsync.apply.outcomes import Result
from commandsync.document.view import plan_view
from commandsync.errors import CommandsyncError, Exit
from commandsync.manifest import Manifest
from commandsync.plan.plan import Plan
from commandsync.report import github
from commandsync.report.github import Annotation
from commandsync.report.lines import PLAIN, Screen, code
from commandsync.sync.job import Job
from commandsync.sync.selection import split

Word = Literal["valid", "no-changes", "changes", "applied", "superseded", "unchecked", "failed"]

_INCOMPLETE = "incomplete"
_FORMS: tuple[Literal["text"], Literal["markdown"]] = ("text", "markdown")
_DRIFTED = "the listing differs from the manifest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome of a run, in a word and ready to report.

    The text is for the log, the markdown for the summary and the comment, whose heading ends with
    the title. `changed` means that changes are pending, or were or may have been written; None if
    that is unknown. `complete` means that the plans were applied to their end.
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

    def after(
        self, text: Iterable[str], markdown: Iterable[str], notes: Iterable[Annotation] = ()
    ) -> Self:
        """Return this verdict behind other lines and annotations."""
        return replace(
            self,
            text="\n".join([*text, self.text]),
            markdown="\n".join([*markdown, self.markdown]),
            annotations=(*notes, *self.annotations),
        )


def of_validated(manifests: Sequence[Manifest], screen: Screen = PLAIN) -> Verdict:
    """Return the verdict of valid manifests."""
    warnings = (problem for manifest in manifests for problem in manifest.warnings)
    return Verdict(
        word="valid",
        code=Exit.DONE,
        text=report.render_validated(manifests, screen=screen),
        markdown=report.render_validated(manifests, format="markdown", screen=screen),
        annotations=tuple(github.notice_annotations(warnings)),
    )


def of_superseded(run: str) -> Verdict:
    """Return the verdict of a run that applies nothing, since another one has a newer manifest."""
    text = "The branch has a newer manifest, so nothing is applied here"
    return Verdict(
        word="superseded",
        code=Exit.DONE,
        text=f"{text}. The run that applies it: {run}",
        markdown=f"**Superseded**: {text[0].lower()}{text[1:]}. [Another run]({run}) applies it.",
        changed=False,
    )


def failed(
    verdict: Verdict, notes: Sequence[Annotation], *, text: Sequence[str], markdown: Sequence[str]
) -> Verdict:
    """Return a verdict that fails for another reason, too, which comes first."""
    return replace(
        verdict.after(text, markdown, notes),
        word="failed",
        code=verdict.code or Exit.CHANGES,
        reason=verdict.reason or "outdated",
        complete=False,
    )


def with_unchecked(verdict: Verdict, unread: Sequence[Job]) -> Verdict:
    """Return a verdict that names the listings that a check for drift could not read.

    If it could read none, nothing is checked.
    """
    if not unread:
        return verdict
    if not (verdict.plans or verdict.reason):
        verdict = replace(verdict, word="unchecked", changed=None)
    names = ", ".join(code(job.site.name) for job in unread)
    note = f"\nNot checked, since their lists cannot be read here: {names}."
    return replace(verdict, text=verdict.text + note, markdown=verdict.markdown + note)


def with_left(
    verdict: Verdict, errors: Sequence[CommandsyncError], screen: Screen = PLAIN
) -> Verdict:
    """Return a verdict that fails, too, if there are errors of listings that were left out."""
    if not errors:
        return verdict
    texts, pages = ([*_rendered((), errors, form, screen)] for form in _FORMS)
    notes = [note for error in errors for note in github.failure_annotations(error)]
    reason = _INCOMPLETE if verdict.changed else verdict.reason or errors[0].failure_reason
    return failed(replace(verdict, reason=reason), notes, text=texts, markdown=pages)


def of_error(
    error: CommandsyncError, screen: Screen = PLAIN, *, code: int | None = None
) -> Verdict:
    """Return the verdict of an error that ended the run before anything was written."""
    return Verdict(
        word="failed",
        code=error.exit_code if code is None else code,
        text=report.render_failure(error, screen=screen),
        markdown=report.render_failure(error, format="markdown", screen=screen),
        annotations=tuple(github.failure_annotations(error)),
        reason=error.failure_reason,
    )


def of_plans(
    planned: Sequence[Plan | CommandsyncError],
    screen: Screen = PLAIN,
    *,
    fail_on_changes: bool,
    refusals: Sequence[CommandsyncError] = (),
    drift: bool = False,
) -> Verdict:
    """Return the verdict of plans that were not applied, and of the errors in place of plans."""
    plans, errors = split(planned)
    first = _not_shown(refusals, plans)
    pending = [plan for plan in plans if plan.pending]
    # An apply sends some lists again without any change.
    changed = any(plan.pending or not plan.known for plan in plans)
    gravest = [*Exit].index
    worst = min((*errors, *refusals), key=lambda error: gravest(error.exit_code), default=None)
    text, markdown = (
        "\n".join([*_rendered((), first, form, screen), *_rendered(plans, errors, form, screen)])
        for form in _FORMS
    )
    errors = (*first, *errors)
    drifted = list(map(_drifted, pending)) if drift else []
    notes = (*map(github.failure_annotations, errors), *map(github.plan_annotations, plans))
    code, reason = (Exit.CHANGES if pending and fail_on_changes else Exit.DONE), ""
    if worst:
        code, reason = worst.exit_code, worst.failure_reason
    return Verdict(
        word=_word(failed=worst is not None, done="changes", pending=changed),
        code=code,
        text=text,
        markdown=f"**Drift**: {_DRIFTED}.\n\n{markdown}" if drifted else markdown,
        annotations=(*chain.from_iterable(notes), *drifted),
        reason=reason,
        plans=plans,
        changed=changed if plans else None,
    )


def _not_shown(
    refusals: Sequence[CommandsyncError], plans: Sequence[Plan]
) -> list[CommandsyncError]:
    """Return the refusals that no plan shows itself."""
    shown = {plan.refusal.message for plan in plans if plan.refusal}
    return [error for error in refusals if error.message not in shown]


def _drifted(plan: Plan) -> Annotation:
    message = f"{_DRIFTED}. Plan: {plan_view(plan).summary}"
    return Annotation("warning", "Drift", message, location=github.top_of(plan))


def _word(*, failed: bool, done: Word, pending: bool) -> Word:
    if failed:
        return "failed"
    return done if pending else "no-changes"


def of_results(results: Sequence[Result], screen: Screen = PLAIN, *, code: int) -> Verdict:
    """Return the verdict of plans that were applied."""
    plans = tuple(result.plan for result in results)
    complete = all(result.complete for result in results)
    touched = any(result.touched for result in results)
    notes = (github.result_annotations(result, screen.words) for result in results)
    return Verdict(
        word=_word(failed=not complete, done="applied", pending=any(plan.writes for plan in plans)),
        code=code,
        text=report.render_results(results, screen=screen),
        markdown=report.render_results(results, format="markdown", screen=screen),
        annotations=tuple(chain.from_iterable(notes)),
        reason="" if complete else _reason_of_results(results),
        plans=plans,
        changed=touched,
        complete=complete,
    )


def _reason_of_results(results: Sequence[Result]) -> str:
    """Return why results are not complete, in a word."""
    if any(result.touched or result.interrupted for result in results):
        return _INCOMPLETE
    causes = [change.cause for result in results for change in result.settled if change.cause]
    return causes[0].failure_reason if causes else _INCOMPLETE


def _rendered(
    plans: Sequence[Plan],
    errors: Sequence[CommandsyncError],
    form: Literal["text", "markdown"],
    screen: Screen,
) -> Iterator[str]:
    if plans:
        yield report.render_plans(plans, format=form, screen=screen)
    for error in errors:
        yield report.render_failure(error, format=form, screen=screen)


def outputs_of(verdict: Verdict) -> dict[str, str]:
    """Return the outputs of the step: fixed words, numbers and a digest."""
    values = {
        "result": verdict.word,
        "failure-reason": verdict.reason,
        "changed": "" if verdict.changed is None else str(verdict.changed).lower(),
    }
    if not verdict.plans:
        return values
    plans = [plan for plan in verdict.plans if plan.known]
    counted = {"adds": ("add",), "edits": ("edit", "replace"), "deletes": ("delete",)}
    for name, actions in counted.items():
        values[name] = str(sum(plan.count(action) for plan in plans for action in actions))
    values["unchanged"] = str(sum(plan.unchanged for plan in plans))
    fingerprints = "\n".join(plan.fingerprint for plan in verdict.plans)
    several = f"sha256:{sha256(fingerprints.encode()).hexdigest()}"
    return {**values, "fingerprint": several if len(verdict.plans) > 1 else fingerprints}
