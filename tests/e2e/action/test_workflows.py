"""The Action's definition, and the workflows that use it, as GitHub reads them."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from commandsync.action import bootstrap
from commandsync.action.step import Inputs, read_inputs
from commandsync.manifest import load_manifests
from commandsync.services.abilities import Reads
from commandsync.services.catalogue import LISTS
from commandsync.services.discord import VARIABLES
from tests.support.bots import Service
from tests.support.home import Home, fields
from tests.support.runner import (
    ACTION_PATH,
    LOCK,
    ROOT,
    Event,
    Runner,
    definition,
    definition_of,
    other,
    pull_request,
    push,
    started,
    step_environment,
)

REFERENCE = (ROOT / "docs" / "action.md").read_text(encoding="utf-8")
DOCUMENTS = "".join(
    path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
)
_BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INPUTS = [
    *("mode", "file", "working-directory", "base-url", "hosts", "bot", "token"),
    *("github-token", "comment", "issue", "label", "summary", "annotations", "fail-on"),
    *("prune", "max-deletes", "import-check", "docs-check", "apply", "plan-file"),
    "python",
]
OUTPUTS = [
    *("result", "failure-reason", "changed", "adds", "edits", "deletes", "unchanged"),
    *("key", "plan-file", "plan-markdown-file", "fingerprint", "comment-url"),
    *("comment-file", "pull-request", "issue-url", "backup-file"),
]


_OWN = re.compile(r"^.*(?:OWNER/commandsync\S*@|rev: )COMMIT.*$", re.MULTILINE)
_LONGEST = 125  # characters: the form of the marketplace refuses a description that is not shorter


def workflows() -> Iterator[dict[Any, Any]]:
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


def test_dependabot_reads_the_workflows_the_project_and_the_lock() -> None:
    text = (ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8")
    actions, libraries = yaml.safe_load(text)["updates"]
    folders = [ROOT / folder.lstrip("/") for folder in libraries["directories"]]

    assert (actions["package-ecosystem"], actions["directory"]) == ("github-actions", "/")
    assert libraries["package-ecosystem"] == "pip"
    assert (folders[0] / "pyproject.toml").exists()
    assert bootstrap.LOCK.parent in folders
    assert re.search(
        r"requirements.*\.txt$", bootstrap.LOCK.name
    )  # it reads no other name as a lock


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
    runner.run(push(), mode="validate", working_directory="bots/lantern", ends="0 valid")
    runner.write(fields(("help",)), "bots/lantern/commands.yaml")
    both = runner.run(push(), mode="validate", working_directory="bots/lantern", file=" \n ")

    assert (both.code, both.outputs["failure-reason"]) == (2, "invalid")
    message = "bots/lantern/commands.yaml and bots/lantern/commandsync.yaml both exist"
    assert message in both.log


def test_the_documented_workflows_use_only_existing_inputs() -> None:
    used = [set(step.get("with", {})) for workflow in workflows() for step in uses(workflow)]

    assert len(used) >= 2
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

    assert sorted(left_out) == ["click", "python-dotenv", "rich"]
    assert {"pygments", "jinja2", "nh3"}.isdisjoint(versions)
    assert [
        one.name for one in asked if versions.get(one.name, "") not in one.specifier
    ] == left_out


def test_the_newest_python_of_the_lock_is_the_one_that_the_project_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [one for one in project["classifiers"] if re.search(r":: 3\.\d+$", one)]
    newest = ".".join(map(str, bootstrap.NEWEST))

    assert named[-1].endswith(f":: {newest}")
    assert f"Python 3.11 to {newest}." in LOCK.read_text(encoding="utf-8")


@pytest.mark.promise("locked-action")
def test_the_lock_names_exact_versions_with_hashes_and_no_place_to_get_them() -> None:
    text = re.sub(r"^#.*\n", "", LOCK.read_text(encoding="utf-8"), flags=re.MULTILINE)
    entry = r"[a-z0-9-]+==[0-9.]+ \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+"

    assert re.fullmatch(f"({entry})+", text)


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

    names = [VARIABLES[0], *lists]  # of Discord, and of the lists
    assert set(workflow["on"]["workflow_call"]["secrets"]) == {"COMMANDSYNC_TOKEN", *names}
    assert environments["apply"] == {name: f"${{{{ secrets.{name} }}}}" for name in names}
    assert environments["drift"].items() <= environments["apply"].items()
    read = [name for name, each in lists.items() if each.facts.read.value is not Reads.NO]
    assert list(environments["drift"]) == [VARIABLES[0], *read]
    assert environments["plan"] == environments["current"] == {}


def test_an_approver_sees_the_current_plan(runner: Runner, service: Service) -> None:
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
        "plan": {"contents": "read", "deployments": "read", "pull-requests": "write"},
        "apply": {
            "actions": "read",
            "contents": "read",
            "deployments": "write",
            "pull-requests": "write",
            "statuses": "write",
        },
        "current": {"contents": "read", "deployments": "read"},
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


def _matches(path: str, pattern: str) -> bool:
    """Whether a filter of GitHub matches a path: `*` no slash, `**` any part."""
    parts = re.split(r"(\*\*|\*)", pattern)
    wild = {"*": "[^/]*", "**": ".*"}
    return re.fullmatch("".join(wild.get(p, re.escape(p)) for p in parts), path) is not None


def test_every_file_that_decides_starts_the_documented_workflows(home: Home) -> None:
    home.write(
        """\
version: 1
include: [commands/*.yaml]
import: {from: [list.json]}
listings: [{service: telegram, languages: {de: commands.de.yaml}}]
"""
    )
    home.write('[{"name": "ping", "description": "Says pong."}]', "list.json")
    home.write(
        "commands: [{name: play, description: Plays., syntax: /play}]", "commands/music.yaml"
    )
    home.write("play: Spielt.\n", "commands.de.yaml")
    home.run("import", exits=0)
    (manifest,) = load_manifests(["commands.yaml"], stdin=bytes)
    filters = [
        event["paths"]
        for workflow in workflows()
        for event in workflow[True].values()
        if isinstance(event, dict) and "paths" in event
    ]

    assert len(manifest.paths) == 4
    assert len(filters) == 4
    for patterns in filters:
        for path in (*manifest.paths, ".github/workflows/commands.yml"):
            assert any(_matches(path, pattern) for pattern in patterns), (path, patterns)


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
