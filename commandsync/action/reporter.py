"""The report of a run: a function of its context, its verdict, and the facts of an apply.

`put_report` writes the log, annotations, outputs, the summary, the statuses of the commit, the
comment on the pull request, and the issue about drift. `put_backups` comes before the first write.

The comment and the issue are edited in place: each is found by its author and a hidden marker. They
only show: no run decides anything by a comment.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from commandsync import report
from commandsync.action.branch import merged_requests, set_status
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
from commandsync.sync.job import Job, Planned

_CLOSED = {"state": "closed", "state_reason": "completed"}
_DUPLICATE = {"state": "closed", "state_reason": "not_planned"}
_ROOM_FOR_LINE = 1000  # bytes: the workflow that writes the comment adds a line


@dataclass(slots=True)
class ApplyFacts:
    """The facts of an apply, each kept as soon as it is known; a plan has none.

    They are reported however the run ends.
    """

    commits: Sequence[str] = ()  # the newest of the branch, the newest first: the run's own
    head: str = ""  # the newest commit at GitHub, which has the same manifest
    jobs: list[Job] = field(default_factory=list)  # the listings of the run
    applied: Sequence[tuple[Planned, Result]] = ()  # the plans that were carried out


def put_report(context: Context, verdict: Verdict, facts: ApplyFacts) -> None:
    """Report an outcome; the comment comes last, since it may wait for the network."""
    runner, inputs = context.runner, context.inputs
    say(verdict.text)
    runner.annotate(verdict.annotations)
    runner.put_outputs(outputs_of(verdict) | {"key": inputs.key})
    if verdict.plans:
        with runner.warned("the plan's files are not written"):
            runner.put_outputs(_files(context, verdict.plans))
    if inputs.summary:
        _summarise(context, verdict)
    if facts.applied and context.github:
        with runner.warned("the commit's status is not set"):
            _set_statuses(context, context.github, verdict, facts)
    if inputs.comment != "never" and verdict.word != "valid":
        _put_comment(context, verdict, facts)
    if inputs.issue != "never" and context.mode == "drift" and not context.event.proposes:
        _put_issue(context, verdict)


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


def _set_statuses(context: Context, github: GitHub, verdict: Verdict, facts: ApplyFacts) -> None:
    event = context.event
    own = facts.commits[0] if facts.commits else event.sha
    for planned, result in facts.applied:
        # A page alone has a status only if all is done; each of several listings has one.
        label = result.plan.label
        if verdict.complete or label:
            commit = (label and facts.head) or own
            set_status(github, event, planned.job, result, commit=commit)


def _put_comment(context: Context, verdict: Verdict, facts: ApplyFacts) -> None:
    event, runner, inputs = context.event, context.runner, context.inputs
    # GitHub links a commit that is written out.
    notes = [f"Commit {event.head_sha}, [run]({event.run_url})"] if event.head_sha else []
    markdown = page(verdict.markdown, label=inputs.label, title=verdict.title, notes=notes)
    if event.fork and event.pull_request:  # a workflow that may writes this one
        with runner.warned("the comment's file is not written"):
            text = cut_to_fit(redacted(markdown), run_url=event.run_url, room=_ROOM_FOR_LINE)
            path = str(runner.new_folder("comment") / "comment.md")
            write_file(path, text, force=False)
            number = str(event.pull_request)
            runner.put_outputs({"comment-file": path, "pull-request": number})
    if inputs.comment == "always" or context.mode == "apply":
        comments = bool(event.pull_request or facts.commits)
    else:
        comments = event.name == "pull_request"
        if comments and event.fork:
            comments, shown = False, inputs.summary and event.server == "GitHub"
            summary = "; the plan is in the summary" if shown else ""
            say(f"A job of a fork's pull request may not comment{summary}.")
    if comments:
        with runner.warned("the comment is not written"):
            runner.put_outputs({"comment-url": _comment(context, verdict, facts, markdown)})


def _comment(context: Context, verdict: Verdict, facts: ApplyFacts, markdown: str) -> str:
    """Write the comment, and return its URL. An apply writes it to the merged pull requests."""
    event, api, key = context.event, context.api, context.inputs.key
    if event.pull_request:
        pending = any(plan.pending or not plan.known for plan in verdict.plans)
        creates = pending or context.inputs.comment == "always"
        return write_comment(markdown, api, event, key=key, creates=creates)
    urls = []
    for number in merged_requests(api, event, facts.commits, facts.jobs):
        request, applied = replace(event, pull_request=number), verdict.complete
        urls.append(write_comment(markdown, api, request, key=key, applied=applied))
    return next(filter(None, urls), "")


def _put_issue(context: Context, verdict: Verdict) -> None:
    """Keep the issue about drift, if the whole listing is known."""
    drifted, label = verdict.changed is True, context.inputs.label
    if not (drifted or (verdict.plans and verdict.word == "no-changes")):
        return
    name = f": {visible(label)}" if label else ""
    with context.runner.warned("the issue is not written"):
        try:
            url = keep_issue(
                page(verdict.markdown, label=label),
                context.api,
                context.event,
                key=context.inputs.key,
                title=f"The listing differs from the manifest{name}",
                drifted=drifted,
            )
        except GitHubError as error:
            if drifted:
                raise
            say(f"An issue cannot be closed: {error.message}")
            url = ""
        context.runner.put_outputs({"issue-url": url})


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
    page = cut_to_fit(markdown, run_url=event.run_url, room=len(marker))
    content = {"title": title, "body": f"{marker}\n{page}"}
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
        # Gitea selects issues by an account, and its actions have none.
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
