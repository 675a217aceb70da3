from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from commandsync.alike import Habits
from commandsync.changes import Add, Delete, Edit, Replace
from commandsync.evidence import Absent, Evidence, Rewritten, Shown, evidence_of
from commandsync.texts import AnnouncementText, CommandText, Resource, Text

if TYPE_CHECKING:
    from commandsync.changes import Change
    from commandsync.snapshot import Identity

OLD = CommandText("a", "Old words", "s")
NEW = CommandText("a", "New words", "s")
LOWER = CommandText("a", "new words", "s")
OTHER = CommandText("a", "Something", "s")
POST, POSTED = AnnouncementText("t", "Now"), AnnouncementText("t", "Then")

ADD = Add(resource=Resource.COMMAND, after=NEW)
EDIT = Edit(resource=Resource.COMMAND, id="1", before=OLD, after=NEW, fields=())
DELETE = Delete(resource=Resource.COMMAND, id="1", before=OLD)
REPLACE = Replace(resource=Resource.ANNOUNCEMENT, id="1", before=POSTED, after=POST, fields=())


def evidence(
    change: Change, listed: dict[Identity, Text], record: Identity | None = None
) -> Evidence:
    return evidence_of(change, listed=listed, habits=Habits(listed.values()), record=record)


def test_an_add_shows_by_its_record_alone() -> None:
    listed: dict[Identity, Text] = {"2": NEW, "3": LOWER}

    assert evidence(ADD, listed=listed, record="2") == Shown()
    assert isinstance(evidence(ADD, listed=listed, record="3"), Rewritten)
    assert isinstance(evidence(ADD, listed=listed), Absent)
    assert isinstance(evidence(ADD, listed=listed, record="9"), Absent)


def test_an_edit_shows_by_its_id() -> None:
    assert evidence(EDIT, listed={"1": NEW}) == Shown()
    assert evidence(EDIT, listed={"2": NEW}) == Absent("it is no longer listed")
    assert evidence(EDIT, listed={"1": OLD}) == Absent("it is listed with its old text")


def test_reading_again_is_of_use_until_it_shows_or_is_explained() -> None:
    explained = evidence(EDIT, listed={"1": LOWER})
    unexplained = evidence(EDIT, listed={"1": OTHER})

    assert isinstance(explained, Rewritten)
    assert isinstance(unexplained, Rewritten)
    assert Shown().conclusive
    assert explained.conclusive
    assert not unexplained.conclusive
    assert not Absent("x").conclusive


def test_an_old_text_that_is_the_beginning_of_the_new_one_was_hardly_cut() -> None:
    longer = replace(EDIT, after=OLD._replace(description="Old words and new"))

    assert evidence(longer, listed={"1": OLD}) == Absent("it is listed with its old text")


def test_an_old_text_that_a_habit_of_the_service_explains_is_not_conclusive() -> None:
    again = replace(EDIT, before=LOWER)

    found = evidence(again, listed={"1": LOWER})

    assert isinstance(found, Rewritten)
    assert found.unchanged
    assert not found.conclusive


def test_a_delete_shows_when_the_record_is_gone() -> None:
    assert evidence(DELETE, listed={"2": OLD}) == Shown()
    assert evidence(DELETE, listed={"1": NEW}) == Absent("the old one is still listed")


def test_a_record_that_only_lost_its_id_is_not_gone() -> None:
    assert evidence(DELETE, listed={(OLD, 0): OLD}) == Absent("one like it is listed without an id")
    assert evidence(DELETE, listed={(NEW, 0): NEW}) == Shown()


def test_a_replace_shows_when_the_new_one_is_there_and_the_old_one_is_not() -> None:
    assert evidence(REPLACE, listed={"2": POST}, record="2") == Shown()
    assert evidence(REPLACE, listed={"1": POSTED, "2": POST}, record="2") == Absent(
        "the old one is still listed"
    )
    assert evidence(REPLACE, listed={"1": POSTED}) == Absent("it is not listed")
    assert isinstance(
        evidence(REPLACE, listed={"2": AnnouncementText("T", "now")}, record="2"), Rewritten
    )
