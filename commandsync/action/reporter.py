"""The report of a run: a function of its context and its outcome.

It is the log, annotations, outputs, the summary, the statuses of the commit, the comment on the
pull request, and the issue about drift. `put_backups` comes before the first write.

The comment and the issue are edited in place: each is found by its author and a hidden marker. They
only show: no run decides anything by a comment.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from commandsync import report
from commandsync.action.branch import Branch, Status, merged_requests, status_of
from commandsync.action.rest import GitHub, GitHubError, known_part, part
from commandsync.action.step import Context, GitHubEvent, say
from commandsync.action.verdict import Verdict, outputs_of
from commandsync.api.credentials import redacted
from commandsync.apply.outcomes import Result
from commandsync.plan.plan import Plan, RecordPlan
from commandsync.report.github import LONGEST_COMMENT, LONGEST_SUMMARY, cut_page, page
from commandsync.report.lines import visible
from commandsync.sync.apply import write_backup
from commandsync.sync.files import write_file
from commandsync.sync.job import Planned

_CLOSED = {"state": "closed", "state_reason": "completed"}
_DUPLICATE = {"state": "closed", "state_reason": "not_planned"}


class Post(NamedTuple):
    """A comment or an issue of ours."""

    number: int
    body: str
    url: str


def write_comment(
    markdown: str,
    github: GitHub,
    event: GitHubEvent,
    *,
    key: str,
    creates: bool = False,
    applied: bool | None = None,
) -> str:
    """Edit the comment of this key on the pull request; if `creates`, create it if necessary.

    If several runs created one at the same time, the oldest one stays. `applied` is for the result
    of an apply: whether the plan was applied; such a result is not written over another one.
    Returns the comment's URL, empty if nothing is written; raises `GitHubError`.
    """
    marker, issues = f"<!-- commandsync:{key}", f"/repos/{event.repository}/issues"
    body = comment_body(markdown, key=key, run_url=event.run_url, applied=bool(applied))
    new = {"body": body} if creates else None
    comments = f"{issues}/{event.pull_request}/comments"
    existing = _posts(github, comments, marker, new=new)
    if applied is not None and existing and existing[0].body.startswith(f"{marker}:applied"):
        return ""
    return _keep_oldest(github, f"{issues}/comments", existing, {"body": body}, github.delete)


def keep_issue(
    markdown: str, github: GitHub, event: GitHubEvent, *, key: str, title: str, drifted: bool
) -> str:
    """Open or update the issue of this key where the listing `drifted`, else close it.

    If several runs opened one at the same time, the oldest one stays. Returns the issue's URL;
    empty where there is none and none is needed. Raises `GitHubError`.
    """
    path = f"/repos/{event.repository}/issues"
    marker = f"<!-- commandsync-drift:{key} -->"
    content = {"title": title, "body": _marked_page(marker, markdown, run_url=event.run_url)}
    new = content if drifted else None
    issues = _posts(github, path, marker, new=new, number="number")
    if not drifted:
        content |= _CLOSED
    return _keep_oldest(github, path, issues, content, lambda at: github.patch(at, _DUPLICATE))


def _keep_oldest(
    github: GitHub,
    path: str,
    posts: list[Post],
    content: Mapping[str, str],
    remove: Callable[[str], object],
) -> str:
    """Remove all posts but the oldest, and edit this one if it differs; return its URL, if any.

    GitHub may return a body with other line ends, cut at its end.
    """
    if not posts:
        return ""
    oldest, *others = posts
    for other in others:
        remove(f"{path}/{other.number}")
    ours, theirs = (body.replace("\r\n", "\n").strip() for body in (content["body"], oldest.body))
    if ours != theirs or "state" in content:
        github.patch(f"{path}/{oldest.number}", content)
    return oldest.url


def comment_body(markdown: str, *, key: str, run_url: str, applied: bool = False) -> str:
    """Return a comment's body: the hidden marker, then the page, cut to fit."""
    marker = f"<!-- commandsync:{key}{':applied' if applied else ''} -->"
    return _marked_page(marker, markdown, run_url=run_url)


def _marked_page(marker: str, markdown: str, *, run_url: str) -> str:
    """Return the body of a comment or an issue: a hidden marker, then the page, cut to fit."""
    return f"{marker}\n{cut_to_fit(markdown, run_url=run_url, room=len(marker))}"


def cut_to_fit(markdown: str, *, run_url: str, room: int) -> str:
    """Return a page cut to the length of a comment, with `room` for so many more bytes."""
    pointer = f"The rest is in the [job's summary]({run_url})."
    return cut_page(markdown, most=LONGEST_COMMENT - room, pointer=pointer)


def _posts(
    github: GitHub, path: str, marker: str, *, new: Mapping[str, str] | None, number: str = "id"
) -> list[Post]:
    """Return our comments or issues whose text begins with a marker, the oldest first.

    Usually there is one or none; if there is none, the `new` one is created. Those of other authors
    do not count. Comments have their `number` as `id`. Raises `GitHubError`.
    """
    authors, query = github.authors(), ""
    if number != "id":
        (author,) = authors if github.is_github else ("",)
        # Gitea selects only the issues of an account, and those of its actions have none.
        query = "?state=open" + (f"&creator={quote(author, safe='')}" if author else "&type=issues")
    while True:
        ours = sorted(_ours(github.pages(path + query), marker, authors, number))
        if ours or new is None:
            return ours
        github.post(path, new)
        new = None


def _ours(
    records: Iterable[Any], marker: str, authors: Collection[str], number: str
) -> Iterator[Post]:
    """Yield the records of the given authors whose texts begin with a marker."""
    for record in records:
        match record:
            case {"user": {"login": str(login)}, "body": str(body)} if (
                login in authors and body.startswith(marker)
            ):
                url = known_part(record, "html_url", kind=str)
                yield Post(part(record, number, kind=int), body, url)


_ROOM_FOR_LINE = 1000  # bytes: the workflow that writes the comment adds a line


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """The outcome of a run: its verdict, and further facts for the report."""

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
