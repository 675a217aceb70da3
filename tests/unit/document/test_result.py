import subprocess
import sys

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Location, Notice, Problem
from commandsync.document.plan import plan_document
from commandsync.document.schemas import failure_document, joined_document, result_document
from commandsync.errors import ManifestError
from commandsync.plan.rules import SyncRules
from commandsync.records.rewrites import rewrites
from commandsync.records.texts import CommandText
from tests.support.plans import BASE_URL, BOT, command, plan_of, varied_plan


def test_a_plan_document_has_the_designed_keys_in_their_order() -> None:
    plan = varied_plan()
    document = plan_document(plan)

    assert list(document) == [
        *("version", "bot", "base_url", "manifest", "scope", "summary", "listed", "limits"),
        *("refused", "changes", "kept", "stuck", "warnings", "fingerprint", "digest"),
    ]
    assert document["bot"] == BOT
    assert document["base_url"] == BASE_URL
    assert document["scope"] == ["commands", "announcements"]
    assert document["summary"] == {"add": 1, "edit": 2, "delete": 1, "replace": 1, "unchanged": 0}
    assert document["listed"] == {"commands": 3, "announcements": 1}
    assert document["limits"] == {
        "prune": True,
        "max_deletes": "50%",
        "announcements": "mirror",
        "ignore": ["beta-*"],
    }
    assert plan.refusal
    assert document["refused"] == {
        "message": plan.refusal.message,
        "hint": str(plan.refusal.hint),
    }
    assert document["warnings"] == [
        {
            "message": "odd",
            "hint": "fix it",
            "location": {"path": "commands.yaml", "line": 2, "column": 3},
        },
        {"message": "even", "hint": "", "location": None},
    ]


def test_each_change_says_what_was_and_what_will_be() -> None:
    edit, rename, add, replace, delete = plan_document(varied_plan())["changes"]

    assert edit == {
        "action": "edit",
        "resource": "command",
        "id": "1",
        "name": "help",
        "before": {"name": "help", "description": "Shows help.", "syntax": "/help", "category": ""},
        "after": {
            "name": "help",
            "description": "Shows the help menu.",
            "syntax": "/help",
            "category": "",
        },
        "fields": {"description": {"old": "Shows help.", "new": "Shows the help menu."}},
        "location": {"path": "commands.yaml", "line": 9, "column": 5},
        "renamed_from": None,
    }
    assert rename["renamed_from"] == "purge"
    assert (add["id"], add["before"], add["fields"], add["listed"]) == (None, None, {}, 0)
    assert (replace["resource"], replace["id"], replace["listed"]) == ("announcement", "a", 0)
    assert (delete["after"], delete["location"], delete["fields"]) == (None, None, {})


def test_what_is_kept_is_named_with_its_text() -> None:
    plan = plan_of([command("help")], [command("old", id="3")], rules=SyncRules(prune=False))

    assert plan_document(plan)["kept"] == [
        {
            "resource": "command",
            "id": "3",
            "name": "old",
            "text": {"name": "old", "description": "Does it.", "syntax": "/old", "category": ""},
        }
    ]


def test_a_plan_within_its_limits_is_not_refused() -> None:
    document = plan_document(plan_of([command("help")]))

    assert document["refused"] is None
    assert document["limits"]["max_deletes"] is None


def test_a_result_document_is_the_plans_and_how_it_ended() -> None:
    plan = varied_plan()
    edit, rename, add, replace, delete = plan.changes
    assert edit.action == "edit"
    assert isinstance(edit.after, CommandText)
    found = rewrites(sent=edit.after, stored=edit.after._replace(description="Shows"))
    result = Result(
        plan=plan,
        settled=(
            Settled(edit, Outcome.DONE, rewrites=found),
            Settled(rename, Outcome.FAILED, "no", "shorten it"),
            Settled(add, Outcome.UNKNOWN, "timed out", rewrites=found),
            Settled(replace, Outcome.SKIPPED, "stopped"),
            Settled(delete, Outcome.SKIPPED, "stopped", rewrites=found),
        ),
        notices=(Notice("a copy"),),
        verified=False,
        stopped="stopped",
        interrupted=True,
    )
    document = result_document(result)

    assert list(document)[: len(plan_document(plan)) - 1] == list(plan_document(plan))[:-1]
    assert document["fingerprint"] == plan.fingerprint
    assert [(c["outcome"], c["error"], c["hint"]) for c in document["changes"]] == [
        ("done", "", ""),
        ("failed", "no", "shorten it"),
        ("unknown", "timed out", ""),
        ("skipped", "stopped", ""),
        ("skipped", "stopped", ""),
    ]
    assert document["outcomes"] == {"done": 1, "failed": 1, "unknown": 1, "skipped": 2}
    assert (document["verified"], document["stopped"]) == (False, "stopped")
    assert document["interrupted"] is True
    assert document["notices"] == [{"message": "a copy", "hint": "", "location": None}]
    assert document["differences"][0] == {
        "resource": "command",
        "id": "1",
        "name": "help",
        "location": {"path": "commands.yaml", "line": 9, "column": 5},
        "fields": [
            {
                "field": "description",
                "sent": "Shows the help menu.",
                "stored": "Shows",
                "how": "cut at 5 characters",
                "advice": "shorten it to 5 characters",
            }
        ],
    }
    assert document["differences"][1]["id"] is None
    assert document["differences"][2]["location"] is None


def test_one_document_is_printed_itself_and_several_as_a_list() -> None:
    assert joined_document([{"version": 1}]) == {"version": 1}
    assert joined_document([{"a": 1}, {"b": 2}]) == {"version": 1, "results": [{"a": 1}, {"b": 2}]}


def test_a_failure_document_lists_the_problems() -> None:
    error = ManifestError([Problem(Location("a.yaml", 3, 1), "unknown key", "drop it")])

    assert failure_document(error) == {
        "version": 1,
        "error": {"kind": "invalid", "message": "the manifest has 1 problem", "hint": ""},
        "problems": [
            {"path": "a.yaml", "line": 3, "column": 1, "message": "unknown key", "hint": "drop it"}
        ],
    }


def test_no_format_for_people_loads_pydantic() -> None:
    code = (
        "import sys\n"
        "from commandsync import report\n"
        "from commandsync.report import records\n"
        "from commandsync.errors import UsageError\n"
        "for form in ('text', 'markdown', 'github'):\n"
        "    report.render_failure(UsageError('x'), format=form)\n"
        "    report.render_plans([], format=form)\n"
        "print(sorted({'pydantic', 'rich', 'deepdiff', 'yaml', 'requests'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "[]\n"
