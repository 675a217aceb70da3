import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from commandsync.server.conditions import Recorder, Request


def recorded(*chunks: bytes, query: bytes = b"") -> tuple[list[Request], bytes]:
    """Return what is recorded of a request, and the body that the application received."""
    received = bytearray()
    messages = iter(
        [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
        + [{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}]
    )

    async def app(_scope: Any, receive: Any, _send: Any) -> None:  # noqa: ANN401 - ASGI's
        while (message := await receive())["type"] == "http.request":
            received.extend(message["body"])

    async def receive() -> Any:  # noqa: ANN401 - ASGI's
        return next(messages)

    async def send(_message: Any) -> None:  # noqa: ANN401 - ASGI's
        raise AssertionError

    recorder = Recorder(app)
    scope = {"type": "http", "method": "POST", "path": "/v1/x", "query_string": query}
    asyncio.run(recorder(scope, receive, send))
    return recorder.requests, bytes(received)


@pytest.mark.parametrize(
    ("chunks", "body"),
    [
        ([], None),
        ([b'{"uses"', b": 3}"], {"uses": 3}),
        ([b"null"], None),
        ([b"not JSON"], b"not JSON"),
        ([b"\xff"], b"\xff"),
    ],
)
def test_a_body_is_recorded_and_passed_on(chunks: Iterable[bytes], body: object) -> None:
    requests, received = recorded(*chunks)

    assert requests == [Request("POST", "/v1/x", body)]
    assert received == b"".join(chunks)


def test_a_query_is_recorded_without_its_token() -> None:
    requests, _ = recorded(query=b"page=2&token=secret")

    assert requests[0].path == "/v1/x?page=2&token=***"
