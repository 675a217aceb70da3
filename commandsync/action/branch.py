"""The branch of a run at GitHub: its head, the statuses of its commits, its pull requests.

A run applies only the newest manifest of its branch: `newer_run` compares it with the head. An
apply marks its commit with a status for each listing. With the pull requests that were merged since
the last success, they tell whose comments get the result; nothing else depends on them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeAlias
from urllib.parse import quote

from commandsync.action.rest import GitHub, GitHubError, known_part, part
from commandsync.action.step import GitHubEvent
from commandsync.apply.outcomes import Result
from commandsync.errors import CommandsyncError, RefusedError, StalePlanError
from commandsync.plan.plan import ListPlan
from commandsync.report import summary
from commandsync.sync.history import Committed, place_of
from commandsync.sync.job import Job

MOST_COMMITS = 50
Status: TypeAlias = tuple[str, str]
"""The state and the description of a status."""

_DISPATCH = "run the workflow by hand on the branch: it applies the newest manifest"
_WAIT = f"the run of that commit applies it; without one, {_DISPATCH}"
_MOST_REQUESTS = 30
_MOST_READ = 20  # commits
_MOST_PAGES = 100  # of a commit's files
_SUCCESS = "SUCCESS"
_MISSING = 404
_STATUS = "status { contexts { context state } }"
_REQUESTS = "associatedPullRequests(first: 10) { nodes { number merged } }"


@dataclass(frozen=True, slots=True)
class Branch:
    """The branch of a run at GitHub, as far as it is known."""

    event: GitHubEvent
    github: GitHub | None = None  # GitHub's API, if there is a token for it
    jobs: Sequence[Job] = ()  # the listings of the run, if they are known
    commits: Sequence[str] = ()  # its newest commits, the newest first, which is this run's own
    head: str = ""  # its newest commit, which has the same manifest; empty if that is unknown

    @property
    def api(self) -> GitHub:
        """GitHub's API; raises `GitHubError` if there is no token for it."""
        if self.github is None:
            raise GitHubError("no github-token was given")
        return self.github

    def set_status(self, job: Job, status: Status, *, at: str = "") -> None:
        """Set the status of a listing at a commit, by default at this run's own."""
        commit = at or (self.commits[0] if self.commits else self.event.sha)
        state, description = status
        context = context_of(job.site.name, job.identity, place(job.path))
        body = {"state": state, "context": context, "description": description}
        body["target_url"] = self.event.run_url
        self.api.post(f"/repos/{self.event.repository}/statuses/{commit}", body)


def context_of(name: str, identity: str, path: str) -> str:
    """Return the name of the status of a listing: its own, and a digest.

    The digest covers the listing's identity and the manifest's path in the repository.
    """
    digest = sha256(f"{identity}\n{path}".encode("utf-8", "surrogateescape")).hexdigest()
    return f"commandsync/{name} {digest[:8]}"


def place(path: str) -> str:
    """Return the path of a manifest in its repository; without one, the path."""
    with suppress(CommandsyncError):
        _, path = place_of(path)
    return path


def status_of(result: Result) -> Status:
    """Return the status of a listing after an apply."""
    plan = result.plan
    if not result.complete:
        return "failure", "not complete"
    if isinstance(plan, ListPlan) and not plan.is_read:
        return "success", f"sent {summary.counted(plan.size, 'command')}"
    changed = summary.counted(len(plan.changes), "change")
    return "success", f"{changed} applied, {plan.unchanged} unchanged"


def newer_run(
    manifests: Sequence[Committed], github: GitHub | None, event: GitHubEvent
) -> tuple[str, str | None]:
    """Return the head of the branch, and the URL of the run that applies its newer manifest.

    None if this run's manifests are those of the head of the branch, whatever its commit; so a run
    that is started again never brings an old list back. Raises `RefusedError` if the head cannot be
    read, or no run applies its manifest.
    """
    if not event.branch:  # a tag has no newer commit
        return "", None
    unknown = f"the newest commit of {event.branch} cannot be read"
    if github is None:
        raise RefusedError(f"{unknown}: no github-token was given", hint="give the input")
    try:
        head = _head(github, event)
        if _is_equal(manifests, github, event, head):
            return head, None
        run = _run_for(github, event, head) if github.is_github else None
    except GitHubError as error:
        raise RefusedError(f"{unknown}: {error.message}", hint=error.hint) from error
    if run is None:
        newer = f"{event.branch} has a newer manifest, that of {head[:7]}"
        if github.is_github:
            raise StalePlanError(f"{newer}, which no run applies", hint=_DISPATCH)
        raise StalePlanError(f"{newer}: this run applies nothing", hint=_WAIT)
    return head, run


