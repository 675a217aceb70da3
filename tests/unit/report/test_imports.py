"""An import in every format: what changes, what is left to a person, and no untrusted line."""

import json
from dataclasses import replace

from commandsync.diagnostics import Location, Notice
from commandsync.records.snapshot import Entry
from commandsync.records.texts import CommandText
from commandsync.report import Screen, render_import
from commandsync.sources.changeset import (
    Added,
    Declared,
    Edited,
    FileEdit,
    Import,
    Merge,
    Removed,
    Review,
    ReviewReason,
)
from commandsync.sources.entry import Excluded, SourceEntry

HOSTILE = "::error::x\n\x1b[31m##[error]\u202e"
LIVE = SourceEntry(name=HOSTILE, description=HOSTILE, syntax="/x")
CODE = SourceEntry(
    name="ban", description="Bans.", syntax="/ban", place=Location(f"bot/{HOSTILE}.py", 3, 5)
)
OURS = tuple(
    Entry(CommandText(name, HOSTILE, "/x"), location=Location("commands.yaml", 3 + number, 3))
    for number, name in enumerate(["a", HOSTILE, "c"])
)
RESULT = Import(
    path="commands.yaml",
    sources=("discord",),
    locale="",
    repeatable=True,
    ours=OURS,
    merge=Merge(
        changes=(
            Edited(index=0, formerly=()),
            Removed(index=1),
            Added(entry=CODE, text=CommandText("ban", "Bans.", "/ban"), after=None),
        ),
        reviews=(
            Review(
                reason=ReviewReason.BOTH_CHANGED,
                name=HOSTILE,
                index=1,
                entry=LIVE,
                field="description",
                here=HOSTILE,
                there="x",
            ),
            Review(reason=ReviewReason.KEPT, name="c", index=2),
            Review(reason=ReviewReason.DELETED, name="ban", entry=CODE),
            Review(reason=ReviewReason.NAME_TAKEN, name="a", index=0),
        ),
        unwanted=(Declared("discord", LIVE),),
    ),
    edits=(FileEdit("commands.yaml", "a\n", f"a\n# {HOSTILE}"),),
    imported=FileEdit("commands.imported.json", "", "{}"),
    excluded=(Excluded(CODE, "it is hidden"),),
    notes=(Notice("the file is odd", "", CODE.place),),
)


def test_long_texts_are_cut_unless_they_are_asked_for() -> None:
    review = replace(RESULT.merge.reviews[0], here="x" * 300)
    result = replace(RESULT, merge=replace(RESULT.merge, reviews=(review,)))

    assert "x" * 300 not in render_import(result, format="text")
    assert "x" * 300 in render_import(result, format="text", screen=Screen(full=True))


def test_the_document_has_what_is_left_out() -> None:
    document = json.loads(render_import(RESULT, format="json"))

    assert [each["name"] for each in document["excluded"]] == ["ban", HOSTILE]
    assert [*(each["reason"] for each in document["excluded"])] == [
        "it is hidden",
        "it was deleted from the manifest",
    ]
    assert [each["reason"] for each in document["reviews"]] == [
        "both-changed",
        "kept",
        "deleted",
        "name-taken",
    ]
    assert document["warnings"][0]["message"] == "the file is odd"
    assert document["changes"][0]["formerly"] == []
