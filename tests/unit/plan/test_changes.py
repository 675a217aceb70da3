from copy import deepcopy
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.plan.changes import (
    FieldChange,
    PartChange,
    all_field_changes,
    field_changes,
    object_changes,
    part_changes,
)
from commandsync.records.texts import (
    AnnouncementText,
    ApplicationCommand,
    CommandText,
    Text,
    compact,
)
from tests.support import registered
from tests.support.plans import calls_of
from tests.support.registered import choices, option, slash

Json: TypeAlias = Any

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


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=6))
def test_many_records_are_compared_like_each_alone(
    pairs: list[tuple[CommandText, CommandText]],
) -> None:
    assert all_field_changes(pairs) == [field_changes(*pair) for pair in pairs]


def test_objects_and_texts_are_compared_in_one_call() -> None:
    pairs: list[tuple[Text, Text]] = [
        (PLAY, slash("play")),
        (CommandText("a", "b", "c"), CommandText("a", "B", "c")),
    ]

    found = all_field_changes(pairs)

    assert [[change.field for change in fields] for fields in found] == [
        ["options/region", "options/song"],
        ["description"],
    ]


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


def edited(old: ApplicationCommand, new: ApplicationCommand) -> list[tuple[str, bool]]:
    """Return the labels of the parts that differ, and which of them are breaking."""
    return [(part.label, part.breaking) for part in part_changes(old.node, new.node)]


SONG = option("song", required=True)
REGION = option("region", choices=choices("eu", "us/east"))
PLAY = slash("play", options=[SONG, REGION])


@pytest.mark.parametrize(
    ("new", "parts"),
    [
        (
            slash("Play", "Plays.", options=[SONG, REGION]),
            [("name", False), ("description", False)],
        ),
        (slash("play", options=[SONG]), [("option region", True)]),
        (slash("play", options=[SONG, REGION, option("volume")]), [("option volume", False)]),
        (
            slash("play", options=[SONG, REGION, option("volume", required=True)]),
            [("option volume", True)],
        ),
        (slash("play", options=[option("song"), REGION]), [("option song: required", False)]),
        (
            slash("play", options=[SONG, {**REGION, "required": True}]),
            [("option region: required", True)],
        ),
        (
            slash("play", options=[SONG, option("region", choices=choices("eu"))]),
            [("option region: choice us/east", True)],
        ),
        (
            slash("play", options=[SONG, option("region", choices=choices("eu", "us/east", "as"))]),
            [("option region: choice as", False)],
        ),
        (
            slash("play", options=[{**SONG, "choices": choices("a")}, REGION]),
            [("option song: choice a", True)],
        ),
        (
            slash("play", options=[option("song", 4, required=True), REGION]),
            [("option song: type", True)],
        ),
        (slash("play", options=[REGION, SONG]), [("order of options", False)]),
        (
            slash("play", options=[SONG, {**REGION, "choices": REGION["choices"][::-1]}]),
            [("option region: order of choices", False)],
        ),
        (
            slash("play", options=[SONG, REGION], description_localizations={"de": "Spielt."}),
            [("description_localizations", False)],
        ),
        (
            slash("play", options=[SONG, {**REGION, "choices": [{"name": "eu", "value": "x"}]}]),
            [("option region: choice eu: value", False), ("option region: choice us/east", True)],
        ),
    ],
)
def test_a_changed_part_has_its_name_and_users_may_notice_it(
    new: ApplicationCommand, parts: list[tuple[str, bool]]
) -> None:
    assert edited(PLAY, new) == parts


def test_sub_commands_are_named_and_the_first_ones_take_the_command_itself_away() -> None:
    whole = registered.group("queue", "add", "show")
    nested = slash("queue", options=[option("admin", 2, options=[option("clear", 1)])])

    assert edited(whole, registered.group("queue", "add")) == [("sub-command show", True)]
    assert edited(registered.group("queue", "add"), whole) == [("sub-command show", False)]
    assert edited(slash("queue"), registered.group("queue", "add")) == [("sub-command add", True)]
    assert edited(slash("queue"), nested) == [("sub-command group admin", True)]
    needed = slash("queue", options=[option("add", 1, options=[SONG]), option("show", 1)])
    assert edited(whole, needed) == [("sub-command add: option song", True)]


def test_a_part_has_a_path_of_names_and_texts_of_both_sides() -> None:
    new = slash("play", options=[{**SONG, "min_length": 2}, option("~x", choices=choices("a/b"))])

    assert field_changes(PLAY, new) == (
        FieldChange("options/region", compact(REGION), ""),
        FieldChange("options/song/min_length", "", "2"),
        FieldChange("options/~0x", "", compact(option("~x", choices=choices("a/b")))),
    )
    assert field_changes(new, slash("play", options=[{**SONG, "min_length": 2}, option("~x")])) == (
        FieldChange("options/~0x/choices/a~1b", compact({"name": "a/b", "value": "a/b"}), ""),
    )


def test_lists_in_which_names_are_not_unique_are_compared_as_wholes() -> None:
    twice = slash("play", options=[SONG, SONG])

    assert edited(PLAY, twice) == [("options", False)]
    assert edited(slash("p", options=[1]), slash("p", options=[True])) == [("options", False)]
    assert edited(slash("p", options="?"), slash("p")) == [("options", False)]


def test_an_option_whose_name_looks_private_is_compared() -> None:
    assert edited(slash("p"), slash("p", options=[option("__x")])) == [("option __x", False)]


def with_parts(node: Json, parts: tuple[PartChange, ...]) -> Json:
    """Return an object with its parts changed; lists are in any order."""
    node = deepcopy(node)
    for part in parts:
        if not part.label.rpartition(": ")[2].startswith("order of"):
            put(node, part.path, part.new)
    return node


def put(node: Json, path: tuple[str, ...], new: Json) -> None:
    """Set one part, or take it away."""
    key, *rest = path
    if key in {"options", "choices"} and rest:
        name, *rest = rest
        parts = node.setdefault(key, [])
        known = next((part for part in parts if part["name"] == name), None)
        if rest:
            put(known, tuple(rest), new)
        else:
            node[key] = [part for part in parts if part is not known] + ([new] if new else [])
    elif rest:
        put(node[key], tuple(rest), new)
    elif new is None:
        del node[key]
    else:
        node[key] = new


def in_any_order(value: Json) -> Json:
    """Return an object whose lists of parts are sorted by name, without the empty ones."""
    if isinstance(value, dict):
        return {key: in_any_order(part) for key, part in value.items() if part != []}
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        return sorted(map(in_any_order, value), key=lambda part: str(part["name"]))
    return value


@given(registered.TEXTS, registered.TEXTS)
def test_the_parts_that_differ_turn_one_object_into_the_other(
    before: ApplicationCommand, after: ApplicationCommand
) -> None:
    old, new = before.node, after.node

    parts = part_changes(old, new)

    assert bool(parts) == (before != after)
    assert in_any_order(with_parts(old, parts)) == in_any_order(new)
    assert len({part.field for part in parts}) == len(parts)
    assert [part.path[0] for part in parts if part.path == ("name",)] == (
        ["name"] if old["name"] != new["name"] else []
    )
    assert len(field_changes(before, after)) == len(parts)
