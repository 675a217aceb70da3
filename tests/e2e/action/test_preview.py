from pathlib import Path

from tests.support.bots import Bot, Service
from tests.support.home import fields
from tests.support.proxy import Instead, Proxy
from tests.support.runner import Runner, pull_request


def knows(runner: Runner, bot: Bot, url: str = "") -> dict[str, str]:
    runner.write(fields(("help", "Shows the help."), ("ping", "Is new here.")))
    return {"base_url": url or bot.url, "bot": bot.id, "preview": "true", "apply": "current"}


def test_a_pull_request_keeps_the_page_as_it_will_be(
    runner: Runner, service: Service, proxy: Proxy
) -> None:
    bot = service.bot(["help", "gone"], ["v1"])
    step = runner.run(pull_request(), **knows(runner, bot, proxy.url))

    assert step.code == 0, step.log
    folder = Path(step.outputs["preview"])
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert f"Bot {bot.id}" in page
    assert "Plan: 1 to add, 1 to edit, 1 to delete, 0 unchanged." in page
    assert "Is new here." in page
    assert "v1" in page
    assert (folder / "style.css").is_file()
    listed = f"/v1/bot/{bot.id}/commands"
    assert [request.target for request in proxy.requests].count(listed) == 1


def test_validate_shows_everything_as_new(runner: Runner, service: Service) -> None:
    step = runner.run(pull_request(), mode="validate", **knows(runner, service.bot()))

    page = (Path(step.outputs["preview"]) / "index.html").read_text(encoding="utf-8")
    assert "Plan: 2 to add, 0 to edit, 0 to delete, 0 unchanged." in page


def test_without_a_listing_that_can_be_read_everything_is_new(
    runner: Runner, service: Service
) -> None:
    inputs = knows(runner, service.bot())
    step = runner.run(pull_request(), **{**inputs, "bot": "404"})

    assert step.outputs["result"] == "failed"
    assert "everything as new" in step.log
    page = (Path(step.outputs["preview"]) / "index.html").read_text(encoding="utf-8")
    assert "Plan: 2 to add" in page


def test_a_page_that_cannot_be_made_is_a_warning(
    runner: Runner, service: Service, proxy: Proxy
) -> None:
    inputs = knows(runner, service.bot(), proxy.url)
    proxy.rule = lambda request: (
        Instead(500, b"{}") if request.target.endswith(inputs["bot"]) else None
    )
    unread = runner.run(pull_request(), **inputs)
    runner.write(fields(("other",)), "other.yaml")
    files = "commands.yaml\nother.yaml"
    several = runner.run(pull_request(), mode="validate", file=files, **inputs)
    runner.variables["RUNNER_TEMP"] = str(runner.folder / "gone")
    nowhere = runner.run(pull_request(), mode="validate", **inputs)

    assert unread.outputs["result"] == "changes"
    for step in (unread, several, nowhere):
        assert step.outputs["preview"] == ""
        assert "warning: no preview is written: " in step.log
    assert nowhere.code == 0
