import json
from pathlib import Path

import pytest

from commandsync.action.event import GitHubEvent, read_event

PUSH = {"GITHUB_EVENT_NAME": "push", "GITHUB_REF": "refs/heads/main"}


@pytest.mark.parametrize(
    "payload", ["", "[]", "{", '{"repository": 1}', '{"repository": {"default_branch": ""}}']
)
def test_an_empty_payload_applies_nothing(tmp_path: Path, payload: str) -> None:
    path = tmp_path / "event.json"
    path.write_text(payload, encoding="utf-8")
    event = read_event({**PUSH, "GITHUB_EVENT_PATH": str(path)})

    assert event.usual_mode == "validate"


def test_without_a_payload_nothing_is_applied(tmp_path: Path) -> None:
    missing = {**PUSH, "GITHUB_EVENT_PATH": str(tmp_path / "none")}

    assert read_event(missing).usual_mode == read_event(PUSH).usual_mode == "validate"


@pytest.mark.parametrize(
    ("ref", "branch"), [("refs/heads/next", "next"), ("refs/tags/v1", ""), ("", "")]
)
def test_only_a_branch_has_a_head(tmp_path: Path, ref: str, branch: str) -> None:
    path = tmp_path / "event.json"
    path.write_text('{"repository": {"default_branch": "main"}}', encoding="utf-8")
    event = read_event({"GITHUB_EVENT_PATH": str(path), "GITHUB_REF": ref})

    assert event.branch == branch


def test_a_merge_queues_group_is_planned_as_a_proposal(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    group = {"base_sha": "b", "base_ref": "refs/heads/main"}
    path.write_text(json.dumps({"merge_group": group}), encoding="utf-8")
    event = read_event({"GITHUB_EVENT_NAME": "merge_group", "GITHUB_EVENT_PATH": str(path)})

    assert (event.usual_mode, event.base_sha, event.proposes) == ("plan", "b", True)
    assert not read_event(PUSH).proposes
    assert read_event({"GITHUB_EVENT_NAME": "pull_request_target"}).proposes


@pytest.mark.parametrize(("merged", "number"), [(False, 7), (True, 0)])
def test_a_plan_after_the_merge_is_not_shown_as_a_review(
    tmp_path: Path, *, merged: bool, number: int
) -> None:
    path = tmp_path / "event.json"
    request = {"number": 7, "merged": merged, "base": {"sha": "b"}}
    path.write_text(json.dumps({"action": "closed", "pull_request": request}), encoding="utf-8")
    event = read_event({"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(path)})

    assert (event.pull_request, event.proposes) == (number, True)


def test_a_pull_request_whose_repository_is_gone_is_a_forks(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    request = {"number": 7, "head": {"repo": None}, "base": {"sha": "b"}}
    path.write_text(json.dumps({"pull_request": request}), encoding="utf-8")
    event = read_event(
        {
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_REPOSITORY": "octo/bots",
            "GITHUB_RUN_ID": "3",
        }
    )

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
