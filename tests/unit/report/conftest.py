import pytest

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Location, Notice
from commandsync.plan.changes import Edit
from commandsync.plan.plan import RecordPlan
from commandsync.plan.rules import SyncRules
from commandsync.records.rewrites import rewrites
from commandsync.records.texts import CommandText
from tests.support.plans import announcement, command, plan_of


@pytest.fixture
def every_change() -> RecordPlan:
    """A plan with a change of each kind."""
    return plan_of(
        desired=[
            command("help", "Shows the help menu.", category="General", line=4),
            command("clear", line=8, formerly=("purge",)),
            command("ping"),
            command("facts", "Says a fact.", category="Fun", line=12),
            announcement("v2.0 is out", "Slash commands!", line=20),
        ],
        listed=[
            command("help", "Shows help.", category="General", id="1"),
            command("purge", id="2"),
            command("ping", id="3"),
            command("old", "Was here.", id="4"),
            announcement("v2.0 is out", "Soon.", id="a"),
        ],
        rules=SyncRules(announcements="mirror"),
        notices=[Notice("a text is cut by ` #`", "quote it", Location("commands.yaml", 9, 3))],
    )


@pytest.fixture
def refused() -> RecordPlan:
    """A plan that deletes too much."""
    return plan_of(desired=[command("c0")], listed=[command(f"c{n}", id=f"{n}") for n in range(5)])


@pytest.fixture
def trouble(every_change: RecordPlan) -> Result:
    """A result with an outcome of each kind."""
    edit, rename, add, replace, delete = every_change.changes
    assert isinstance(rename, Edit)
    assert isinstance(rename.after, CommandText)
    found = rewrites(sent=rename.after, stored=rename.after._replace(description="Does"))
    return Result(
        plan=every_change,
        settled=(
            Settled(edit, Outcome.FAILED, "the service refuses it (400: too long)", "shorten it"),
            Settled(rename, Outcome.DONE, rewrites=found),
            Settled(add, Outcome.UNKNOWN, "no answer within 30 s"),
            Settled(replace, Outcome.SKIPPED, "the token may not do this"),
            Settled(delete, Outcome.SKIPPED, "the token may not do this"),
        ),
        notices=(Notice("another copy of 'help' is listed", "run again"),),
        verified=False,
        touched=True,
        stopped="the token may not do this",
        stopped_hint="is it the token of this bot?",
    )
