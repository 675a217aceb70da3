"""The requests of Discord's commands, carried to its simulation, and the errors in words."""

import json
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.api.operations import Operation, Overwritten
from commandsync.api.policy import Failure, Health, Send, attempt
from commandsync.errors import (
    ApiError,
    ArgumentError,
    DecodeError,
    Forbidden,
    Invalid,
    ListingError,
    NotFound,
    RateLimited,
    Reply,
    ServerError,
    Unauthorized,
)
from commandsync.records.snapshot import Entry
from commandsync.records.texts import ApplicationCommand, Resource, object_of
from commandsync.services.abilities import DISCORD_ABILITIES
from commandsync.services.discord import (
    DISCORD,
    ORIGIN,
    UNKNOWN,
    VARIABLES,
    Application,
    application,
    discord_service,
)
from commandsync.services.discordobjects import text_of
from commandsync.services.service import RecordService
from tests.support.discordcommands import chat, commands, option, trees
from tests.support.discordserver import APPLICATION, SERVER, DiscordListing

KIND = Resource.APPLICATION_COMMAND
APP = Application(APPLICATION, APPLICATION, "Lantern", (0, 1))
T = TypeVar("T")


def told(listing: DiscordListing, operation: Operation[T]) -> T:
    """Carry an operation to the simulation, and read its answer."""
    reply = listing.handle(operation.method, operation.path, operation.query, operation.body)
    assert isinstance(reply, Reply)
    return operation.read(reply)


def read(listing: DiscordListing, service: RecordService) -> tuple[Entry, ...]:
    return told(listing, service.read("", KIND))


def text(guild: str = "", /, **keys: Any) -> ApplicationCommand:  # noqa: ANN401 - JSON
    return text_of(chat(**keys), installs=APP.integration_types, guild=guild)


def answer(status: int, content: object, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, json.dumps(content).encode(), named)


def refusal(operation: Operation[Any], status: int, content: object) -> ApiError:
    with pytest.raises(ApiError) as caught:
        operation.read(answer(status, content))
    return caught.value


# Writing, and reading back.


@given(trees(), st.sampled_from(["both", "guild", "user"]), st.sampled_from(["", SERVER]))
def test_what_was_added_is_read_as_it_was_sent(
    tree: list[dict[str, Any]], installs: str, guild: str
) -> None:
    listing = DiscordListing(choices={"installs": installs})
    app = told(listing, application())
    service = discord_service(app, guild)
    texts = [text_of(node, installs=app.integration_types, guild=guild) for node in tree]

    ids = [told(listing, service.add("", KIND, each)) for each in texts]

    assert [(each.id, each.text) for each in read(listing, service)] == [
        *zip(ids, texts, strict=True)
    ]
    assert not any(isinstance(each, Overwritten) for each in ids)
    assert listing.troubles == []


@given(
    st.sampled_from([(1,), (2,), (3,)]).flatmap(
        lambda types: st.tuples(commands(types=types), commands(types=types))
    ),
    st.sampled_from(["", SERVER]),
)
def test_an_edit_changes_only_what_differs(
    pair: tuple[dict[str, Any], dict[str, Any]], guild: str
) -> None:
    listing, service = DiscordListing(), discord_service(APP, guild)
    before, after = (text_of(node, installs=(0, 1), guild=guild) for node in pair)
    listing.seed(pair[0], guild=guild)
    (entry,) = read(listing, service)

    operation = service.edit("", KIND, entry, after)
    identifier = told(listing, operation)

    (edited,) = read(listing, service)
    assert (edited.id, edited.text) == (entry.id, after)
    assert identifier == entry.id
    old, new = before.node, after.node
    differing = {key for key in {**old, **new} if old.get(key) != new.get(key)}
    assert {*operation.body} - {"dm_permission"} == differing
    assert listing.troubles == []


def test_keys_that_went_are_reset() -> None:
    everything = {
        "options": [option()],
        "nsfw": True,
        "contexts": [0],
        "integration_types": [1],
        "default_member_permissions": "8",
        "name_localizations": {"de": "pong"},
        "description_localizations": {"de": "Sagt pong."},
    }
    listing, service = DiscordListing(), discord_service(APP)
    listing.seed(chat(**everything))
    (entry,) = read(listing, service)

    operation = service.edit("", KIND, entry, text())
    told(listing, operation)

    assert operation.body == {
        "options": [],
        "nsfw": False,
        "contexts": None,
        "integration_types": [0, 1],
        "default_member_permissions": None,
        "name_localizations": None,
        "description_localizations": None,
    }
    assert [each.text for each in read(listing, service)] == [text()]


