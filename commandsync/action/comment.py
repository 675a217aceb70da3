"""The one comment on the pull request: found by author and hidden marker, edited in place."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commandsync.action.rest import GitHubError
from commandsync.report.github import comment_body, comment_head, comment_marker

if TYPE_CHECKING:
    from commandsync.action.event import Event
    from commandsync.action.inputs import Inputs
    from commandsync.action.rest import GitHub

_JOBS_OWN = "github-actions[bot]"


@dataclass(frozen=True, slots=True)
class Said:
    """What the comment is to say.

    Attributes:
        markdown: The page.
        key: What tells it apart from other runs' comments.
        news: Whether it is worth a comment where there is none yet.
    """

    markdown: str
    key: str
    news: bool


def key_of(inputs: Inputs) -> str:
    """Return what tells this run's comment apart: its label, or else what it works on."""
    return inputs.label or "\n".join((inputs.base_url, inputs.bot, *inputs.files))


def write_comment(said: Said, github: GitHub, event: Event) -> str:
    """Write the comment, or edit the one that is there.

    Args:
        said: What to say.
        github: The way to GitHub.
        event: Names the pull request, or the commit that came of one.

    Returns:
        The comment's URL; empty where there is none, and none is due.

    Raises:
        GitHubError: It cannot be read or written.
    """
    number = event.pull_request or (_merged(github, event) if event.name == "push" else 0)
    if not number:
        return ""
    comments = f"/repos/{event.repository}/issues/{number}/comments"
    known = _ours(github, comments, comment_marker(said.key))
    if known is None and not said.news:
        return ""
    body = comment_body(
        said.markdown, key=said.key, pointer=f"The rest is in the [job's summary]({event.run_url})."
    )
    if known is None:
        known = github.post(comments, {"body": body})
    elif _first_line(known) != comment_head(said.markdown, key=said.key):
        known = github.patch(
            f"/repos/{event.repository}/issues/comments/{_id(known)}", {"body": body}
        )
    return str(known.get("html_url") or "") if isinstance(known, dict) else ""


def _ours(github: GitHub, comments: str, marker: str) -> dict[str, Any] | None:
    """Return our comment; whoever else begins one with our marker gets it neither read nor edited.

    Who we are is asked for once a comment has the marker, for most pull requests have none.
    """
    author = ""
    for one in github.pages(comments):
        if isinstance(one, dict) and str(one.get("body") or "").startswith(marker):
            author = author or _author(github)
            user = one.get("user")
            if isinstance(user, dict) and user.get("login") == author:
                return one
    return None


def _author(github: GitHub) -> str:
    with suppress(GitHubError):  # an old server, or a token that may not ask
        return github.login() or _JOBS_OWN
    return _JOBS_OWN


def _merged(github: GitHub, event: Event) -> int:
    """Return the number of the pull request that a commit of the default branch came with."""
    if not event.sha:
        return 0
    found = github.get(f"/repos/{event.repository}/commits/{event.sha}/pulls")
    for one in found if isinstance(found, list) else []:
        if isinstance(one, dict) and one.get("merged_at") and isinstance(one.get("number"), int):
            return int(one["number"])
    return 0


def _id(comment: dict[str, Any]) -> int:
    number = comment.get("id")
    if not isinstance(number, int):
        raise GitHubError("GitHub shows a comment without an id")
    return number


def _first_line(comment: dict[str, Any]) -> str:
    return str(comment.get("body") or "").partition("\n")[0].rstrip("\r")
