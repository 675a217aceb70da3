"""The one issue about drift: found by author and hidden marker; opened, updated and closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from commandsync.action.comment import author_of
from commandsync.action.rest import GitHubError
from commandsync.report.page import LONGEST_COMMENT, cut_page

if TYPE_CHECKING:
    from commandsync.action.event import GitHubEvent
    from commandsync.action.rest import GitHub

_CLOSED = {"state": "closed", "state_reason": "completed"}
_DUPLICATE = {"state": "closed", "state_reason": "not_planned"}


@dataclass(frozen=True, slots=True)
class _Issue:
    number: int
    body: str
    url: str


def keep_issue(
    markdown: str, github: GitHub, event: GitHubEvent, *, key: str, title: str, drifted: bool
) -> str:
    """Open or update the issue of this key where the listing `drifted`, else close it.

    If several runs opened one at the same time, the oldest one stays.

    Returns:
        The issue's URL; empty where there is none and none is needed.

    Raises:
        GitHubError: It cannot be read or written.
    """
    path = f"/repos/{event.repository}/issues"
    marker = f"<!-- commandsync-drift:{key} -->"
    pointer = f"The rest is in the [job's summary]({event.run_url})."
    page = cut_page(markdown, most=LONGEST_COMMENT - len(marker), pointer=pointer)
    content = {"title": title, "body": f"{marker}\n{page}"}
    issues = _open_issues(github, path, marker)
    if drifted and not issues:
        github.post(path, content)
        issues = _open_issues(github, path, marker)
    if not issues:
        return ""
    oldest, *others = issues
    for other in others:
        github.patch(f"{path}/{other.number}", _DUPLICATE)
    if not drifted:
        github.patch(f"{path}/{oldest.number}", content | _CLOSED)
    elif _normalised(content["body"]) != _normalised(oldest.body):
        github.patch(f"{path}/{oldest.number}", content)
    return oldest.url


def _open_issues(github: GitHub, path: str, marker: str) -> list[_Issue]:
    """Return our open issues with this marker, the oldest first; usually one or none."""
    author = author_of(github)
    ours = [
        _issue(record)
        for record in github.pages(f"{path}?state=open&creator={quote(author, safe='')}")
        if isinstance(record, dict)
        and str(record.get("body") or "").startswith(marker)
        and (record.get("user") or {}).get("login") == author
    ]
    return sorted(ours, key=lambda issue: issue.number)


def _issue(record: dict[str, object]) -> _Issue:
    number = record.get("number")
    if not isinstance(number, int):
        raise GitHubError("GitHub answered with an issue without a number")
    return _Issue(number, str(record["body"]), str(record.get("html_url") or ""))


def _normalised(body: str) -> str:
    """Return a body as GitHub may return it: with other line ends, and cut at its end."""
    return body.replace("\r\n", "\n").strip()
