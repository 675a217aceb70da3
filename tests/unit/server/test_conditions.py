import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from commandsync.server.conditions import Conditions, RecordedRequest, Recorder, parse_rate_limit


@pytest.mark.parametrize(
    ("text", "amount", "seconds"),
    [
        ("30/minute", 30, 60),
        ("1/second", 1, 1),
        ("100/5 minutes", 100, 300),
        ("30 per hour", 30, 3600),
        (" 2/day ", 2, 86_400),
    ],
)
def test_a_rate_limit_is_a_number_in_a_period(text: str, amount: int, seconds: int) -> None:
    limit = parse_rate_limit(text)

    assert (limit.amount, limit.get_expiry()) == (amount, seconds)


@pytest.mark.parametrize(
    "text", ["", "30", "minute", "30/fortnight", "0/minute", "-3/hour", "1/second;30/minute", "x/y"]
)
def test_anything_else_is_not_a_rate_limit(text: str) -> None:
    with pytest.raises(ValueError, match="is not a valid rate limit: give it as 30/minute"):
        parse_rate_limit(text)


def test_without_a_seed_there_is_one_to_be_given_again() -> None:
    first, second = Conditions(fail=1), Conditions(fail=1)

    assert first.chaos_seed != second.chaos_seed
    assert f"chaos seed {first.chaos_seed}" in first.described()[0]


def recorded(*chunks: bytes, query: bytes = b"") -> tuple[list[RecordedRequest], bytes]:
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

    assert requests == [RecordedRequest("POST", "/v1/x", body)]
    assert received == b"".join(chunks)


def test_a_query_is_recorded_without_its_token() -> None:
    requests, _ = recorded(query=b"page=2&token=secret")

    assert requests[0].path == "/v1/x?page=2&token=***"
