"""The one comment on the pull request: found by author and hidden marker, edited in place."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from commandsync.action.rest import GitHubError
from commandsync.report.github import comment_body, comment_marker

if TYPE_CHECKING:
    from commandsync.action.event import GitHubEvent
    from commandsync.action.inputs import Inputs
    from commandsync.action.rest import GitHub

_JOBS_OWN = "github-actions[bot]"


def key_of(inputs: Inputs) -> str:
    """Return the key of this run's comment: its label, or else the listing and the manifests."""
    return inputs.label or "\n".join((inputs.base_url, inputs.bot, *inputs.files))


def write_comment(
    markdown: str, github: GitHub, event: GitHubEvent, *, key: str, creates: bool
) -> str:
    """Create the comment if `creates`, or edit the existing one, which the key identifies.

    Returns:
        The comment's URL; empty where there is none and none is needed.

    Raises:
        GitHubError: It cannot be read or written.
    """
    number = event.pull_request or (_merged(github, event) if event.name == "push" else 0)
    if not number:
        return ""
    comments = f"/repos/{event.repository}/issues/{number}/comments"
    existing = _ours(github, comments, comment_marker(key))
    if existing is None and not creates:
        return ""
    pointer = f"The rest is in the [job's summary]({event.run_url})."
    body = comment_body(markdown, key=key, pointer=pointer)
    if existing is None:
        existing = github.post(comments, {"body": body})
    elif _first_line(existing) != _first_line({"body": body}):
        comment = f"/repos/{event.repository}/issues/comments/{_id(existing)}"
        existing = github.patch(comment, {"body": body})
    return str(existing.get("html_url") or "") if isinstance(existing, dict) else ""


def _ours(github: GitHub, comments: str, marker: str) -> dict[str, Any] | None:
    """Return our comment; those of other authors with our marker are neither read nor edited.

    Our login is requested only once a comment has the marker: most pull requests have none.
    """
    author = ""
    for comment in github.pages(comments):
        if isinstance(comment, dict) and str(comment.get("body") or "").startswith(marker):
            author = author or _author(github)
            user = comment.get("user")
            if isinstance(user, dict) and user.get("login") == author:
                return comment
    return None


def _author(github: GitHub) -> str:
    with suppress(GitHubError):  # an old server, or a token without the right
        return github.login() or _JOBS_OWN
    return _JOBS_OWN


def _merged(github: GitHub, event: GitHubEvent) -> int:
    """Return the number of the pull request that a commit of the default branch merged."""
    if not event.sha:
        return 0
    requests = github.get(f"/repos/{event.repository}/commits/{event.sha}/pulls")
    for request in requests if isinstance(requests, list) else []:
        if isinstance(request, dict) and request.get("merged_at"):
            number = request.get("number")
            return number if isinstance(number, int) else 0
    return 0


def _id(comment: dict[str, Any]) -> int:
    number = comment.get("id")
    if not isinstance(number, int):
        raise GitHubError("GitHub answered with a comment without an id")
    return number


def _first_line(comment: dict[str, Any]) -> str:
    return str(comment.get("body") or "").partition("\n")[0].rstrip("\r")
