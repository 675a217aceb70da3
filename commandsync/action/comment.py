"""The one comment on the pull request: found by author and marker, and edited in place."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from commandsync.action.marker import Marker, key_digest, parse, render
from commandsync.action.rest import GitHubError
from commandsync.api.address import service_of
from commandsync.report.page import LONGEST_COMMENT, cut_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.action.event import GitHubEvent
    from commandsync.action.inputs import Inputs
    from commandsync.action.rest import GitHub
    from commandsync.sync.site import Site

_JOBS_OWN = "github-actions[bot]"
_HALF = 10  # digits of a key: the first half is of the files, the second of their listings
_UNKNOWN = "0" * _HALF


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of ours on a pull request."""

    id: int
    body: str
    url: str
    marker: Marker


def key_of(inputs: Inputs, sites: Sequence[Site]) -> str:
    """Return the key of this run's comment: of its label, or else of the manifests and listings.

    A listing is known by its bot and host, however they are spelled or given. Without sites, such
    as where a manifest is not valid, the listings are unknown.
    """
    if inputs.label:
        return key_digest(inputs.label)
    listings = sorted(f"{site.bot} {service_of(site.address.base_url)}" for site in sites)
    known = key_digest("\n".join(listings))[:_HALF] if sites else _UNKNOWN
    return key_digest("\n".join(inputs.files))[:_HALF] + known


def find_comments(github: GitHub, repository: str, number: int, *, key: str) -> list[Comment]:
    """Return our comments of this key on a pull request, the oldest first; usually one or none.

    Those of other authors with our marker do not count. Our login is requested only once a comment
    has the marker: most pull requests have none. A key of unknown listings stands for the only
    comment of its files.

    Raises:
        GitHubError: They cannot be read.
    """
    marked = [
        comment
        for comment in github.pages(_comments(repository, number))
        if isinstance(comment, dict) and _is_for(key, comment)
    ]
    author = author_of(github) if marked else ""
    ours = sorted(
        (_comment(record) for record in marked if _login(record) == author),
        key=lambda comment: comment.id,
    )
    exact = [comment for comment in ours if comment.marker.key == key]
    return exact or (ours if len(ours) == 1 else [])


def write_comment(
    markdown: str, github: GitHub, event: GitHubEvent, *, marker: Marker, creates: bool
) -> str:
    """Create the comment if `creates`, or edit the existing one, which the marker's key identifies.

    Only a run of the pull request shows a plan for review. The others keep what the existing marker
    says of it, and add whether it is applied. If several runs created one at the same time, the
    oldest one stays.

    Returns:
        The comment's URL; empty where there is none and none is needed.

    Raises:
        GitHubError: It cannot be read or written.
    """
    number = event.pull_request or (_merged(github, event) if event.name == "push" else 0)
    if not number:
        return ""
    existing = find_comments(github, event.repository, number, key=marker.key)
    if not existing and creates:
        body = comment_body(markdown, marker=marker, run_url=event.run_url)
        github.post(_comments(event.repository, number), {"body": body})
        existing = find_comments(github, event.repository, number, key=marker.key)
    if not existing:
        return ""
    oldest, *others = existing
    for other in others:
        github.delete(f"/repos/{event.repository}/issues/comments/{other.id}")
    body = comment_body(markdown, marker=_continued(marker, oldest, event), run_url=event.run_url)
    if _normalised(body) != _normalised(oldest.body):
        github.patch(f"/repos/{event.repository}/issues/comments/{oldest.id}", {"body": body})
    return oldest.url


def comment_body(markdown: str, *, marker: Marker, run_url: str) -> str:
    """Return a comment's body: the hidden marker, then the page, cut to fit."""
    line = render(marker)
    pointer = f"The rest is in the [job's summary]({run_url})."
    return f"{line}\n{cut_page(markdown, most=LONGEST_COMMENT - len(line), pointer=pointer)}"


def _continued(marker: Marker, existing: Comment, event: GitHubEvent) -> Marker:
    """Return the marker for a comment that exists."""
    key = max(marker.key, existing.marker.key)  # the one that knows the listings
    if event.pull_request:
        return replace(marker, key=key)
    return replace(existing.marker, key=key, applied=marker.applied or existing.marker.applied)


def _is_for(key: str, record: dict[str, Any]) -> bool:
    """Whether a record has our marker with this key, or one of the keys does not know listings."""
    marker = parse(_first_line(record))
    if marker is None:
        return False
    unknown = _UNKNOWN in {marker.key[_HALF:], key[_HALF:]}
    return marker.key == key or (unknown and marker.key[:_HALF] == key[:_HALF])


def _comment(record: dict[str, Any]) -> Comment:
    number, marker = record.get("id"), parse(_first_line(record))
    if not isinstance(number, int) or marker is None:
        raise GitHubError("GitHub answered with a comment without an id")
    return Comment(number, str(record["body"]), str(record.get("html_url") or ""), marker)


def author_of(github: GitHub) -> str:
    """Return the login that our comments and issues have."""
    with suppress(GitHubError):  # an old server, or a token without the right
        return github.login() or _JOBS_OWN
    return _JOBS_OWN


def _login(record: dict[str, Any]) -> str:
    user = record.get("user")
    return str(user.get("login")) if isinstance(user, dict) else ""


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


def _comments(repository: str, number: int) -> str:
    return f"/repos/{repository}/issues/{number}/comments"


def _first_line(record: dict[str, Any]) -> str:
    return str(record.get("body") or "").partition("\n")[0]


def _normalised(body: str) -> str:
    """Return a body as GitHub may return it: with other line ends, and cut at its end."""
    return body.replace("\r\n", "\n").strip()
