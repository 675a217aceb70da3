"""What was reviewed is what is applied: an apply is compared with our comments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.home import fields
from tests.support.runner import SHA, other, pull_request, push

if TYPE_CHECKING:
    from tests.support.bots import Bot, Service
    from tests.support.hub import Hub
    from tests.support.runner import Event, Runner, Step

MERGED = [{"number": 7, "merged_at": "2026-01-02T00:00:00Z"}]
KEPT = [f"kept{n}" for n in range(9)]
NO_COMMENT = "No comment shows a reviewed plan, so the current plan is applied."


def wanted(*names: str) -> str:
    return fields(*((name,) for name in (*names, *KEPT)))


def planned(runner: Runner, bot: Bot, hub: Hub) -> dict[str, str]:
    """Let a pull request that adds `help` and deletes `gone` be planned and merged."""
    runner.write(wanted("help"))
    inputs = {"base_url": bot.url, "bot": bot.id}
    step = runner.run(pull_request(), **inputs)
    assert step.outputs["comment-url"], step.log
    hub.merged[SHA] = hub.closed = MERGED
    return inputs | {"token": bot.token}


def refused(step: Step, name: str) -> bool:
    (error,) = step.annotations("error")
    return (
        (step.code, step.outputs["failure-reason"]) == (5, "stale")
        and f"no reviewed plan shows that apply deletes or replaces command '{name}'" in error.data
        and "run the workflow by hand with the input apply: current" in error.data
    )


@pytest.fixture
def bot(service: Service) -> Bot:
    return service.bot(["gone", *KEPT])


def test_a_merge_after_somebody_added_records_by_hand_is_refused(
    runner: Runner, hub: Hub, bot: Bot
) -> None:
    inputs = planned(runner, bot, hub)
    (shown,) = hub.ours
    bot.post("commands", name="by-hand", description="Mine.", syntax="/mine")
    before = bot.everything()
    step = runner.run(push(), **inputs)
    after, commented = bot.everything(), list(hub.ours)
    current = runner.run(other("workflow_dispatch"), mode="apply", apply="current", **inputs)

    assert refused(step, "by-hand"), step.log
    assert after == before
    assert commented == [shown]
    reviewed, _, now = step.summary.partition("</details>\n")
    assert "<summary>The plan that #7 shows</summary>" in reviewed
    assert ("1 to add, 0 to edit, 1 to delete" in reviewed, "`by-hand`" in now) == (True, True)
    assert "1 to add, 0 to edit, 2 to delete" in now
    assert (current.code, current.outputs["result"]) == (0, "applied"), current.log
    assert "The current plan is applied (`apply: current`)." in current.summary
    assert "The current plan is applied (`apply: current`)." in current.log
    assert set(bot.names()) == {"help", *KEPT}


def test_a_reviewed_plan_is_applied_once(runner: Runner, hub: Hub, bot: Bot) -> None:
    inputs = planned(runner, bot, hub)
    first = runner.run(push(), **inputs)
    again = runner.run(push(), **inputs)
    bot.post("commands", name="by-hand", description="Mine.", syntax="/mine")
    later = runner.run(push(), **inputs)

    assert (first.code, first.outputs["result"]) == (0, "applied"), first.log
    assert "This is the plan that was reviewed (#7)." in first.summary
    assert again.outputs["result"] == "no-changes", again.log
    assert refused(later, "by-hand"), later.log
    assert "The plan of the last comment was applied already." in later.summary
    assert "by-hand" in bot.names()


def test_other_differences_are_named_and_applied(runner: Runner, hub: Hub, bot: Bot) -> None:
    inputs = planned(runner, bot, hub)
    bot.delete(bot.ids()["kept0"])
    bot.delete(bot.ids()["gone"])
    step = runner.run(push(), **inputs)

    assert (step.code, step.outputs["result"]) == (0, "applied"), step.log
    differs = (
        "The plan differs from the one that was reviewed (#7); not in that one: add command "
        "`kept0`; no longer necessary: 1 change."
    )
    assert differs in step.summary
    assert differs in hub.ours[0]
    assert set(bot.names()) == {"help", *KEPT}


def test_an_apply_that_was_interrupted_goes_on(runner: Runner, hub: Hub, bot: Bot) -> None:
    inputs = planned(runner, bot, hub)
    bot.post("commands", name="help", description="Does it.", syntax="/help")
    step = runner.run(push(), **inputs)

    assert step.code == 0, step.log
    assert "no longer necessary: 1 change." in step.summary
    assert set(bot.names()) == {"help", *KEPT}


@pytest.mark.parametrize("event", [push(), other("release")], ids=["push", "release"])
def test_without_a_comment_the_current_plan_is_applied_and_said(
    runner: Runner, hub: Hub, bot: Bot, event: Event
) -> None:
    runner.write(wanted("help"))
    hub.merged[SHA] = hub.closed = MERGED
    inputs = {"mode": "apply", "base_url": bot.url, "bot": bot.id, "token": bot.token}
    step = runner.run(event, **inputs)

    assert (step.code, step.outputs["result"]) == (0, "applied"), step.log
    assert NO_COMMENT in step.summary
    assert NO_COMMENT in step.log


@pytest.mark.parametrize("inputs", [{"comment": "never"}, {"github_token": ""}])
def test_without_a_way_to_comments_there_is_none(
    runner: Runner, hub: Hub, bot: Bot, inputs: dict[str, str]
) -> None:
    known = planned(runner, bot, hub)
    requests = len(hub.requests)
    step = runner.run(push(), **known, **inputs)

    assert NO_COMMENT in step.summary, step.log
    assert len(hub.requests) == requests
    assert set(bot.names()) == {"help", *KEPT}


def test_a_comment_that_cannot_be_read_lets_nothing_be_deleted(
    runner: Runner, hub: Hub, bot: Bot
) -> None:
    inputs = planned(runner, bot, hub)
    hub.rule = lambda _: (403, {"message": "Resource not accessible by integration"}, {})
    deletes = runner.run(push(), **inputs)
    kept = runner.run(push(), prune="false", **inputs)

    assert refused(deletes, "gone"), deletes.log
    assert "permissions: pull-requests: read" in deletes.annotations("error")[0].data
    assert "The reviewed plan cannot be read: " in deletes.summary
    assert kept.outputs["result"] == "applied", kept.log
    assert "The reviewed plan cannot be read: " in kept.summary
    assert set(bot.names()) == {"help", "gone", *KEPT}


def test_a_saved_plan_is_applied_as_it_is(runner: Runner, hub: Hub, bot: Bot) -> None:
    runner.write(wanted("help"))
    known = {"base_url": bot.url, "bot": bot.id}
    path = runner.run(pull_request(), **known).outputs["plan-file"]
    hub.merged[SHA] = MERGED
    saved = {"mode": "apply", "token": bot.token, "plan_file": path}
    runner.write(wanted("something-else"))
    bot.post("commands", name="by-hand", description="Mine.", syntax="/mine")
    step = runner.run(push(), base_url=bot.url, **saved)

    assert (step.code, step.outputs["result"]) == (0, "applied"), step.log
    assert "This is the plan that was reviewed (#7)." in step.summary
    assert set(bot.names()) == {"help", "by-hand", *KEPT}


def test_a_saved_plan_that_was_not_reviewed_is_refused(runner: Runner, hub: Hub, bot: Bot) -> None:
    planned(runner, bot, hub)
    runner.write(fields(("help",), ("gone",), *((name,) for name in KEPT[1:])))
    known = {"base_url": bot.url, "bot": bot.id}
    path = runner.run(other("schedule"), **known).outputs["plan-file"]
    runner.variables["COMMANDSYNC_TOKEN"] = bot.token
    step = runner.run(push(), plan_file=path, **known)

    assert refused(step, "kept0"), step.log
    assert "kept0" in bot.names()


def test_a_saved_plan_decides_neither_its_limits_nor_where_the_token_goes(
    runner: Runner, hub: Hub, bot: Bot
) -> None:
    runner.write(wanted("help"))
    path = runner.run(pull_request(), base_url=bot.url, bot=bot.id).outputs["plan-file"]
    (runner.workspace / "plan.json").write_bytes(Path(path).read_bytes())
    saved = {"mode": "apply", "token": bot.token, "plan_file": "plan.json"}
    nowhere = runner.run(push(), **saved)
    elsewhere = runner.run(push(), base_url="https://listing.example", **saved)
    limited = runner.run(push(), base_url=bot.url, max_deletes="all", **saved)
    unpruned = runner.run(push(), base_url=bot.url, prune="false", **saved)
    unapplied = runner.run(pull_request(), base_url=bot.url, **saved | {"mode": "auto"})

    failures = [nowhere, elsewhere, limited, unpruned, unapplied]
    assert [step.code for step in failures] == [2, 5, 2, 2, 2]
    assert "give the input base-url" in nowhere.log
    assert elsewhere.outputs["failure-reason"] == "stale"
    assert "the input plan-file is for the mode apply, and this is plan" in unapplied.log
    assert all("--" not in step.annotations("error")[0].data for step in failures)
    assert "gone" in bot.names()
    assert hub.merged == {}
