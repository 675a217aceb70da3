"""What was listed before an apply, as a file."""

import os
from pathlib import Path

import pytest

from tests.support.bots import Service
from tests.support.home import fields
from tests.support.runner import Runner, pull_request, push


def test_before_an_apply_what_is_listed_is_written_and_brings_it_back(
    runner: Runner, service: Service
) -> None:
    bot = service.bot(["help", "gone"])
    inputs = {"base_url": bot.url, "bot": bot.id, "token": bot.token, "apply": "current"}
    runner.write(fields(("help",)))
    planned = runner.run(pull_request(), **inputs)
    applied = runner.run(push(), **inputs)
    again = runner.run(push(), **inputs)
    backup = applied.outputs["backup-file"]
    back = runner.run(push(), **inputs | {"file": backup})

    assert planned.outputs["backup-file"] == again.outputs["backup-file"] == ""
    assert Path(backup).is_relative_to(runner.temp)
    assert back.outputs["result"] == "applied", back.log
    assert bot.names() == ["help", "gone"]


@pytest.mark.skipif(os.name == "nt", reason="a folder is not read-only there")
def test_without_its_backup_nothing_is_applied(runner: Runner, service: Service) -> None:
    bot = service.bot(["help"])
    runner.write(fields(("help", "New.")))
    runner.variables["RUNNER_TEMP"] = str(runner.workspace / "missing")
    step = runner.run(push(), base_url=bot.url, bot=bot.id, token=bot.token)

    assert (step.code, step.outputs["result"]) == (1, "failed"), step.log
    assert "no such file" in step.log
    assert step.outputs["changed"] == ""
    assert [command["description"] for command in bot.commands()] != ["New."]
