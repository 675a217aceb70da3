"""The branch of a run at GitHub: its head, the statuses of its commits, its pull requests.

A run applies only the newest manifest of its branch: `newer_run` compares it with the head. An
apply marks its commit with a status for each listing (`set_status`). With the pull requests that
were merged since the last success (`merged_requests`), they tell whose comments get the result;
nothing else depends on them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import TypeAlias
from urllib.parse import quote

from commandsync.action.rest import GitHub, GitHubError, known_part, part
from commandsync.action.step import GitHubEvent
from commandsync.apply.outcomes import Result
from commandsync.errors import CommandsyncError, RefusedError, StalePlanError
from commandsync.plan.plan import ListPlan
from commandsync.records.texts import counted
from commandsync.sync.history import Committed, place_of
from commandsync.sync.job import Job

MOST_COMMITS = 50
_DISPATCH = "run the workflow by hand on the branch: it applies the newest manifest"
_WAIT = f"the run of that commit applies it; without one, {_DISPATCH}"
_MOST_REQUESTS = 30
_MOST_READ = 20  # commits
_MOST_PAGES = 100  # of a commit's files
_SUCCESS = "SUCCESS"
_MISSING = 404
_STATUS = "status { contexts { context state } }"
_REQUESTS = "associatedPullRequests(first: 10) { nodes { number merged } }"


def newer_run(
    manifests: Sequence[Committed], github: GitHub | None, event: GitHubEvent
) -> tuple[str, str | None]:
    """Return the head of the branch, and the URL of the run that applies its newer manifest.

    The URL is None if the head has the same manifests as this run, whatever its commit; so a run
    that is started again never brings an old list back. Raises `RefusedError` if the head cannot be
    read, or no run applies its manifest.
    """
    if not event.branch:  # a tag has no newer commit
        return "", None
    unknown = f"the newest commit of {event.branch} cannot be read"
    if github is None:
        raise RefusedError(f"{unknown}: no github-token was given", hint="give the input")
    try:
        repository, name = f"/repos/{event.repository}", quote(event.branch)
        if github.is_github:
            ref = github.get(f"{repository}/git/ref/heads/{name}")
            head = part(ref, "object", "sha", kind=str)
        else:
            head = part(github.get(f"{repository}/branches/{name}"), "commit", "id", kind=str)
        if all(manifest.commit == head for manifest in manifests):
            return head, None
        entries = _files_of(github, event, head)
        if all(manifest.is_in(entries) for manifest in manifests):
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


def _files_of(github: GitHub, event: GitHubEvent, commit: str) -> dict[str, tuple[str, str]]:
    """Return the mode and the digest of each file of a commit by its path."""
    path = f"/repos/{event.repository}/git/trees/{quote(commit)}?recursive=1"
    files = {}
    for page in range(1, 2 if github.is_github else _MOST_PAGES):  # only GitHub has one page
        tree = github.get(path if github.is_github else f"{path}&page={page}")
        for entry in part(tree, "tree", kind=list):
            name, mode, digest = (part(entry, key, kind=str) for key in ("path", "mode", "sha"))
            if part(entry, "type", kind=str) == "blob":
                files[name] = (mode, digest)
        if not part(tree, "truncated", kind=bool):
            return files
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


def set_status(
    github: GitHub, event: GitHubEvent, job: Job, result: Result, *, commit: str
) -> None:
    """Set the status of a listing at a commit after an apply; raises `GitHubError`."""
    plan, state = result.plan, "success" if result.complete else "failure"
    if not result.complete:
        description = "not complete"
    elif isinstance(plan, ListPlan) and not plan.is_read:
        description = f"sent {counted(plan.size, 'command')}"
    else:
        changed = counted(len(plan.changes), "change")
        description = f"{changed} applied, {plan.unchanged} unchanged"
    body = {"state": state, "context": _context_of(job), "description": description}
    body["target_url"] = event.run_url
    github.post(f"/repos/{event.repository}/statuses/{commit}", body)


def _context_of(job: Job) -> str:
    """Return the name of the status of a listing: its own, and a digest.

    The digest covers the listing's identity and the manifest's path in the repository, or outside a
    repository its path.
    """
    path = job.path
    with suppress(CommandsyncError):
        _, path = place_of(job.path)
    digest = sha256(f"{job.identity}\n{path}".encode("utf-8", "surrogateescape")).hexdigest()
    return f"commandsync/{job.site.name} {digest[:8]}"


def merged_requests(
    github: GitHub, event: GitHubEvent, commits: Sequence[str], jobs: Sequence[Job]
) -> list[int]:
    """Return the pull requests that were merged since the last successful apply, the newest first.

    `commits` are the newest of the branch, the newest first, and `jobs` the listings of the run.
    Raises `GitHubError`.
    """
    numbers: dict[int, None] = {}
    contexts = [_context_of(job) for job in jobs]
    read = _queried if github.is_github else _read
    for number, (states, requests) in enumerate(read(github, event, commits)):
        if number and all(states.get(context) == _SUCCESS for context in contexts):
            break
        numbers |= dict.fromkeys(requests)
    return list(numbers)[:_MOST_REQUESTS]


CommitFacts: TypeAlias = tuple[Mapping[str, str], Sequence[int]]
"""The states of a commit by the names of its statuses, and the pull requests that it merged."""


def _queried(github: GitHub, event: GitHubEvent, commits: Sequence[str]) -> Iterator[CommitFacts]:
    """Yield the facts of the commits, all by one query of GraphQL."""
    owner, _, name = event.repository.partition("/")
    asked = " ".join(
        f'c{number}: object(oid: "{commit}") {{ ... on Commit {{ {_STATUS} {_REQUESTS} }} }}'
        for number, commit in enumerate(commits)
    )
    where = f"owner: {json.dumps(owner)}, name: {json.dumps(name)}"
    answer = github.query(f"query {{ repository({where}) {{ {asked} }} }}")
    for number in range(len(commits)):
        commit = known_part(answer, "repository", f"c{number}", kind=dict)
        requests = known_part(commit, "associatedPullRequests", "nodes", kind=list)
        merged = [each for each in requests if part(each, "merged", kind=bool)]
        states = _states(known_part(commit, "status", "contexts", kind=list), "state")
        yield states, [part(each, "number", kind=int) for each in merged]


def _read(github: GitHub, event: GitHubEvent, commits: Sequence[str]) -> Iterator[CommitFacts]:
    """Yield the facts of the newest commits, each by two calls of Gitea's or Forgejo's REST."""
    for commit in commits[:_MOST_READ]:
        path = f"/repos/{event.repository}/commits/{commit}"
        status = github.get(f"{path}/status?limit=50")
        try:
            requests = [part(github.get(f"{path}/pull"), "number", kind=int)]
        except GitHubError as error:
            if error.status != _MISSING:
                raise
            requests = []  # it merged none
        yield _states(known_part(status, "statuses", kind=list), "status"), requests


def _states(statuses: Iterable[object], key: str) -> dict[str, str]:
    """Return the states of statuses by their names; `key` has the state."""
    return {part(each, "context", kind=str): part(each, key, kind=str).upper() for each in statuses}
