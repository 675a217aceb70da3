"""Where the token goes: a proposal does not decide it, and what it changes of it is marked."""

from pathlib import Path

import pytest

from tests.support.bots import Bot, Service
from tests.support.home import fields
from tests.support.hub import Hub
from tests.support.proxy import Proxy
from tests.support.runner import BASE_SHA, Event, Runner, other, pull_request, push
from tests.support.wording import Wording

GROUP = Event("merge_group", {"merge_group": {"base_sha": BASE_SHA}})
EMPTY = Event("pull_request", {}, {"GITHUB_REF": "refs/pull/7/merge"})


def manifest(bot: Bot, url: str, *lines: str) -> str:
    head = [f'bot: "{bot.id}"', *([f"base_url: {url}"] if url else []), *lines]
    return "\n".join(head) + "\n" + fields(("help",))


@pytest.mark.parametrize("event", [pull_request(), GROUP], ids=["pull request", "merge queue"])
def test_a_token_goes_where_the_base_branch_says(
    runner: Runner, service: Service, event: Event
) -> None:
    bot = service.bot()
    runner.write(manifest(bot, bot.url))
    runner.base = {"commands.yaml": manifest(bot, f"{bot.url}/v1/")}
    step = runner.run(event, token=bot.token)

    assert (step.code, step.outputs["result"]) == (0, "changes"), step.log
    assert "changes" not in step.summary.splitlines()[0]


@pytest.mark.parametrize(
    ("event", "mode"),
    [
        (pull_request(), "auto"),
        (pull_request(head="stranger/bots"), "auto"),
        (pull_request(), "apply"),
        (Event("pull_request_target", pull_request().payload), "plan"),
        (GROUP, "auto"),
        (EMPTY, "plan"),
    ],
)
def test_a_token_does_not_go_where_only_a_proposal_says(
    runner: Runner, service: Service, proxy: Proxy, event: Event, mode: str
) -> None:
    bot = service.bot()
    runner.write(manifest(bot, proxy.url))
    runner.base = {"commands.yaml": manifest(bot, "https://listing.example")}
    step = runner.run(event, mode=mode, token=bot.token)

    assert (step.code, step.outputs["failure-reason"]) == (5, "refused"), step.log
    assert proxy.requests == []
    (error,) = step.annotations("error")
    assert "base-url" in error.data
    assert event is EMPTY or "https://listing.example" in error.data


def test_the_variable_of_a_proposal_is_a_token_too_and_a_new_manifest_decides_nothing(
    runner: Runner, service: Service, proxy: Proxy, wording: Wording
) -> None:
    bot = service.bot()
    runner.variables["COMMANDSYNC_MINE"] = bot.token
    runner.write(manifest(bot, proxy.url, "token_env: COMMANDSYNC_MINE"))
    new = runner.run(pull_request())
    given = runner.run(pull_request(), base_url=bot.url)
    runner.base = {"commands.yaml": "version: 2\n"}
    invalid = runner.run(pull_request())
    runner.has_base = False
    shallow = runner.run(pull_request())

    assert [step.code for step in (new, given, invalid, shallow)] == [5, 0, 5, 5]
    assert proxy.requests == []
    for step in (new, invalid, shallow):
        wording(step.annotations("error")[0].data.replace(proxy.url, "https://new.example"))


def test_without_a_token_or_with_the_urls_own_input_nothing_is_refused(
    runner: Runner, service: Service
) -> None:
    bot = service.bot()
    runner.write(manifest(bot, bot.url))
    runner.has_base = False
    anonymous = runner.run(pull_request())
    runner.variables["COMMANDSYNC_BASE_URL"] = bot.url
    given = runner.run(pull_request(), token=bot.token)

    assert (anonymous.code, given.code) == (0, 0), anonymous.log + given.log
    assert BASE_SHA in anonymous.log


def test_a_merged_manifest_decides(runner: Runner, service: Service) -> None:
    bot = service.bot()
    runner.write(manifest(bot, bot.url))
    applied = runner.run(push(), token=bot.token)
    checked = runner.run(other("schedule"), token=bot.token)

    assert (applied.outputs["result"], checked.outputs["result"]) == ("applied", "no-changes")


def test_another_bot_of_the_same_service_is_marked_and_not_refused(
    runner: Runner, service: Service
) -> None:
    bot = service.bot()
    runner.write(manifest(bot, bot.url))
    runner.base = {"commands.yaml": manifest(service.bot(), bot.url)}
    step = runner.run(pull_request(), token=bot.token)
    fork = runner.run(pull_request(head="stranger/bots"))
    comment = Path(fork.outputs["comment-file"]).read_text(encoding="utf-8")

    assert (step.code, step.outputs["result"]) == (0, "changes"), step.log
    for page in (step.summary, fork.summary, comment):
        assert page.splitlines()[0].endswith(" changes `bot`")


def test_what_a_proposal_changes_of_it_is_in_the_comments_first_line(
    runner: Runner, hub: Hub, service: Service
) -> None:
    bot = service.bot()
    runner.write(manifest(bot, bot.url, "token_env: COMMANDSYNC_MINE"))
    runner.base = {"commands.yaml": manifest(bot, "https://listing.example")}
    step = runner.run(pull_request(), label="lantern")

    assert step.code == 0, step.log
    (comment,) = hub.ours
    first = "## commandsync: `lantern`: this pull request changes `base_url`, `token_env`"
    assert comment.splitlines()[1] == step.summary.splitlines()[0] == first
    assert f"`base_url` was `https://listing.example` and is `{bot.url}`." in comment
    assert "`token_env` was not set and is `COMMANDSYNC_MINE`." in comment
    assert [each.place for each in step.annotations("warning")] == ["commands.yaml:1:1"] * 2


def test_a_first_manifest_and_what_an_input_overrides_are_no_alarm(
    runner: Runner, service: Service
) -> None:
    bot = service.bot()
    runner.write(manifest(bot, bot.url))
    first = runner.run(pull_request())
    runner.base = {"commands.yaml": manifest(service.bot(), "https://listing.example")}
    overridden = runner.run(pull_request(), base_url=bot.url, bot=bot.id)
    marked = runner.run(pull_request(), base_url=bot.url)

    for step in (first, overridden):
        assert (step.code, step.annotations("warning")) == (0, []), step.log
        assert step.summary.startswith("## commandsync\n")
    assert marked.summary.splitlines()[0].endswith(" changes `bot`")
