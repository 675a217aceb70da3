from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Location, Notice, Problem
from commandsync.errors import ManifestError, UsageError
from commandsync.plan.changes import Add
from commandsync.plan.plan import Target
from commandsync.plan.rules import SyncRules
from commandsync.records.texts import Resource
from commandsync.report import (
    Screen,
    render_failure,
    render_notices,
    render_plans,
    render_results,
    render_settled,
)
from tests.support.plans import UNTRUSTED, announcement, command, plan_of, plans, texts

if TYPE_CHECKING:
    from commandsync.plan.plan import Plan

HEAD = "Bot 779641401482805289 at https://listing.example from commands.yaml\n\n"


def test_what_is_kept_is_counted_with_the_reason() -> None:
    plan = plan_of(
        [command("help"), announcement("new", "x")],
        [
            *(command(name, id=name) for name in ("help", "a", "b")),
            announcement("old", "y", id="o"),
        ],
        rules=SyncRules(prune=False),
    )
    shown = render_plans([plan], format="text")

    assert "2 listed commands are not in the manifest and stay (prune is off).\n" in shown
    assert (
        "1 listed announcement is not in the manifest and stays (announcements are only appended)."
        in shown
    )


def test_long_texts_are_shown_as_lines_that_went_and_came() -> None:
    plan = plan_of(
        [command("help", "First.\nSecond, changed.\nThird. \nFourth", line=3)],
        [command("help", "First.\nSecond.\nThird.\nFourth", id="1")],
    )

    assert (
        "      description:\n"
        "        │ First.\n"
        "        - Second.\n"
        "        - Third.\n"
        "        + Second, changed.\n"
        "        + Third.·\n"
        "        │ Fourth\n"
    ) in render_plans([plan], format="text")


def test_a_long_text_that_comes_is_cut() -> None:
    plan = plan_of([command("help", "x" * 200)])

    assert f'description: "{"x" * 80}"… (120 more characters)\n' in render_plans(
        [plan], format="text"
    )


def test_several_plans_follow_each_other(every_change: Plan) -> None:
    shown = render_plans([every_change, plan_of()], format="text")

    assert shown.count("Bot 779641401482805289") == 2
    assert shown.count("\nPlan: ") == 2


def test_a_plan_without_a_listing_does_not_invent_one() -> None:
    plan = replace(plan_of(), target=Target(bot="", base_url=""))
    nameless = replace(plan, manifest=())

    assert render_plans([plan], format="text").startswith("Manifest commands.yaml\n\n")
    assert render_plans([nameless], format="text").startswith("Manifest\n\n")


def test_colours_are_there_only_when_asked_for(every_change: Plan) -> None:
    plain = render_plans([every_change], format="text")
    colored = render_plans([every_change], format="text", screen=Screen(color=True))

    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9]+m", "", colored) == plain
    assert "\x1b[32m+ facts\x1b[0m" in colored


@settings(max_examples=60)
@given(plans())
def test_no_line_of_a_plan_begins_with_foreign_text_or_hides_anything(plan: Plan) -> None:
    for line in render_plans([plan], format="text").splitlines():
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", line)
        assert line.isprintable() or not set(line) & set("\x1b\r\x08\u202e\u200b\ufeff\u2066")
        assert re.match(
            r"Bot |$|  [-+~»±] |      \w+:|        [-+│…]( |$)|warning: |  hint: "
            r"|\d+ listed |\d+ announcements? |refused: |No changes: |Nothing is |[»±] is a "
            r"|Plan: ",
            line,
        )


def _done(plan: Plan) -> Result:
    return Result(plan=plan, settled=tuple(Settled(c, Outcome.DONE) for c in plan.changes))


def test_a_result_with_nothing_to_do_does_not_repeat_what_the_plan_above_says() -> None:
    plan = plan_of([command("help")], [command("help", id="1")])

    assert render_results([_done(plan)], format="text").startswith("Apply: 0 done")
    assert render_results([_done(plan)], format="github").startswith("No changes: ")


def test_several_results_say_whose_they_are(every_change: Plan) -> None:
    shown = render_results([_done(every_change)] * 2, format="text")

    assert shown.startswith("\n" + HEAD + "Apply: 5 done")  # their plans are above
    assert shown.count(HEAD) == 2


def test_an_interrupted_result_says_how_to_go_on(trouble: Result) -> None:
    known = tuple(one for one in trouble.settled if one.outcome is not Outcome.UNKNOWN)
    result = replace(
        trouble, interrupted=True, stopped="interrupted", stopped_hint="", settled=known
    )

    assert "Interrupted: requests in flight were finished. Run again to finish the rest.\n" in (
        render_results([result], format="text")
    )


