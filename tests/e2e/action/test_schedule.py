"""Scheduled announcements in CI: the nightly run posts and removes, and needs nobody for it."""

import pytest

from tests.support.bots import Bot, Service
from tests.support.hub import Hub
from tests.support.runner import SHA, Runner, Step, other, pull_request, push
from tests.support.schedules import set_clock

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
    refused = runner.run(other("schedule"), mode="apply", token=bot.token, **inputs)
    after = titles(bot)
    runner.write(f"{kept}  - {{title: By hand, description: Mine.}}\n")
    ended = runner.run(other("schedule"), mode="apply", token=bot.token, **inputs)

    assert posted == ["Winter event", "Kept"]
    assert after == ["Winter event", "Kept", "By hand"]
    assert (refused.code, refused.outputs["failure-reason"]) == (5, "stale"), refused.log
    assert "announcement 'By hand'" in refused.log
    assert (ended.code, ended.outputs["result"]) == (0, "applied"), ended.log
    assert titles(bot) == ["Kept", "By hand"]
