"""What a service may put on the wire, as bytes on a socket, read through the real client."""

import gzip
from collections.abc import Callable
from typing import Any

import pytest

from commandsync.api.operations import (
    Operation,
    list_records,
)
from commandsync.client.connection import Connection
from commandsync.errors import (
    DecodeError,
    ListingError,
    ServerError,
    TransportError,
)
from commandsync.records.texts import Resource
from tests.support.rawserver import RawServer, sending

Connect = Callable[..., Connection]

BOT = "779641401482805289"
COMMANDS = list_records(BOT, Resource.COMMAND)

RECORD = (
    b'{"_id":"64f0c2","name":"8ball","description":"Asks the \\u2728 ball.\\r\\n","syntax":"`.8`",'
    b'"category":null,"uses":12,"createdAt":"2021-02-03T04:05:06.789Z","__v":0}'
)


def ok(body: bytes, *, head: bytes = b"HTTP/1.1 200 OK") -> bytes:
    lines = [
        head,
        b"Content-Type: application/json; charset=utf-8",
        b"Content-Length: %d" % len(body),
        b"X-Powered-By: Express",
    ]
    return b"\r\n".join([*lines, b"", body])


def bare(body: bytes) -> bytes:
    """As services answer that speak HTTP/1.0: the end of the connection ends the body."""
    return b"HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n" + body


def chunked(body: bytes) -> bytes:
    parts = [body[:5], body[5:]]
    coded = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(part), part) for part in parts)
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
    return head + coded + b"0\r\nX-Sum: 1\r\n\r\n"


def zipped(body: bytes) -> bytes:
    packed = gzip.compress(body)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    return head % len(packed) + packed


def page(status: bytes, body: bytes, *headers: bytes) -> bytes:
    return b"\r\n".join([b"HTTP/1.1 " + status, *headers, b"Connection: close", b"", body])


LISTS = {
    "documented": ok(
        b'{"success":true,"message":"ok","data":[' + RECORD + b'],"passingTime":"3ms"}'
    ),
    "bare until closed": bare(b"[" + RECORD + b"]"),
    "chunked": chunked(b"[" + RECORD + b"]"),
    "gzip": zipped(b"[" + RECORD + b"]"),
    "byte order mark": ok(b"\xef\xbb\xbf[" + RECORD + b"]"),
    "lower-case headers": ok(b"[" + RECORD + b"]").replace(b"Content-Length", b"content-length"),
    "after 100": b"HTTP/1.1 100 Continue\r\n\r\n" + ok(b"[" + RECORD + b"]"),
}


@pytest.mark.parametrize("sent", LISTS.values(), ids=LISTS.keys())
def test_a_list_of_commands_is_read(server: RawServer, connect: Connect, sent: bytes) -> None:
    server.then(sending(sent))

    [command] = connect(server.url).call(COMMANDS)

    assert (command.id, command.name) == ("64f0c2", "8ball")
    assert command.description == "Asks the ✨ ball.\r\n"
    assert (command.syntax, command.category, command.uses) == ("`.8`", "", 12)
    assert command.model_extra == {"createdAt": "2021-02-03T04:05:06.789Z", "__v": 0}


ERRORS: dict[str, tuple[Operation[Any], bytes, type[ListingError], str]] = {
    "a part, by the first of two headers": (
        COMMANDS,
        page(b"200 OK", b"[]", b"LINK: </2>; rel=next\r\nLink: </0>; rel=prev"),
        DecodeError,
        "see its link",
    ),
    "a part, by the last of two headers": (
        COMMANDS,
        page(b"200 OK", b"[]", b"Link: </0>; rel=prev\r\nLink: </2>; rel=next"),
        DecodeError,
        "see its link",
    ),
    "cut json until closed": (COMMANDS, bare(b'{"data":[{"na'), DecodeError, "not valid JSON"),
    "cut gzip": (COMMANDS, zipped(b"[" + RECORD + b"]")[:-9], TransportError, "is truncated"),
    "no reason phrase": (COMMANDS, page(b"500", b""), ServerError, "HTTP 500"),
}


@pytest.mark.parametrize(
    ("operation", "sent", "kind", "message"), ERRORS.values(), ids=ERRORS.keys()
)
def test_an_answer_that_says_no_is_an_error_and_never_an_empty_listing(
    server: RawServer,
    connect: Connect,
    operation: Operation[Any],
    sent: bytes,
    kind: type[ListingError],
    message: str,
) -> None:
    server.then(sending(sent))

    with pytest.raises(kind) as caught:
        connect(server.url).call(operation)

    assert type(caught.value) is kind
    assert message in str(caught.value)
