"""A scheduled check for drift: what it plans, what it fails on, and the issue that it keeps."""

import pytest

from tests.support.bots import Bot, Service
from tests.support.home import fields
from tests.support.plans import set_clock
from tests.support.runner import SHA, Hub, Runner, Step, other, pull_request, push


def knows(runner: Runner, bot: Bot) -> dict[str, str]:
    runner.write(fields(("help", "Shows the help.")))
    return {"base_url": bot.url, "bot": bot.id, "mode": "drift", "fail_on": "error"}


@pytest.mark.parametrize("event", ["schedule", "workflow_dispatch"])
def test_one_issue_tells_the_drift(runner: Runner, hub: Hub, service: Service, event: str) -> None:
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


def test_another_labels_issue_is_left_alone(runner: Runner, hub: Hub, service: Service) -> None:
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
    step = runner.run(other("schedule"), **knows(runner, service.bot()), **inputs, ends="0 changes")
    warnings = [each.data for each in step.annotations("warning")]

    assert len(warnings) == 1 + len(warned)
    assert all(words in warnings[-1] for words in warned)
    assert hub.issues == []


def test_an_unknown_state_changes_no_issue(runner: Runner, hub: Hub, service: Service) -> None:
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


def test_an_unreadable_issue_disturbs_no_list(runner: Runner, hub: Hub, service: Service) -> None:
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


def test_an_issue_needs_a_number_to_be_written(runner: Runner, hub: Hub, service: Service) -> None:
    inputs = knows(runner, service.bot())
    runner.run(other("schedule"), **inputs)
    del hub.issues[0]["number"]
    step = runner.run(other("schedule"), **inputs, ends="0 changes")

    assert "number has" in step.annotations("warning")[-1].data


MERGED = [7]
MANIFEST = """\
version: 1
sync: {announcements: mirror}
announcements:
  - title: Winter event
    description: Snow everywhere.
    publish: 2026-12-05T18:00Z
    until: 2026-12-10T19:00+01:00
"""


@pytest.fixture
def bot(service: Service) -> Bot:
    return service.bot()


@pytest.fixture
def inputs(runner: Runner, bot: Bot) -> dict[str, str]:
    runner.write(MANIFEST)
    return {"base_url": bot.url, "bot": bot.id}


def titles(bot: Bot) -> list[str]:
    return [record["title"] for record in bot.announcements()]


def test_an_announcement_waits_is_posted_once_and_ends_unattended(
    runner: Runner, hub: Hub, bot: Bot, inputs: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, 1)
    proposed = runner.run(pull_request(), comment="always", **inputs)
    hub.merged[SHA] = MERGED
    merged = runner.run(push(), token=bot.token, **inputs)
    seen: list[list[str]] = []
    nights: list[Step] = []
    for night in range(2, 12):
        set_clock(monkeypatch, night)
        nights.append(runner.run(other("schedule"), mode="apply", token=bot.token, **inputs))
        seen.append(titles(bot))

    waits = "1 announcement waits: `Winter event` from 2026-12-05 18:00 UTC until 2026-12-10"
    assert proposed.outputs["result"] == merged.outputs["result"] == "no-changes", merged.log
    assert waits in proposed.summary
    assert waits in hub.ours[0]
    assert seen == [[]] * 3 + [["Winter event"]] * 5 + [[]] * 2
    idle, applied = (0, "no-changes"), (0, "applied")
    results = [(step.code, step.outputs["result"]) for step in nights]
    assert results == [*[idle] * 3, applied, *[idle] * 4, applied, idle]
    assert "(it ended at 2026-12-10 18:00 UTC)" in nights[8].log
    assert nights[8].outputs["deletes"] == "1"


def test_an_end_needs_no_explanation_and_every_other_delete_does(
    runner: Runner, bot: Bot, inputs: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = f"{MANIFEST}  - {{title: Kept, description: Always.}}\n"
    runner.write(kept)
    set_clock(monkeypatch, 6)
    runner.run(push(), token=bot.token, **inputs)
    posted = titles(bot)
    bot.post("announcements", title="By hand", description="Mine.")
    set_clock(monkeypatch, 10)
    refused = runner.run(other("schedule"), mode="apply", token=bot.token, **inputs, ends="5 stale")
    after = titles(bot)
    runner.write(f"{kept}  - {{title: By hand, description: Mine.}}\n")
    runner.run(other("schedule"), mode="apply", token=bot.token, **inputs, ends="0 applied")

    assert posted == ["Winter event", "Kept"]
    assert after == ["Winter event", "Kept", "By hand"]
    assert "announcement 'By hand'" in refused.log
    assert titles(bot) == ["Kept", "By hand"]
