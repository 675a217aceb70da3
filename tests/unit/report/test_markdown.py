from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings

from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError, UsageError
from commandsync.manifest import Manifest
from commandsync.plan.plan import Target
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.report import render_failure, render_plans, render_results, render_validated
from tests.support.plans import command, plan_of, plans

if TYPE_CHECKING:
    from commandsync.apply.outcomes import Result
    from commandsync.plan.plan import Plan


def test_a_plan_has_a_table_for_each_action(every_change: Plan) -> None:
    assert render_plans([every_change], format="markdown") == (
        "### Plan: 1 to add, 2 to edit, 1 to replace, 1 to delete, 1 unchanged.\n"
        "\n"
        "Bot `779641401482805289` at `https://listing.example` from `commands.yaml`\n"
        "\n"
        "#### Add (1)\n"
        "\n"
        "| Name | Where | Syntax | Description |\n"
        "| --- | --- | --- | --- |\n"
        "| `facts` | `commands.yaml:12:5` | `/facts` | `Says a fact.` |\n"
        "\n"
        "#### Edit (2)\n"
        "\n"
        "| Name | Where | Field | Old | New |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| `help` | `commands.yaml:4:5` | description | `Shows help.` | `Shows the help menu.` |\n"
        "| `clear` | `commands.yaml:8:5` | name | `purge` | `clear` |\n"
        "| `clear` | `commands.yaml:8:5` | syntax | `/purge` | `/clear` |\n"
        "\n"
        "#### Replace: the new one is added, the old one deleted (1)\n"
        "\n"
        "| Name | Where | Field | Old | New |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| announcement `v2.0 is out` | `commands.yaml:20:5` | description | `Soon.` "
        "| `Slash commands!` |\n"
        "\n"
        "#### Delete (1)\n"
        "\n"
        "| Name | Where | Syntax | Description |\n"
        "| --- | --- | --- | --- |\n"
        "| `old` |  | `/old` | `Was here.` |\n"
        "\n"
        "```text\n"
        "warning: commands.yaml:9:3: a text is cut by ` #`\n"
        "  hint: quote it\n"
        "```\n"
    )


def test_bars_and_backticks_stay_inside_their_cell() -> None:
    plan = plan_of([command("a`b|c", "@everyone <b> #1", line=1)])

    assert (
        "| ``a`b\\|c`` | `commands.yaml:1:5` | ``/a`b\\|c`` | `@everyone <b> #1` |"
        in render_plans([plan], format="markdown")
    )


def test_long_texts_stand_below_the_table_in_a_fence_that_holds() -> None:
    plan = plan_of([command("a", "One\n```\ntwo")], [command("a", "One\n```\nthree", id="1")])

    assert render_plans([plan], format="markdown").endswith(
        "| `a` |  | description | *see below* | *see below* |\n"
        "\n"
        "`a`, description:\n"
        "\n"
        "````diff\n"
        "│ ```\n"
        "- three\n"
        "+ two\n"
        "````\n"
    )


def test_a_refused_plan_and_an_idle_one_say_so(refused: Plan) -> None:
    idle = replace(plan_of(), target=Target(bot="1", base_url=""), manifest=())
    shown = render_plans([refused, idle], format="markdown")

    assert (
        "**Refused**: `this plan would delete 4 of 5 listed commands, 80 % is over 30 %; apply "
        "refuses it`\n\nWhat to do: `if that is meant, allow it with --max-deletes 4`\n" in shown
    )
    assert shown.endswith(
        "Bot `1`\n\nNothing is managed: the manifest has neither commands: nor announcements:.\n"
    )


@settings(max_examples=60)
@given(plans())
def test_nothing_foreign_stands_outside_of_code(plan: Plan) -> None:
    shown = render_plans([plan], format="markdown")
    outside = re.sub(r"(?ms)^(`{3,})\w+\n.*?^\1$", "", shown)
    own = re.sub(r"(?<!`)(`+)(?!`)(?:.*?[^`])\1(?!`)", "", outside)

    assert not set(own) & set("@<[!\\")
    assert re.fullmatch(r"[A-Za-z0-9#:.,*|() \n-]*", own)
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    assert not re.search(r"##\w*\[", shown)
    for table in re.findall(r"(?m)(?:^\|.*\n)+", outside):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


