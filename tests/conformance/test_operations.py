import inspect
from collections.abc import Callable
from typing import Any

import pytest
import responses

from commandsync import (
    Account,
    Announcement,
    ArgumentError,
    AsyncClient,
    Client,
    Command,
    Invalid,
    NotFound,
)
from tests.support.bots import Service
from tests.support.clients import TOKEN, Either, Open
from tests.support.rawserver import RawServer, answering

BOT = {
    "id": "42",
    "provider": "discord",
    "profile": {"username": "Helper", "avatarURL": "https://cdn.example/a.png"},
    "information": {"creator": {"isTeam": True, "id": "1"}, "tags": ["fun"]},
    "statistics": {"dailyVotes": 3},
    "ratings": {"average": None, "total": 0},
    "theme": {"enabled": True, "color": "#00ff00", "colorLighter": "#aaffaa"},
    "createdAt": "2021-02-03T04:05:06.789Z",
    "invented": "later",
}


def page(items: list[Any], number: int | None = None, last: int | None = None) -> object:
    queries = {} if last is None else {"queries": {"page": number, "maxPage": last}}
    return {"success": True, "message": "ok", "data": {**queries, "data": items}}


def test_the_embedded_service_serves_both_clients(open_client: Open, service: Service) -> None:
    bot = service.bot()
    client = open_client(bot.token, bot.url)

    client.add_command("help", "Shows the menu.", "/help", "General")
    client.add_command("afk", "Is away.", ".afk")
    help_id = client.get_commands()[0].id
    client.edit_command(help_id, "help", "Shows all.", "/help")
    client.set_uses(client.get_commands()[0], 7)
    client.delete_command(client.get_commands()[1])
    client.delete_command("gone")
    client.add_announcement("v2", "Out.")
    client.add_announcement("v3", "Soon.")
    client.delete_announcement(client.get_announcements()[0])
    profile = client.get_bot()
    bot.cast("7")
    (voter,) = client.get_voters().voters
    anonymous = open_client(None, bot.url).get_commands(bot.id)

    assert client.client.bot == bot.id == profile.id
    assert [(one.id, one.description, one.category) for one in anonymous] == [
        (help_id, "Shows all.", "")
    ]
    assert client.get_commands(profile) == client.get_commands() == anonymous
    assert client.check_vote(voter, bot=profile) is True
    assert voter.voted_at.tzinfo is not None
    assert type(anonymous[0].uses) is type(client.get_bot().statistics.total_votes) is int
    assert len(client.get_announcements()) == 1


@pytest.mark.parametrize("method", ["edit_command", "set_uses"])
def test_an_unknown_command_has_a_hint(open_client: Open, service: Service, method: str) -> None:
    bot = service.bot()
    arguments = {"edit_command": ("help", "Shows it.", "/help"), "set_uses": (7,)}[method]
    client = open_client(bot.token, bot.url)

    with pytest.raises(NotFound) as unknown:
        getattr(client, method)("gone", *arguments)
    with pytest.raises(NotFound) as unknown_bot:
        client.get_commands("7")

    assert "of the command" in str(unknown.value.hint)
    assert "the bot's id" in str(unknown_bot.value.hint)


@pytest.mark.parametrize("body", [b"x", b"x" * 70_000], ids=len)
def test_a_304_with_a_body_is_an_error(open_client: Open, server: RawServer, body: bytes) -> None:
    server.then(answering(body, status=304), answering({"voted": True}))
    client = open_client(TOKEN, server.url, bot="42", retries=0)

    with pytest.raises(Invalid, match="HTTP 304"):
        client.get_bot()

    assert client.check_vote(7) is True


def test_all_pages_of_bots_are_read(open_client: Open, server: RawServer) -> None:
    server.then(answering(page([BOT], 1, 2)), answering(page([{"id": "43"}], 2, 2)))
    client = open_client(TOKEN, server.url)

    first, second = client.iter_bots(limit=1, q="a", ids=["42", "43"], certified=True)

    assert [request.target for request in server.requests] == [
        f"/v1/bots?limit=1&page={number}&q=a&ids=42%2C43&certified=true" for number in (1, 2)
    ]
    assert (first.profile.avatar_url, first.information.creator.is_team) == (
        "https://cdn.example/a.png",
        True,
    )
    assert (first.ratings.average, first.statistics.daily_votes) == (None, 3)
    assert first.theme.color_lighter == "#aaffaa"
    assert first.created_at.utcoffset().total_seconds() == 0
    assert first.invented == "later"
    assert second.id == "43"


