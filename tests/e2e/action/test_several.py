"""Several manifests in one run of the Action."""

import json
from hashlib import sha256
from pathlib import Path

from tests.support.bots import Bot, Service
from tests.support.home import fields
from tests.support.hub import Hub
from tests.support.proxy import Instead, Proxy
from tests.support.runner import Runner, pull_request, push

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


def test_the_plans_of_several_manifests_are_one_comment_and_one_sum(
    runner: Runner, hub: Hub, service: Service
) -> None:
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


def test_a_variable_must_not_contradict_a_manifest_and_the_input_chooses(
    runner: Runner, service: Service
) -> None:
    lantern, harbor = service.bot(), service.bot()
    write(runner, lantern, "lantern", ("help",))
    runner.variables["COMMANDSYNC_BOT"] = harbor.id
    inputs = {"base_url": lantern.url, "file": "bots/lantern.yaml"}
    refused = runner.run(push(), **inputs)
    runner.variables["COMMANDSYNC_LANTERN"] = harbor.token
    chosen = runner.run(push(), bot=harbor.id, **inputs)
    both = runner.run(push(), bot=harbor.id, base_url=lantern.url, file="bots")

    assert (refused.code, refused.outputs["failure-reason"]) == (2, "invalid"), refused.log
    assert f"COMMANDSYNC_BOT is {harbor.id}, and bot:" in refused.log
    assert "the input bot" in refused.log
    assert chosen.code == both.code == 0, chosen.log
    assert "from the input" in chosen.log
    assert (lantern.names(), harbor.names()) == ([], ["help"])


def test_several_manifests_are_applied_each_with_its_own_token(
    runner: Runner, service: Service
) -> None:
    bots = two(runner, service)
    step = runner.run(push(), base_url=bots[0].url, **FILES)

    assert (step.code, step.outputs["result"]) == (0, "applied"), step.log
    assert [bot.names() for bot in bots] == [["help", "play"], ["dock", "sail"]]


def test_a_folder_of_manifests_is_several(runner: Runner, service: Service) -> None:
    bots = two(runner, service)
    step = runner.run(push(), base_url=bots[0].url, file="bots", apply="current")

    assert step.outputs["adds"] == "3", step.log


def test_one_that_fails_keeps_all_from_being_written(
    runner: Runner, service: Service, proxy: Proxy
) -> None:
    bots = two(runner, service)
    proxy.rule = lambda seen: Instead(404, {"error": "no bot"}) if bots[1].id in seen.path else None
    step = runner.run(push(), base_url=proxy.url, **FILES)

    assert (step.code, step.outputs["result"]) == (1, "failed"), step.log
    assert (step.outputs["failure-reason"], step.outputs["adds"]) == ("rejected", "1")
    assert "### Failed" in step.summary
    assert "### Plan: 1 to add" in step.summary
    assert proxy.writes == []


def test_a_problem_in_one_and_a_refusal_of_another_are_reported_as_the_exit_code_does(
    runner: Runner, service: Service, proxy: Proxy
) -> None:
    bots = service.bot([f"old{n}" for n in range(9)]), service.bot()
    write(runner, bots[0], "lantern", ("help",))
    write(runner, bots[1], "harbor", ("dock",))
    proxy.rule = lambda seen: Instead(404, {"error": "no bot"}) if bots[1].id in seen.path else None
    step = runner.run(pull_request(), base_url=proxy.url, **FILES)

    assert (step.code, step.outputs["failure-reason"]) == (5, "refused"), step.log


def test_one_token_for_two_bots_is_refused_before_anything_is_read(
    runner: Runner, service: Service, proxy: Proxy
) -> None:
    bots = two(runner, service)
    step = runner.run(push(), base_url=proxy.url, token=bots[0].token, **FILES)

    runner.write(fields(("help",)), "bots/lantern.yaml")
    runner.write(fields(("dock",)), "bots/harbor.yaml")
    shared = runner.run(push(), base_url=proxy.url, **FILES)

    for one in (step, shared):
        assert (one.code, one.outputs["failure-reason"]) == (5, "refused"), one.log
        assert "one token for" in one.annotations("error")[0].data
    assert proxy.requests == []


def test_one_bot_for_two_manifests_is_an_error(runner: Runner, service: Service) -> None:
    bots = two(runner, service)
    step = runner.run(pull_request(), base_url=bots[0].url, bot=bots[0].id, **FILES)

    assert (step.code, step.outputs["failure-reason"]) == (2, "invalid"), step.log
    assert "the input bot" in step.log
