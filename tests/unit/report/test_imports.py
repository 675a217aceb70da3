"""An import in every format: what changes, what is left to a person, and no untrusted line."""

import json
from dataclasses import replace

from commandsync.diagnostics import Location, Notice
from commandsync.records.snapshot import ImportedCommand, ImportedFile, Override
from commandsync.report import Screen, render_import
from commandsync.sources.changeset import FileEdit, Import, LeftOut, differences
from commandsync.sources.entry import UnreadPart
from commandsync.sources.importing import Kept

HOSTILE = "::error::x\n\x1b[31m##[error]\u202e"
PLACE = Location(f"bot/{HOSTILE}.py", 3, 5)
BAN = ImportedCommand(name="ban", description="Bans.", syntax="/ban", source="bot/a.py")
GONE = ImportedCommand(name=HOSTILE, description=HOSTILE, syntax="/x")
KICK = ImportedCommand(name="kick", description="Kicks.", syntax="/kick", source="bot/a.py")
BEFORE = ImportedFile((BAN, GONE, KICK))
AFTER = ImportedFile(
    (
        replace(BAN, description=HOSTILE, source="bot/b.py", discord={"name": "ban", "type": 1}),
        replace(KICK, name="remove", syntax="/remove", formerly=("kick",)),
        ImportedCommand(name="new", description="Is new.", syntax="/new", kept=True),
        ImportedCommand(name="eval", description="Runs.", syntax="/eval", left_out="owner-only"),
    )
)
RESULT = Import(
    path="commands.yaml",
    sources=("bot",),
    before=BEFORE,
    after=AFTER,
    differences=tuple(differences(BEFORE, AFTER)),
    imported=FileEdit("commands.imported.yaml", "a\n", "b\n"),
    manifest=FileEdit("commands.yaml", "a\n", f"a\n# {HOSTILE}"),
    left_out=(LeftOut("eval", "owner-only", PLACE), LeftOut(HOSTILE, HOSTILE)),
    kept=(Kept("new", HOSTILE, PLACE),),
    unread=(UnreadPart(PLACE, HOSTILE, HOSTILE),),
    acknowledged=(UnreadPart(PLACE, "it is computed"),),
    generated=("bot/all.min.js",),
    notes=(Notice("the file is odd", "", PLACE),),
    overrides=(
        Override(
            "ban", Location("commands.yaml", 5, 3), {"description": ("x", HOSTILE)}, (), adds=False
        ),
        Override("new", Location("commands.yaml", 9, 3), {}, ("description",), adds=False),
    ),
    strays=(("old", Location("commands.yaml", 12, 3)),),
    edits=({"name": "ban", "description": HOSTILE},),
    was_edited=True,
    refusal=Notice("would delete all"),
    places={("ban", "/ban"): PLACE},
)


def test_long_texts_are_cut_unless_they_are_asked_for() -> None:
    long = Override("ban", PLACE, {"description": ("x" * 300, "y")}, (), adds=False)
    result = replace(RESULT, overrides=(long,))

    assert "x" * 300 not in render_import(result, format="text")
    assert "x" * 300 in render_import(result, format="text", screen=Screen(full=True))


def test_the_document_has_what_changes_and_what_is_left() -> None:
    document = json.loads(render_import(RESULT, format="json"))

    assert document["summary"] == {
        "add": 1,
        "edit": 2,
        "remove": 1,
        "unchanged": 0,
        "left_out": 2,
        "kept": 1,
        "unread": 2,
    }
    assert [(each["action"], each["name"]) for each in document["changes"]] == [
        ("edit", "ban"),
        ("edit", "remove"),
        ("add", "new"),
        ("remove", HOSTILE),
    ]
    assert document["changes"][1]["formerly"] == ["kick"]
    assert [each["only_repeats"] for each in document["overrides"]] == [False, True]
    assert [each["name"] for each in document["strays"]] == ["old"]
    assert document["edited"] == [{"name": "ban", "description": HOSTILE}]
    assert document["warnings"][0]["message"] == "the file is odd"


def test_a_command_that_is_left_out_now_is_removed_from_public_lists() -> None:
    after = ImportedFile((replace(BAN, left_out="owner-only"), GONE, KICK))
    result = replace(RESULT, after=after, differences=tuple(differences(BEFORE, after)))

    assert (result.added, result.edited, result.removed) == (0, 0, 1)
    assert "  - ban" in render_import(result)
