"""The one comment on the pull request: found by author and marker, and edited in place.

It only shows: no run decides anything by what a comment says.
"""

import re
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple

from commandsync.action.event import GitHubEvent
from commandsync.action.inputs import Inputs
from commandsync.action.rest import GitHub, GitHubError
from commandsync.report.page import LONGEST_COMMENT, cut_page

_JOBS_OWN = "github-actions[bot]"
_LINE = re.compile(r"<!-- commandsync:([0-9a-f]{20})(:applied)? -->")


class Comment(NamedTuple):
    """A comment with our marker on a pull request; `applied` once the plan in it was."""

    id: int  # 0 for none
    author: str
    body: str
    url: str
    applied: bool


def key_of(inputs: Inputs) -> str:
    """Return the key of a run's comment: of its label, or else of the manifests and the listing.

    The listing is the one that the inputs name: what a manifest names goes with its file.
    """
    return key_digest(inputs.label or "\n".join((*inputs.files, inputs.base_url, inputs.bot)))


def find_comments(github: GitHub, event: GitHubEvent, *, key: str) -> list[Comment]:
    """Return our comments of this key on the pull request, the oldest first; raises `GitHubError`.

    Usually there is one or none. Those of other authors with our marker do not count. Our login is
    requested only once a comment has the marker: most pull requests have none.
    """
    marked = [each for record in github.pages(_comments(event)) if (each := _comment(record, key))]
    author = author_of(github) if marked else ""
    return sorted(each for each in marked if each.author == author)


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
    existing = find_comments(github, event, key=key)
    if not existing and creates:
        body = comment_body(markdown, key=key, run_url=event.run_url)
        github.post(_comments(event), {"body": body})
        existing = find_comments(github, event, key=key)
    if not existing or (applied is not None and existing[0].applied):
        return ""
    oldest, *others = existing
    if not oldest.id:
        raise GitHubError("GitHub answered with a comment without an id")
    path = f"/repos/{event.repository}/issues/comments"
    for other in others:
        github.delete(f"{path}/{other.id}")
    body = comment_body(markdown, key=key, run_url=event.run_url, applied=bool(applied))
    if not is_same_body(body, oldest.body):
        github.patch(f"{path}/{oldest.id}", {"body": body})
    return oldest.url


def comment_body(markdown: str, *, key: str, run_url: str, applied: bool = False) -> str:
    """Return a comment's body: the hidden marker, then the page, cut to fit."""
    marker = f"<!-- commandsync:{key}{':applied' * applied} -->"
    return marked_page(marker, markdown, run_url=run_url)


def marked_page(marker: str, markdown: str, *, run_url: str) -> str:
    """Return the body of a comment or an issue: a hidden marker, then the page, cut to fit."""
    return f"{marker}\n{cut_to_fit(markdown, run_url=run_url, room=len(marker))}"


def cut_to_fit(markdown: str, *, run_url: str, room: int) -> str:
    """Return a page cut to the length of a comment, with `room` for so many more bytes."""
    pointer = f"The rest is in the [job's summary]({run_url})."
    return cut_page(markdown, most=LONGEST_COMMENT - room, pointer=pointer)


def is_same_body(ours: str, theirs: str) -> bool:
    """Whether GitHub has a body already; it may return it with other line ends, cut at its end."""
    return ours.replace("\r\n", "\n").strip() == theirs.replace("\r\n", "\n").strip()


def key_digest(text: str) -> str:
    """Return the key for a text that names a run."""
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:20]


def _comment(record: Any, key: str) -> Comment | None:  # noqa: ANN401 - any JSON
    """Read a comment; None for one without the marker of the key."""
    if not isinstance(record, dict):
        return None
    body = str(record.get("body") or "")
    marker = _LINE.fullmatch(body.partition("\n")[0].rstrip())
    if marker is None or marker[1] != key:
        return None
    number, url = record.get("id"), str(record.get("html_url") or "")
    number = number if isinstance(number, int) else 0
    return Comment(number, login_of(record), body, url, applied=bool(marker[2]))


def author_of(github: GitHub) -> str:
    """Return the login that our comments and issues have."""
    with suppress(GitHubError):  # an old server, or a token without the right
        return github.login() or _JOBS_OWN
    return _JOBS_OWN


def login_of(record: dict[str, Any]) -> str:
    """Return the login of the author of a comment or an issue."""
    user = record.get("user")
    return str(user.get("login")) if isinstance(user, dict) else ""


def _comments(event: GitHubEvent) -> str:
    return f"/repos/{event.repository}/issues/{event.pull_request}/comments"
