"""The wording of each format, pinned once: `pytest --write-golden tests/unit/report` accepts it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError, UsageError
from commandsync.manifest import Manifest
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.report import render_failure, render_plans, render_results, render_validated
from tests.support.plans import announcement, command, plan_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandsync.plan.plan import Plan
    from commandsync.report import Format

    Golden = Callable[[str, str], None]

pytestmark = pytest.mark.parametrize("form", ["text", "markdown", "github"])


def test_the_wording_of_plans(
    golden: Golden, form: Format, every_change: Plan, refused: Plan
) -> None:
    idle = plan_of([command("help")], [command("help", id="1")])

    golden(render_plans([every_change, refused, idle, plan_of()], format=form), f"plan.{form}")


def test_the_wording_of_results(golden: Golden, form: Format, trouble: Result) -> None:
    settled = tuple(Settled(change, Outcome.DONE) for change in trouble.plan.changes)
    done = Result(plan=trouble.plan, settled=settled)
    interrupted = replace(trouble, interrupted=True, stopped="interrupted", stopped_hint="")

    golden(render_results([trouble, done, interrupted], format=form), f"apply.{form}")


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
        ("error", UsageError("the token is empty", hint="copy it again")),
    ],
    ids=["an invalid manifest", "wrong usage"],
)
def test_the_wording_of_failures(
    golden: Golden, form: Format, name: str, error: ManifestError | UsageError
) -> None:
    golden(render_failure(error, format=form), f"{name}.{form}")
