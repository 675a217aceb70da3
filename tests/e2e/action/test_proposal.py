"""A pull request's page: the token's destination, users' changes, imports, documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandsync.document.schemas import command_list_document
from commandsync.manifest.yamltext import imported_text
from commandsync.records.snapshot import ImportedCommand, ImportedFile
from commandsync.records.texts import CommandText
from commandsync.report.commandlist import with_lists
from commandsync.report.json import dumped
from tests.support.bots import Bot, Proxy, Service
from tests.support.home import fields
from tests.support.objects import imported
from tests.support.runner import BASE_SHA, Event, Hub, Runner, other, pull_request, push

GROUP = Event("merge_group", {"merge_group": {"base_sha": BASE_SHA}})
EMPTY = Event("pull_request", {}, {"GITHUB_REF": "refs/pull/7/merge"})


def manifest(bot: Bot, url: str, *lines: str) -> str:
    head = [f'bot: "{bot.id}"', *([f"base_url: {url}"] if url else []), *lines]
    return "\n".join(head) + "\n" + fields(("help",))


@pytest.mark.parametrize("event", [pull_request(), GROUP], ids=["pull request", "merge queue"])
def test_a_token_goes_where_the_base_says(runner: Runner, service: Service, event: Event) -> None:
    bot = service.bot()
    runner.write(manifest(bot, bot.url))
    runner.base = {"commands.yaml": manifest(bot, f"{bot.url}/v1/")}
    step = runner.run(event, token=bot.token, ends="0 changes")

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
    step = runner.run(event, mode=mode, token=bot.token, ends="5 refused")

    assert proxy.requests == []
    (error,) = step.annotations("error")
    assert "base-url" in error.data
    assert event is EMPTY or "https://listing.example" in error.data


def test_a_proposals_variable_is_a_token(runner: Runner, service: Service, proxy: Proxy) -> None:
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
    said = [step.annotations("error")[0].data for step in (new, invalid, shallow)]
    assert f"this pull request sets base_url to {proxy.url}" in said[0]
    assert "the token is not sent" in said[0]
    assert "cannot be read: the manifest has 1 problem" in said[1]
    assert "nor a revision that git knows here" in said[2]
    assert all("give the input base-url" in message for message in said)


def test_without_a_token_nothing_is_refused(runner: Runner, service: Service) -> None:
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


def test_another_bot_of_the_service_is_only_marked(runner: Runner, service: Service) -> None:
    bot = service.bot()
    runner.write(manifest(bot, bot.url))
    runner.base = {"commands.yaml": manifest(service.bot(), bot.url)}
    step = runner.run(pull_request(), token=bot.token, ends="0 changes")
    fork = runner.run(pull_request(head="stranger/bots"))
    comment = Path(fork.outputs["comment-file"]).read_text(encoding="utf-8")

    for page in (step.summary, fork.summary, comment):
        assert page.splitlines()[0].endswith(" changes `bot`")


def test_a_comments_first_line_tells_changes(runner: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot()
    runner.write(manifest(bot, bot.url, "token_env: COMMANDSYNC_MINE"))
    runner.base = {"commands.yaml": manifest(bot, "https://listing.example")}
    step = runner.run(pull_request(), label="lantern", ends="0")

    (comment,) = hub.ours
    first = "## commandsync: `lantern`: this pull request changes `base_url`, `token_env`"
    assert comment.splitlines()[1] == step.summary.splitlines()[0] == first
    assert f"`base_url` was `https://listing.example` and is `{bot.url}`." in comment
    assert "`token_env` was not set and is `COMMANDSYNC_MINE`." in comment
    assert [each.place for each in step.annotations("warning")] == ["commands.yaml:1:1"] * 2


def test_a_first_manifest_is_no_alarm(runner: Runner, service: Service) -> None:
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


BASE = fields(("h",), ("ban", "Bans.", "/ban <user>"))
HEAD = fields(("h",), ("ban", "Bans.", "/ban <user> <reason>"), ("play",))
NOTICED = """\
**Changes for users**

- **Breaking**: `/ban` needs `<reason>` now: `/ban <user> <reason>`.
- New: `/play`.

### Plan: """
TITLE = "Changes for users"


def of(bot: Bot) -> dict[str, str]:
    return {"base_url": bot.url, "bot": bot.id}


def test_it_is_told_before_the_plan(runner: Runner, hub: Hub, service: Service) -> None:
    runner.base = {"commands.yaml": BASE}
    runner.write(HEAD)

    step = runner.run(pull_request(), **of(service.bot(["h"])), ends="0 changes")

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


def test_each_manifest_is_named_and_long_lists_counted(runner: Runner, service: Service) -> None:
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


MANIFEST = "version: 1\nimport: {from: list.json}\n"
BAN = {"name": "ban", "description": "Bans.", "syntax": "/ban"}


@pytest.fixture
def outdated(runner: Runner) -> Runner:
    runner.write(MANIFEST)
    runner.write(imported(), "commands.imported.yaml")
    runner.write(json.dumps([BAN]), "list.json")
    return runner


