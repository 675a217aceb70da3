from __future__ import annotations

from commandsync.diagnostics import Location, Notice, Problem
from commandsync.plan.changes import Delete
from commandsync.plan.rules import SyncRules, parse_delete_limit
from commandsync.preview.listing import PreviewState
from commandsync.preview.overlay import overlay_of
from commandsync.records.texts import Resource
from commandsync.server.pages.overlay import Mark, Marked, ProblemLine
from tests.support.plans import announcement, command, plan_of

PLAN = plan_of(
    [
        command("help", "Shows the help menu.", line=9),
        command("clear", line=12, formerly=("purge",)),
        command("facts", line=15),
        announcement("v2", "Out.", line=20),
    ],
    [
        command("help", "Shows help.", id="1"),
        command("purge", id="2"),
        command("old", "Was here.", id="3"),
        announcement("v2", "Soon.", id="a"),
    ],
    rules=SyncRules(max_deletes=parse_delete_limit("10%"), announcements="mirror"),
    notices=[Notice("odd", "fix it", Location("commands.yaml", 2, 3))],
)
BY_NAME = {change.name: change for change in PLAN.changes if not isinstance(change, Delete)}
STATE = PreviewState(
    plan=PLAN,
    changes={
        Resource.COMMAND: {
            "1": BY_NAME["help"],
            "2": BY_NAME["clear"],
            "n1": BY_NAME["facts"],
        },
        Resource.ANNOUNCEMENT: {"n2": BY_NAME["v2"]},
    },
    notices=(Notice("not taken"),),
)


def test_each_change_is_marked_with_the_old_text_of_what_differs() -> None:
    overlay = overlay_of(STATE)

    assert overlay.summary == "Plan: 1 to add, 2 to edit, 1 to replace, 1 to delete, 0 unchanged."
    assert overlay.marks == {
        "commands": {
            "1": Marked(mark=Mark.EDITED, before={"description": "Shows help."}),
            "2": Marked(mark=Mark.RENAMED, before={"name": "purge", "syntax": "/purge"}),
            "n1": Marked(mark=Mark.NEW, before={}),
        },
        "announcements": {"n2": Marked(mark=Mark.EDITED, before={"description": "Soon."})},
    }
    gone = {"name": "old", "description": "Was here.", "syntax": "/old", "category": ""}
    assert overlay.gone == {"commands": (gone,), "announcements": ()}


def test_the_notices_begin_with_what_apply_would_refuse() -> None:
    refused, *rest = overlay_of(STATE).notices

    assert refused == (
        "apply would refuse this plan: it would delete or replace 1 of 1 listed announcements, "
        "100 % is over 10 % (if that is meant, allow it with --max-deletes 2)"
    )
    assert rest == ["commands.yaml:2:3: odd (fix it)", "not taken"]


def test_problems_are_shown_with_their_places() -> None:
    problem = Problem(Location("commands.yaml", 3, 5), "no such key", "remove it")

    assert overlay_of(STATE, [problem]).problems == (
        ProblemLine(place="commands.yaml:3:5", message="no such key", hint="remove it"),
    )
