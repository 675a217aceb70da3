"""The issue about drift: one, opened and updated while the listing differs, then closed."""

import pytest

from tests.support.bots import Bot, Service
from tests.support.home import fields
from tests.support.hub import Hub
from tests.support.runner import Runner, other, pull_request, push


def knows(runner: Runner, bot: Bot) -> dict[str, str]:
    runner.write(fields(("help", "Shows the help.")))
    return {"base_url": bot.url, "bot": bot.id, "mode": "drift", "fail_on": "error"}


@pytest.mark.parametrize("event", ["schedule", "workflow_dispatch"])
def test_one_issue_is_opened_updated_and_closed(
    runner: Runner, hub: Hub, service: Service, event: str
) -> None:
    bot = service.bot(["help"])
    inputs = knows(runner, bot)
    hub.opens(title="Of somebody else", body="<!-- commandsync-drift:")
    opened = runner.run(other(event), label="lantern", **inputs)
    again = runner.run(other(event), label="lantern", **inputs)
    writes = len(hub.writes)
    bot.post("commands", name="gone", description="Does it.", syntax="/gone")
    runner.run(other(event), label="lantern", **inputs)
    issue = dict(hub.issues[-1])
    applied = runner.run(push(), token=bot.token, **inputs | {"mode": "apply", "apply": "current"})
    runner.run(other(event), label="lantern", **inputs)
    quiet = runner.run(other(event), label="lantern", **inputs)

    assert applied.outputs["result"] == "applied", applied.log
    assert opened.outputs["issue-url"] == again.outputs["issue-url"] == issue["html_url"]
    assert (writes, len(hub.writes), len(hub.issues)) == (1, 3, 2)
    assert issue["title"].endswith(": lantern")
    assert "0 to add, 1 to edit, 1 to delete" in issue["body"]
    assert hub.issues[-1]["state"] == "closed"
    assert "0 to add, 0 to edit, 0 to delete, 1 unchanged" in hub.issues[-1]["body"]
    assert quiet.outputs["issue-url"] == ""


def test_two_checks_at_once_leave_one_issue(runner: Runner, hub: Hub, service: Service) -> None:
    inputs = knows(runner, service.bot())
    runner.run(other("schedule"), **inputs)
    hub.opens(title="The same", body=hub.issues[0]["body"])
    hub.opens(title="Not ours", body=hub.issues[0]["body"], login="mallory")
    step = runner.run(other("schedule"), **inputs)

    assert step.outputs["issue-url"] == hub.issues[0]["html_url"]
    assert [issue["state"] for issue in hub.issues] == ["open", "closed", "open"]


def test_the_issue_of_another_label_is_left_alone(
    runner: Runner, hub: Hub, service: Service
) -> None:
    bot = service.bot()
    inputs = knows(runner, bot)
    runner.run(other("schedule"), label="lantern", **inputs)
    runner.run(other("schedule"), label="harbor", **inputs)

    assert [issue["state"] for issue in hub.issues] == ["open", "open"]


@pytest.mark.parametrize(
    ("inputs", "warned"),
    [
        ({"issue": "never"}, []),
        ({"github_token": ""}, ["no github-token"]),
        ({}, ["issues: write"]),
    ],
    ids=["never", "without a token", "without the permission"],
)
def test_without_an_issue_the_drift_is_still_reported(
    runner: Runner, hub: Hub, service: Service, inputs: dict[str, str], warned: list[str]
) -> None:
    hub.read_only = True
    step = runner.run(other("schedule"), **knows(runner, service.bot()), **inputs)
    warnings = [each.data for each in step.annotations("warning")]

    assert (step.code, step.outputs["result"]) == (0, "changes"), step.log
    assert len(warnings) == 1 + len(warned)
    assert all(words in warnings[-1] for words in warned)
    assert hub.issues == []


def test_what_is_not_known_opens_and_closes_nothing(
    runner: Runner, hub: Hub, service: Service
) -> None:
    bot = service.bot()
    inputs = knows(runner, bot)
    runner.run(other("schedule"), **inputs)
    before = len(hub.requests)
    runner.run(pull_request(), **inputs)
    runner.write("version: 2\n")
    failed = runner.run(other("schedule"), **inputs)

    assert failed.outputs["failure-reason"] == "invalid"
    assert [
        request.path for request in hub.requests[before:] if request.path.endswith("/issues")
    ] == []
    assert hub.issues[0]["state"] == "open"


def test_an_issue_that_cannot_be_read_does_not_disturb_a_listing_without_drift(
    runner: Runner, hub: Hub, service: Service
) -> None:
    bot = service.bot()
    inputs = knows(runner, bot)
    runner.run(push(), token=bot.token, **inputs | {"mode": "apply"})
    hub.rule = lambda _: (403, {"message": "Resource not accessible by integration"}, {})
    step = runner.run(other("schedule"), **inputs)
    hub.rule = lambda request: (200, [{"body": 7}, 7], {}) if "/issues" in request else None
    odd = runner.run(other("schedule"), **inputs)

    assert (step.outputs["result"], step.annotations("warning")) == ("no-changes", []), step.log
    assert "GitHub answers 403" in step.log
    assert (odd.code, odd.outputs["issue-url"]) == (0, "")


def test_an_issue_without_a_number_is_not_written_to(
    runner: Runner, hub: Hub, service: Service
) -> None:
    inputs = knows(runner, service.bot())
    runner.run(other("schedule"), **inputs)
    del hub.issues[0]["number"]
    step = runner.run(other("schedule"), **inputs)

    assert step.outputs["result"] == "changes", step.log
    assert "the number" in step.annotations("warning")[-1].data