def test_a_result_has_a_table_for_each_outcome(trouble: Result) -> None:
    assert render_results([trouble], format="markdown") == (
        "### Apply: 1 done, 1 failed, 1 unknown, 2 skipped. "
        "Read again: the service changed the text of 1 record.\n"
        "\n"
        "Bot `779641401482805289` at `https://listing.example` from `commands.yaml`\n"
        "\n"
        "**Stopped**: `the token may not do this`. Is it the token of this very bot?\n"
        "\n"
        "#### Failed (1)\n"
        "\n"
        "| Change | Name | Where | Why | What to do |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| edit command | `help` | `commands.yaml:4:5` | `the service refuses it (400: too long)` "
        "| `shorten it` |\n"
        "\n"
        "#### Unknown (1)\n"
        "\n"
        "| Change | Name | Where | Why | What to do |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| add command | `facts` | `commands.yaml:12:5` | `no answer within 30 s` |  |\n"
        "\n"
        "#### Skipped (2)\n"
        "\n"
        "| Change | Name | Where | Why | What to do |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| replace announcement | `v2.0 is out` | `commands.yaml:20:5` "
        "| `the token may not do this` |  |\n"
        "| delete command | `old` |  | `the token may not do this` |  |\n"
        "\n"
        "#### Done (1)\n"
        "\n"
        "| Change | Name | Where |\n"
        "| --- | --- | --- |\n"
        "| rename command | `clear` | `commands.yaml:8:5` |\n"
        "\n"
        "#### Changed by the service (1)\n"
        "\n"
        "`clear`, description: cut at 4 characters; shorten it to 4 characters\n"
        "\n"
        "```diff\n"
        "- Does it.\n"
        "+ Does\n"
        "```\n"
        "\n"
        "```text\n"
        "warning: another copy of 'help' is listed\n"
        "  hint: run again\n"
        "```\n"
    )


def test_a_notice_needs_no_hint_and_a_result_no_trouble(every_change: Plan) -> None:
    plain = replace(every_change, notices=(replace(every_change.notices[0], hint=""),))

    assert render_plans([plain], format="markdown").endswith(" #`\n```\n")


def test_a_result_without_trouble_shows_what_is_done(trouble: Result) -> None:
    result = replace(trouble, settled=trouble.settled[1:2], stopped="", differences=(), notices=())

    assert "Stopped" not in render_results([result], format="markdown")


def test_a_failure_lists_the_problems() -> None:
    error = ManifestError(
        [
            Problem(Location("a.yaml", 3, 1), "unknown key", "did you mean syntax?"),
            Problem(Location("b.yaml"), "it is empty"),
        ]
    )

    assert render_failure(error, format="markdown") == (
        "### Failed\n"
        "\n"
        "`the manifest has 2 problems`\n"
        "\n"
        "| Where | Problem | What to do |\n"
        "| --- | --- | --- |\n"
        "| `a.yaml:3:1` | `unknown key` | `did you mean syntax?` |\n"
        "| `b.yaml:1:1` | `it is empty` |  |\n"
    )
    assert render_failure(UsageError("no bot", hint="give --bot"), format="markdown") == (
        "### Failed\n\n`no bot`\n\nWhat to do: `give --bot`\n"
    )


def test_valid_manifests_are_a_table() -> None:
    one = Manifest("a.yaml", snapshot=Snapshot({Resource.COMMAND: (command("a"),)}))
    other = Manifest(
        "b.yaml", snapshot=Snapshot(), warnings=(Problem(Location("b.yaml", 2, 3), "twins"),)
    )

    assert render_validated([one, other], format="markdown") == (
        "### Valid\n"
        "\n"
        "| Manifest | Holds | Warnings |\n"
        "| --- | --- | --- |\n"
        "| `a.yaml` | 1 command | 0 |\n"
        "| `b.yaml` | nothing managed | 1 |\n"
        "\n"
        "| Where | Warning | What to do |\n"
        "| --- | --- | --- |\n"
        "| `b.yaml:2:3` | `twins` |  |\n"
    )
    assert render_validated([one], format="markdown").endswith("| `a.yaml` | 1 command | 0 |\n")


def test_a_plan_without_a_listing_names_its_manifest_only() -> None:
    plan = replace(plan_of(), target=Target(bot="", base_url=""))
    nameless = replace(plan, manifest=())

    assert "\n\nManifest `commands.yaml`\n\n" in render_plans([plan], format="markdown")
    assert "\n\nManifest\n\n" in render_plans([nameless], format="markdown")


def test_an_interrupted_result_says_how_to_go_on(trouble: Result) -> None:
    result = replace(trouble, interrupted=True, stopped="interrupted", stopped_hint="")

    shown = render_results([result], format="markdown")

    assert "**Interrupted**: a request in flight may still arrive. Run again to finish" in shown
    assert "**Stopped**" not in shown
