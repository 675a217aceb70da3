"""Discord's lists of commands: what is stored, answered and refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.simulation.discordcommands import OWN_KEYS
from tests.support.discordcommands import ANSWER, chat, commands, option, schema_problems, trees
from tests.support.discordserver import APPLICATION, SERVER, DiscordListing, without

FRAMEWORKS = sorted((Path(__file__).parents[2] / "fixtures/discord/frameworks").glob("*.json"))
PING = {"name": "ping", "description": "Says pong."}
ALL = "with_localizations=true"
GUILDS = st.sampled_from(["", SERVER])


@pytest.fixture
def discord() -> DiscordListing:
    return DiscordListing()


def reason(told: Any) -> tuple[int, int]:  # noqa: ANN401 - an answer
    """Return the status and Discord's number of a refusal."""
    return told.status, told.content["code"]


def test_an_answer_has_what_discord_adds(discord: DiscordListing) -> None:
    (first,) = discord.seed({**PING, "options": [option(choices=[{"name": "a", "value": "b"}])]})
    (of_server,) = discord.seed({**PING, "contexts": [0], "dm_permission": False}, guild=SERVER)
    texts = {"name_localizations": None, "description_localizations": None}
    choice = {"name": "a", "name_localizations": None, "value": "b"}

    assert first == {
        "id": first["id"],
        "application_id": APPLICATION,
        "version": first["version"],
        "default_permission": True,
        "default_member_permissions": None,
        "type": 1,
        "name": "ping",
        "description": "Says pong.",
        **texts,
        "contexts": None,
        "integration_types": [0, 1],
        "dm_permission": True,
        "nsfw": False,
        "options": [
            {"type": 3, "name": "text", "description": "A text.", **texts, "choices": [choice]}
        ],
    }
    alike = {key: value for key, value in first.items() if key not in {"options", *OWN_KEYS}}
    del alike["dm_permission"]
    assert of_server == {
        **alike,
        "integration_types": [0],
        "guild_id": SERVER,
        **{key: of_server[key] for key in ("id", "version")},
        "application_id": APPLICATION,
    }


def test_an_answer_leaves_out_what_is_empty_and_sorts_sets(discord: DiscordListing) -> None:
    first, second = discord.seed(
        {**PING, "options": [], "contexts": [2, 0], "default_member_permissions": 0},
        chat(
            option(required=False, autocomplete=False, choices=[], min_length=0, max_length=None),
            option(type=7, name="channel", channel_types=[5, 0]),
            option(type=10, name="number", min_value=2, choices=[{"name": "a", "value": 10}]),
            option(type=4, name="integer", max_value=2.0),
            name="many",
        ),
    )
    options = without("name_localizations", "description_localizations")(second["options"])

    assert "options" not in first
    assert (first["contexts"], first["default_member_permissions"]) == ([0, 2], "0")
    assert options == [
        {"type": 3, "name": "text", "description": "A text.", "min_length": 0},
        {"type": 7, "name": "channel", "description": "A text.", "channel_types": [0, 5]},
        {
            "type": 10,
            "name": "number",
            "description": "A text.",
            "min_value": 2.0,
            "choices": [{"name": "a", "value": 10.0}],
        },
        {"type": 4, "name": "integer", "description": "A text.", "max_value": 2},
    ]
    assert isinstance(options[2]["choices"][0]["value"], float)


@given(trees(types=(1, 2, 3, 4)), GUILDS)
def test_generated_commands_are_answered_by_the_published_schema(
    tree: list[dict[str, Any]], guild: str
) -> None:
    discord = DiscordListing()
    tree = [command for n, command in enumerate(tree) if command.get("type") != 4 or not n]
    told = [discord.ask("POST", discord.path(guild), command) for command in tree]
    read = discord.ask("GET", discord.path(guild), query=ALL).content
    plain = discord.ask("GET", discord.path(guild)).content

    assert [each.status for each in told] == [201] * len(tree)
    assert read == [each.content for each in told]
    assert [why for each in [*read, *plain] for why in schema_problems(each, ANSWER)] == []
    assert discord.troubles == []


@pytest.mark.parametrize("file", FRAMEWORKS, ids=[file.stem for file in FRAMEWORKS])
def test_what_frameworks_send_is_accepted(discord: DiscordListing, file: Path) -> None:
    told = discord.ask("PUT", discord.path(), json.loads(file.read_text(encoding="utf-8")))

    assert told.status == 200
    assert [why for each in told.content for why in schema_problems(each, ANSWER)] == []
    assert discord.troubles == []


@given(trees(types=(1, 2, 3, 4)), GUILDS, st.sampled_from(["POST", "PUT", "PATCH"]))
def test_what_was_read_changes_nothing_when_it_is_sent(
    tree: list[dict[str, Any]], guild: str, method: str
) -> None:
    discord = DiscordListing()
    tree = [command for n, command in enumerate(tree) if command.get("type") != 4 or not n]
    discord.seed(*tree, guild=guild)
    listed = discord.listed(guild)
    if method == "PUT":
        discord.other("PUT", discord.path(guild), listed)
    for command in listed if method != "PUT" else ():
        path = discord.path(guild, command["id"] if method == "PATCH" else "")
        discord.other(method, path, command)

    assert discord.listed(guild) == listed


