"""The report of a proposal begins with what users will notice, if the base branch is known."""

import pytest

from tests.support.bots import Bot, Service
from tests.support.home import fields
from tests.support.hub import Hub
from tests.support.runner import Event, Runner, other, pull_request, push

BASE = fields(("h",), ("ban", "Bans.", "/ban <user>"))
HEAD = fields(("h",), ("ban", "Bans.", "/ban <user> <reason>"), ("play",))
NOTICED = """\
**What users will notice**

- **Breaking**: `/ban` needs `<reason>` now: `/ban <user> <reason>`.
- New: `/play`.

### Plan: """
TITLE = "What users will notice"


def of(bot: Bot) -> dict[str, str]:
    return {"base_url": bot.url, "bot": bot.id}


def test_comment_and_summary_tell_it_before_the_plan_and_the_log_too(
    runner: Runner, hub: Hub, service: Service
) -> None:
    runner.base = {"commands.yaml": BASE}
    runner.write(HEAD)

    step = runner.run(pull_request(), **of(service.bot(["h"])))

    assert (step.code, step.outputs["result"]) == (0, "changes"), step.log
    assert NOTICED in hub.ours[0]
    assert NOTICED in step.summary
    assert ", 1 breaking.\n" in step.log
    assert TITLE not in runner.folder.joinpath(step.outputs["plan-markdown-file"]).read_text()


@pytest.mark.parametrize(
    "base", [{}, {"commands.yaml": HEAD}, {"commands.yaml": "version: 1\n"}, {"commands.yaml": "["}]
)
def test_without_a_change_or_a_valid_base_nothing_is_told(
    runner: Runner, hub: Hub, service: Service, base: dict[str, str]
) -> None:
    runner.base = base
    runner.write(HEAD)

    step = runner.run(pull_request(), **of(service.bot()))

    assert (step.code, step.outputs["adds"]) == (0, "3"), step.log
    assert TITLE not in hub.ours[0]
    assert ("cannot be read" in step.log) == (base.get("commands.yaml") == "[")


@pytest.mark.parametrize("event", [push(), other("schedule")], ids=["push", "schedule"])
def test_only_a_proposal_is_compared(runner: Runner, service: Service, event: Event) -> None:
    runner.base = {"commands.yaml": BASE}
    runner.write(HEAD)
    bot = service.bot()

    step = runner.run(event, token=bot.token, **of(bot))

    assert TITLE not in step.summary


def test_of_several_manifests_each_is_named_and_long_lists_are_numbers(
    runner: Runner, service: Service
) -> None:
    bots = {"a": service.bot(), "b": service.bot(), "same": service.bot()}
    for name, bot in bots.items():
        head = f"bot: '{bot.id}'\n"
        runner.base[f"{name}.yaml"] = head + fields(("h",))
        runner.write(head + fields(("h",)), f"{name}.yaml")
    runner.write(f"bot: '{bots['a'].id}'\n" + fields(("help",)), "a.yaml")
    many = fields(("h",), *((f"c{n}",) for n in range(15)))
    runner.write(f"bot: '{bots['b'].id}'\n" + many, "b.yaml")

    step = runner.run(pull_request(), file="a.yaml\nb.yaml\nsame.yaml", base_url=bots["a"].url)

    assert f"**{TITLE} of `a.yaml`**\n\n- **Breaking**: Gone: `/h`.\n" in step.summary, step.log
    assert f"**{TITLE} of `b.yaml`**\n\n- New: `/c0`, " in step.summary
    assert "`/c9` and 5 more.\n" in step.summary
    assert step.summary.count(TITLE) == 2