def test_a_command_for_servers_only_in_the_older_way_is_reset() -> None:
    listing, service = DiscordListing(), discord_service(APP)
    listing.seed(chat(dm_permission=False))
    (entry,) = read(listing, service)

    operation = service.edit("", KIND, entry, text())
    told(listing, operation)

    assert operation.body == {"contexts": None, "dm_permission": True}
    assert [each.text for each in read(listing, service)] == [text()]


def test_installations_of_an_application_that_is_not_known_are_reset_to_none() -> None:
    service = discord_service(UNKNOWN)
    entry = Entry(text_of(chat(integration_types=[0])), id="7")

    operation = service.edit("42", KIND, entry, text_of(chat()))

    assert operation.body == {"integration_types": None}


def test_unknown_keys_of_listed_options_are_sent_back() -> None:
    listing = DiscordListing(choices={"unknown_keys": "kept"})
    service = discord_service(APP)
    listed = option(rank=0, mood=False, choices=[{"name": "a", "value": "a", "hue": "red"}])
    listing.seed(chat(listed, option(name="more", rank=1), color="blue"))
    (entry,) = read(listing, service)

    changed = option(choices=[{"name": "a", "value": "b"}])
    operation = service.edit("", KIND, entry, text(options=[changed]))

    assert operation.body == {
        "options": [{**listed, "choices": [{"name": "a", "value": "b", "hue": "red"}]}]
    }


def test_unchanged_options_are_not_sent_for_keys_that_nobody_knows() -> None:
    node = chat(option(mood=False), id="7")
    entry = Entry(text_of(node), id="7", own=(node,))

    operation = discord_service(APP).edit("", KIND, entry, text(options=[option()], nsfw=True))

    assert operation.body == {"nsfw": True}


def test_the_name_is_sent_only_if_it_changes() -> None:
    service, entry = discord_service(APP), Entry(text(), id="7")

    assert service.edit("", KIND, entry, text(name="pong")).body == {"name": "pong"}
    assert "name" not in service.edit("", KIND, entry, text(nsfw=True)).body


def test_an_add_of_a_name_that_is_there_says_that_it_overwrote() -> None:
    listing, service = DiscordListing(), discord_service(APP)
    (there,) = listing.seed(chat())

    added = told(listing, service.add("", KIND, text(nsfw=True)))

    assert isinstance(added, Overwritten)
    assert added == there["id"]


@pytest.mark.parametrize("content", [{}, {"commands": 7}, {"id": None}])
def test_a_success_without_the_command_proves_no_write(content: object) -> None:
    service, entry = discord_service(APP), Entry(text(), id="1", own=(chat(id="1"),))
    for operation in (
        service.add("", KIND, text()),
        service.edit("", KIND, entry, text(nsfw=True)),
    ):
        with pytest.raises(DecodeError, match="contains no application command"):
            operation.read(answer(200, content))


def test_permissions_are_sent_as_a_number_if_discord_has_them() -> None:
    service = discord_service(APP)

    added = service.add("", KIND, text(default_member_permissions="8"))
    odd = service.add("", KIND, text(default_member_permissions=str(2**60)))

    assert added.body["default_member_permissions"] == 8
    assert odd.body["default_member_permissions"] == str(2**60)


@pytest.mark.promise("discord-untouched")
def test_only_commands_that_may_be_written_are_read() -> None:
    listing = DiscordListing()
    listing.seed(chat(), {"type": 4, "name": "open", "description": "Opens.", "handler": 2})

    assert [entry.name for entry in read(listing, discord_service(APP))] == ["ping"]


def test_a_list_is_read_with_all_languages() -> None:
    listing = DiscordListing()
    listing.seed(chat(name_localizations={"de": "pong"}))

    (entry,) = read(listing, discord_service(APP))

    node = object_of(entry.text)
    assert node is not None
    assert node["name_localizations"] == {"de": "pong"}
    assert entry.own == (listing.listed()[0],)


# Addresses.


@pytest.mark.parametrize(
    ("guild", "path"),
    [
        ("", "/api/v10/applications/1/commands"),
        ("2", "/api/v10/applications/1/guilds/2/commands"),
    ],
)
def test_the_requests_have_the_address_of_the_list(guild: str, path: str) -> None:
    service = discord_service(Application("1", "3", "", (0,)), guild)
    entry = Entry(text(), id="7")

    requests = [
        service.read("3", KIND),
        service.add("3", KIND, text()),
        service.edit("3", KIND, entry, text(nsfw=True)),
        service.delete("3", KIND, "7"),
    ]

    assert [(each.method, each.path) for each in requests] == [
        ("GET", path),
        ("POST", path),
        ("PATCH", f"{path}/7"),
        ("DELETE", f"{path}/7"),
    ]
    assert all(each.idempotent for each in requests)
    assert [each.gone_is_done for each in requests] == [False, False, False, True]


