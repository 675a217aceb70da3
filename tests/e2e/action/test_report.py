"""What a run leaves: outputs, files, the summary, annotations, the comment, a backup."""

import os
import signal
from pathlib import Path

import pytest

from commandsync.report.github import LONGEST_SUMMARY
from tests.support.bots import Bot, Service
from tests.support.home import fields
from tests.support.runner import (
    JOBS_OWN,
    SHA,
    Answer,
    Event,
    Hub,
    Runner,
    other,
    pull_request,
    push,
)

LONGEST_COMMENT = 65_536  # characters that GitHub takes
MERGED = [7]


def knows(runner: Runner, bot: Bot) -> dict[str, str]:
    runner.write(fields(("help",)))
    return {"base_url": bot.url, "bot": bot.id, "apply": "current"}


def test_only_always_comments_without_changes(runner: Runner, hub: Hub, service: Service) -> None:
    inputs = knows(runner, service.bot(["help"]))
    quiet = runner.run(pull_request(), **inputs)
    step = runner.run(pull_request(), comment="always", **inputs)

    assert quiet.outputs["comment-url"] == ""
    assert step.outputs["comment-url"] == hub.comments[0]["html_url"]
    assert "0 to add, 0 to edit, 0 to delete, 1 unchanged" in hub.ours[0]


