import json
from collections.abc import Callable
from pathlib import Path

import pytest

from commandsync.action.step import GitHubEvent, read_event

Read = Callable[..., GitHubEvent]

PULL_REQUEST = {"GITHUB_EVENT_NAME": "pull_request"}
PUSH = {"GITHUB_EVENT_NAME": "push", "GITHUB_REF": "refs/heads/main"}


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read an event from its payload, as text or as JSON, and the variables of its job."""
    path = tmp_path / "event.json"

    def read(payload: object, environ: dict[str, str]) -> GitHubEvent:
        text = payload if isinstance(payload, str) else json.dumps(payload)
        path.write_text(text, encoding="utf-8")
        return read_event({**environ, "GITHUB_EVENT_PATH": str(path)})

    return read


@pytest.mark.parametrize(
    "payload", ["", "[]", "{", '{"repository": 1}', '{"repository": {"default_branch": ""}}']
)
def test_an_empty_payload_applies_nothing(read: Read, payload: str) -> None:
    assert read(payload, PUSH).usual_mode == "validate"


def test_without_a_payload_nothing_is_applied(tmp_path: Path) -> None:
    missing = {**PUSH, "GITHUB_EVENT_PATH": str(tmp_path / "none")}

    assert read_event(missing).usual_mode == read_event(PUSH).usual_mode == "validate"


@pytest.mark.parametrize(
    ("ref", "branch"), [("refs/heads/next", "next"), ("refs/tags/v1", ""), ("", "")]
)
def test_only_a_branch_has_a_head(read: Read, ref: str, branch: str) -> None:
    event = read({"repository": {"default_branch": "main"}}, {"GITHUB_REF": ref})

    assert event.branch == branch


def test_a_merge_queues_group_is_planned_as_a_proposal(read: Read) -> None:
    group = {"base_sha": "b", "base_ref": "refs/heads/main"}
    event = read({"merge_group": group}, {"GITHUB_EVENT_NAME": "merge_group"})

    assert (event.usual_mode, event.base_sha, event.proposes) == ("plan", "b", True)
    assert not read_event(PUSH).proposes
    assert read_event({"GITHUB_EVENT_NAME": "pull_request_target"}).proposes


@pytest.mark.parametrize(("merged", "number"), [(False, 7), (True, 0)])
def test_a_plan_after_the_merge_is_no_review(read: Read, *, merged: bool, number: int) -> None:
    request = {"number": 7, "merged": merged, "base": {"sha": "b"}}
    event = read({"action": "closed", "pull_request": request}, PULL_REQUEST)

    assert (event.pull_request, event.proposes) == (number, True)


def test_a_pull_request_whose_repository_is_gone_is_a_forks(read: Read) -> None:
    request = {"number": 7, "head": {"repo": None}, "base": {"sha": "b"}}
    job = {"GITHUB_REPOSITORY": "octo/bots", "GITHUB_RUN_ID": "3"}
    event = read({"pull_request": request}, PULL_REQUEST | job)

    assert event == GitHubEvent(
        "pull_request",
        "octo/bots",
        pull_request=7,
        base_sha="b",
        fork=True,
        run_url="https://github.com/octo/bots/actions/runs/3",
        run_id="3",
        before="b",
    )
