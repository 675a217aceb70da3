"""The head of the branch: a run whose manifest is no longer the newest one applies nothing."""

from collections.abc import Sequence
from urllib.parse import quote

from commandsync.action.event import GitHubEvent
from commandsync.action.rest import GitHub, GitHubError
from commandsync.errors import RefusedError, StalePlanError
from commandsync.sync.history import Committed

_DISPATCH = "run the workflow by hand on the branch: it applies the newest manifest"


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
        path = f"/repos/{event.repository}/git/ref/heads/{quote(event.branch)}"
        head = str(github.get(path)["object"]["sha"])
        if _is_equal(manifests, github, event, head):
            return head, None
        run = _run_for(github, event, head)
    except GitHubError as error:
        raise RefusedError(f"{unknown}: {error.message}", hint=error.hint) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise RefusedError(f"{unknown}: GitHub's answer has another form") from error
    if run is None:
        newer = f"{event.branch} has a newer manifest, that of {head[:7]}"
        raise StalePlanError(f"{newer}, which no run applies", hint=_DISPATCH)
    return head, run


def _is_equal(
    manifests: Sequence[Committed], github: GitHub, event: GitHubEvent, head: str
) -> bool:
    if all(manifest.commit == head for manifest in manifests):
        return True
    tree = github.get(f"/repos/{event.repository}/git/trees/{quote(head)}?recursive=1")
    if tree.get("truncated"):
        raise GitHubError("the repository has too many files")
    entries = {
        each["path"]: (each["mode"], each["sha"]) for each in tree["tree"] if each["type"] == "blob"
    }
    return all(manifest.is_in(entries) for manifest in manifests)


def _run_for(github: GitHub, event: GitHubEvent, head: str) -> str | None:
    """Return the URL of a run of this workflow for a commit that waits, runs or has succeeded."""
    path = f"/repos/{event.repository}/actions/runs?head_sha={quote(head)}&per_page=100"
    for run in github.get(path)["workflow_runs"]:
        same = str(run["path"]).partition("@")[0] == event.workflow
        here = run["head_branch"] == event.branch and str(run["id"]) != event.run_id
        applies = run["event"] in {"push", "workflow_dispatch", event.name}
        if same and here and applies and run["conclusion"] in {None, "success"}:
            return str(run["html_url"])
    return None