def test_a_comment_follows_to_no_changes(runner: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot()
    inputs = knows(runner, bot)
    runner.run(pull_request(), **inputs)
    runner.run(pull_request(), **inputs)
    begun = len(hub.writes)
    bot.post("commands", name="help", description="Does it.", syntax="/help")
    runner.run(pull_request(), **inputs)

    assert (begun, len(hub.writes)) == (1, 2)
    assert "0 to add" in hub.ours[0]


@pytest.mark.parametrize("event", [pull_request(), push()], ids=["pull_request", "push"])
def test_never_is_never(runner: Runner, hub: Hub, service: Service, event: Event) -> None:
    bot = service.bot()
    hub.merged[SHA] = MERGED
    inputs = knows(runner, bot)
    step = runner.run(event, comment="never", token=bot.token, **inputs, ends="0")

    assert not [request for request in hub.requests if "comments" in request.path]
    assert step.summary


def test_a_fork_cannot_comment_always(runner: Runner, hub: Hub, service: Service) -> None:
    hub.read_only = True
    inputs = knows(runner, service.bot())
    step = runner.run(pull_request(head="stranger/bots"), comment="always", **inputs, ends="0")

    (warning,) = step.annotations("warning")
    assert "GitHub answers 403: Resource not accessible by integration" in warning.data


def test_a_comment_needs_the_token_of_github(runner: Runner, service: Service) -> None:
    inputs = knows(runner, service.bot())
    step = runner.run(pull_request(), github_token="", **inputs, ends="0")

    assert "no github-token" in step.annotations("warning")[0].data


@pytest.mark.promise("github-answers")
@pytest.mark.parametrize("path", ["graphql", "comments", "statuses"])
@pytest.mark.parametrize("content", [None, [1], {"data": {"repository": "x"}}], ids=repr)
def test_an_answer_of_a_wrong_type_changes_no_result_of_an_apply(
    runner: Runner, hub: Hub, service: Service, content: object, path: str
) -> None:
    bot = service.bot()
    hub.merged[SHA] = MERGED
    answer: Answer = (200, content if content is not None else b"null", {})
    hub.rule = lambda request: answer if path in request else None
    step = runner.run(push(), token=bot.token, **knows(runner, bot), ends="0 applied")

    assert bot.names() == ["help"]
    assert "defect" not in step.log
    assert step.annotations("error") == []


@pytest.mark.promise("github-answers")
@pytest.mark.parametrize("content", [None, {}, [5], [{"user": {"login": JOBS_OWN}, "body": 5}]])
def test_an_answer_of_a_wrong_type_about_an_issue_changes_no_result_of_a_check(
    runner: Runner, hub: Hub, service: Service, content: object
) -> None:
    inputs = knows(runner, service.bot())
    answer: Answer = (200, content if content is not None else b"null", {})
    hub.rule = lambda request: answer if "issues" in request else None
    inputs |= {"mode": "drift", "fail_on": "error"}
    step = runner.run(other("schedule"), **inputs, ends="0")

    assert (
        step.outputs["result"]
        == runner.run(other("schedule"), issue="never", **inputs).outputs["result"]
    )
    assert "defect" not in step.log


def test_a_file_that_cannot_be_written_is_a_warning(runner: Runner, service: Service) -> None:
    inputs = knows(runner, service.bot())
    runner.variables["GITHUB_STEP_SUMMARY"] = str(runner.folder)
    runner.write("", "file")
    runner.variables["RUNNER_TEMP"] = str(runner.workspace / "file")
    step = runner.run(pull_request(), **inputs)

    plan, summary = [one.data for one in step.annotations("warning")]
    assert (step.code, step.outputs["result"], step.outputs["adds"]) == (0, "changes", "1")
    assert step.outputs["plan-file"] == ""
    assert ("plan's files" in plan, "GITHUB_STEP_SUMMARY" in summary) == (True, True)


def test_a_long_plan_names_where_the_rest_is(runner: Runner, hub: Hub, service: Service) -> None:
    inputs = knows(runner, service.bot())
    runner.write(fields(*((f"command-{n}", f"Does {'so ' * 20}much.") for n in range(700))))
    step = runner.run(pull_request(), **inputs)
    nearly_full = runner.folder / "summary.md"
    nearly_full.write_bytes(b"-" * (LONGEST_SUMMARY - 50_000))
    runner.variables["GITHUB_STEP_SUMMARY"] = str(nearly_full)
    runner.run(pull_request(), **inputs)

    (comment,) = hub.ours
    assert step.outputs["adds"] == "700"
    assert 50_000 < len(comment) < LONGEST_COMMENT
    assert comment.endswith("/actions/runs/4211).*\n")
    assert "command-699" in step.summary
    assert LONGEST_SUMMARY - 1_000 < nearly_full.stat().st_size < LONGEST_SUMMARY
    assert "plan-markdown-file" in nearly_full.read_text(encoding="utf-8").splitlines()[-1]


def test_a_result_is_in_the_plans_comment(runner: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot([{"name": "help", "description": "Old.", "syntax": "/help"}, "gone"])
    hub.merged[SHA] = MERGED
    manifest = fields(("help", "New.", "/help", "Fun"))
    runner.write(f'bot: "{bot.id}"\n' + manifest)
    planned = runner.run(pull_request(), base_url=bot.url, apply="current")
    (plan,) = hub.ours
    applied = runner.run(push(), base_url=bot.url, token=bot.token, apply="current")

    (comment,) = hub.ours
    assert applied.outputs["comment-url"] == planned.outputs["comment-url"] != ""
    for body in (plan, comment):
        assert f"\n\nCommit {SHA}, [run](https://github.com/octo/bots/actions/runs/4211)\n" in body
        line = f"https://github.com/octo/bots/blob/{SHA}/commands.yaml#L4"
        place = f"[`commands.yaml:4:5`]({line})"
        assert f"| `help` | {place} | description | `Old.` | `New.` |" in body
        assert f"| `help` | {place} | category | *empty* | `Fun` |" in body
        assert "| `gone` **(7 uses go with it)** |" in body
    markers = [body.partition("\n")[0] for body in (plan, comment)]
    assert markers[1] == markers[0].replace(" -->", ":applied -->")


def test_an_invalid_manifest_is_in_the_comment(runner: Runner, hub: Hub, service: Service) -> None:
    inputs = knows(runner, service.bot())
    runner.run(pull_request(), **inputs)
    runner.write("version: 1\ncommands: 7\n")
    runner.run(pull_request(), **inputs, ends="4")
    (failed,) = hub.ours
    knows(runner, service.bot())
    runner.run(pull_request(), **inputs)

    assert "### Failed" in failed
    (comment,) = hub.ours
    assert "Plan: 1 to add" in comment


@pytest.mark.skipif(os.name == "nt", reason="there a killed process is another thing")
def test_a_killed_report_is_made_by_the_next_run(shell: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot()
    inputs = knows(shell, bot)
    kill_at = "POST /repos"  # the comment is written, and nobody learns of it

    def rule(request: str) -> None:
        if kill_at and request.startswith(kill_at):
            os.kill(process.pid, signal.SIGKILL)

    hub.rule = rule
    process, files = shell.start(pull_request(), **inputs)
    killed = shell.ended(process, files, process.communicate(timeout=60)[0])
    written = list(hub.ours)
    kill_at = "PATCH /repos"  # applied, and nobody learns of it
    hub.merged[SHA] = MERGED
    process, files = shell.start(push(), token=bot.token, **inputs)
    dead = shell.ended(process, files, process.communicate(timeout=60)[0])
    kill_at = ""
    shell.run(push(), token=bot.token, **inputs, ends="0 no-changes")

    assert (killed.code, killed.outputs["result"], len(written)) == (-9, "changes", 1)
    assert (dead.code, dead.outputs["result"], bot.names()) == (-9, "applied", ["help"])
    assert "Apply: 1 done" in hub.ours[0]
    assert len(hub.comments) == 1


def test_without_a_runner_the_log_has_everything(runner: Runner, service: Service) -> None:
    inputs = knows(runner, service.bot())
    names = ("GITHUB_WORKSPACE", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "RUNNER_TEMP")
    runner.variables |= dict.fromkeys(names, "")
    inputs["working_directory"] = str(runner.workspace)
    step = runner.run(other("schedule"), annotations="false", **inputs, ends="3")

    assert "Plan: 1 to add" in step.log
    assert (step.outputs["result"], step.summary) == ("", "")


def test_a_backup_of_an_apply_brings_it_back(runner: Runner, service: Service) -> None:
    bot = service.bot(["help", "gone"])
    inputs = {"base_url": bot.url, "bot": bot.id, "token": bot.token, "apply": "current"}
    runner.write(fields(("help",)))
    planned = runner.run(pull_request(), **inputs)
    applied = runner.run(push(), **inputs)
    again = runner.run(push(), **inputs)
    backup = applied.outputs["backup-file"]
    runner.run(push(), **inputs | {"file": backup}, ends="0 applied")

    assert planned.outputs["backup-file"] == again.outputs["backup-file"] == ""
    assert Path(backup).is_relative_to(runner.temp)
    assert bot.names() == ["help", "gone"]


@pytest.mark.skipif(os.name == "nt", reason="a folder is not read-only there")
def test_without_its_backup_nothing_is_applied(runner: Runner, service: Service) -> None:
    bot = service.bot(["help"])
    runner.write(fields(("help", "New.")))
    runner.variables["RUNNER_TEMP"] = str(runner.workspace / "missing")
    step = runner.run(push(), base_url=bot.url, bot=bot.id, token=bot.token, ends="1 failed")

    assert "no such file" in step.log
    assert step.outputs["changed"] == ""
    assert [command["description"] for command in bot.commands()] != ["New."]
