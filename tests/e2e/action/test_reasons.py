"""Why a run failed: each word of the output failure-reason, with its exit code."""

import os
import signal
from typing import NoReturn

import pytest

from commandsync.action import reporter
from commandsync.action import run as action_run
from commandsync.sync import apply as sync_apply
from tests.support.bots import Instead, Proxy, Service
from tests.support.home import fields
from tests.support.rawserver import Request
from tests.support.runner import Hub, Runner, Step, other, pull_request, push


def why(step: Step) -> tuple[int, str, str]:
    assert step.outputs["result"] == "failed", step.log
    return step.code, step.outputs["failure-reason"], step.outputs["changed"]


def broken(*_: object, **__: object) -> NoReturn:
    raise ZeroDivisionError("::error::marked\n##[error]marked")


@pytest.mark.parametrize(
    ("status", "at_writes", "reason", "changed"),
    [
        (429, False, "rate-limited", ""),
        (429, True, "rate-limited", "false"),
        *((status, True, "rejected", "false") for status in (400, 409, 422)),
    ],
)
def test_what_the_service_refuses_before_anything_is_written_has_its_reason(
    *,
    runner: Runner,
    service: Service,
    proxy: Proxy,
    status: int,
    at_writes: bool,
    reason: str,
    changed: str,
) -> None:
    bot = service.bot()
    refusal = Instead(status, {"error": "no"}, {"Retry-After": "3600"})
    proxy.rule = lambda seen: refusal if seen.writes or not at_writes else None
    runner.write(fields(("help",)))
    step = runner.run(push(), base_url=proxy.url, bot=bot.id, token=bot.token)

    assert why(step) == (1, reason, changed)
    assert bot.names() == []


def test_what_is_done_in_part_is_incomplete(runner: Runner, service: Service, proxy: Proxy) -> None:
    bot = service.bot()

    def rule(seen: Request) -> Instead | None:
        refused = seen.writes and seen.json["name"] == "ping"
        return Instead(400, {"error": "no"}) if refused else None

    proxy.rule = rule
    runner.write(fields(("help",), ("ping",)))
    step = runner.run(push(), base_url=proxy.url, bot=bot.id, token=bot.token)
    proxy.rule = lambda _: None
    runner.run(push(), base_url=proxy.url, bot=bot.id, token=bot.token, ends="0 applied")

    assert why(step) == (6, "incomplete", "true")
    assert [one.place for one in step.annotations("error")] == ["commands.yaml:6:5"]
    assert bot.names() == ["help", "ping"]


@pytest.mark.skipif(os.name == "nt", reason="the runner does not send signals there")
def test_a_cancelled_read_changes_nothing(runner: Runner, service: Service, proxy: Proxy) -> None:
    bot = service.bot()
    proxy.rule = lambda _: os.kill(os.getpid(), signal.SIGTERM)
    runner.write(fields(("help",)))
    step = runner.run(push(), base_url=proxy.url, bot=bot.id, token=bot.token)

    assert why(step) == (143, "incomplete", "")
    assert "interrupted" in step.summary
    assert bot.names() == []


def test_a_defect_is_reported_and_fails(
    runner: Runner, hub: Hub, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = service.bot()
    runner.write(fields(("help",)))
    monkeypatch.setattr(action_run, "plan_jobs", broken)
    step = runner.run(pull_request(), base_url=bot.url, bot=bot.id)

    assert why(step) == (1, "defect", "")
    (error,) = step.annotations("error")
    assert "defect in commandsync: ZeroDivisionError" in error.data
    assert "defect in commandsync" in step.summary
    assert r"##\[error]marked" in step.log
    assert hub.comments == []


def test_a_defect_while_writing_is_incomplete(
    runner: Runner, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = service.bot()
    runner.write(fields(("help",)))
    monkeypatch.setattr(sync_apply, "drive", broken)
    step = runner.run(push(), base_url=bot.url, bot=bot.id, token=bot.token)

    assert why(step) == (6, "incomplete", "true")


@pytest.mark.parametrize(
    ("mode", "code", "reason"), [("apply", 6, "incomplete"), ("plan", 1, "defect")]
)
def test_a_defect_while_reporting_fails_the_run(
    runner: Runner,
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    code: int,
    reason: str,
) -> None:
    bot = service.bot()
    runner.write(fields(("help",)))
    inputs = {"mode": mode, "base_url": bot.url, "bot": bot.id, "token": bot.token}
    with monkeypatch.context() as patched:
        patched.setattr(reporter, "_summarise", broken)
        step = runner.run(other("workflow_dispatch"), **inputs)
    again = runner.run(other("workflow_dispatch"), **inputs, ends="0")

    assert why(step) == (code, reason, "true")
    assert "ZeroDivisionError" in step.annotations("error")[-1].data
    assert again.outputs["result"] == ("no-changes" if mode == "apply" else "changes")


def test_a_workspace_that_is_not_there_is_reported(runner: Runner) -> None:
    runner.variables["GITHUB_WORKSPACE"] = str(runner.folder / "none")

    step = runner.run(pull_request())

    assert why(step) == (2, "invalid", "")
    assert "GITHUB_WORKSPACE" in step.annotations("error")[0].data


def test_a_checkout_that_was_forgotten_is_named(runner: Runner) -> None:
    step = runner.run(pull_request())

    assert why(step) == (2, "invalid", "")
    assert "not checked out" in step.annotations("error")[0].data
    assert "actions/checkout" in step.summary


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_link_to_nothing_is_named(runner: Runner) -> None:
    (runner.workspace / "commands.yaml").symlink_to("gone.yaml")
    step = runner.run(pull_request())

    assert why(step)[1] == "invalid"
    assert "a link to" in step.annotations("error")[0].data


def test_a_secret_that_is_not_there_is_named(runner: Runner, service: Service) -> None:
    bot = service.bot()
    runner.write(fields(("help",)))
    step = runner.run(push(), base_url=bot.url, bot=bot.id, token="")

    assert why(step) == (2, "invalid", "")
    assert "COMMANDSYNC_TOKEN are empty" in step.summary


def test_every_hint_names_inputs(runner: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot(["ping", "pong", "poll", "roll", "toll"])
    runner.write(fields(("help",)))
    step = runner.run(pull_request(), base_url=bot.url, bot=bot.id, apply="current")
    (comment,) = hub.ours

    assert why(step)[1] == "refused"
    for shown in (step.log, step.annotations("error")[0].data, step.summary, comment):
        assert "input max-deletes: all" in shown
        assert "--max-deletes" not in shown


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("working_directory", "none", "working-directory is not a folder: 'none'"),
        ("file", "-", "the input file is '-'"),
        ("file", "none.yaml", "the file does not exist"),
    ],
)
def test_a_missing_file_is_named(runner: Runner, name: str, value: str, message: str) -> None:
    runner.write(fields(("help",)))
    step = runner.run(pull_request(), **{name: value})

    assert why(step)[1] == "invalid"
    assert message in step.annotations("error")[0].data
