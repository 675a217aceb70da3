from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.plan.changes import FieldChange, field_changes, object_changes
from commandsync.records.texts import AnnouncementText, CommandText
from tests.support.plans import calls_of

WORDS = st.one_of(st.text(max_size=12), st.sampled_from(["1", "1.0", "A", "a", "x\ny", "x\r\ny"]))
TEXTS = st.builds(CommandText, WORDS, WORDS, WORDS, WORDS)


def test_only_fields_that_differ_are_told_in_the_order_of_the_record() -> None:
    old = CommandText("a", "b", "c", "d")
    new = CommandText("a", "B", "c", "D")

    found = field_changes(old, new)

    assert found == (FieldChange("description", "b", "B"), FieldChange("category", "d", "D"))
    assert field_changes(old, old) == ()


def test_announcements_are_compared_by_their_own_fields() -> None:
    found = field_changes(AnnouncementText("a", "b"), AnnouncementText("a", "c"))

    assert found == (FieldChange("description", "b", "c"),)


@given(TEXTS, TEXTS)
def test_it_compares_field_by_field(before: CommandText, after: CommandText) -> None:
    found = field_changes(before, after)

    assert found == tuple(
        FieldChange(name, old, new)
        for name, old, new in zip(before._fields, before, after, strict=True)
        if old != new
    )


BAN: dict[str, Any] = {
    "name": "ban",
    "options": [
        {"name": "user", "type": 6},
        {"name": "reason", "type": 3, "choices": [{"name": "spam", "value": 1}]},
    ],
    "default_member_permissions": "4",
    "description": "Bans. Them.",
}


@pytest.mark.parametrize(
    ("changed", "parts"),
    [
        ({}, ()),
        ({"nsfw": True}, ("nsfw",)),
        ({"description": "Bans.\nThem."}, ("description",)),
        ({"default_member_permissions": "8"}, ("default_member_permissions",)),
        ({"options": BAN["options"][::-1]}, ("order",)),
        ({"options": BAN["options"][:1]}, ("reason",)),
        (
            {"options": [BAN["options"][0] | {"required": True}, BAN["options"][1]]},
            ("user required",),
        ),
        (
            {"options": [BAN["options"][0], BAN["options"][1] | {"choices": [{"name": "ads"}]}]},
            ("reason choices",),
        ),
    ],
)
def test_a_differing_part_has_its_name(changed: dict[str, object], parts: tuple[str, ...]) -> None:
    assert object_changes((BAN,), (BAN | changed,)) == parts
    assert object_changes(({"name": "mod"}, BAN), ({"name": "mod"}, BAN | changed)) == parts


def test_an_object_that_was_not_there_adds_what_is_beside_its_texts() -> None:
    assert object_changes((), (BAN,)) == ("default_member_permissions", "options")
    assert object_changes((BAN,), ()) == ("default_member_permissions", "options")


@given(st.lists(WORDS, min_size=4, max_size=4), st.lists(WORDS, min_size=4, max_size=4))
def test_long_texts_are_no_more_work_than_short_ones(old: list[str], new: list[str]) -> None:
    def work(lines: int) -> int:
        before, after = (
            CommandText(*(f"{word}\n" * lines for word in side)) for side in (old, new)
        )
        field_changes(before, after)
        return calls_of(lambda: field_changes(before, after))

    assert work(2) == work(2_000)
