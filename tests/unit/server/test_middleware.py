import asyncio
from typing import Any

import pytest

from commandsync.server.endpoint import HEADERS, body_limit
from tests.support.bots import Service
from tests.support.callers import Caller

LIMIT = 10


def sent_for(
    *messages: dict[str, Any], kind: str = "http", seconds: float = 30, announced: bool = True
) -> tuple[list[bytes], list[dict[str, Any]]]:
    """Return the bodies that the application saw, and what was sent."""
    seen: list[bytes] = []
    sent: list[dict[str, Any]] = []
    incoming = iter(messages)

    async def app(_scope: Any, receive: Any, _send: Any) -> None:  # noqa: ANN401 - ASGI's
        seen.append((await receive()).get("body", b""))
        if kind == "http":
            assert (await receive())["type"] == "http.disconnect"

    async def receive() -> dict[str, Any]:
        message = next(incoming, None)
        if message is None:
            await asyncio.Event().wait()  # the sender sends nothing more
            raise AssertionError
        return message

    async def send(message: Any) -> None:  # noqa: ANN401 - ASGI's
        sent.append(message)

    limited = body_limit(app, size=LIMIT, seconds=seconds)
    headers = [(b"transfer-encoding", b"chunked")] if announced else [(b"accept", b"*/*")]

    async def ask() -> None:
        await limited({"type": kind, "headers": headers}, receive, send)

    asyncio.run(ask())
    return seen, sent


def chunk(body: bytes, *, more: bool) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


GONE = {"type": "http.disconnect"}


def test_a_body_in_pieces_reaches_the_application_whole() -> None:
    seen, sent = sent_for(chunk(b"12345", more=True), chunk(b"67890", more=False), GONE)

    assert (seen, sent) == ([b"1234567890"], [])


def test_a_body_that_no_header_announces_is_not_waited_for() -> None:
    seen, sent = sent_for(chunk(b"1" * 2 * LIMIT, more=False), GONE, announced=False)

    assert (len(seen[0]), sent) == (2 * LIMIT, [])


def test_a_body_over_the_limit_is_read_and_answered_413() -> None:
    seen, sent = sent_for(*[chunk(b"1234", more=True)] * 3, chunk(b"", more=False))

    assert seen == []
    assert sent[0]["status"] == 413
    assert (b"connection", b"close") in sent[0]["headers"]
    assert sent[1]["body"] == b'{"error":"the body is larger than 10 bytes"}'


def test_an_endless_body_is_answered_before_its_end() -> None:
    seen, sent = sent_for(*[chunk(b"x" * LIMIT, more=True)] * 65)

    assert (seen, sent[0]["status"]) == ([], 413)


def test_a_client_that_left_gets_no_answer() -> None:
    assert sent_for(chunk(b"12", more=True), GONE) == ([], [])


def test_a_sender_that_stops_is_answered_408() -> None:
    seen, sent = sent_for(chunk(b"12", more=True), seconds=0.01)

    assert seen == []
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]
    assert sent[1]["body"] == b'{"error":"the body did not arrive within 0.01 seconds"}'


def test_what_is_not_http_passes_untouched() -> None:
    assert sent_for({"type": "lifespan.startup"}, kind="lifespan") == ([b""], [])


@pytest.mark.parametrize("path", ["/healthz", "/no/such/page", "/bot/none/live", "/v0/bots"])
def test_every_answer_beside_the_interface_has_the_headers(service: Service, path: str) -> None:
    for method in ("GET", "HEAD", "DELETE"):
        headers = Caller(service.url, "", "").raw(method, path).headers

        assert {name: headers.get(name.lower()) for name in HEADERS} == HEADERS


def test_answers_of_the_interface_are_as_they_were(service: Service) -> None:
    headers = Caller(service.url, "", "").raw("GET", "/v1/bots").headers

    assert not {name.lower() for name in HEADERS} & set(headers)


@pytest.mark.promise("pages-escape")
def test_the_policy_allows_nothing_inline_and_no_other_host() -> None:
    policy = dict(
        directive.split(maxsplit=1) for directive in HEADERS["Content-Security-Policy"].split("; ")
    )

    assert set(policy.values()) == {"'self'", "'none'"}
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