def test_one_page_of_bots_and_of_voters_is_read(client: Either, server: RawServer) -> None:
    server.then(answering(page([BOT], 2, 9)), answering(page([{"id": "1"}], 3, 3)))

    bots = client.list_bots(page=2, sort="servers", tags=["fun", "music"])
    voters = client.get_voters(page=3, limit=10)

    assert bots.queries.max_page == 9
    assert voters.voters[0].id == "1"
    assert [request.target for request in server.requests] == [
        "/v1/bots?limit=12&page=2&sort=servers&tags=fun%2Cmusic",
        "/v1/bot/42/voters?page=3&limit=10",
    ]


@pytest.mark.parametrize(
    "place",
    [lambda record: record, lambda record: {"command": record}],
    ids=["in data", "under its name"],
)
def test_the_stored_record_is_returned_where_the_service_answers_with_it(
    client: Either, server: RawServer, place: Callable[[object], object]
) -> None:
    command = {"_id": 9, "name": "help", "description": "Shows it.", "syntax": "/help", "uses": 0}
    announcement = {"id": "a1", "title": "v2", "description": "Out.", "createdAt": "2021"}
    bodies = [{"success": True, "data": place(command)}, {"announcement": announcement}]
    server.then(*map(answering, bodies))

    added = client.add_command("help", "Shows it.", "/help", "")
    announced = client.add_announcement("v2", "Out.")

    assert added == Command(id="9", name="help", description="Shows it.", syntax="/help", uses=0)
    assert announced == Announcement(**announcement)
    assert (added.raw, announced.raw) == (command, announcement)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        {"success": True},
        {"data": {"_id": "c9"}},
        {"data": {"name": "help", "title": "help"}},
        {"data": {"id": "", "name": "help", "title": "help"}},
        {"data": {"id": True, "name": "help", "title": "help"}},
        [{"id": "c9", "name": "help", "title": "help"}],
    ],
    ids=str,
)
def test_no_record_means_no_returned_value(client: Either, server: RawServer, body: object) -> None:
    server.then(answering(body), answering(body))

    assert client.add_command("help", "Shows it.", "/help") is None
    assert client.add_announcement("help", "Out.") is None


class Member:
    """A user of a library for bots: its id is a number that cannot be set."""

    def __init__(self, number: object) -> None:
        self._number = number

    @property
    def id(self) -> object:
        return self._number


@pytest.mark.parametrize(
    "make",
    [str, int, Member, lambda number: Account(id=number)],
    ids=["string", "number", "object", "record"],
)
def test_an_id_is_a_string_a_number_or_an_object_with_one(
    open_client: Open, server: RawServer, make: Callable[[Any], Any]
) -> None:
    user, bot, command = 80351110224678912, 42, 0
    bodies: list[object] = [{"voted": True}, [], [], {"id": "42"}, [], {}, {}, {}, {}]
    server.then(*map(answering, bodies))
    client = open_client(TOKEN, server.url, bot=make(bot))

    client.check_vote(make(user))
    client.get_voters(bot=make(7))
    client.iter_voters(bot=make(7))
    client.get_bot(make(bot))
    client.list_bots(ids=[make(bot), "43"])
    client.edit_command(make(command), "help", "Shows it.", "/help")
    client.delete_command(make(command))
    client.delete_announcement(make(command))
    client.set_uses(make(command), 3)

    assert client.client.bot == "42"
    assert [request.path for request in server.requests] == [
        *(f"/v1/bot/42/voters/{user}", "/v1/bot/7/voters", "/v1/bot/7/voters", "/v1/bot/42"),
        *("/v1/bots", "/v1/bot/42/commands", "/v1/bot/42/commands/0"),
        *("/v1/bot/42/announcements/0", "/v1/bot/42/commands/0/uses"),
    ]
    assert server.requests[4].query["ids"] == "42,43"
    assert server.requests[5].json["id"] == "0"


