import json
from collections.abc import Callable
from pathlib import Path

import pytest

from commandsync.action.step import GitHubEvent, read_event, secrets_of

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


def test_masks_cover_a_token_with_and_without_its_scheme() -> None:
    masks = secrets_of(
        {
            "INPUT_TOKEN": "Bot aaaaaaaa.bbbbbbbb.cccc/ccc",
            "COMMANDSYNC_TOKEN_MINE": "first-line\nsecond-line",
            "COMMANDSYNC_STAGE": "production",
            "COMMANDSYNC_BOT": "779641401482805289",
            "COMMANDSYNC_TOKEN": "short",
            "DISCORD_TOKEN": "of-discord",
            "PATH": "/usr/bin:/usr/local/bin",
        }
    )

    assert set(masks) == {
        "Bot aaaaaaaa.bbbbbbbb.cccc/ccc",
        "aaaaaaaa.bbbbbbbb.cccc/ccc",
        "first-line\nsecond-line",
        "of-discord",
    }


@pytest.mark.parametrize("token", ["", " ", "\n"])
def test_an_empty_token_masks_nothing(token: str) -> None:
    environment = {"INPUT_TOKEN": token, "INPUT_GITHUB_TOKEN": token, "COMMANDSYNC_TOKEN": token}

    assert secrets_of(environment) == ()
    assert secrets_of({"COMMANDSYNC_MINE": token}, named=["COMMANDSYNC_MINE"]) == ()


def test_the_variable_that_a_manifest_names_is_masked_too() -> None:
    environment = {"COMMANDSYNC_MINE": "marked-secret", "COMMANDSYNC_TOKEN": "marked-other"}
    masks = secrets_of(environment, named=["COMMANDSYNC_MINE"])

    assert "marked-secret" in masks
    assert "marked-other" not in masks
