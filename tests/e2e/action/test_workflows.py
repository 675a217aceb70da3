"""The workflow that bots' repositories call: which jobs an event starts, and what they do."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from commandsync.services.abilities import Reads
from commandsync.services.catalogue import LISTS
from tests.support.bots import Service
from tests.support.home import fields
from tests.support.runner import (
    ACTION_PATH,
    ROOT,
    Event,
    Runner,
    definition,
    definition_of,
    other,
    pull_request,
    push,
    started,
)

MODES = {"current": "plan"}
URL = "https://listing.example"
_PERMISSIONS = re.compile(r"^permissions:[^{]*(\{[^}]*\})", re.MULTILINE)
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
        (push(), ["current", "apply"]),
        (push("feature"), []),
        (other("schedule"), ["drift"]),
        (dispatch(), ["current", "apply"]),
        (other("release"), []),
        (other("pull_request_target"), []),
    ],
    ids=lambda value: value.name if isinstance(value, Event) else None,
)
def test_an_event_starts_the_job_that_is_meant_for_it(event: Event, jobs: list[str]) -> None:
    found = started(event, base_url=URL)

    assert list(found) == jobs
    assert [inputs["mode"] for inputs in found.values()] == [MODES.get(job, job) for job in jobs]
    assert all(inputs["base-url"] == URL for inputs in found.values())


def test_a_dispatch_of_another_branch_applies_nothing() -> None:
    event = dispatch()
    event.variables["GITHUB_REF"] = "refs/heads/feature"

    assert started(event, base_url=URL) == {}


def test_only_the_apply_has_the_environment_and_no_plan_has_a_token() -> None:
    jobs = definition()["jobs"]

    assert [name for name, job in jobs.items() if "environment" in job] == ["apply"]
    assert [name for name, job in jobs.items() if "secrets." in str(job)] == ["apply", "drift"]


def test_each_token_reaches_the_apply_and_that_of_a_list_that_can_be_read_the_drift_check() -> None:
    workflow = definition()
    environments = {
        name: step.get("env", {})
        for name, job in workflow["jobs"].items()
        for step in job["steps"]
        if step.get("uses") == ACTION_PATH
    }
    lists = {service.variables[0]: service for service in LISTS.values()}

    assert set(workflow["on"]["workflow_call"]["secrets"]) == {"COMMANDSYNC_TOKEN", *lists}
    assert environments["apply"] == {name: f"${{{{ secrets.{name} }}}}" for name in lists}
    assert environments["drift"].items() <= environments["apply"].items()
    read = [name for name, each in lists.items() if each.facts.read.value is not Reads.NO]
    assert list(environments["drift"]) == read
    assert environments["plan"] == environments["current"] == {}


def test_an_approver_sees_the_current_plan_before_the_apply(
    runner: Runner, service: Service
) -> None:
    bot = service.bot(["help"])
    runner.write(fields(("help", "New."), ("ping",)))
    (inputs, _) = started(push(), base_url=bot.url, bot=bot.id).values()
    step = runner.run(push(), **{name.replace("-", "_"): text for name, text in inputs.items()})

    assert definition()["jobs"]["apply"]["needs"] == "current"
    assert step.outputs["result"] == "changes", step.log
    assert "1 to add, 1 to edit" in step.summary
    assert bot.names() == ["help"]


@pytest.mark.promise("pinned-actions")
def test_each_job_has_the_permissions_that_it_needs_and_the_caller_grants_them_all() -> None:
    workflow = definition()
    needed = {name: job["permissions"] for name, job in workflow["jobs"].items()}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert workflow["permissions"] == {}
    assert needed == {
        "plan": {"contents": "read", "pull-requests": "write"},
        "apply": {
            "actions": "read",
            "contents": "read",
            "pull-requests": "write",
            "statuses": "write",
        },
        "current": {"contents": "read", "statuses": "read"},
        "drift": {"contents": "read", "issues": "write"},
    }
    granted = yaml.safe_load(_PERMISSIONS.findall(readme)[0])
    assert granted == {name: level for job in needed.values() for name, level in job.items()}


def test_its_steps_use_existing_inputs_and_the_action_of_its_own_commit() -> None:
    own = [step for step in steps() if step.get("uses") == ACTION_PATH]
    fetched = [step for step in steps() if step.get("with", {}).get("path") == ".commandsync"]

    assert len(own) == len(fetched) == 4
    assert set().union(*(step["with"] for step in own)) <= set(definition_of()["inputs"])
    for step in fetched:
        assert step["with"]["repository"] == "${{ job.workflow_repository }}"
        assert step["with"]["ref"] == "${{ job.workflow_sha }}"


@pytest.mark.promise("pinned-actions")
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
    for name in ("base-url", "bot", "environment", "file", "label", "working-directory"):
        assert f"inputs.{name}" in concurrency["group"]
    assert "github." not in concurrency["group"]


def test_a_dispatch_allows_more_deletes_once(runner: Runner, service: Service) -> None:
    bot = service.bot([f"old{n}" for n in range(9)])
    runner.commit(fields(*((f"old{n}",) for n in range(9))))
    runner.write(fields(("help",)))

    def run(event: Event) -> str:
        (*_, inputs) = started(event, base_url=bot.url, bot=bot.id).values()
        given = {name.replace("-", "_"): value for name, value in inputs.items()}
        step = runner.run(event, **given | {"token": bot.token} if "token" in given else given)
        return f"{step.outputs['result']} {step.outputs['failure-reason']}".strip()

    assert run(pull_request()) == run(push()) == "failed refused"
    assert run(dispatch(max_deletes="2")) == "failed refused"
    assert len(bot.names()) == 9
    assert run(dispatch(max_deletes="all")) == "applied"
    assert bot.names() == ["help"]
    assert run(other("schedule")) == "no-changes"
