"""The report of a run: a function of its context and its outcome.

It is the log, annotations, outputs, the summary, the statuses of the commit, the comment, and the
issue about drift. `put_backups` comes before the first write.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from commandsync import report
from commandsync.action.branch import Branch, Status, merged_requests, status_of
from commandsync.action.comment import cut_to_fit, keep_issue, write_comment
from commandsync.action.context import Context
from commandsync.action.rest import GitHubError
from commandsync.action.runner import say
from commandsync.action.verdict import Verdict, outputs_of
from commandsync.api.credentials import redacted
from commandsync.apply.outcomes import Result
from commandsync.plan.plan import Plan, RecordPlan
from commandsync.report.github import LONGEST_SUMMARY, cut_page, page
from commandsync.report.lines import visible
from commandsync.sync.apply import write_backup
from commandsync.sync.files import write_file
from commandsync.sync.job import Planned

_ROOM_FOR_LINE = 1000  # bytes: the workflow that writes the comment adds a line


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """The outcome of a run: its verdict, and what was found out for the report."""

    verdict: Verdict
    branch: Branch
    applied: Sequence[tuple[Planned, Result]] = ()  # the plans that were carried out


def put_report(context: Context, outcome: ActionOutcome) -> None:
    """Report an outcome; the comment comes last, since it may wait for the network."""
    runner, verdict = context.runner, outcome.verdict
    say(verdict.text)
    runner.annotate(verdict.annotations)
    runner.put_outputs(outputs_of(verdict) | {"key": context.inputs.key})
    if verdict.plans:
        with runner.warned("the plan's files are not written"):
            runner.put_outputs(_files(context, verdict.plans))
    if context.inputs.summary:
        _summarise(context, verdict)
    if outcome.applied and context.github:
        # A page alone has a status only if all is done; each of several listings has one.
        some = [pair for pair in outcome.applied if verdict.complete or pair[1].plan.label]
        with runner.warned("the commit's status is not set"):
            _set_statuses(
                outcome.branch,
                ((item, status_of(result)) for item, result in some),
            )
    if context.inputs.comment != "never" and verdict.word != "valid":
        _put_comment(context, outcome)
    if _keeps_issue(context, verdict):
        with runner.warned("the issue is not written"):
            runner.put_outputs({"issue-url": _issue(context, outcome)})


def put_backups(context: Context, planned: Sequence[Planned]) -> None:
    """Write the listed records that are about to be changed, as manifests.

    Raises `FileError` if one cannot be written: then nothing must be changed.
    """
    paths = []
    for item in planned:
        if item.plan.changes and isinstance(item.plan, RecordPlan):
            paths.append(str(context.runner.new_folder("backup") / "commands.yaml"))
            write_backup(item, paths[-1], force=False)
    if paths:
        context.runner.put_outputs({"backup-file": "\n".join(paths)})


def _set_statuses(branch: Branch, statuses: Iterable[tuple[Planned, Status]]) -> None:
    for planned, status in statuses:
        branch.set_status(planned.job, status, at=branch.head if planned.plan.label else "")


def _files(context: Context, plans: tuple[Plan, ...]) -> dict[str, str]:
    folder = context.runner.new_folder("plan")
    saved, shown = folder / "plan.json", folder / "plan.md"
    markdown = redacted(report.render_plans(plans, format="markdown", screen=context.screen))
    write_file(str(shown), markdown, force=False)
    document = report.render_plans(plans, format="json", screen=context.screen)
    write_file(str(saved), document, force=False)
    return {"plan-file": str(saved), "plan-markdown-file": str(shown)}


def _summarise(context: Context, verdict: Verdict) -> None:
    text = page(verdict.markdown, label=context.inputs.label, title=verdict.title)
    path = context.runner.environ.get("GITHUB_STEP_SUMMARY", "")
    size = 0
    with suppress(OSError):
        size = Path(path).stat().st_size if path else 0
    most = max(LONGEST_SUMMARY - size, 0)
    pointer = "The rest is in the job's log" + (
        " and in the file that the output plan-markdown-file names." if verdict.plans else "."
    )
    context.runner.put("GITHUB_STEP_SUMMARY", cut_page(text, most=most, pointer=pointer))


def _put_comment(context: Context, outcome: ActionOutcome) -> None:
    event, runner = context.event, context.runner
    if event.fork and event.pull_request:
        with runner.warned("the comment's file is not written"):
            runner.put_outputs(_comment_file(context, outcome.verdict))
    if context.inputs.comment == "always" or context.mode == "apply":
        comments = bool(event.pull_request or outcome.branch.commits)
    else:
        if event.name == "pull_request" and event.fork:
            shown = context.inputs.summary and event.server == "GitHub"
            summary = "; the plan is in the summary" if shown else ""
            say(f"A job of a fork's pull request may not comment{summary}.")
        comments = not event.fork and event.name == "pull_request"
    if comments:
        with runner.warned("the comment is not written"):
            runner.put_outputs({"comment-url": _comment(context, outcome)})


def _comment(context: Context, outcome: ActionOutcome) -> str:
    """Write the comment; of an apply, to the pull requests that it is of. Return the URL."""
    event, verdict, branch = context.event, outcome.verdict, outcome.branch
    markdown, key = _page(context, verdict), context.inputs.key
    if event.pull_request:
        pending = any(plan.pending or not plan.known for plan in verdict.plans)
        creates = pending or context.inputs.comment == "always"
        return write_comment(markdown, branch.api, event, key=key, creates=creates)
    urls = []
    for number in merged_requests(branch):
        request, applied = replace(event, pull_request=number), verdict.complete
        urls.append(write_comment(markdown, branch.api, request, key=key, applied=applied))
    return next(filter(None, urls), "")


def _comment_file(context: Context, verdict: Verdict) -> dict[str, str]:
    """Write the comment that a fork's job may not write, for a workflow that may."""
    markdown = redacted(_page(context, verdict))
    path = context.runner.new_folder("comment") / "comment.md"
    text = cut_to_fit(markdown, run_url=context.event.run_url, room=_ROOM_FOR_LINE)
    write_file(str(path), text, force=False)
    return {"comment-file": str(path), "pull-request": str(context.event.pull_request)}


def _keeps_issue(context: Context, verdict: Verdict) -> bool:
    """Whether this run keeps the issue: a check for drift that knows the whole listing."""
    if context.inputs.issue == "never" or context.mode != "drift" or context.event.proposes:
        return False
    return verdict.changed is True or bool(verdict.plans and verdict.word == "no-changes")


def _issue(context: Context, outcome: ActionOutcome) -> str:
    inputs, verdict = context.inputs, outcome.verdict
    label = f": {visible(inputs.label)}" if inputs.label else ""
    title, drifted = f"The listing differs from the manifest{label}", verdict.changed is True
    markdown = page(verdict.markdown, label=inputs.label)
    try:
        return keep_issue(
            markdown,
            outcome.branch.api,
            context.event,
            key=inputs.key,
            title=title,
            drifted=drifted,
        )
    except GitHubError as error:
        if drifted:
            raise
        say(f"An issue cannot be closed: {error.message}")
        return ""


def _page(context: Context, verdict: Verdict) -> str:
    commit, run = context.event.head_sha, context.event.run_url
    # GitHub links a commit that is written out.
    notes = [f"Commit {commit}, [run]({run})"] if commit else []
    return page(verdict.markdown, label=context.inputs.label, title=verdict.title, notes=notes)