def test_each_difference_of_a_manifest_is_annotated(outdated: Runner, service: Service) -> None:
    bot = service.bot()
    inputs = {"base_url": bot.url, "bot": bot.id}
    step = outdated.run(pull_request(), import_check="true", **inputs)

    assert (step.code, step.outputs["failure-reason"]) == (3, "outdated")
    assert (step.outputs["result"], step.outputs["unchanged"]) == ("failed", "0")
    (error,) = step.annotations("error")
    assert error.place == "list.json:1:2"
    assert error.data.startswith("ban ")
    assert "The imported file is not up to date with the code" in step.summary
    assert "+ ban" in step.summary
    assert "Import: 1 to add" in step.log

    unchecked = outdated.run(pull_request(), **inputs)
    assert unchecked.outputs["result"] == "no-changes"


def test_a_manifest_that_is_up_to_date_is_only_validated(outdated: Runner) -> None:
    outdated.write(imported(BAN | {"source": "list.json"}), "commands.imported.yaml")
    step = outdated.run(other("workflow_dispatch"), import_check="true")
    own = {"name": "site", "description": "Opens it.", "syntax": "https://x.example"}
    outdated.write(f"{MANIFEST}commands: [{json.dumps(own)}]\n")
    by_hand = outdated.run(other("workflow_dispatch"), import_check="true")

    assert (step.code, by_hand.code) == (0, 0), step.log
    assert step.outputs["result"] == by_hand.outputs["result"] == "valid"


def test_an_entry_of_a_command_that_left_the_code_fails_the_check(outdated: Runner) -> None:
    own = {"name": "old", "description": "Was there.", "syntax": "/old"}
    ban = ImportedCommand(name="ban", description="Bans.", syntax="/ban", source="list.json")
    content = ImportedFile((ban,), (), ("old",))
    outdated.write(imported_text(content), "commands.imported.yaml")
    outdated.write(f"{MANIFEST}commands: [{json.dumps(own)}]\n")
    step = outdated.run(other("workflow_dispatch"), import_check="true", ends="3 outdated")

    (error,) = step.annotations("error")
    assert (error.place, error.data.split("\n")[0]) == (
        "commands.yaml:3:12",
        "old is not imported any more",
    )


def test_what_is_registered_with_discord_is_not_read_in_a_check(runner: Runner) -> None:
    runner.write(MANIFEST.replace("list.json", "discord"))
    runner.write(imported(), "commands.imported.yaml")
    step = runner.run(other("workflow_dispatch"), import_check="true", ends="2 invalid")

    assert "import-check" in step.log


def test_a_list_in_a_document_must_be_the_manifests(runner: Runner, service: Service) -> None:
    bot = service.bot(["help"])
    text = "# Bot\n\n<!-- commandsync:commands -->\n<!-- /commandsync:commands -->\n"
    runner.write(fields(("help",)))
    (runner.workspace / "README.md").write_text(text, encoding="utf-8")
    inputs = {"base_url": bot.url, "bot": bot.id, "docs_check": "README.md"}
    for event in (pull_request(), other("issues")):
        step = runner.run(event, **inputs, ends="3 outdated")
        (error,) = step.annotations("error")

        assert error.place == "README.md:3:1"
        assert "1 list of commands" in step.summary
        assert "README.md:3:1: " in step.log

    file = with_lists(text, [CommandText("help", "Does it.", "/help")], path="README.md")
    (runner.workspace / "README.md").write_text(file.text, encoding="utf-8")
    assert runner.run(pull_request(), **inputs).outputs["result"] == "no-changes"
    assert runner.run(other("schedule"), issue="never", **inputs).code == 0


def test_a_json_file_is_checked_and_a_page_is_not(runner: Runner, service: Service) -> None:
    bot = service.bot(["help"])
    runner.write(fields(("help",)))
    inputs = {"base_url": bot.url, "bot": bot.id}
    document = command_list_document([CommandText("help", "Does it.", "/help")])
    (runner.workspace / "commands.json").write_text(dumped(document), encoding="utf-8")
    current = runner.run(pull_request(), docs_check="commands.json", **inputs, ends="0 no-changes")
    runner.write(fields(("help", "Is another.")))
    outdated = runner.run(pull_request(), docs_check="commands.json", **inputs, ends="3 outdated")
    page = runner.run(pull_request(), docs_check="site/a.HTML", **inputs, ends="2 invalid")

    assert current.annotations("error") == []
    assert [each.place for each in outdated.annotations("error")] == ["commands.json:1:1"]
    assert "docs-check compares Markdown and JSON files, and site/a.HTML is a page" in page.log
    assert "extra [html]" in page.log


def test_a_check_of_documents_needs_one_manifest(runner: Runner) -> None:
    for name in ("a.yaml", "b.yaml"):
        runner.write(fields(("help",)), name)
    step = runner.run(pull_request(), file="a.yaml\nb.yaml", docs_check="README.md", ends="2")

    assert "docs-check" in step.log