@given(commands(), commands())
def test_a_post_overwrites_the_command_of_its_type_and_name(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    second |= {"name": first["name"]}
    is_same = first.get("type", 1) == second.get("type", 1)
    discord, alone = DiscordListing(), DiscordListing()
    (before,) = discord.seed(first)
    told = discord.ask("POST", discord.path(), second)
    fresh = alone.ask("POST", alone.path(), second)
    if fresh.status == 400:  # a name of a menu is none of a chat command
        assert reason(told) == (400, 50035)
        return

    assert told.status == (200 if is_same else 201)
    assert (told.content["id"] == before["id"]) is is_same
    own = without(*OWN_KEYS)
    assert own(told.content) == own(fresh.content)
    assert (told.content["version"] == before["version"]) is (told.content == before)


def test_a_patch_changes_the_keys_that_were_sent(discord: DiscordListing) -> None:
    (first,) = discord.seed({**PING, "nsfw": True, "default_member_permissions": 8})
    path = discord.path("", first["id"])
    told = discord.ask("PATCH", path, {"name": "pong", "type": 2})
    again = discord.ask("PATCH", path, {"name": "pong"})
    reset = discord.ask("PATCH", path, {"default_member_permissions": None, "options": None})

    assert told.status == 200
    assert told.content == {**first, "name": "pong", "version": told.content["version"]}
    assert told.content["version"] != first["version"]
    assert again.content == told.content
    assert reset.content["default_member_permissions"] is None
    assert reset.content["nsfw"] is True


def test_a_patch_that_is_not_valid_changes_nothing(discord: DiscordListing) -> None:
    first, second = discord.seed(PING, {**PING, "name": "pong"})
    path = discord.path("", first["id"])
    bodies: list[object] = [
        {"name": "pong"},
        {"name": None},
        {"description": ""},
        {"options": 7},
        [],
    ]
    told = [discord.ask("PATCH", path, body) for body in bodies]

    assert [reason(each) for each in told] == [(400, 40041), *[(400, 50035)] * 4]
    assert discord.listed() == [first, second]


def test_names_are_unique_for_a_type_and_a_list(discord: DiscordListing) -> None:
    discord.seed(PING, {"name": "ping", "type": 2}, {"name": "ping", "type": 3})
    discord.seed(PING, guild=SERVER)

    assert [each["type"] for each in discord.listed()] == [1, 2, 3]
    assert len({each["id"] for guild in ("", SERVER) for each in discord.listed(guild)}) == 4


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_a_command_of_another_list_is_unknown(discord: DiscordListing, method: str) -> None:
    (command,) = discord.seed(PING)
    told = discord.ask(method, discord.path(SERVER, command["id"]), {})
    wrong = discord.ask(method, discord.path("", "ping"), {})

    assert told[:2] == (404, {"message": "Unknown application command", "code": 10063})
    assert reason(wrong) == (400, 50035)
    assert wrong.content["errors"]["command_id"]["_errors"]


def test_a_deleted_command_is_unknown_and_its_id_is_not_used_again(
    discord: DiscordListing,
) -> None:
    (first,) = discord.seed(PING)
    path = discord.path("", first["id"])
    told = [discord.ask("DELETE", path) for _ in range(2)]
    (second,) = discord.seed(PING)

    assert told[0][:2] == (204, None)
    assert reason(told[1]) == (404, 10063)
    assert second["id"] != first["id"]


def test_a_list_has_all_languages_only_on_request(discord: DiscordListing) -> None:
    texts = {"name_localizations": {"de": "wort"}, "description_localizations": {"fr": "Un."}}
    discord.seed(chat(option(choices=[{"name": "a", "value": "b", **texts}], **texts), **texts))
    whole = discord.ask("GET", discord.path(), query=ALL).content[0]
    plain = discord.ask("GET", discord.path()).content[0]
    german = discord.ask("GET", discord.path(), x_discord_locale="de").content[0]
    french = discord.ask("GET", discord.path(), accept_language="fr,en;q=0.5").content[0]
    one = discord.ask("GET", discord.path("", whole["id"])).content

    assert whole.items() >= texts.items()
    assert whole["options"][0].items() >= texts.items()
    assert one == whole
    assert plain == without("name_localizations", "description_localizations")(whole)
    assert german["name_localized"] == german["options"][0]["name_localized"] == "wort"
    assert german["options"][0]["choices"][0]["name_localized"] == "wort"
    assert "description_localized" not in german
    assert french["description_localized"] == "Un."


def test_unknown_keys_are_dropped_or_kept() -> None:
    new = chat(option(choices=[{"name": "a", "value": "b", "emoji": 1}], file_types=["png"]), x=1)
    dropped, kept = (
        DiscordListing({"unknown_keys": each}).seed(new)[0] for each in ("dropped", "kept")
    )

    assert dropped == without("x", "file_types", "emoji")(kept)
    assert kept["x"] == kept["options"][0]["choices"][0]["emoji"] == 1
    assert kept["options"][0]["file_types"] == ["png"]


@pytest.mark.parametrize("guild", ["", SERVER])
@pytest.mark.parametrize(("kind", "most"), [(1, 100), (2, 15), (3, 15), (4, 1)])
def test_a_list_has_a_limit_for_each_type(
    discord: DiscordListing, guild: str, kind: int, most: int
) -> None:
    text = {"description": "d"} if kind == 1 else {}
    bodies = [{"name": f"c{n}", "type": kind, **text} for n in range(most + 1)]
    discord.seed(*bodies[:most], guild=guild)
    beyond = discord.ask("POST", discord.path(guild), bodies[most])
    whole = discord.ask("PUT", discord.path(guild), bodies)
    known = discord.ask("POST", discord.path(guild), bodies[0])

    assert reason(beyond) == reason(whole) == (400, 30032)
    assert known.status == 200
    assert len(discord.listed(guild)) == most


def test_a_list_gets_200_new_commands_in_a_day() -> None:
    now = [datetime(2026, 3, 4, 12, 30, tzinfo=UTC)]
    discord = DiscordListing(now=lambda: now[0])
    bodies = [{**PING, "name": f"c{n}"} for n in range(100)]
    discord.other("PUT", discord.path(), bodies)
    discord.other("PUT", discord.path(), [])
    discord.seed(*bodies)
    discord.other("DELETE", discord.path("", discord.listed()[0]["id"]))
    beyond = discord.ask("POST", discord.path(), bodies[0])
    whole = discord.ask("PUT", discord.path(), bodies)
    edited = discord.ask("POST", discord.path(), bodies[1])
    of_server = discord.ask("POST", discord.path(SERVER), bodies[0])
    now[0] += timedelta(days=1)
    later = discord.ask("POST", discord.path(), bodies[0])

    assert reason(beyond) == reason(whole) == (400, 30034)
    assert [edited.status, of_server.status, later.status] == [200, 201, 201]


@given(trees(), trees())
def test_a_whole_list_is_replaced_and_known_commands_keep_their_ids(
    first: list[dict[str, Any]], second: list[dict[str, Any]]
) -> None:
    discord, alone = DiscordListing(), DiscordListing()
    discord.seed(*first)
    before = discord.ids()
    told = discord.ask("PUT", discord.path(), second)
    alone.seed(*second)

    own = without(*OWN_KEYS)
    assert told.status == 200
    assert told.content == discord.listed()
    assert own(told.content) == own(alone.listed())
    kept = discord.ids()
    assert {key: kept[key] for key in kept.keys() & before.keys()} == {
        key: before[key] for key in kept.keys() & before.keys()
    }
    assert len(set(kept.values()) | set(before.values())) == len(kept.keys() | before.keys())


def test_a_whole_list_renames_a_command_by_its_id(discord: DiscordListing) -> None:
    first, second = discord.seed(PING, {**PING, "name": "pong"})
    body = [{**PING, "name": "pong", "id": first["id"]}, {**PING, "id": second["id"], "type": 2}]
    body[1].pop("description")
    told = discord.ask("PUT", discord.path(), body)

    assert [(each["name"], each["id"] == first["id"]) for each in told.content] == [
        ("pong", True),
        ("ping", False),
    ]
    assert second["id"] not in {each["id"] for each in told.content}


def test_a_whole_list_that_is_not_valid_changes_nothing(discord: DiscordListing) -> None:
    (known,) = discord.seed(PING)
    bodies: list[object] = [{"a": 1}, [PING, None], [PING, PING], [PING] * 131]
    told = [discord.ask("PUT", discord.path(), body) for body in bodies]
    errors = [each.content["errors"] for each in told]

    assert [reason(each) for each in told] == [(400, 50035)] * 4
    assert [*errors[1], *errors[2]] == ["1", "1"]
    assert errors[2]["1"]["_errors"][0]["code"] == "APPLICATION_COMMANDS_DUPLICATE_NAME"
    assert errors[3]["_errors"][0]["message"] == "Must be 130 or fewer in length."
    assert discord.listed() == [known]


def test_a_whole_list_cannot_remove_an_entry_point_command(discord: DiscordListing) -> None:
    (entry,) = discord.seed({"name": "launch", "type": 4, "handler": 2})
    refused = discord.ask("PUT", discord.path(), [PING])
    kept = discord.ask("PUT", discord.path(), [PING, {"name": "launch", "type": 4, "handler": 1}])
    deleted = discord.ask("DELETE", discord.path("", entry["id"]))

    assert reason(refused) == (400, 50240)
    assert (entry["handler"], entry["description"]) == (2, "")
    assert [(each["name"], each.get("handler")) for each in kept.content] == [
        ("ping", None),
        ("launch", 1),
    ]
    assert kept.content[1]["id"] == entry["id"]
    assert deleted.status == 204
