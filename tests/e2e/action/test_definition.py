from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from packaging.requirements import Requirement

from commandsync.action import bootstrap
from commandsync.action.inputs import Inputs, read_inputs
from tests.support.locked import LOCK
from tests.support.runner import ROOT, definition_of, step_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REFERENCE = (ROOT / "docs" / "action.md").read_text(encoding="utf-8")
DOCUMENTS = "".join(
    path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
)
LOCKS = (bootstrap.LOCK, bootstrap.PREVIEW_LOCK)
_BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INPUTS = [
    "mode",
    "file",
    "working-directory",
    "base-url",
    "bot",
    "token",
    "github-token",
    "comment",
    "issue",
    "label",
    "summary",
    "annotations",
    "fail-on",
    "prune",
    "max-deletes",
    "import-check",
    "apply",
    "plan-file",
    "preview",
    "python",
    "wheels-dir",
]
OUTPUTS = [
    "result",
    "failure-reason",
    "changed",
    "adds",
    "edits",
    "deletes",
    "unchanged",
    "plan-file",
    "plan-markdown-file",
    "fingerprint",
    "comment-url",
    "comment-file",
    "pull-request",
    "issue-url",
    "backup-file",
    "preview",
]


def workflows() -> Iterator[dict[str, Any]]:
    for block in _BLOCK.findall(DOCUMENTS):
        content = yaml.safe_load(block)
        if isinstance(content, dict) and "jobs" in content:
            yield content


def uses(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        for step in job.get("steps", ()):
            if "/commandsync@" in step.get("uses", ""):
                yield step


def test_nothing_is_interpolated_into_the_script() -> None:
    (step,) = definition_of()["runs"]["steps"]

    assert "${{" not in step["run"]
    assert "uses" not in step
    assert step["shell"] == "bash"


def test_every_input_reaches_the_script_by_the_environment_and_by_it_alone() -> None:
    definition = definition_of()
    (step,) = definition["runs"]["steps"]

    assert list(definition["inputs"]) == INPUTS
    assert step["env"] == {
        f"INPUT_{name.upper().replace('-', '_')}": f"${{{{ inputs.{name} }}}}" for name in INPUTS
    }


def test_every_output_is_one_of_the_step() -> None:
    definition = definition_of()
    (step,) = definition["runs"]["steps"]

    assert {name: one["value"] for name, one in definition["outputs"].items()} == {
        name: f"${{{{ steps.{step['id']}.outputs.{name} }}}}" for name in OUTPUTS
    }


def test_the_defaults_are_what_the_program_takes_for_granted() -> None:
    environment = step_environment(definition_of(), {"github-token": ""})

    assert read_inputs(environment) == Inputs()


def test_the_documented_workflows_use_only_existing_inputs() -> None:
    used = [set(step.get("with", {})) for workflow in workflows() for step in uses(workflow)]

    assert len(used) >= 4
    assert set().union(*used) <= set(INPUTS)


def test_the_reference_describes_every_input_and_output() -> None:
    described = set(re.findall(r"^\| `([a-z-]+)` \|", REFERENCE, re.MULTILINE))

    assert set(INPUTS) | set(OUTPUTS) <= described


def test_no_documented_workflow_cancels_an_apply() -> None:
    for workflow in workflows():
        if not any(True for _ in uses(workflow)):
            continue  # its jobs call ours, which have their own
        concurrency = workflow.get("concurrency", {})
        modes = {step.get("with", {}).get("mode", "auto") for step in uses(workflow)}

        assert concurrency.get("group")
        assert concurrency.get("cancel-in-progress") in {None, False, modes <= {"validate"}}


def test_the_lock_holds_what_a_run_imports_and_nothing_of_the_command_line() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = bootstrap.locked(LOCK.read_text(encoding="utf-8"))
    asked = [Requirement(one) for one in project["dependencies"]]
    left_out = [one.name for one in asked if one.name not in versions]

    assert sorted(left_out) == ["click", "markdown-it-py", "rich"]
    assert {"mdurl", "pygments"}.isdisjoint(versions)
    assert [
        one.name for one in asked if versions.get(one.name, "") not in one.specifier
    ] == left_out


def test_the_newest_python_of_the_lock_is_the_one_that_the_project_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [one for one in project["classifiers"] if re.search(r":: 3\.\d+$", one)]
    newest = ".".join(map(str, bootstrap.NEWEST))

    assert named[-1].endswith(f":: {newest}")
    assert f"Python 3.11 to {newest}." in LOCK.read_text(encoding="utf-8")


def test_the_lock_of_a_preview_adds_the_embedded_service_to_the_same_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    small, large = (bootstrap.locked(each.read_text(encoding="utf-8")) for each in LOCKS)
    asked = [Requirement(text) for text in project["optional-dependencies"]["server"]]
    left_out = [each.name for each in asked if each.name not in large]

    assert small.items() <= large.items()
    assert left_out == ["watchfiles"]
    assert {each.name for each in asked if large.get(each.name, "") not in each.specifier} == {
        "watchfiles"
    }


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: str(lock.name))
def test_a_lock_names_exact_versions_with_hashes_and_no_place_to_get_them(lock: Path) -> None:
    text = re.sub(r"^#.*\n", "", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
    entry = r"[a-z0-9-]+==[0-9.]+ \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+"

    assert re.fullmatch(f"({entry})+", text)
