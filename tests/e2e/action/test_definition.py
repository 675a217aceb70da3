import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from commandsync.action import bootstrap
from commandsync.action.inputs import Inputs, read_inputs
from tests.support.home import fields
from tests.support.locked import LOCK
from tests.support.runner import ROOT, Runner, definition_of, push, step_environment

REFERENCE = (ROOT / "docs" / "action.md").read_text(encoding="utf-8")
DOCUMENTS = "".join(
    path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
)
LOCKS = (bootstrap.LOCK, bootstrap.PREVIEW_LOCK)
_BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INPUTS = [
    *("mode", "file", "working-directory", "base-url", "hosts", "bot", "token"),
    *("github-token", "comment", "issue", "label", "summary", "annotations", "fail-on"),
    *("prune", "max-deletes", "import-check", "docs-check", "apply", "plan-file"),
    *("preview", "python"),
]
OUTPUTS = [
    *("result", "failure-reason", "changed", "adds", "edits", "deletes", "unchanged"),
    *("key", "plan-file", "plan-markdown-file", "fingerprint", "comment-url"),
    *("comment-file", "pull-request", "issue-url", "backup-file", "preview"),
]


_OWN = re.compile(r"^.*(?:OWNER/commandsync\S*@|rev: )COMMIT.*$", re.MULTILINE)
_LONGEST = 125  # characters: the form of the marketplace refuses a description that is not shorter


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


def test_the_marketplace_accepts_the_name_the_description_and_the_badge() -> None:
    schema = pytest.importorskip("check_jsonschema.builtin_schemas").get_builtin_schema(
        "vendor.github-actions"
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    definition = definition_of()
    badge = schema["properties"]["branding"]["properties"]

    assert definition["name"] == project["name"]
    assert 0 < len(definition["description"]) < _LONGEST
    assert definition["branding"]["color"] in badge["color"]["enum"]
    assert definition["branding"]["icon"] in badge["icon"]["enum"]


def test_every_example_names_the_release_of_the_commit_that_it_pins() -> None:
    pinned = _OWN.findall(DOCUMENTS)

    assert len(pinned) > 6
    for line in pinned:
        frozen = "frozen: " if "rev:" in line else ""  # as pre-commit writes it
        assert line.endswith(f" # {frozen}vX.Y.Z")


def test_dependabot_reads_the_workflows_the_project_and_the_locks() -> None:
    text = (ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8")
    actions, libraries = yaml.safe_load(text)["updates"]
    folders = [ROOT / folder.lstrip("/") for folder in libraries["directories"]]

    assert (actions["package-ecosystem"], actions["directory"]) == ("github-actions", "/")
    assert libraries["package-ecosystem"] == "pip"
    assert (folders[0] / "pyproject.toml").exists()
    for lock in LOCKS:
        assert lock.parent in folders
        assert re.search(r"requirements.*\.txt$", lock.name)  # it reads no other name as a lock


def test_the_issue_forms_ask_for_the_version_and_warn_about_tokens() -> None:
    forms = {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")
    }
    asked = {
        part["id"]
        for part in forms["bug"]["body"]
        if part.get("validations", {}).get("required", False)
    }

    assert forms.keys() == {"bug", "feature", "config"}
    assert asked == {"command", "output", "expected", "version", "system"}
    for name in ("bug", "feature"):
        assert "Do not paste a token" in forms[name]["body"][0]["attributes"]["value"]


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


def test_without_the_input_file_either_name_of_a_manifest_is_used(runner: Runner) -> None:
    runner.write(fields(("help",)), "bots/lantern/commandsync.yaml")
    other = runner.run(push(), mode="validate", working_directory="bots/lantern")
    runner.write(fields(("help",)), "bots/lantern/commands.yaml")
    both = runner.run(push(), mode="validate", working_directory="bots/lantern", file=" \n ")

    assert (other.code, other.outputs["result"]) == (0, "valid")
    assert (both.code, both.outputs["failure-reason"]) == (2, "invalid")
    message = "bots/lantern/commands.yaml and bots/lantern/commandsync.yaml both exist"
    assert message in both.log


def test_the_documented_workflows_use_only_existing_inputs() -> None:
    used = [set(step.get("with", {})) for workflow in workflows() for step in uses(workflow)]

    assert len(used) >= 3
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


def test_the_lock_of_a_preview_adds_templates_and_no_web_server_to_the_same_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    small, large = (bootstrap.locked(each.read_text(encoding="utf-8")) for each in LOCKS)
    asked = [Requirement(text) for text in project["optional-dependencies"]["preview"]]

    assert small.items() <= large.items()
    assert large.keys() - small.keys() == {
        *(each.name for each in asked),
        "markdown-it-py",
        "mdurl",
    }
    assert all(large[each.name] in each.specifier for each in asked)


@pytest.mark.promise("locked-action")
@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: str(lock.name))
def test_a_lock_names_exact_versions_with_hashes_and_no_place_to_get_them(lock: Path) -> None:
    text = re.sub(r"^#.*\n", "", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
    entry = r"[a-z0-9-]+==[0-9.]+ \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+"

    assert re.fullmatch(f"({entry})+", text)
