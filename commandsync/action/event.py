"""The event that started the workflow, and the mode that follows from it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commandsync.action.inputs import Mode

_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class GitHubEvent:
    """The event that started the workflow: a pull request by number, or 0, and its base commit.

    A merged pull request has no number: an apply writes to its comment.
    `head_sha` is the commit that the pull request adds, or the one that was pushed, empty if it is
    not known: `sha` is that of a merge with the base branch. A merge queue's group has a base
    commit and no number. `branch` is the branch that is checked out, empty for a tag or a pull
    request; `default_branch` is for a push to it; `before` is the commit that the branch has
    without the proposal, or had before the push, if that is known; `workflow` is the file of the
    caller's workflow; `run_url` is the page of the job's summary.
    """

    name: str = ""
    repository: str = ""
    sha: str = ""
    pull_request: int = 0
    base_sha: str = ""
    fork: bool = False
    default_branch: bool = False
    run_url: str = ""
    head_sha: str = ""
    branch: str = ""
    workflow: str = ""
    run_id: str = ""
    before: str = ""

    @property
    def proposes(self) -> bool:
        """Whether the checkout is a proposal: nobody has merged it yet."""
        return bool(self.base_sha) or self.name.startswith(("pull_request", "merge_group"))

    @property
    def files_url(self) -> str:
        """The page of the head commit's files; empty for a fork, whose comment is shown as text."""
        known = self.head_sha and not self.fork
        return f"{self.run_url.partition('/actions/')[0]}/blob/{self.head_sha}" if known else ""

    @property
    def usual_mode(self) -> Mode:
        """The mode of `auto`; only a push to the default branch is applied."""
        if self.name in {"pull_request", "merge_group"}:
            return "plan"
        if self.name == "push" and self.default_branch:
            return "apply"
        return "drift" if self.name == "schedule" else "validate"


def read_event(environ: Mapping[str, str]) -> GitHubEvent:
    """Read the event from the step's environment and its payload.

    A payload that cannot be read counts as empty, so that nothing is applied by itself.
    """
    payload = _payload(environ.get("GITHUB_EVENT_PATH", ""))
    name = environ.get("GITHUB_EVENT_NAME", "")
    repository = environ.get("GITHUB_REPOSITORY", "")
    request = _inner(payload, "pull_request")
    number = request.get("number")
    head = _inner(request, "head", "repo").get("full_name")
    base = _inner(request, "base").get("sha") or _inner(payload, "merge_group").get("base_sha")
    ref = environ.get("GITHUB_REF", "")
    workflow, _, _ = environ.get("GITHUB_WORKFLOW_REF", "").partition("@")
    default = _inner(payload, "repository").get("default_branch")
    server = environ.get("GITHUB_SERVER_URL", "https://github.com")
    return GitHubEvent(
        name=name,
        repository=repository,
        sha=environ.get("GITHUB_SHA", ""),
        pull_request=number if isinstance(number, int) and not request.get("merged") else 0,
        base_sha=str(base or ""),
        fork=bool(request) and head != repository,
        default_branch=bool(default) and ref == f"refs/heads/{default}",
        head_sha=_commit(_inner(request, "head").get("sha") or environ.get("GITHUB_SHA")),
        run_url=f"{server}/{repository}/actions/runs/{environ.get('GITHUB_RUN_ID', '')}",
        branch=ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else "",
        workflow=workflow.removeprefix(f"{repository}/"),
        run_id=environ.get("GITHUB_RUN_ID", ""),
        before=str(base or payload.get("before") or ""),
    )


def _payload(path: str) -> Mapping[str, Any]:
    try:
        payload = json.loads(Path(path).read_bytes()) if path else {}
    except (OSError, ValueError):
        return {}
    return payload if isinstance(payload, dict) else {}


def _commit(text: object) -> str:
    """Return the whole name of a commit; empty for another text."""
    return str(text) if _COMMIT.fullmatch(str(text)) else ""


def _inner(payload: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        inner = payload.get(name)
        payload = inner if isinstance(inner, dict) else {}
    return payload
