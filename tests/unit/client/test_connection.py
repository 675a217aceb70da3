"""The requests of a connection, also of one that is closed: no add is sent twice."""

import asyncio
import gc
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync import AsyncClient, __version__
from commandsync.api.operations import Operation, add, delete, edit, list_bots, list_records
from commandsync.api.policy import Health, Send, Streak, Wait
from commandsync.client.connection import Connection
from commandsync.client.threads import Gate
from commandsync.client.transport import Adapter, TimedSocket
from commandsync.errors import Forbidden, Redirected, ServerError, StoppedError, TransportError
from commandsync.records.texts import ApplicationCommand, CommandText, Resource
from commandsync.services.discord import DISCORD
from commandsync.services.service import PAGE
from tests.support.rawserver import (
    Act,
    Exchange,
    RawServer,
    answer,
    answering,
    closing,
    keeping,
    resetting,
    sending,
)

Connect = Callable[..., Connection]

TOKEN = "marked-token-7f3a9c1e"
LISTED = {"success": True, "data": [{"id": "1", "name": "help"}]}


class StoppedAfterWaiting(Gate):
    """A gate that is stopped between the end of a wait and the next entrance."""

    def wait(self, seconds: float) -> bool:
        assert seconds > 0
        self.stop()
        return True


def test_a_read_asks_for_json_and_names_the_client(server: RawServer, connect: Connect) -> None:
    server.then(answering(LISTED))

    commands = connect(server.url).call(list_records("42", Resource.COMMAND))
    [request] = server.requests

    assert [command.name for command in commands] == ["help"]
    assert (request.method, request.target) == ("GET", "/v1/bot/42/commands")
    assert request.headers["user-agent"] == f"commandsync/{__version__}"
    assert request.headers["accept"] == "application/json"
    assert request.headers["accept-encoding"] == "gzip"
    assert request.headers["authorization"] == f"Bot {TOKEN}"
    assert "content-type" not in request.headers


def test_a_service_that_asks_for_it_gets_an_agent_of_its_own(
    server: RawServer, connect: Connect
) -> None:
    server.then(answering(LISTED))
    service = replace(PAGE, agent="Agent (https://listing.example, 1)")

    connect(server.url, service=service).call(list_records("42", Resource.COMMAND))

    assert server.requests[0].headers["user-agent"] == "Agent (https://listing.example, 1)"


def test_an_add_that_was_sent_on_a_broken_connection_did_not_overwrite_another_program(
    server: RawServer, connect: Connect
) -> None:
    server.then(keeping(answer([])), resetting, keeping(answer({"id": "7"}, status=200)))
    connection = connect(server.url, service=DISCORD)
    text = ApplicationCommand.of({"type": 1, "name": "ping", "description": "Says pong."})

    connection.call(DISCORD.read("42", Resource.APPLICATION_COMMAND))
    added = connection.call(DISCORD.add("42", Resource.APPLICATION_COMMAND, text))

    assert (added, type(added)) == ("7", str)
    assert [request.method for request in server.requests] == ["GET", "POST", "POST"]
    assert [request.connection for request in server.requests] == [1, 1, 2]


def test_a_write_sends_its_body_as_json(server: RawServer, connect: Connect) -> None:
    text = CommandText("帮助 \ud83d", "مرحبا 🏳️‍🌈", "`x`", "")
    server.then(answering({"success": True}))

    connect(server.url).call(edit("42", Resource.COMMAND, "7", text))
    [request] = server.requests

    assert request.headers["content-type"] == "application/json"
    assert request.json == {"id": "7", **text._asdict()}


def test_a_query_is_encoded(server: RawServer, connect: Connect) -> None:
    server.then(answering({"data": {"data": []}}))

    connect(server.url).call(list_bots(q="a b&c=é\ud83d", limit=5))

    assert server.requests[0].target == "/v1/bots?limit=5&q=a+b%26c%3D%C3%A9%ED%A0%BD"


