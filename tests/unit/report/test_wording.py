"""The wording of each format, pinned once: `pytest --write-golden tests/unit/report` accepts it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.cli.output import OPTIONS
from commandsync.diagnostics import Location, Problem
from commandsync.errors import CommandsyncError, FileError, ManifestError, UsageError
from commandsync.manifest import Manifest
from commandsync.plan.plan import RecordPlan, Target
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.report import (
    Format,
    Screen,
    render_failure,
    render_import,
    render_plans,
    render_results,
    render_validated,
)
from commandsync.report.github import annotated
from commandsync.report.imports import import_annotations, render_left_out
from commandsync.services.service import PAGE
from tests.support.plans import announcement, command, plan_of
from tests.unit.report.test_imports import RESULT as IMPORT

Golden = Callable[[str, str], None]

pytestmark = pytest.mark.parametrize("form", ["text", "markdown", "github"])


def test_the_wording_of_plans(
    golden: Golden, form: Format, every_change: RecordPlan, refused: RecordPlan
) -> None:
    idle = plan_of([command("help")], [command("help", id="1")])
    kept = plan_of(
        [command("help"), announcement("new", "x")],
        [*(command(name, id=name) for name in ("a", "b")), announcement("old", "y", id="o")],
        rules=SyncRules(prune=False),
    )
    unplaced = replace(plan_of(), target=Target(bot="", base_url="", abilities=PAGE.abilities))
    nameless = [replace(unplaced, manifest=()), replace(refused, manifest=())]
    plans = [every_change, refused, idle, plan_of(), kept, unplaced, *nameless]

    golden(render_plans(plans, format=form, screen=Screen(words=OPTIONS)), f"plan.{form}")


def test_the_wording_of_quiet_plans(
    golden: Golden, form: Format, every_change: RecordPlan, refused: RecordPlan
) -> None:
    shown = render_plans(
        [every_change, refused], format=form, screen=Screen(quiet=True, words=OPTIONS)
    )

    golden(shown, f"plan-quiet.{form}")


def test_the_wording_of_results(golden: Golden, form: Format, trouble: Result) -> None:
    settled = tuple(Settled(change, Outcome.DONE) for change in trouble.plan.changes)
    done = Result(plan=trouble.plan, settled=settled)
    interrupted = replace(trouble, interrupted=True, stopped="interrupted", stopped_hint="")

    known = tuple(one for one in trouble.settled if one.outcome is not Outcome.UNKNOWN)
    finished = replace(interrupted, settled=known)
    rewritten = replace(done, settled=(*trouble.rewritten, *done.settled[1:]), touched=True)
    unverified = replace(done, verified=False, touched=True)
    left = replace(unverified, remaining=trouble.plan.changes[:2])
    ends = [replace(rewritten, verified=False), replace(unverified, touched=False), left]
    ends += [replace(unverified, read_back=False), unverified]

    golden(
        render_results([trouble, done, interrupted, finished, *ends], format=form), f"apply.{form}"
    )


def test_the_wording_of_a_result_with_nothing_to_do(golden: Golden, form: Format) -> None:
    idle = Result(plan=plan_of([command("help")], [command("help", id="1")]), settled=())

    golden(render_results([idle], format=form), f"apply-nothing.{form}")


def test_the_wording_of_imports(golden: Golden, form: Format) -> None:
    if form == "github":
        shown = annotated(import_annotations(IMPORT), "", Screen())
    else:
        shown = render_import(IMPORT, format=form) + render_left_out(IMPORT)
        shown += render_import(IMPORT, format=form, screen=Screen(quiet=True))

    golden(shown, f"import.{form}")


def test_the_wording_of_valid_manifests(golden: Golden, form: Format) -> None:
    news, commands = (announcement("c", "d"),), (command("a"), command("b"))
    snapshot = Snapshot({Resource.COMMAND: commands, Resource.ANNOUNCEMENT: news})
    warning = Problem(Location("b.yaml", 2, 3), "twins", "rename one")
    manifests = [
        Manifest("a.yaml", snapshot=snapshot),
        Manifest("b.yaml", snapshot=Snapshot(), warnings=(warning,)),
    ]

    golden(render_validated(manifests, format=form), f"validate.{form}")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        (
            "invalid",
            ManifestError(
                [
                    Problem(Location("::x.yaml", 3, 1), "unknown key", "did you mean syntax?"),
                    Problem(Location("b.yaml"), "it is empty"),
                ]
            ),
        ),
        (
            "unread",
            FileError("nothing is read", problems=[Problem(Location("b.py", 2, 3), "not known")]),
        ),
        ("error", UsageError("the token is empty\x1b[2J", hint="copy it again")),
    ],
    ids=["an invalid manifest", "a source that is not read", "wrong usage"],
)
def test_the_wording_of_failures(
    golden: Golden, form: Format, name: str, error: CommandsyncError
) -> None:
    golden(render_failure(error, format=form), f"{name}.{form}")
