from typing import Any

from commandsync.server.pages.overlay import Mark, Marked, Overlay
from commandsync.server.pages.rows import Row, groups_of, rows_of


def command(name: str, category: str = "", **fields: str) -> dict[str, Any]:
    category_field = {"category": category} if category else {}
    return {"id": name, "name": name, "description": "d", "syntax": "s", **category_field, **fields}


def overlay(**fields: Any) -> Overlay:  # noqa: ANN401 - as the dataclass has them
    return Overlay(**{"summary": "Plan", "marks": {}, "gone": {}, **fields})


def names(rows: list[Row]) -> list[str]:
    return [row.title for row in rows]


def test_commands_are_grouped_where_the_first_of_a_category_is_listed() -> None:
    listed = [command("a", "Fun"), command("b"), command("c", "Music"), command("d", "Fun")]
    groups = groups_of(rows_of(listed, "commands", None))

    assert [(group.category, names(group.rows)) for group in groups] == [
        ("Fun", ["a", "d"]),
        ("", ["b"]),
        ("Music", ["c"]),
    ]
    assert [group.number for group in groups] == [2, 1, 1]


def test_categories_that_differ_in_a_character_are_two() -> None:
    listed = [command("a", "Fun"), command("b", "fun")]

    assert len(groups_of(rows_of(listed, "commands", None))) == 2


def test_a_record_without_a_change_has_no_mark() -> None:
    (row,) = rows_of([command("a")], "commands", overlay())

    assert (row.mark, row.changes, row.anchor) == (None, (), "command-a")


def test_an_edited_record_has_the_pieces_of_each_changed_field() -> None:
    marked = Marked(mark=Mark.EDITED, before={"description": "old text", "category": "Fun"})
    (row,) = rows_of(
        [command("a", description="new text")],
        "commands",
        overlay(marks={"commands": {"a": marked}}),
    )

    assert row.mark is Mark.EDITED
    assert row.changes == (
        ("description", [("old", "old "), ("new", "new "), ("same", "text")]),
        ("category", [("old", "Fun")]),
    )
    assert row.old_name == ""


def test_a_renamed_record_has_its_old_name() -> None:
    marked = Marked(mark=Mark.RENAMED, before={"name": "h"})
    (row,) = rows_of([command("help")], "commands", overlay(marks={"commands": {"help": marked}}))

    assert (row.mark, row.old_name) == (Mark.RENAMED, "h")


def test_records_that_are_gone_end_their_category() -> None:
    gone = {"name": "old", "description": "d", "syntax": "s", "category": "Fun"}
    rows = rows_of(
        [command("a", "Fun"), command("b", "Music")],
        "commands",
        overlay(gone={"commands": (gone, {**gone, "name": "older", "category": ""})}),
    )
    groups = groups_of(rows)

    assert [(group.category, names(group.rows), group.number) for group in groups] == [
        ("Fun", ["a", "old"], 1),
        ("Music", ["b"], 1),
        ("", ["older"], 0),
    ]
    assert [row.anchor for row in rows[2:]] == ["gone-command-1", "gone-command-2"]


def test_marks_of_one_collection_are_not_those_of_another() -> None:
    marks = {"announcements": {"a": Marked(mark=Mark.NEW, before={})}}
    (row,) = rows_of([command("a")], "commands", overlay(marks=marks))

    assert row.mark is None