@pytest.mark.promise("yaml-tags")
def test_an_identifier_stays_one_part_of_the_path(server: RawServer, connect: Connect) -> None:
    server.then(answering())

    connect(server.url).call(delete("42", Resource.COMMAND, "a/../b?c#d%2e"))

    assert server.requests[0].target == "/v1/bot/42/commands/a%2F..%2Fb%3Fc%23d%252e"


def test_a_redirect_is_not_followed(server: RawServer, connect: Connect) -> None:
    with RawServer() as elsewhere:
        server.then(answering(b"moved", status=302, headers={"Location": elsewhere.url}))

        with pytest.raises(Redirected, match="redirects are not followed") as caught:
            connect(server.url).call(list_records("42", Resource.COMMAND))
        assert caught.value.location == elsewhere.url

    assert elsewhere.requests == []


def test_an_unclosed_client_names_itself(server: RawServer) -> None:
    async def read() -> None:
        await AsyncClient(TOKEN, server.url, bot="42").get_commands()

    def forget_it() -> None:
        asyncio.run(read())
        gc.collect()

    server.then(answering(LISTED))
    with pytest.warns(ResourceWarning) as warned:
        forget_it()

    assert f"an AsyncClient of {server.url} was not closed" in str(warned[0].message)


def test_cookies_are_not_kept(server: RawServer, connect: Connect) -> None:
    server.then(answering(LISTED, headers={"Set-Cookie": "a=b"}), answering(LISTED))
    connection = connect(server.url)

    connection.call(list_records("42", Resource.COMMAND))
    connection.call(list_records("42", Resource.COMMAND))

    assert "cookie" not in server.requests[1].headers