def test_the_bot_names_the_application_until_it_is_known() -> None:
    assert DISCORD.read("42", KIND).path == "/api/v10/applications/42/commands"
    with pytest.raises(ArgumentError):
        DISCORD.read("", KIND)


@pytest.mark.parametrize("identifier", ["", ".."])
def test_an_id_that_is_none_is_not_sent(identifier: str) -> None:
    entry = Entry(text(), id=identifier)

    with pytest.raises(ArgumentError):
        DISCORD.edit("42", KIND, entry, text(nsfw=True))
    with pytest.raises(ArgumentError):
        DISCORD.delete("42", KIND, identifier)


def test_the_service_says_who_asks_and_with_which_token() -> None:
    assert DISCORD.authorization == "Bot {token}"
    assert DISCORD.agent.startswith("DiscordBot (https://")
    assert ORIGIN == "https://discord.com"
    assert VARIABLES == ("DISCORD_TOKEN", "COMMANDSYNC_TOKEN_DISCORD")
    assert sum(DISCORD_ABILITIES[KIND].most.values()) == DISCORD.facts.most_records.number


# The application.


def test_the_application_of_a_token_is_read() -> None:
    listing = DiscordListing(choices={"installs": "user", "bot_id": "other"})

    app = told(listing, application())

    assert app == Application(APPLICATION, "812045337190064139", "Lantern", (1,))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"id": "1"}, Application("1", "", "", (0,))),
        ({"id": "1", "bot": {}, "name": None}, Application("1", "", "", (0,))),
        ({"id": "1", "integration_types_config": None}, Application("1", "", "", (0,))),
        ({"id": "1", "integration_types_config": {}}, Application("1", "", "", (0,))),
        (
            {"id": "1", "bot": {"id": "2"}, "integration_types_config": {"1": {}, "0": {}, "x": 0}},
            Application("1", "2", "", (0, 1)),
        ),
    ],
)
def test_an_application_may_say_less(content: object, expected: Application) -> None:
    assert application().read(answer(200, content)) == expected


@pytest.mark.parametrize("content", [[], {}, {"id": 1}, {"id": ""}, {"id": "../1"}, None, "1"])
def test_an_answer_without_an_application_is_an_error(content: object) -> None:
    with pytest.raises(DecodeError):
        application().read(answer(200, content))


# What is not a list.


@pytest.mark.parametrize(
    "content",
    [
        {},
        None,
        {"commands": []},
        [1],
        [{}],
        [{"id": "1"}],
        [{"name": "ping"}],
        [{"id": 1, "name": "ping"}],
        [{"id": "1", "name": ""}],
        [{"id": "../1", "name": "ping"}],
        [{"id": "1", "name": 7}],
    ],
)
def test_an_answer_that_is_not_a_list_of_commands_is_never_an_empty_one(content: object) -> None:
    with pytest.raises(DecodeError) as caught:
        DISCORD.read("42", KIND).read(answer(200, content))

    assert str(caught.value.hint) == "run again later"


def test_a_list_that_is_not_whole_or_not_json_is_an_error() -> None:
    for reply in (answer(202, []), Reply(200, b"<html>"), Reply(200, b"[")):
        with pytest.raises(DecodeError):
            DISCORD.read("42", KIND).read(reply)


def test_a_command_that_is_answered_twice_is_there_once() -> None:
    node = {"id": "1", "name": "ping"}

    assert len(DISCORD.read("42", KIND).read(answer(200, [node, node]))) == 1


# Refusals.


def test_each_wrong_part_has_a_line_with_its_place_by_names() -> None:
    choices = [{"name": "a", "value": "a"}, {"name": "b" * 101, "value": "b"}]
    listing, service = DiscordListing(), discord_service(APP)
    wrong = chat(option(name="first"), option(name="second", choices=choices), description="")

    with pytest.raises(Invalid) as caught:
        told(listing, service.add("", KIND, text_of(wrong, installs=(0, 1))))

    place = f"options/second/choices/{'b' * 101}/name"
    lines = caught.value.message.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["description", place]
    assert all(line.split(": ")[1] for line in lines)


@pytest.mark.parametrize(
    ("errors", "lines"),
    [
        ({"_errors": [{"message": "Whole."}]}, ["Whole."]),
        (
            {"name": {"_errors": [{"message": "Short."}, {"code": "X"}]}},
            ["name: Short.", "name: is not valid"],
        ),
        ({"options": {"9": {"type": {"_errors": [{"message": "M"}]}}}}, ["options/9/type: M"]),
        (
            {"options": {"0": {"x": {"y": {"_errors": [{"message": "M"}]}}}}},
            ["options/text/x/y: M"],
        ),
        ({"name": {"0": {"_errors": [{"message": "M"}]}}}, ["name/0: M"]),
        (
            {f"k{n}": {"_errors": [{"message": "M"}]} for n in range(25)},
            [*(f"k{n}: M" for n in range(20)), "and 5 more"],
        ),
    ],
)
def test_errors_of_any_shape_are_read(errors: object, lines: list[str]) -> None:
    operation = DISCORD.add("42", KIND, text(options=[option()]))
    content = {"code": 50035, "message": "Invalid Form Body", "errors": errors}

    error = refusal(operation, 400, content)

    assert isinstance(error, Invalid)
    assert error.message.splitlines() == lines


