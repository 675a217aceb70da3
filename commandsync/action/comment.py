"""The one comment on the pull request, and the one issue about drift: edited in place.

Each is found by its author and a hidden marker. It only shows: no run decides anything by a
comment.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from commandsync.action.inputs import GitHubEvent
from commandsync.action.rest import GitHub, known_part, part
from commandsync.report.github import LONGEST_COMMENT, cut_page

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
    """Yield the records whose texts are of one of the authors and begin with a marker."""
    for record in records:
        match record:
            case {"user": {"login": str(login)}, "body": str(body)} if (
                login in authors and body.startswith(marker)
            ):
                url = known_part(record, "html_url", kind=str)
                yield Post(part(record, number, kind=int), body, url)