def test_headers_have_lower_case_names_and_a_date(server: RawServer, connect: Connect) -> None:
    server.then(
        answering(b"{}", headers={"X-Thing": "1", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        answering(b"{}"),
    )
    connection = connect(server.url)
    raw = Operation("look", "GET", "/x", lambda reply: dict(reply.headers))

    first, second = connection.call(raw), connection.call(raw)

    assert first["x-thing"] == "1"
    assert first["date"] == "Wed, 21 Oct 2015 07:28:00 GMT"
    assert second["date"].endswith("GMT")


def test_after_a_stop_nothing_is_sent(server: RawServer, connect: Connect) -> None:
    connection = connect(server.url)
    connection.stop()

    with pytest.raises(StoppedError, match="list commands"):
        connection.call(list_records("42", Resource.COMMAND))

    assert server.requests == []


def test_a_stop_keeps_what_happened_before(server: RawServer, connect_blocking: Connect) -> None:
    connection = connect_blocking(server.url, retries=4, gate=StoppedAfterWaiting(1))
    server.then(answering(b"", status=503))

    with pytest.raises(ServerError):
        connection.call(list_records("42", Resource.COMMAND))

    assert len(server.requests) == 1


def test_each_wait_of_a_call_is_told_and_its_end(server: RawServer, connect: Connect) -> None:
    server.then(answering(status=503), answering(LISTED), answering(status=403))
    told: list[tuple[Operation[Any], Send | Wait | None]] = []
    connection = connect(server.url, retries=3)
    driver = getattr(connection, "connection", connection)
    driver.on_wait = lambda operation, step: told.append((operation, step))
    read, refused = list_records("42", Resource.COMMAND), list_bots()

    connection.call(read)
    with pytest.raises(Forbidden):
        connection.call(refused)

    operations, steps = zip(*told, strict=True)
    assert operations == (read, read, read, read, refused, refused)
    assert steps[1] == Wait(0.25)
    retry = steps[1].retry
    assert (retry.number, retry.most) == (1, 3)
    assert isinstance(retry.error, ServerError)
    assert steps == (Send(), steps[1], Send(retry), None, Send(), None)


def test_bytes_that_are_already_there_come_too_late_after_the_time() -> None:
    near, far = socket.socketpair()
    with near, far:
        near.settimeout(0.01)
        far.sendall(b"late")
        timely = TimedSocket(near, near.makefile("rb").detach())
        threading.Event().wait(0.02)

        with timely, pytest.raises(TimeoutError):
            timely.read(4)


def test_bytes_that_come_in_time_are_read() -> None:
    near, far = socket.socketpair()
    with near, far:
        near.settimeout(10)
        far.sendall(b"soon")
        with TimedSocket(near, near.makefile("rb").detach()) as timely:
            threading.Event().wait(0.01)
            read = timely.read(4)
            left = near.gettimeout()

    assert read == b"soon"
    assert left is not None
    assert left < 10  # the next read may take only what this one left


def test_closing_hangs_up_at_once_whoever_still_holds_the_pool(server: RawServer) -> None:
    server.then(answering({"data": []}))
    adapter = Adapter()
    request = requests.Request("GET", server.url).prepare()
    held = adapter.get_connection_with_tls_context(request, verify=True)  # as by a traceback

    answer = adapter.send(request, timeout=10)
    assert answer.content
    adapter.close()
    server.hung_up()

    assert held.pool is None


HELP = CommandText("help", "Shows the menu.", "/help")
READ, ADD = list_records("42", Resource.COMMAND), add("42", Resource.COMMAND, HELP)
OPERATIONS = [
    READ,
    ADD,
    edit("42", Resource.COMMAND, "7", HELP),
    delete("42", Resource.COMMAND, "7"),
]
EMPTY = answer({"data": []})


def answering_once() -> tuple[Act, list[str]]:
    """Return what answers the first request of a connection alone, and the list of those.

    The second one finds the connection open, and is never read: so closing, a moment too late.
    """
    connections: set[int] = set()
    done: list[str] = []

    def act(exchange: Exchange) -> None:
        if exchange.request.connection in connections:
            exchange.close()
            return
        connections.add(exchange.request.connection)
        done.append(exchange.request.method)
        exchange.send(EMPTY)

    return act, done


@settings(max_examples=8)
@given(operations=st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=40))
@pytest.mark.parametrize("late", [False, True], ids=["at once", "a moment too late"])
def test_a_service_that_closes_each_connection_after_its_answer_fails_nothing(
    connect: Connect, operations: list[Operation[Any]], *, late: bool
) -> None:
    act, done = answering_once()
    health = Health()
    with RawServer() as server:
        server.acts = [act if late else sending(EMPTY)] * 2 * len(operations)
        connection = connect(server.url)
        for operation in operations:
            connection.call(operation, health=health)
        connection.close()
        requests = server.requests

    adds = [one for one in requests if b'"id"' not in one.body and one.method == "POST"]
    assert (health.reads, health.writes) == (Streak(), Streak())
    assert len(adds) == operations.count(ADD)
    assert not late or done == [operation.method for operation in operations]


def test_adds_take_a_connection_that_was_used_before(server: RawServer, connect: Connect) -> None:
    server.then(*[answering({"data": []})] * 5, answering(b"", status=204), answering({"data": []}))
    connection = connect(server.url)

    for operation in (READ, ADD, READ, ADD, READ, OPERATIONS[-1], ADD):
        connection.call(operation)

    assert [one.connection for one in server.requests] == [1, 2, 1, 1, 1, 1, 1]


def test_an_add_on_a_broken_connection_is_unclear(server: RawServer, connect: Connect) -> None:
    kept = answering({"data": []})
    server.then(kept, kept, closing, kept, kept)
    connection = connect(server.url, retries=4)
    connection.call(READ)
    connection.call(READ)

    with pytest.raises(TransportError) as caught:
        connection.call(ADD)
    for _ in range(2):
        connection.call(ADD)

    assert caught.value.sent
    assert [one.connection for one in server.requests] == [1, 1, 1, 2, 3]


def test_two_broken_connections_are_one_failure(server: RawServer, connect: Connect) -> None:
    server.then(answering({"data": []}), closing, closing)
    connection, health = connect(server.url), Health()
    connection.call(READ)

    with pytest.raises(TransportError):
        connection.call(READ, health=health)

    assert health.reads.failures == 1
    assert [one.connection for one in server.requests] == [1, 1, 2]