TEXT: dict[str, object] = {"name": "help", "description": "Shows it.", "syntax": "/help"}
MISTAKES: dict[str, tuple[str, dict[str, object]]] = {
    "a page of none": ("list_bots", {"limit": 0}),
    "a page too large": ("list_bots", {"limit": 101}),
    "page zero": ("list_bots", {"page": 0}),
    "one id instead of several": ("list_bots", {"ids": "42"}),
    "ids that are none": ("list_bots", {"ids": None}),
    "a search for a number": ("list_bots", {"q": 7}),
    "several fields to sort by": ("list_bots", {"sort": ["servers"]}),
    "certified in words": ("list_bots", {"certified": "no"}),
    "an empty tag": ("list_bots", {"tags": [""]}),
    "half a page": ("get_voters", {"limit": 1.5}),
    "a page that is true": ("get_voters", {"page": True}),
    "all pages too large": ("iter_bots", {"limit": 101}),
    "all pages of one id": ("iter_bots", {"ids": "42"}),
    "all pages of a tag that is none": ("iter_bots", {"tags": None}),
    "no user": ("check_vote", {"user": ""}),
    "a user that is negative": ("check_vote", {"user": -7}),
    "a user that is true": ("check_vote", {"user": True}),
    "a user that is half a number": ("check_vote", {"user": 0.5}),
    "a record without an id": ("check_vote", {"user": Command(name="help")}),
    "a type in place of a user": ("check_vote", {"user": Command}),
    "a bot that is a path": ("get_bot", {"id": ".."}),
    "no title": ("add_announcement", {"title": " ", "description": "x"}),
    "no description": ("add_announcement", {"title": "x", "description": ""}),
    "no name": ("add_command", TEXT | {"name": ""}),
    "no syntax": ("edit_command", TEXT | {"id": "1", "syntax": "\n"}),
    "no id": ("edit_command", TEXT | {"id": " "}),
    "a category that is none": ("add_command", TEXT | {"category": 7}),
    "less than no servers": ("post_stats", {"servers": -1}),
    "half a shard": ("post_stats", {"servers": 1, "shards": 0.5}),
    "less than no uses": ("set_uses", {"id": "1", "uses": -1}),
    "no command": ("delete_command", {"id": "."}),
    "no announcement": ("delete_announcement", {"id": ""}),
}


def test_arguments_are_checked_before_anything_is_sent(client: Either, server: RawServer) -> None:
    for mistake, (method, arguments) in MISTAKES.items():
        with pytest.raises(ValueError, match="is") as caught:
            pytest.fail(f"{mistake}: {getattr(client, method)(**arguments)}")

        assert isinstance(caught.value, ArgumentError), mistake
    assert server.requests == []


@pytest.mark.parametrize(
    "mistaken",
    [
        {"token": 7},
        {"token": b"marked-token"},
        {"base_url": None},
        {"timeout": None},
        {"timeout": 0},
        {"timeout": float("inf")},
        {"timeout": float("nan")},
        {"timeout": True},
        {"retries": -1},
        {"retries": 1.5},
        {"concurrency": 0},
        {"bot": -42},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_client_that_could_send_nothing_is_not_made(
    kind: type[Client | AsyncClient], mistaken: dict[str, object]
) -> None:
    arguments: Any = {"token": TOKEN, "base_url": "http://127.0.0.1:9"} | mistaken

    with pytest.raises(ArgumentError, match=f"^{next(iter(mistaken))} is") as caught:
        kind(**arguments)

    assert "marked" not in str(caught.value)


def methods(kind: type) -> dict[str, list[str]]:
    return {
        name: list(inspect.signature(method).parameters)
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


def test_both_clients_have_the_same_methods_and_arguments() -> None:
    assert methods(Client) == methods(AsyncClient)
    for kind in (Client, AsyncClient):
        assert all(getattr(kind, name).__doc__ for name in methods(kind))


@responses.activate
def test_the_blocking_client_speaks_to_a_simulated_transport() -> None:
    commands = "http://127.0.0.1:9/v1/bot/42/commands"
    waits = {"json": {"error": "slow down"}, "status": 429, "headers": {"Retry-After": "0"}}
    responses.get(commands, **waits)
    responses.get(commands, json={"commands": [{"_id": "1", "name": "help"}]})
    responses.get("http://127.0.0.1:9/v1/bot/42", json={"data": BOT})
    responses.post(
        commands,
        match=[
            responses.matchers.json_params_matcher(TEXT | {"category": "x"}),
            responses.matchers.header_matcher({"Authorization": f"Bot {TOKEN}"}),
        ],
        json={"success": True},
    )

    with Client(TOKEN, "http://127.0.0.1:9", bot="42") as client:
        listed = client.get_commands()
        bot = client.get_bot()
        client.add_command("help", "Shows it.", "/help", "x")

    assert [one.id for one in listed] == ["1"]
    assert bot.provider == "discord"
    assert len(responses.calls) == 4
