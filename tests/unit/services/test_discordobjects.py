"""Discord's objects in one form: a sent command equals the answered one, for all commands."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.services.discordobjects import (
    canonical_object,
    entries_of,
    text_of,
    with_unknown,
)
from tests.support.discordcommands import AT_LIMITS, chat, commands, option, schema_problems
from tests.support.discordserver import SERVER, DiscordListing

BODIES = Path(__file__).parents[2] / "fixtures/discord/bodies"


@pytest.mark.parametrize("library", ["discordjs", "discordpy"])
@pytest.mark.parametrize(("scope", "guild"), [("global", ""), ("guild", "613425648685547541")])
def test_what_libraries_send_equals_what_is_answered(library: str, scope: str, guild: str) -> None:
    bodies = json.loads((BODIES / f"{library}-{scope}.json").read_text(encoding="utf-8"))

    sent, answered = (
        [text_of(node, installs=(0,), guild=guild) for node in bodies[key]]
        for key in ("sent", "answered")
    )

    assert len(sent) == 11
    assert sent == answered


@given(commands(), st.sampled_from(["both", "guild", "user"]), st.sampled_from(["", SERVER]))
def test_a_command_equals_what_is_read_after_it_was_registered(
    command: dict[str, Any], installs: str, guild: str
) -> None:
    listing = DiscordListing(choices={"installs": installs})
    known = {"both": (0, 1), "guild": (0,), "user": (1,)}[installs]

    listing.seed(command, guild=guild)

    (entry,) = entries_of(listing.listed(guild), installs=known, guild=guild)
    assert entry.text == text_of(command, installs=known, guild=guild)


@given(commands(), st.sampled_from(["", SERVER]))
def test_the_form_of_a_form_is_itself(command: dict[str, Any], guild: str) -> None:
    node = canonical_object(command, installs=(0, 1), guild=guild)

    assert canonical_object(node, installs=(0, 1), guild=guild) == node
    assert schema_problems(node, "ApplicationCommandCreateRequest") == []


@pytest.mark.parametrize("command", AT_LIMITS.values(), ids=AT_LIMITS)
def test_a_command_at_a_limit_is_kept_whole(command: dict[str, Any]) -> None:
    listing = DiscordListing()

    listing.seed(command)

    (entry,) = entries_of(listing.listed(), installs=(0, 1))
    assert entry.text == text_of(command, installs=(0, 1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": None}, {"type": 1}),
        ({"default_member_permissions": 8}, {"default_member_permissions": "8"}),
        ({"default_member_permissions": "08"}, {"default_member_permissions": 8.0}),
        ({"dm_permission": False}, {"contexts": [0]}),
        ({"dm_permission": False, "contexts": [1]}, {"contexts": [1]}),
        ({"dm_permission": True}, {}),
        ({"contexts": [2, 0, 0]}, {"contexts": [0, 2]}),
        ({"integration_types": [1, 0]}, {}),
        ({"integration_types": []}, {}),
        ({"id": "1", "version": "2", "guild_id": "3", "default_permission": True}, {}),
        ({"name_localized": "Pong", "description_localizations": {"de": ""}}, {}),
        ({"options": [option(min_length=None, autocomplete=False)]}, {"options": [option()]}),
        (
            {"options": [option(type=10, max_value=2.0)]},
            {"options": [option(type=10, max_value=2)]},
        ),
        ({"options": None, "nsfw": False, "handler": None}, {}),
    ],
)
def test_two_ways_to_say_the_same_are_equal(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert text_of(chat(**one), installs=(0, 1)) == text_of(chat(**other), installs=(0, 1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"default_member_permissions": "0"}, {}),
        ({"default_member_permissions": 0}, {"default_member_permissions": None}),
        ({"integration_types": [0]}, {}),
        ({"dm_permission": False}, {}),
        ({"nsfw": True}, {}),
        ({"options": [option(min_length=0)]}, {"options": [option()]}),
        ({"options": [option(type=4, min_value=0)]}, {"options": [option(type=4)]}),
        ({"description": "Says pong. "}, {}),
        ({"name": "Ping"}, {}),
        ({"rank": 1}, {}),
        ({"options": [option(), option(name="b")]}, {"options": [option(name="b"), option()]}),
    ],
)
def test_different_commands_are_not_equal(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert text_of(chat(**one), installs=(0, 1)) != text_of(chat(**other), installs=(0, 1))


def test_a_server_has_no_contexts_and_installations() -> None:
    keys = {"contexts": [0], "integration_types": [1], "dm_permission": False}

    assert text_of(chat(**keys), guild="1") == text_of(chat())


def test_an_empty_value_of_a_choice_is_a_value() -> None:
    choice = {"name": "none", "value": ""}

    node = canonical_object(chat(option(choices=[choice])))

    assert node["options"][0]["choices"] == [choice]


@pytest.mark.parametrize("odd", [[[0], {}], [None], {"a": 0}, 7, "x", [1, "1"]])
@pytest.mark.parametrize("key", ["contexts", "channel_types", "options", "choices", "type"])
def test_odd_values_are_kept_as_they_are(key: str, odd: object) -> None:
    assert canonical_object({"name": "ping", key: odd})[key] is not None


def test_entry_points_and_unknown_types_are_left_alone() -> None:
    nodes = [{"id": str(kind), "name": "n", "type": kind} for kind in (4, 2, 9, 1, 3)]

    assert [entry.id for entry in entries_of(nodes)] == ["2", "1", "3"]


def test_a_listed_command_has_the_object_as_it_was_answered() -> None:
    node = {"id": "7", "name": "ping", "description": "Pings.", "nsfw": False}

    (entry,) = entries_of([node])

    assert (entry.id, entry.own, entry.name) == ("7", (node,), "ping")


def test_keys_that_nobody_knows_are_taken_over_from_the_same_part() -> None:
    listed = chat(
        option(
            rank=1, choices=[{"name": "a", "value": "a", "mood": 2}, {"name": "b", "value": "b"}]
        ),
        option(name="other", rank=3),
        option(name="typed", rank=4),
        rank=5,
        nsfw=True,
        id="7",
    )
    node = chat(
        option(name="typed", type=4),
        option(name="other", rank=6),
        option(choices=[{"name": "b", "value": "b"}, {"name": "a", "value": "c"}]),
    )

    assert with_unknown(node, listed) == chat(
        option(name="typed", type=4),
        option(name="other", rank=6),
        option(
            rank=1, choices=[{"name": "b", "value": "b"}, {"name": "a", "value": "c", "mood": 2}]
        ),
        rank=5,
    )
