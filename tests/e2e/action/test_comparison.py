"""A service that lets nobody read without a token: the same limits hold for a comparison."""

import pytest

from tests.support.bots import Service
from tests.support.home import fields
from tests.support.hub import Hub
from tests.support.proxy import Instead, Proxy
from tests.support.rawserver import Request
from tests.support.runner import Runner, pull_request

BASE = fields(*((f"c{n}",) for n in range(9)))
EDITED = fields(*((f"c{n}", "New.") for n in range(9)))


def closed_to_readers(seen: Request) -> Instead | None:
    with_token = "authorization" in {name.lower() for name in seen.headers}
    return None if with_token else Instead(401, {"error": "no token"})


def test_a_mass_delete_fails_as_a_plan_does(
    runner: Runner, hub: Hub, service: Service, proxy: Proxy
) -> None:
    proxy.rule = closed_to_readers
    bot = service.bot()
    runner.base = {"commands.yaml": BASE}
    runner.write(fields(("c0",)))
    inputs = {"base_url": proxy.url, "bot": bot.id}
    step = runner.run(pull_request(head="stranger/bots"), **inputs)
    own = runner.run(pull_request(), comment="always", **inputs)
    allowed = runner.run(pull_request(), max_deletes="all", **inputs)

    assert (step.code, step.outputs["result"]) == (5, "failed"), step.log
    assert (step.outputs["failure-reason"], step.outputs["changed"]) == ("refused", "")
    error, *others = step.annotations("error")
    assert (error.properties["title"], error.place) == ("Plan refused", "commands.yaml:1:1")
    assert "would delete 8 of 9" in error.data
    assert others == []
    assert "**Refused**" in step.summary
    assert (own.code, hub.comments) == (5, [])
    assert (allowed.code, allowed.outputs["result"]) == (0, "compared"), allowed.log


@pytest.mark.parametrize(
    ("text", "fail_on", "code"), [(BASE, "changes", 0), (EDITED, "", 0), (EDITED, "changes", 3)]
)
def test_changes_fail_where_they_are_to(
    runner: Runner, service: Service, proxy: Proxy, *, text: str, fail_on: str, code: int
) -> None:
    proxy.rule = closed_to_readers
    runner.base = {"commands.yaml": BASE}
    runner.write(text)
    step = runner.run(pull_request(), base_url=proxy.url, bot=service.bot().id, fail_on=fail_on)

    assert (step.code, step.outputs["result"]) == (code, "compared"), step.log
    assert step.outputs["failure-reason"] == ""


def test_only_what_is_closed_is_compared_and_the_rest_is_planned(
    runner: Runner, service: Service, proxy: Proxy
) -> None:
    lantern, harbor = service.bot([f"old{n}" for n in range(9)]), service.bot()
    proxy.rule = lambda seen: closed_to_readers(seen) if harbor.id in seen.path else None
    for name, bot in (("lantern", lantern), ("harbor", harbor)):
        text = f'bot: "{bot.id}"\n' + fields((name,))
        runner.write(text, f"{name}.yaml")
        runner.base[f"{name}.yaml"] = text
    files = "lantern.yaml\nharbor.yaml"
    refused = runner.run(pull_request(), base_url=proxy.url, file=files, apply="current")
    lantern.post("commands", name="lantern", description="Does it.", syntax="/lantern")
    for identifier in list(lantern.ids().values())[:9]:
        lantern.delete(identifier)
    fine = runner.run(pull_request(), base_url=proxy.url, file=files, apply="current")

    assert (refused.code, refused.outputs["failure-reason"]) == (5, "refused"), refused.log
    assert "would delete 9 of 9" in refused.annotations("error")[0].data
    assert (fine.code, fine.outputs["result"]) == (0, "compared"), fine.log
    assert fine.outputs["adds"] == ""
    for step in (refused, fine):
        assert step.summary.count("### Plan: ") == 2
        assert step.summary.count("**Compared with the manifest of the base branch") == 1