def _head(github: GitHub, event: GitHubEvent) -> str:
    """Return the newest commit of the branch of a run."""
    repository, branch = f"/repos/{event.repository}", quote(event.branch)
    if github.is_github:
        return part(github.get(f"{repository}/git/ref/heads/{branch}"), "object", "sha", kind=str)
    return part(github.get(f"{repository}/branches/{branch}"), "commit", "id", kind=str)


def _is_equal(
    manifests: Sequence[Committed], github: GitHub, event: GitHubEvent, head: str
) -> bool:
    if all(manifest.commit == head for manifest in manifests):
        return True
    entries = {}
    for each in _tree(github, f"/repos/{event.repository}/git/trees/{quote(head)}?recursive=1"):
        path, mode, sha = (part(each, key, kind=str) for key in ("path", "mode", "sha"))
        if part(each, "type", kind=str) == "blob":
            entries[path] = (mode, sha)
    return all(manifest.is_in(entries) for manifest in manifests)


def _tree(github: GitHub, path: str) -> Iterator[Any]:
    """Yield the files and folders of a commit; only GitHub has them all on one page."""
    for page in range(1, 2 if github.is_github else _MOST_PAGES):
        tree = github.get(path if github.is_github else f"{path}&page={page}")
        yield from part(tree, "tree", kind=list)
        if not part(tree, "truncated", kind=bool):
            return
    raise GitHubError("the repository has too many files")


def _run_for(github: GitHub, event: GitHubEvent, head: str) -> str | None:
    """Return the URL of a run of this workflow for a commit that waits, runs or has succeeded."""
    path = f"/repos/{event.repository}/actions/runs?head_sha={quote(head)}&per_page=100"
    for run in part(github.get(path), "workflow_runs", kind=list):
        same = part(run, "path", kind=str).partition("@")[0] == event.workflow
        branch, number = known_part(run, "head_branch", kind=str), part(run, "id", kind=int)
        here = branch == event.branch and str(number) != event.run_id
        applies = part(run, "event", kind=str) in {"push", "workflow_dispatch", event.name}
        if same and here and applies and known_part(run, "conclusion", kind=str) in {"", "success"}:
            return part(run, "html_url", kind=str)
    return None


def merged_requests(branch: Branch) -> list[int]:
    """Return the pull requests that were merged since the last successful apply, the newest first.

    Raises `GitHubError`.
    """
    numbers: dict[int, None] = {}
    jobs = branch.jobs
    contexts = [context_of(job.site.name, job.identity, place(job.path)) for job in jobs]
    commits = _queried(branch) if branch.api.is_github else _read(branch)
    for n, (states, requests) in enumerate(commits):
        if n and all(states.get(context) == _SUCCESS for context in contexts):
            break
        numbers |= dict.fromkeys(requests)
    return list(numbers)[:_MOST_REQUESTS]


CommitFacts: TypeAlias = tuple[Mapping[str, str], Sequence[int]]
"""The states of a commit by the names of its statuses, and the pull requests that it merged."""


def _queried(branch: Branch) -> Iterator[CommitFacts]:
    """Yield the facts of the commits, all by one query of GraphQL."""
    owner, _, name = branch.event.repository.partition("/")
    asked = " ".join(
        f'c{n}: object(oid: "{commit}") {{ ... on Commit {{ {_STATUS} {_REQUESTS} }} }}'
        for n, commit in enumerate(branch.commits)
    )
    where = f"owner: {json.dumps(owner)}, name: {json.dumps(name)}"
    answer = branch.api.query(f"query {{ repository({where}) {{ {asked} }} }}")
    for n in range(len(branch.commits)):
        commit = known_part(answer, "repository", f"c{n}", kind=dict)
        requests = known_part(commit, "associatedPullRequests", "nodes", kind=list)
        merged = [each for each in requests if part(each, "merged", kind=bool)]
        states = _states(known_part(commit, "status", "contexts", kind=list), "state")
        yield states, [part(each, "number", kind=int) for each in merged]


def _read(branch: Branch) -> Iterator[CommitFacts]:
    """Yield the facts of the newest commits, each by two calls of Gitea's or Forgejo's REST."""
    for commit in branch.commits[:_MOST_READ]:
        path = f"/repos/{branch.event.repository}/commits/{commit}"
        status = branch.api.get(f"{path}/status?limit=50")
        try:
            requests = [part(branch.api.get(f"{path}/pull"), "number", kind=int)]
        except GitHubError as error:
            if error.status != _MISSING:
                raise
            requests = []  # it merged none
        yield _states(known_part(status, "statuses", kind=list), "status"), requests


def _states(statuses: Iterable[object], key: str) -> dict[str, str]:
    """Return the states of statuses by their names; `key` has the state."""
    return {part(each, "context", kind=str): part(each, key, kind=str).upper() for each in statuses}
