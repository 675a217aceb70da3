"""The one issue about drift: found by author and hidden marker; opened, updated and closed."""

from commandsync.action.comment import is_same_body, marked_page, posts_of
from commandsync.action.event import GitHubEvent
from commandsync.action.rest import GitHub

_CLOSED = {"state": "closed", "state_reason": "completed"}
_DUPLICATE = {"state": "closed", "state_reason": "not_planned"}


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
    issues = posts_of(
        github,
        path,
        marker=marker,
        number="number",
        new=content if drifted else None,
        query="?state=open&creator={}",
    )
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
