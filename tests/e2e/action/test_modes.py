"""What each event does by itself, and with several manifests."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.bots import Bot, Proxy, Service
from tests.support.home import fields
from tests.support.runner import SHA, Event, Hub, Runner, other, pull_request, push


def knows(runner: Runner, bot: Bot) -> dict[str, str]:
    runner.write(fields(("help", "Shows the help."), ("ping",)))
    return {"base_url": bot.url, "bot": bot.id, "apply": "current"}


def test_a_pull_request_gets_one_comment(shell: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot(["help", "gone"])
    step = shell.run(pull_request(), **knows(shell, bot), ends="0")

    empty = ("comment-file", "pull-request", "issue-url", "backup-file")
    others = ("key", "fingerprint", "plan-file", "plan-markdown-file")
    assert step.outputs == {
        "result": "changes",
        "failure-reason": "",
        "changed": "true",
        "adds": "1",
        "edits": "1",
        "deletes": "1",
        "unchanged": "0",
        "comment-url": hub.comments[0]["html_url"],
        **dict.fromkeys(empty, ""),
        **{name: step.outputs[name] for name in others},
    }
    saved = json.loads(Path(step.outputs["plan-file"]).read_text(encoding="utf-8"))
    assert saved["fingerprint"] == step.outputs["fingerprint"]
    assert saved["summary"]["add"] == 1
    (comment,) = hub.ours
    assert comment.startswith("<!-- commandsync:")
    assert Path(step.outputs["plan-markdown-file"]).read_text(encoding="utf-8").strip() in comment
    assert "Plan: 1 to add, 1 to edit, 1 to delete, 0 unchanged." in step.summary
    assert [one.place for one in step.annotations("notice")] == ["commands.yaml:1:1"]
    assert bot.names() == ["help", "gone"]


def test_a_push_applies_and_tells_the_request(shell: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot(["help"])
    inputs = knows(shell, bot)
    shell.run(pull_request(), **inputs)
    hub.merged[SHA] = [7]
    step = shell.run(push(), token=bot.token, **inputs, ends="0 applied")

    assert step.outputs["changed"] == "true"
    assert bot.names() == ["help", "ping"]
    (comment,) = hub.ours
    assert "Apply: 2 done" in comment
    assert step.outputs["comment-url"] == hub.comments[0]["html_url"]
    assert "Apply: 2 done" in step.summary
    assert bot.token not in step.log.replace(f"::add-mask::{bot.token}\n", "")


@pytest.mark.parametrize(
    ("machine", "fail_on", "code"),
    [("shell", "", 3), ("runner", "changes", 3), ("runner", "error", 0)],
    ids=["default", "changes", "error"],
)
def test_a_schedule_checks_for_drift(
    request: pytest.FixtureRequest,
    hub: Hub,
    service: Service,
    machine: str,
    fail_on: str,
    code: int,
) -> None:
    runner = request.getfixturevalue(machine)
    bot = service.bot(["help"])
    step = runner.run(other("schedule"), fail_on=fail_on, **knows(runner, bot))

    assert (step.code, step.outputs["result"]) == (code, "changes"), step.log
    (warning,) = step.annotations("warning")
    assert warning.properties["title"] == "Drift"
    assert "1 to add, 1 to edit" in warning.data
    assert "1 to add, 1 to edit" in step.summary
    assert "**Drift**" in step.summary
    assert bot.names() == ["help"]
    assert hub.comments == []


@pytest.mark.parametrize(
    ("machine", "event"),
    [
        ("runner", push("feature")),
        ("shell", other("workflow_dispatch")),
        ("runner", other("pull_request_target")),
        ("runner", push(kind="tags")),
    ],
    ids=["push elsewhere", "workflow_dispatch", "pull_request_target", "tag"],
)
def test_anything_else_is_only_validated(
    request: pytest.FixtureRequest, service: Service, machine: str, event: Event
) -> None:
    runner = request.getfixturevalue(machine)
    bot = service.bot(["gone"])
    step = runner.run(event, token=bot.token, **knows(runner, bot), ends="0 valid")

    assert step.outputs["plan-file"] == ""
    assert "2 commands" in step.summary
    assert bot.names() == ["gone"]


def test_without_a_service_and_a_bot_their_inputs_are_named(runner: Runner) -> None:
    runner.write(fields(("help",)))
    no_service = runner.run(pull_request())
    no_bot = runner.run(pull_request(), base_url="http://127.0.0.1:9")

    assert "input base-url" in no_service.summary
    assert "input bot" in no_bot.log
    assert "--" not in no_service.log + no_bot.log


def test_a_wrong_token_is_reported_from_other_failures(runner: Runner, service: Service) -> None:
    bot = service.bot()
    step = runner.run(push(), token="marked-wrong-token", **knows(runner, bot), ends="1 auth")

    assert step.outputs["changed"] == "false"
    assert bot.names() == []


def test_a_service_without_a_way_to_it_is_a_network_failure(runner: Runner, proxy: Proxy) -> None:
    runner.write(fields(("help",)))
    runner.variables["COMMANDSYNC_BASE_URL"] = proxy.url.replace("http:", "https:")
    step = runner.run(pull_request(), bot="42", ends="1 network")

    assert step.outputs["changed"] == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [("mode", "destroy"), ("summary", "yes"), ("prune", "True"), ("max-deletes", "many")],
)
def test_an_invalid_input_is_named(runner: Runner, name: str, value: str) -> None:
    runner.write(fields(("help",)))
    step = runner.run(other("workflow_dispatch"), **{name: value}, ends="2 invalid")

    assert f"the input {name} is" in step.annotations("error")[0].data


def test_an_invalid_input_is_all_that_is_reported(runner: Runner, hub: Hub) -> None:
    runner.write(fields(("help",)))
    step = runner.run(pull_request(), mode="destroy", comment="never")

    assert len(step.annotations("error")) == 1
    assert step.annotations("warning") == []
    assert hub.requests == []


FILES = {"file": "lantern.yaml\nharbor.yaml", "working_directory": "bots", "apply": "current"}


def write(runner: Runner, bot: Bot, name: str, *records: tuple[str, ...]) -> None:
    said = f'bot: "{bot.id}"\ntoken_env: COMMANDSYNC_{name.upper()}\n'
    runner.write(said + fields(*records), f"bots/{name}.yaml")
    runner.variables[f"COMMANDSYNC_{name.upper()}"] = bot.token


def two(runner: Runner, service: Service) -> tuple[Bot, Bot]:
    bots = service.bot(["help", "old"]), service.bot()
    write(runner, bots[0], "lantern", ("help",), ("play",))
    write(runner, bots[1], "harbor", ("dock",), ("sail",))
    return bots


def test_several_plans_are_one_comment(runner: Runner, hub: Hub, service: Service) -> None:
    bots = two(runner, service)
    step = runner.run(pull_request(), base_url=bots[0].url, **FILES)
    again = runner.run(pull_request(), base_url=bots[0].url, **FILES)

    counts = [step.outputs[name] for name in ("adds", "edits", "deletes", "unchanged")]
    document = json.loads(Path(step.outputs["plan-file"]).read_text(encoding="utf-8"))
    assert counts == ["3", "0", "1", "1"], step.log
    assert [one["bot"] for one in document["results"]] == [bot.id for bot in bots]
    joined = "\n".join(one["fingerprint"] for one in document["results"])
    assert step.outputs["fingerprint"] == f"sha256:{sha256(joined.encode()).hexdigest()}"
    assert step.outputs["fingerprint"] == again.outputs["fingerprint"]
    assert step.annotations("notice")[0].place == "bots/lantern.yaml:1:1"
    (comment,) = hub.ours
    assert comment.count("### Plan: ") == step.summary.count("### Plan: ") == 2


def test_a_variable_must_not_contradict_a_manifest(runner: Runner, service: Service) -> None:
    lantern, harbor = service.bot(), service.bot()
    write(runner, lantern, "lantern", ("help",))
    runner.variables["COMMANDSYNC_BOT"] = harbor.id
    inputs = {"base_url": lantern.url, "file": "bots/lantern.yaml"}
    refused = runner.run(push(), **inputs, ends="2 invalid")
    runner.variables["COMMANDSYNC_LANTERN"] = harbor.token
    chosen = runner.run(push(), bot=harbor.id, **inputs)
    both = runner.run(push(), bot=harbor.id, base_url=lantern.url, file="bots")

    assert f"COMMANDSYNC_BOT is {harbor.id}, and bot:" in refused.log
    assert "the input bot" in refused.log
    assert chosen.code == both.code == 0, chosen.log
    assert "from the input" in chosen.log
    assert (lantern.names(), harbor.names()) == ([], ["help"])


def test_one_token_for_two_bots_is_refused(runner: Runner, service: Service, proxy: Proxy) -> None:
    bots = two(runner, service)
    step = runner.run(push(), base_url=proxy.url, token=bots[0].token, **FILES)

    runner.write(fields(("help",)), "bots/lantern.yaml")
    runner.write(fields(("dock",)), "bots/harbor.yaml")
    shared = runner.run(push(), base_url=proxy.url, **FILES)

    for one in (step, shared):
        assert (one.code, one.outputs["failure-reason"]) == (5, "refused"), one.log
        assert "one token for" in one.annotations("error")[0].data
    assert proxy.requests == []
