"""The review before an apply: which plans our comments on merged pull requests have shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from commandsync.action.comment import find_comments
from commandsync.action.marker import digest_of, fingerprint_of, removal_of, removals_of
from commandsync.action.rest import GitHubError
from commandsync.action.verdict import of_error, of_plans
from commandsync.apply.claims import named
from commandsync.errors import StalePlanError
from commandsync.plan.changes import Delete
from commandsync.report import summary
from commandsync.report.escape import code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commandsync.action.comment import Comment
    from commandsync.action.event import GitHubEvent
    from commandsync.action.inputs import Inputs
    from commandsync.action.marker import Marker
    from commandsync.action.rest import GitHub
    from commandsync.action.verdict import Verdict
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan

    Shown = tuple[tuple[int, Comment], ...]

_NO_COMMENT = "No comment shows a reviewed plan, so the current plan is applied."
_MOST_NAMES = 20
_LINE_END = "\n"
_MOST_REQUESTS = 30  # merged pull requests that are searched for a comment


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What is known of the review of plans that are to be applied.

    Attributes:
        note: What the report says of it; foreign text is in code spans.
        unseen: The deletes and replaces that no reviewed plan shows.
        shown: Our comments on merged pull requests whose plans were not applied yet, each with the
            number of its pull request.
        hint: What to do if the comments could not be read.
    """

    note: str = ""
    unseen: tuple[Change, ...] = ()
    shown: Shown = ()
    hint: str = ""


def review_of(
    plans: Sequence[Plan], *, inputs: Inputs, github: GitHub | None, event: GitHubEvent, key: str
) -> Review:
    """Compare plans that are to be applied with those that our comments show.

    Those are the comments on the pull request that the run's commit merged and then, until every
    delete and replace is found, on those merged before it, back to the last one that was applied:
    of several runs that wait, only the last one may run.
    """
    if not any(plan.changes for plan in plans):
        return Review()
    if inputs.apply == "current":
        return Review(note="The current plan is applied (`apply: current`).")
    if github is None or inputs.comment == "never":
        return Review(note=_NO_COMMENT)
    removals = removals_of(plans)
    try:
        shown, unseen, commented = _searched(removals, github, event, key=key)
    except GitHubError as error:
        note = f"The reviewed plan cannot be read: {code(error.message)}."
        return Review(note=note, unseen=_removing(plans, removals), hint=error.hint)
    if not commented:
        return Review(note=_NO_COMMENT)
    return Review(note=_note(plans, shown), unseen=_removing(plans, unseen), shown=shown)


def of_unreviewed(plans: Sequence[Plan], review: Review) -> Verdict:
    """Return the verdict of plans that delete or replace what no reviewed plan shows.

    Their text and annotations have been printed.
    """
    names = named([f"{change.resource} {change.name!r}" for change in review.unseen], most=5)
    message = f"no reviewed plan shows that apply deletes or replaces {names}"
    hint = "review the plan below, then run the workflow by hand with the input apply: current"
    error = StalePlanError(message, hint="; or ".join(filter(None, (review.hint, hint))))
    refused = of_plans(plans, fail_on_changes=False, refusals=[error])
    failure = of_error(error)
    reviewed = [
        f"<details>\n<summary>The plan that #{number} shows</summary>\n\n"
        f"{comment.body.partition(_LINE_END)[2].strip()}\n\n</details>\n"
        for number, comment in review.shown
    ]
    return replace(
        refused,
        text=f"{failure.text}\n{review.note}",
        markdown="\n".join((failure.markdown, review.note, "", *reviewed, refused.markdown)),
        annotations=failure.annotations,
    )


def _removing(plans: Sequence[Plan], removals: frozenset[str]) -> tuple[Change, ...]:
    changes = (change for plan in plans for change in plan.changes)
    return tuple(change for change in changes if removal_of(change) in removals)


