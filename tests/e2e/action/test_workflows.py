"""The workflow that bots' repositories call: which jobs an event starts, and what they do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.home import fields
from tests.support.runner import ROOT, Event, definition_of, other, pull_request, push
from tests.support.workflow import ACTION_PATH, definition, started

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.bots import Service
    from tests.support.runner import Runner

URL = "https://listing.example"
_USES = re.compile(r"uses: ([\w./-]+@\S+(?: #.*)?)$", re.MULTILINE)


def merge_group() -> Event:
    ref = "refs/heads/gh-readonly-queue/main/pr-7"
    payload = {"merge_group": {"base_sha": "b" * 40}, "repository": {"default_branch": "main"}}
    return Event("merge_group", payload, {"GITHUB_REF": ref})


def dispatch(**inputs: str) -> Event:
    event = other("workflow_dispatch")
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    return Event(event.name, event.payload | {"inputs": given}, event.variables)


def steps() -> Iterator[dict[str, Any]]:
    for job in definition()["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize(
    ("event", "jobs"),
    [
        (pull_request(), ["plan"]),
        (pull_request(head="stranger/bots"), ["plan"]),
        (pull_request(actor="dependabot[bot]"), ["plan"]),
        (merge_group(), ["plan"]),
        (push(), ["apply"]),
        (push("feature"), []),
        (other("schedule"), ["drift"]),
        (dispatch(), ["apply"]),
        (other("release"), []),
        (other("pull_request_target"), []),
    ],
    ids=lambda value: value.name if isinstance(value, Event) else None,
)
def test_an_event_starts_the_job_that_is_meant_for_it(event: Event, jobs: list[str]) -> None:
    found = started(event, base_url=URL)

    assert list(found) == jobs
    assert all(inputs["mode"] == name for name, inputs in found.items())
    assert all(inputs["base-url"] == URL for inputs in found.values())


def test_a_dispatch_of_another_branch_applies_nothing() -> None:
    event = dispatch()
    event.variables["GITHUB_REF"] = "refs/heads/feature"

    assert started(event, base_url=URL) == {}


def test_only_the_apply_has_the_token_and_the_environment() -> None:
    for name, job in definition()["jobs"].items():
        is_apply = name == "apply"

        assert ("environment" in job, "secrets." in str(job)) == (is_apply, is_apply)


def test_each_job_has_the_permissions_that_it_needs_and_the_caller_grants_them_all() -> None:
    workflow = definition()
    needed = {name: job["permissions"] for name, job in workflow["jobs"].items()}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert workflow["permissions"] == {}
    assert needed == {
        "plan": {"contents": "read", "pull-requests": "write"},
        "apply": {"contents": "read", "pull-requests": "write"},
        "drift": {"contents": "read", "issues": "write"},
    }
    assert "permissions: {contents: read, issues: write, pull-requests: write}" in readme


def test_its_steps_use_existing_inputs_and_the_action_of_its_own_commit() -> None:
    own = [step for step in steps() if step.get("uses") == ACTION_PATH]
    fetched = [step for step in steps() if step.get("with", {}).get("path") == ".commandsync"]

    assert len(own) == len(fetched) == 3
    assert set().union(*(step["with"] for step in own)) <= set(definition_of()["inputs"])
    for step in fetched:
        assert step["with"]["repository"] == "${{ job.workflow_repository }}"
        assert step["with"]["ref"] == "${{ job.workflow_sha }}"


def test_every_other_action_is_pinned_to_one_commit_everywhere() -> None:
    files = [*(ROOT / ".github").rglob("*.yml"), ROOT / "docs" / "action.md", ROOT / "README.md"]
    texts = (path.read_text(encoding="utf-8") for path in files)
    used = {uses for text in texts for uses in _USES.findall(text) if "OWNER" not in uses}
    names = [uses.partition("@")[0] for uses in used]

    assert len(names) == len(set(names)) >= 4
    assert [uses for uses in used if not re.fullmatch(r"\S+@[0-9a-f]{40} # v[\d.]+", uses)] == []


def test_an_apply_is_never_cancelled_and_never_two_at_a_time() -> None:
    concurrency = definition()["jobs"]["apply"]["concurrency"]

    assert concurrency["cancel-in-progress"] == "false"
    assert "github." not in concurrency["group"]


def test_a_dispatch_allows_more_deletes_once(runner: Runner, service: Service) -> None:
    bot = service.bot([f"old{n}" for n in range(9)])
    runner.write(fields(("help",)))

    def run(event: Event) -> str:
        (inputs,) = started(event, base_url=bot.url, bot=bot.id).values()
        given = {name.replace("-", "_"): value for name, value in inputs.items()}
        step = runner.run(event, **given | {"token": bot.token} if "token" in given else given)
        return f"{step.outputs['result']} {step.outputs['failure-reason']}".strip()

    assert run(pull_request()) == run(push()) == "failed refused"
    assert run(dispatch(max_deletes="2")) == "failed refused"
    assert len(bot.names()) == 9
    assert run(dispatch(max_deletes="all")) == "applied"
    assert bot.names() == ["help"]
    assert run(other("schedule")) == "no-changes"
