"""import-check: a pull request whose manifest is not what its sources say fails."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.runner import other, pull_request

if TYPE_CHECKING:
    from tests.support.bots import Service
    from tests.support.runner import Runner

MANIFEST = "version: 1\nimport: {from: list.json}\ncommands: []\n"
BAN = {"name": "ban", "description": "Bans.", "syntax": "/ban"}


@pytest.fixture
def outdated(runner: Runner) -> Runner:
    runner.write(MANIFEST)
    runner.write(json.dumps([BAN]), "list.json")
    return runner


def test_a_manifest_that_is_out_of_date_fails_with_an_annotation_for_each_difference(
    outdated: Runner, service: Service
) -> None:
    bot = service.bot()
    inputs = {"base_url": bot.url, "bot": bot.id}
    step = outdated.run(pull_request(), import_check="true", **inputs)

    assert step.code == 3
    assert step.outputs["result"] == "failed"
    assert step.outputs["failure-reason"] == "outdated"
    assert step.outputs["unchanged"] == "0"
    (error,) = step.annotations("error")
    assert error.place == "list.json:1:2"
    assert error.data.startswith("ban is not in commands.yaml")
    assert "The manifest is not up to date with its sources" in step.summary
    assert "Import: 1 to add, 0 to edit, 0 to remove, 0 to review, 0 unchanged." in step.log

    unchecked = outdated.run(pull_request(), **inputs)
    assert unchecked.outputs["result"] == "no-changes"


def test_a_manifest_that_is_up_to_date_is_only_validated(outdated: Runner) -> None:
    outdated.write("version: 1\nimport: {from: list.json}\ncommands:\n- " + json.dumps(BAN))
    imported = {"version": 1, "commands": [BAN | {"source": "list.json"}]}
    outdated.write(json.dumps(imported, indent=2) + "\n", "commands.imported.json")
    step = outdated.run(other("workflow_dispatch"), import_check="true")

    assert step.code == 0, step.log
    assert step.outputs["result"] == "valid"


def test_what_is_registered_with_discord_is_not_read_in_a_check(runner: Runner) -> None:
    runner.write(MANIFEST.replace("list.json", "discord"))
    step = runner.run(other("workflow_dispatch"), import_check="true")

    assert step.code == 2
    assert step.outputs["failure-reason"] == "invalid"
    assert "import-check reads files and code" in step.log