@pytest.mark.parametrize("errors", [None, [], {}, {"name": {"_errors": 7}}, {"name": 7}])
def test_errors_without_a_place_have_discords_own_words(errors: object) -> None:
    content = {"code": 50035, "message": "Invalid Form Body", "errors": errors}

    error = refusal(DISCORD.add("42", KIND, text()), 400, content)

    assert "Invalid Form Body" in error.message


@pytest.mark.parametrize(
    ("status", "code", "kind", "words"),
    [
        (404, 10002, NotFound, "application"),
        (404, 10063, NotFound, "not registered any more"),
        (403, 20012, Forbidden, "another application"),
        (400, 30032, Invalid, "no more commands"),
        (400, 30034, Invalid, "200"),
        (429, 30034, Invalid, "200"),
        (403, 50001, Forbidden, "Missing"),
        (400, 50240, Invalid, "Entry Point"),
        (400, 40041, Invalid, "has that name"),
    ],
)
def test_a_refusal_has_words_of_its_own(
    status: int, code: int, kind: type[ApiError], words: str
) -> None:
    content = {"code": code, "message": "Missing Access"}

    error = refusal(DISCORD.add("42", KIND, text()), status, content)

    assert type(error) is kind
    assert words in error.message
    assert error.hint or code == 50240
    assert error.status == status


def test_a_server_without_the_application_is_named() -> None:
    content = {"code": 50001, "message": "Missing Access"}

    error = refusal(discord_service(APP, "613").read("", KIND), 403, content)

    assert "613" in error.message
    assert "applications.commands" in str(error.hint)


@pytest.mark.parametrize(
    ("content", "headers", "seconds"),
    [
        ({"retry_after": 0.25}, {"retry_after": "1"}, 0.25),
        ({"retry_after": 3600}, {}, 3600.0),
        ({"retry_after": 0}, {"retry_after": "1"}, 0.0),
        ({"retry_after": "soon"}, {"retry_after": "7"}, 7.0),
        ({"retry_after": True}, {}, None),
        ({"retry_after": -1}, {}, None),
        ([], {"retry_after": "7"}, 7.0),
        ({}, {}, None),
    ],
)
def test_the_body_says_how_long_to_wait(
    content: object, headers: dict[str, str], seconds: float | None
) -> None:
    with pytest.raises(RateLimited) as caught:
        DISCORD.add("42", KIND, text()).read(answer(429, content, **headers))

    assert caught.value.retry_after == seconds


@pytest.mark.parametrize(("with_token", "words"), [(True, "portal"), (False, "give the bot's")])
def test_a_wrong_token_is_not_accepted(*, with_token: bool, words: str) -> None:
    content = {"message": "401: Unauthorized", "code": 0}
    reply = Reply(401, json.dumps(content).encode(), {}, with_token)

    with pytest.raises(Unauthorized) as caught:
        application().read(reply)

    assert words in str(caught.value.hint)


def test_other_failures_are_those_of_every_service() -> None:
    operation = DISCORD.add("42", KIND, text())

    assert type(refusal(operation, 502, "<html>")) is ServerError
    assert type(refusal(operation, 400, {"code": 1, "message": "?"})) is Invalid
    with pytest.raises(DecodeError) as caught:
        operation.read(Reply(200, b"<html>"))
    assert str(caught.value.hint) == "run again later"


# A delete that finds nothing.


def ended(operation: Operation[str], reply: Reply) -> str | ListingError:
    """Carry an operation to its end with one answer; return the result or the error."""
    steps = attempt(operation, retries=0, jitter=lambda: 0.0, health=Health())
    assert isinstance(next(steps), Send)
    with pytest.raises(StopIteration) as caught:
        steps.send(reply)
    result = caught.value.value
    return result.error if isinstance(result, Failure) else result


def test_a_command_that_is_gone_is_deleted() -> None:
    gone = answer(404, {"code": 10063, "message": "Unknown application command"})

    assert ended(DISCORD.delete("42", KIND, "7"), gone) == ""


@pytest.mark.parametrize("content", [{"code": 10002, "message": "?"}, {"message": "404"}, "<html>"])
def test_only_discords_word_says_that_a_command_is_gone(content: object) -> None:
    assert isinstance(ended(DISCORD.delete("42", KIND, "7"), answer(404, content)), Invalid)
