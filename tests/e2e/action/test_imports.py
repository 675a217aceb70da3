"""import-check: a pull request whose manifest is not what its sources say fails."""

from __future__ import annotations

import json

import pytest

from commandsync.records.texts import CommandText
from commandsync.report.markdownfile import with_lists
from tests.support.bots import Service
from tests.support.home import fields
from tests.support.runner import Runner, other, pull_request

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

    assert (step.code, step.outputs["failure-reason"]) == (3, "outdated")
    assert (step.outputs["result"], step.outputs["unchanged"]) == ("failed", "0")
    (error,) = step.annotations("error")
    assert error.place == "list.json:1:2"
    assert error.data.startswith("ban ")
    assert "with its sources" in step.summary
    assert "Import: 1 to add" in step.log
    assert "1 not listed (`ban`)." in step.summary

    unchecked = outdated.run(pull_request(), **inputs)
    assert unchecked.outputs["result"] == "no-changes"


def test_a_manifest_that_is_up_to_date_is_only_validated(outdated: Runner) -> None:
    text = "version: 1\nimport: {from: list.json}\ncommands:\n- " + json.dumps(BAN)
    outdated.write(text)
    imported = {"version": 1, "commands": [BAN | {"source": "list.json"}]}
    outdated.write(json.dumps(imported, indent=2) + "\n", "commands.imported.json")
    step = outdated.run(other("workflow_dispatch"), import_check="true")
    outdated.write(f"{text}\n- {json.dumps(BAN | {'name': 'old'})}\n")
    by_hand = outdated.run(other("workflow_dispatch"), import_check="true")

    assert (step.code, by_hand.code) == (0, 0), step.log
    assert step.outputs["result"] == by_hand.outputs["result"] == "valid"
    assert "Code and" not in step.summary
    assert "1 not served (`old`)." in by_hand.summary


def test_what_is_registered_with_discord_is_not_read_in_a_check(runner: Runner) -> None:
    runner.write(MANIFEST.replace("list.json", "discord"))
    step = runner.run(other("workflow_dispatch"), import_check="true")

    assert (step.code, step.outputs["failure-reason"]) == (2, "invalid")
    assert "import-check" in step.log


def test_lists_in_documents_are_those_of_the_manifest_or_the_job_fails(
    runner: Runner, service: Service
) -> None:
    bot = service.bot(["help"])
    text = "# Bot\n\n<!-- commandsync:commands -->\n<!-- /commandsync:commands -->\n"
    runner.write(fields(("help",)))
    (runner.workspace / "README.md").write_text(text, encoding="utf-8")
    inputs = {"base_url": bot.url, "bot": bot.id, "docs_check": "README.md"}
    for event in (pull_request(), other("issues")):
        step = runner.run(event, **inputs)
        (error,) = step.annotations("error")

        assert (step.code, step.outputs["failure-reason"]) == (3, "outdated"), step.log
        assert error.place == "README.md:3:1"
        assert "1 list of commands" in step.summary
        assert "README.md:3:1: " in step.log

    file = with_lists(text, [CommandText("help", "Does it.", "/help")], path="README.md")
    (runner.workspace / "README.md").write_text(file.text, encoding="utf-8")
    assert runner.run(pull_request(), **inputs).outputs["result"] == "no-changes"
    assert runner.run(other("schedule"), issue="never", **inputs).code == 0


def test_a_check_of_documents_needs_one_manifest(runner: Runner) -> None:
    for name in ("a.yaml", "b.yaml"):
        runner.write(fields(("help",)), name)
    step = runner.run(pull_request(), file="a.yaml\nb.yaml", docs_check="README.md")

    assert step.code == 2
    assert "docs-check" in step.log
