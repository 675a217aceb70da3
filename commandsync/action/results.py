"""What an apply leaves at GitHub: a status of the commit for each listing, and its pull requests.

Both only show: nothing that a later run does depends on them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from commandsync.action.event import GitHubEvent
from commandsync.action.inputs import Inputs
from commandsync.action.rest import GitHub
from commandsync.api.address import service_of
from commandsync.plan.plan import Plan
from commandsync.report import summary
from commandsync.sync.site import Site

MOST_COMMITS = 50
_MOST_REQUESTS = 30
_COMMIT = (
    "... on Commit { status { contexts { context state } } "
    "associatedPullRequests(first: 10) { nodes { number merged } } }"
)


def contexts_of(sites: Sequence[Site], inputs: Inputs) -> list[str]:
    """Return the name of the status for each listing: its host, the bot if need be, the label."""
    hosts = [service_of(site.address.base_url) for site in sites]
    label = f" ({inputs.label})" if inputs.label else ""
    return [
        f"commandsync/{host}{f' {site.bot}' if hosts.count(host) > 1 else ''}{label}"
        for host, site in zip(hosts, sites, strict=True)
    ]


def set_statuses(
    applied: Mapping[str, Plan], github: GitHub, event: GitHubEvent, *, commit: str
) -> None:
    """Set a status of the commit for each applied listing, by its name; raises `GitHubError`."""
    for context, plan in applied.items():
        changed = summary.counted(len(plan.changes), "change")
        body = {
            "state": "success",
            "context": context,
            "description": f"{changed} applied, {plan.unchanged} unchanged",
            "target_url": event.run_url,
        }
        github.post(f"/repos/{event.repository}/statuses/{commit}", body)


def merged_requests(
    commits: Sequence[str], github: GitHub, event: GitHubEvent, *, contexts: Sequence[str]
) -> list[int]:
    """Return the pull requests that were merged since the last successful apply, the newest first.

    `commits` are those of the branch, the newest first, which is this run's own; `contexts` are the
    names of the statuses of the listings. Raises `GitHubError`.
    """
    owner, _, name = event.repository.partition("/")
    asked = " ".join(
        f'c{n}: object(oid: "{commit}") {{ {_COMMIT} }}' for n, commit in enumerate(commits)
    )
    where = f"owner: {json.dumps(owner)}, name: {json.dumps(name)}"
    answer = github.query(f"query {{ repository({where}) {{ {asked} }} }}")
    found = answer.get("repository") or {}
    numbers: dict[int, None] = {}
    for n in range(len(commits)):
        commit = found.get(f"c{n}") or {}
        if n and set(contexts) <= set(_succeeded(commit)):
            break
        numbers |= dict.fromkeys(_merged(commit))
    return list(numbers)[:_MOST_REQUESTS]


def _succeeded(commit: dict[str, dict[str, list[dict[str, str]]]]) -> Iterator[str]:
    for status in (commit.get("status") or {}).get("contexts") or ():
        if status.get("state") == "SUCCESS":
            yield status.get("context", "")


def _merged(commit: dict[str, dict[str, list[dict[str, int]]]]) -> Iterator[int]:
    for request in (commit.get("associatedPullRequests") or {}).get("nodes") or ():
        if request.get("merged"):
            yield request["number"]
