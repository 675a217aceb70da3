"""The frames of the gateway, and delivery over a real database, without a network."""

import asyncio
import json
import re
from collections.abc import Collection
from datetime import timedelta
from threading import Event

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from commandsync.server import gateway, storage, votes
from commandsync.server.database import Database
from commandsync.server.gateway import GatewayClient, delivering
from commandsync.server.tables import outbox as table
from tests.support.inside import NOON, entries, statements_with

pytestmark = pytest.mark.usefixtures("two_bots")
LONGEST = 30


def vote(database: Database, bot: str, *users: int) -> None:
    with database.writing() as connection:
        for user in users:
            votes.add_event(connection, bot, "vote", {"user": {"id": str(user)}}, at=NOON)


def position(database: Database) -> int:
    with database.reading() as connection:
        return votes.last_event(connection)


async def users(client: GatewayClient, count: int) -> list[int]:
    """Return the users of the next frames."""
    contents = [await client.frames.get() for _ in range(count)]
    return [
        int(json.loads(json.loads(content[2:])[1])["data"]["user"]["id"]) for content in contents
    ]


def test_a_client_gets_what_follows_its_position_in_order_and_once(database: Database) -> None:
    vote(database, "42", 1, 2)
    middle = position(database)
    vote(database, "42", 3, 4)

    async def deliver() -> tuple[list[int], list[int], int]:
        early, late = GatewayClient("42", middle, ""), GatewayClient("42", position(database), "")
        async with asyncio.timeout(LONGEST), delivering(database) as delivery:
            delivery.join(late)
            vote(database, "42", 5)
            first = await users(late, 1)
            delivery.join(early)  # behind the other one, which must not get anything twice
            of_early = await users(early, 3)
            vote(database, "42", *range(6, 300))  # more than one read
            of_early += await users(early, 294)
            first += await users(late, 294)
            return of_early, first, late.frames.qsize()

    of_early, of_late, left = asyncio.run(deliver())

    assert of_early == list(range(3, 300))
    assert of_late == list(range(5, 300))
    assert left == 0


def test_a_client_that_has_left_gets_nothing(database: Database) -> None:
    async def deliver() -> int:
        gone, there = GatewayClient("42", 0, ""), GatewayClient("42", 0, "")
        async with asyncio.timeout(LONGEST), delivering(database) as delivery:
            delivery.join(gone)
            delivery.join(there)
            delivery.leave(gone)
            delivery.leave(gone)
            vote(database, "42", 1)
            await users(there, 1)
            return gone.frames.qsize()

    assert asyncio.run(deliver()) == 0


def test_nothing_is_read_while_nobody_is_connected(database: Database) -> None:
    async def deliver(reads: list[str]) -> tuple[int, int]:
        async with asyncio.timeout(LONGEST), delivering(database) as delivery:
            vote(database, "42", 1)  # is noticed
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            without = len(reads)
            client = GatewayClient("42", 0, "")
            delivery.join(client)
            await users(client, 1)
            return without, len(reads)

    with statements_with("FROM outbox", database) as reads:
        without, after = asyncio.run(deliver(reads))

    assert without == 0
    assert after > 0


def test_delivery_goes_on_when_the_database_can_be_read_again(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    noted: Event,
) -> None:
    monkeypatch.setattr(gateway, "POLL", 0.001)

    async def deliver() -> list[int]:
        client = GatewayClient("42", 0, "")
        async with asyncio.timeout(LONGEST), delivering(database) as delivery:
            with database.writing() as connection:
                table.drop(connection)
            delivery.join(client)
            await asyncio.to_thread(noted.wait, LONGEST)
            with database.writing() as connection:
                table.create(connection)
            vote(database, "42", 1)
            return await users(client, 1)

    assert asyncio.run(deliver()) == [1]
    (words,) = [record.getMessage() for record in caplog.records]
    assert re.match("events .* retried: ", words)


def test_a_joining_client_stays(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    read = storage.token_keys_of
    with database.reading() as connection:
        keys = read(connection, ["42", "43"])

    async def check() -> list[bool]:
        loop = asyncio.get_running_loop()
        there, other = (GatewayClient(bot, 0, key) for bot, key in keys.items())
        revoked = GatewayClient("42", 0, "another")

        def reading(connection: Connection, of: Collection[str]) -> dict[str, str]:
            loop.call_soon_threadsafe(delivery.join, other)
            return read(connection, of)

        async with asyncio.timeout(LONGEST), delivering(database) as delivery:
            monkeypatch.setattr(storage, "token_keys_of", reading)
            delivery.join(there)
            delivery.join(revoked)
            await revoked.ended
            return [client.ended.done() for client in (there, other)]

    monkeypatch.setattr(gateway, "CHECK", 0.0)

    assert asyncio.run(check()) == [False, False]


def test_bots_with_clients_are_reminded_and_a_failure_is_retried(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(gateway, "CHECK", 0.0)
    with database.reading() as connection:
        key = storage.token_key_of(connection, "42")

    async def remind() -> list[set[str]]:
        asked, enough = list[set[str]](), Event()

        def reminding(bots: set[str]) -> None:
            asked.append(bots)
            if len(asked) == 3:
                enough.set()
            raise OperationalError("SELECT", {}, Exception("postgresql://user:secret@host"))

        async with asyncio.timeout(LONGEST), delivering(database, reminding) as delivery:
            delivery.join(GatewayClient("42", 0, key))
            await asyncio.to_thread(enough.wait, LONGEST)
            return asked[:3]

    assert asyncio.run(remind()) == [{"42"}] * 3
    (words,) = [record.getMessage() for record in caplog.records]
    assert re.search("reminders .* retried: OperationalError$", words)


def test_old_entries_are_pruned_and_their_numbers_never_used_again(database: Database) -> None:
    with database.writing() as connection:
        for hours in (0, 1, 2):
            votes.add_event(connection, "42", "vote", {}, at=NOON + timedelta(hours=hours))
    with database.writing() as connection:
        votes.prune_events(connection, before=NOON + timedelta(hours=1))
    kept = [entry.seq for entry in entries(database)]
    with database.writing() as connection:
        votes.prune_events(connection, before=NOON + timedelta(hours=3))
        votes.add_event(connection, "42", "vote", {}, at=NOON)

    assert (kept, [entry.seq for entry in entries(database)]) == ([2, 3], [4])


def test_only_version_4_of_the_protocol_has_an_id_in_the_connect_packet() -> None:
    connected = [gateway.greeting(version, interval=1, timeout=1)[1] for version in ("", "3", "4")]

    assert connected[:2] == ["40", "40"]
    assert list(json.loads(connected[2].removeprefix("40"))) == ["sid"]


def test_every_session_has_an_id_of_its_own() -> None:
    opened = {gateway.greeting("", interval=1, timeout=1)[0] for _ in range(100)}

    assert len(opened) == 100


@pytest.mark.parametrize(
    "name", ["Ann", 'a "quoted" one', '"message",', '\\"message\\",', "é 漢字 \ud800 \u2028", "\0"]
)
def test_an_event_is_json_in_a_string_that_follows_the_only_marker(name: str) -> None:
    data = {"user": {"id": "7", "username": name}}
    frame = gateway.event_frame("vote", data)
    before, *parts = frame.split('"message",')

    assert before == "42["
    assert len(parts) == 1
    content = json.loads(parts[0][:-1])
    assert isinstance(content, str)
    assert json.loads(content) == {"event": "vote", "data": data}
    assert frame.isascii()