def _note(plans: Sequence[Plan], shown: Shown) -> str:
    """Return how plans differ from those that comments show."""
    if not shown:
        return "The plan of the last comment was applied already."
    markers = [comment.marker for _, comment in shown]
    numbers = ", ".join(f"#{number}" for number, _ in shown)
    differs = f"The plan differs from the one that was reviewed ({numbers})"
    same = any(marker.fingerprint == fingerprint_of(plans) for marker in markers)
    known = [marker.changes for marker in markers if marker.changes is not None]
    if len(known) < len(markers) and not same:
        return f"{differs}."
    parts = [] if same else _differences(plans, frozenset().union(*known), markers)
    if not parts:
        return f"This is the plan that was reviewed ({numbers})."
    return f"{differs}; {'; '.join(parts)}."


def _differences(
    plans: Sequence[Plan], known: frozenset[str], markers: Sequence[Marker]
) -> list[str]:
    """Return which changes are not known from markers, and how many of theirs are not planned."""
    digests = {
        digest_of(change): f"{summary.named(change)} {code(change.name)}"
        for plan in plans
        for change in plan.changes
        if change.ends_record or not isinstance(change, Delete)
    }
    added = [name for digest, name in digests.items() if digest not in known]
    removed = frozenset[str]().union(*(marker.removals for marker in markers))
    gone = len(known - digests.keys()) + len(removed - removals_of(plans))
    parts = [f"not in that one: {named(added, most=_MOST_NAMES)}"] if added else []
    return parts + ([f"no longer necessary: {summary.counted(gone, 'change')}"] if gone else [])


def _searched(
    removals: frozenset[str], github: GitHub, event: GitHubEvent, *, key: str
) -> tuple[Shown, frozenset[str], bool]:
    """Search our comments that are not applied, until they show all removals.

    Returns:
        The comments, the removals that none of them shows, and whether there is any comment.

    Raises:
        GitHubError: GitHub cannot be read.
    """
    shown: list[tuple[int, Comment]] = []
    unseen, commented = removals, False
    for number, comment in _comments(github, event, key=key, earlier=bool(removals)):
        commented = True
        if comment.marker.applied:
            break
        shown.append((number, comment))
        unseen = _unseen(removals, [each.marker for _, each in shown])
        if not unseen:
            break
    return tuple(shown), unseen, commented


def _unseen(removals: frozenset[str], markers: Sequence[Marker]) -> frozenset[str]:
    """Return the removals that no marker shows; of some, only a digest of all is known."""
    if any(marker.has_shown(removals) for marker in markers):
        return frozenset()
    left = removals.difference(*(marker.removals for marker in markers))
    return frozenset() if any(marker.has_shown(left) for marker in markers) else left


def _comments(
    github: GitHub, event: GitHubEvent, *, key: str, earlier: bool
) -> Iterator[tuple[int, Comment]]:
    """Yield our comments on what the run's commit merged, and on `earlier` pull requests."""
    visited: set[int] = set()
    for numbers in (_merged_by_commit, _merged_lately)[: 1 + earlier]:
        for number in numbers(github, event):
            if number not in visited:
                visited.add(number)
                comments = find_comments(github, event.repository, number, key=key)
                yield from ((number, comment) for comment in comments)


def _merged_by_commit(github: GitHub, event: GitHubEvent) -> list[int]:
    path = f"/repos/{event.repository}/commits/{event.sha}/pulls"
    return _merged(github.get(path)) if event.sha else []


def _merged_lately(github: GitHub, event: GitHubEvent) -> list[int]:
    newest = "state=closed&sort=updated&direction=desc"
    into = f"base={quote(event.branch, safe='')}&per_page={_MOST_REQUESTS}"
    return _merged(github.get(f"/repos/{event.repository}/pulls?{newest}&{into}"))


def _merged(requests: Any) -> list[int]:  # noqa: ANN401 - any JSON
    """Return the numbers of the pull requests that are merged, the latest first."""
    merged = [
        (str(request["merged_at"]), number)
        for request in (requests if isinstance(requests, list) else [])
        if isinstance(request, dict) and request.get("merged_at")
        if isinstance(number := request.get("number"), int)
    ]
    return [number for _, number in sorted(merged, reverse=True)]
