"""Services that close connections without a word: nothing fails by it, and no add is sent twice."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.api.operations import Operation, add, delete, edit, list_records
from commandsync.api.policy import Health, Streak
from commandsync.client.connection import Connection
from commandsync.errors import TransportError
from commandsync.records.texts import CommandText, Resource
from tests.support.rawserver import Act, Exchange, RawServer, answer, answering, closing, sending

Connect = Callable[..., Connection]

HELP = CommandText("help", "Shows the menu.", "/help")
READ, ADD = list_records("42", Resource.COMMAND), add("42", Resource.COMMAND, HELP)
OPERATIONS = [
    READ,
    ADD,
    edit("42", Resource.COMMAND, "7", HELP),
    delete("42", Resource.COMMAND, "7"),
]
LISTED = answer({"data": []})


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
        exchange.send(LISTED)

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
        server.acts = [act if late else sending(LISTED)] * 2 * len(operations)
        connection = connect(server.url)
        for operation in operations:
            connection.call(operation, health=health)
        connection.close()
        requests = server.requests

    adds = [one for one in requests if b'"id"' not in one.body and one.method == "POST"]
    assert (health.reads, health.writes) == (Streak(), Streak())
    assert len(adds) == operations.count(ADD)
    assert not late or done == [operation.method for operation in operations]


def test_adds_take_a_kept_connection_once_the_service_has_answered_on_one(
    server: RawServer, connect: Connect
) -> None:
    server.then(*[answering({"data": []})] * 5, answering(b"", status=204), answering({"data": []}))
    connection = connect(server.url)

    for operation in (READ, ADD, READ, ADD, READ, OPERATIONS[-1], ADD):
        connection.call(operation)

    assert [one.connection for one in server.requests] == [1, 2, 1, 1, 1, 1, 1]


def test_an_add_that_a_kept_connection_breaks_under_is_unclear_and_the_next_takes_a_new_one(
    server: RawServer, connect: Connect
) -> None:
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


def test_both_a_kept_connection_and_the_new_one_that_break_are_one_failure(
    server: RawServer, connect: Connect
) -> None:
    server.then(answering({"data": []}), closing, closing)
    connection, health = connect(server.url), Health()
    connection.call(READ)

    with pytest.raises(TransportError):
        connection.call(READ, health=health)

    assert health.reads.failures == 1
    assert [one.connection for one in server.requests] == [1, 1, 2]
