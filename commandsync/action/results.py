"""What an apply leaves at GitHub: a status of the commit for each listing, and its pull requests.

They only show, but for the statuses of lists that cannot be read back: the newest one with success
tells what such a list shows (see `listings`).
"""

import json
from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

from commandsync.action.event import GitHubEvent
from commandsync.action.inputs import Inputs
from commandsync.action.rest import GitHub, GitHubError
from commandsync.apply.outcomes import Result
from commandsync.errors import RefusedError
from commandsync.report import summary
from commandsync.sync.site import Site

MOST_COMMITS = 50
SUCCESS = "SUCCESS"
Status: TypeAlias = tuple[str, str]
"""The state and the description of a status."""

SENDING: Status = ("pending", "sending the list")
_PERMISSION = "the job needs `permissions: statuses: write` (read, if it only plans)"

_MOST_REQUESTS = 30
_STATUS = "status { contexts { context state } }"
_REQUESTS = "associatedPullRequests(first: 10) { nodes { number merged } }"


def contexts_of(sites: Sequence[Site], inputs: Inputs) -> dict[int, str]:
    """Return the name of the status for each listing, by the identity of its site.

    It is the name of the listing, the bot if need be, and the label.
    """
    names = [site.name for site in sites]
    label = f" ({inputs.label})" if inputs.label else ""
    bots = (f" {site.bot or site.token_from}" * (names.count(site.name) > 1) for site in sites)
    named = zip(sites, bots, strict=True)
    return {id(site): f"commandsync/{site.name}{bot}{label}" for site, bot in named}


def status_of(result: Result) -> Status:
    """Return the status of a listing after an apply."""
    plan = result.plan
    if not result.complete:
        return "failure", "not complete"
    if plan.listing and plan.listing.whole:
        size = summary.counted(plan.listing.size, "command")
        return "success", f"sent {size}" if result.sent else f"{size}, as sent before"
    changed = summary.counted(len(plan.changes), "change")
    return "success", f"{changed} applied, {plan.unchanged} unchanged"


def refusal(what: str, error: GitHubError) -> RefusedError:
    """Return the refusal of a run that needs the statuses of commits."""
    return RefusedError(f"{what}: {error}", hint=error.hint or _PERMISSION)


def statuses_of(commits: Sequence[str], github: GitHub, event: GitHubEvent) -> list[dict[str, str]]:
    """Return the states of the statuses of each commit, by their names; raises `GitHubError`."""
    return [*map(_states, _queried(commits, github, event, _STATUS, whole=True))]


def merged_requests(
    commits: Sequence[str], github: GitHub, event: GitHubEvent, *, contexts: Collection[str]
) -> list[int]:
    """Return the pull requests that were merged since the last successful apply, the newest first.

    `commits` are those of the branch, the newest first, which is this run's own; `contexts` are the
    names of the statuses of the listings. Raises `GitHubError`.
    """
    numbers: dict[int, None] = {}
    for n, commit in enumerate(_queried(commits, github, event, f"{_STATUS} {_REQUESTS}")):
        states = _states(commit)
        if n and all(states.get(context) == SUCCESS for context in contexts):
            break
        requests = (commit.get("associatedPullRequests") or {}).get("nodes") or ()
        numbers |= {each["number"]: None for each in requests if each.get("merged")}
    return list(numbers)[:_MOST_REQUESTS]


def _queried(
    commits: Sequence[str], github: GitHub, event: GitHubEvent, fields: str, *, whole: bool = False
) -> list[dict[str, Any]]:
    """Return fields of commits; `whole` is as for `GitHub.query`."""
    owner, _, name = event.repository.partition("/")
    asked = " ".join(
        f'c{n}: object(oid: "{commit}") {{ ... on Commit {{ {fields} }} }}'
        for n, commit in enumerate(commits)
    )
    where = f"owner: {json.dumps(owner)}, name: {json.dumps(name)}"
    answer = github.query(f"query {{ repository({where}) {{ {asked} }} }}", whole=whole)
    found = answer.get("repository") or {}
    return [found.get(f"c{n}") or {} for n in range(len(commits))]


def _states(commit: dict[str, Any]) -> dict[str, str]:
    statuses = (commit.get("status") or {}).get("contexts") or ()
    return {status.get("context", ""): status.get("state", "") for status in statuses}