def test_differences_are_counted_in_the_end(trouble: Result) -> None:
    done = _done(trouble.plan)
    settled = (*trouble.rewritten, *done.settled[1:])
    result = replace(done, settled=settled, verified=False, touched=True)

    assert render_results([result], format="text").endswith(
        "Read again: the service changed the text of 1 record.\n"
    )


def test_the_last_line_says_what_was_read(every_change: Plan) -> None:
    unverified = replace(_done(every_change), verified=False, touched=True)
    verdicts = {
        "Nothing was changed.": replace(unverified, touched=False),
        "Not verified: the listing could not be read again.": replace(unverified, read_back=False),
        "Read again: 2 more changes left to do.": replace(
            unverified, remaining=every_change.changes[:2]
        ),
        "Read again: not everything is done.": unverified,
    }

    for verdict, result in verdicts.items():
        assert verdict in render_results([result], format="text")


def test_long_differences_of_what_is_stored_are_shown_as_lines(trouble: Result) -> None:
    (settled,) = trouble.rewritten
    longer = replace(settled.rewrites[0], sent="a\nb", stored="a")
    result = replace(trouble, settled=(replace(settled, rewrites=(longer,)),))

    assert "        │ a\n        - b\n" in render_results([result], format="text")


def test_only_ten_skipped_changes_are_named() -> None:
    plan = plan_of([command(f"c{n}") for n in range(13)])
    settled = tuple(Settled(change, Outcome.SKIPPED) for change in plan.changes)
    shown = render_results([Result(plan=plan, settled=settled)], format="text")

    assert shown.count("skipped: add command") == 10
    assert "skipped: and 3 more\n" in shown


@pytest.mark.parametrize("color", [False, True])
def test_progress_is_one_line_for_each_change(trouble: Result, *, color: bool) -> None:
    failed, done, *_ = (
        re.sub(r"\x1b\[[0-9]+m", "", render_settled(one, screen=Screen(color=color)))
        for one in trouble.settled
    )

    assert failed == (
        "failed: edit command help  (commands.yaml:4:5): the service refuses it (400: too long)"
    )
    assert done == "done: rename command clear  (commands.yaml:8:5)"


@given(texts.filter(bool), texts)
def test_progress_never_begins_with_foreign_text(name: str, error: str) -> None:
    change = Add(resource=Resource.COMMAND, after=command(name).text)
    shown = render_settled(Settled(change, Outcome.FAILED, error))

    assert shown.startswith("failed: add command ")
    assert len(shown.splitlines()) == 1


def test_an_invalid_manifest_without_problems_is_still_an_error() -> None:
    assert render_failure(ManifestError([]), format="text") == (
        "error: the manifest has 0 problems\n"
    )


def test_an_error_says_what_and_what_to_do() -> None:
    error = UsageError("the token is empty\x1b[2J", hint="copy it again")

    assert render_failure(error, format="text") == (
        "error: the token is empty\\x1b[2J\n  hint: copy it again\n"
    )


def test_warnings_beside_a_result_have_their_places() -> None:
    notices = [Notice("odd", "fix it", Location("a.yaml", 2, 3)), Notice("even")]

    assert render_notices(notices) == ("warning: a.yaml:2:3: odd\n  hint: fix it\nwarning: even\n")


@given(st.sampled_from(UNTRUSTED), st.sampled_from(UNTRUSTED))
def test_no_failure_is_obeyed_by_a_runner(one: str, other: str) -> None:
    error = ManifestError([Problem(Location(one), other, one)])

    for line in render_failure(error, format="text").splitlines():
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", line)


def test_in_quiet_each_of_several_plans_is_named_with_its_counts(
    every_change: Plan, refused: Plan
) -> None:
    shown = render_plans([every_change, refused], format="text", screen=Screen(quiet=True))

    heading = "Bot 779641401482805289 at https://listing.example from commands.yaml"
    assert shown.splitlines() == [
        heading,
        "Plan: 1 to add, 2 to edit, 1 to replace, 1 to delete, 1 unchanged.",
        heading,
        (
            "refused: this plan would delete 4 of 5 listed commands, 80 % is over 30 %; "
            "apply refuses it"
        ),
        "  hint: if that is meant, allow it with --max-deletes 4",
        "Plan: 0 to add, 0 to edit, 4 to delete, 1 unchanged.",
    ]


def test_of_several_plans_the_first_with_a_sign_explains_it(every_change: Plan) -> None:
    shown = render_plans([every_change, every_change], format="text")

    assert shown.count("» is a rename") == shown.count("± is a replace") == 1
    assert shown.index("» is a rename") < shown.index("Plan: ")
