"""The one issue about drift: found by author and hidden marker; opened, updated and closed."""

from typing import Any, NamedTuple
from urllib.parse import quote

from commandsync.action.comment import author_of, is_same_body, login_of, marked_page
from commandsync.action.event import GitHubEvent
from commandsync.action.rest import GitHub, GitHubError

_CLOSED = {"state": "closed", "state_reason": "completed"}
_DUPLICATE = {"state": "closed", "state_reason": "not_planned"}


class _Issue(NamedTuple):
    number: int
    body: str
    url: str


def keep_issue(
    markdown: str, github: GitHub, event: GitHubEvent, *, key: str, title: str, drifted: bool
) -> str:
    """Open or update the issue of this key where the listing `drifted`, else close it.

    If several runs opened one at the same time, the oldest one stays. Returns the issue's URL;
    empty where there is none and none is needed. Raises `GitHubError`.
    """
    path = f"/repos/{event.repository}/issues"
    marker = f"<!-- commandsync-drift:{key} -->"
    content = {"title": title, "body": marked_page(marker, markdown, run_url=event.run_url)}
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
    elif not is_same_body(content["body"], oldest.body):
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
        and login_of(record) == author
    ]
    return sorted(ours)


def _issue(record: dict[str, Any]) -> _Issue:
    number = record.get("number")
    if not isinstance(number, int):
        raise GitHubError("GitHub answered with an issue without a number")
    return _Issue(number, str(record["body"]), str(record.get("html_url") or ""))
