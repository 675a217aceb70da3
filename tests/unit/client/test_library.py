import ast
import asyncio
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import commandsync
from commandsync import AsyncClient, Client, UsageError, Vote
from commandsync.client.events import Handlers
from commandsync.errors import ArgumentError
from commandsync.extras import install_command
from commandsync.records.models import Account
from tests.support.gateway import Gateway, staying, telling, vote

URL = "http://127.0.0.1:9"
PUBLIC = """
Account AsyncClient Announcement ApiError ArgumentError Bot BotPage BotQueries Client Command
CommandText CommandsyncError DecodeError Event Forbidden Id Invalid ListingError LoadedCommand
ManifestError NotFound PlainHttpError RateLimit RateLimited Ready Reconnected Reconnecting
Redirected RefusedError Reminder Reply ServerError StoppedError Token TransportError Unauthorized
UsageError Vote Voter VoterPage WrongBotError load
"""
VOTED = Vote(Account(id="1"), Account(id="42"))


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with Gateway() as running:
        yield running


def test_the_public_names_are_these() -> None:
    assert sorted(commandsync.__all__) == sorted(PUBLIC.split())
    assert {name for name in PUBLIC.split() if getattr(commandsync, name, None) is None} == set()
    assert set(PUBLIC.split()) < set(dir(commandsync))
    with pytest.raises(AttributeError, match="nothing"):
        commandsync.nothing  # noqa: B018 - it must not be there


def test_type_checkers_find_each_public_name_where_it_is_loaded_from() -> None:
    tree = ast.parse(Path(commandsync.__file__).read_text(encoding="utf-8"))
    imported = {
        alias.asname: getattr(import_module(str(node.module)), alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module
        and node.module.startswith("commandsync.")
        for alias in node.names
    }

    public = [*PUBLIC.split(), "__version__"]
    assert imported == {name: getattr(commandsync, name) for name in public}


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("asynctransport", "stream"):
        monkeypatch.delitem(sys.modules, f"commandsync.client.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "aiohttp", None)

    with pytest.raises(UsageError, match="aiohttp") as caught:
        AsyncClient("token", URL)
    with Client("token", URL) as client, pytest.raises(UsageError, match="aiohttp"):
        client.listen()

    assert caught.value.hint == f"install it: {install_command('async')}"


def test_an_asynchronous_handler_needs_the_asynchronous_client() -> None:
    async def thank(_: Vote) -> None: ...

    with Client("token", URL) as client, pytest.raises(ArgumentError, match="asynchronous"):
        client.on("vote")(thank)  # type: ignore[arg-type]  # what is tested


def test_a_disguised_asynchronous_handler_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async def thank(_: Vote, words: str) -> None: ...

    handlers = Handlers(1)
    handlers.add("vote", lambda event: thank(event, "Thank you!"))
    handlers.call(VOTED)

    assert "asynchronous client" in caplog.text


def test_listening_calls_the_handlers_until_the_client_is_closed(gateway: Gateway) -> None:
    gateway.then(telling(vote(1)))
    client = Client("token", gateway.url)
    client.on("vote")(lambda _: client.close())

    client.listen()

    assert len(gateway.guests) == 1


def test_a_client_of_another_loop_says_so(gateway: Gateway) -> None:
    async def main() -> None:
        with pytest.raises(UsageError, match="another event loop"):
            await client.get_voters()
        with pytest.raises(UsageError, match="another event loop"):
            await client.listen()

    gateway.voters = [[{"id": "1"}]]
    client = AsyncClient("token", gateway.url, bot="42")
    with asyncio.Runner() as first:
        voters = first.run(client.get_voters()).voters
        asyncio.run(main())
        first.run(client.close())

    assert [voter.id for voter in voters] == ["1"]


def test_leaving_the_loop_ends_the_connection(gateway: Gateway) -> None:
    async def main() -> None:
        async with AsyncClient("token", gateway.url) as client:
            events = client.events()
            await anext(events)
            await events.aclose()

    gateway.then(staying)
    with Client("token", gateway.url) as client:
        for _ in client.events():
            break
    asyncio.run(main())

    assert len(gateway.guests) == 2


ROOT = Path(__file__).parents[3]


def test_every_public_name_is_on_the_page_of_names() -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: (commandsync[.\w]*)\.(\w+)$", page, re.MULTILINE)

    assert sorted(name for _, name in shown) == sorted(commandsync.__all__)
    for home, name in shown:
        assert getattr(import_module(home), name) is getattr(commandsync, name)
