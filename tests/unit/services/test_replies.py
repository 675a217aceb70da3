"""An answer to a whole list is a success, or an error in the service's own words."""

from __future__ import annotations

import pytest

from commandsync.errors import (
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
from commandsync.services.replies import accepted


@pytest.mark.parametrize(
    "reply",
    [
        Reply(204, b""),
        Reply(200, b""),
        Reply(200, b"OK"),
        Reply(200, b"[]"),
        Reply(200, b'{"message": "Success"}'),
        Reply(200, b'{"status": 200, "message": "Updated"}'),
        Reply(201, b'{"success": true}'),
    ],
)
def test_any_body_of_a_success_is_accepted(reply: Reply) -> None:
    accepted(reply)


@pytest.mark.parametrize(
    ("reply", "error", "message"),
    [
        (Reply(200, b'{"success": false, "message": "No."}'), Invalid, "failure: No."),
        (Reply(200, b'{"error": {"status": 500, "message": "No."}}'), Invalid, "failure: No."),
        (Reply(200, b"<!doctype html>"), DecodeError, "HTML page"),
        (Reply(200, b'{"message": "Succ'), DecodeError, "not valid JSON"),
        (Reply(302, b""), Invalid, "redirects"),
        (Reply(400, b'{"title": "Bad Request", "status": 400}'), Invalid, "400: Bad Request"),
        (Reply(422, b'{"title": "Invalid", "detail": "[0].name"}'), Invalid, r"422: \[0\].name"),
        (Reply(401, b'{"error": {"status": 401, "message": "Who?"}}'), Unauthorized, "401: Who?"),
        (Reply(403, b'{"error": "Not yours"}'), Forbidden, "403: Not yours"),
        (Reply(404, b"Cannot PUT"), NotFound, "HTTP 404"),
        (Reply(405, b""), Invalid, "HTTP 405"),
        (Reply(429, b'{"retry-after": 3600}'), RateLimited, "HTTP 429"),
        (Reply(502, b"<html>"), ServerError, "HTTP 502"),
    ],
)
def test_a_refusal_is_an_error_in_the_services_words(
    reply: Reply, error: type[ListingError], message: str
) -> None:
    with pytest.raises(error, match=message) as refusal:
        accepted(reply)

    assert type(refusal.value) is error
    assert "base URL" not in str(refusal.value.hint)


def test_the_description_of_a_record_is_not_a_message() -> None:
    with pytest.raises(Invalid, match=r"\(HTTP 400\)"):
        accepted(Reply(400, b'{"description": "Bans."}'))


@pytest.mark.parametrize(
    ("reply", "seconds"),
    [
        (Reply(429, b'{"retry-after": 3600}'), 3600),
        (Reply(429, b'{"retry_after": 1.5}'), 1.5),
        (Reply(429, b'{"retry-after": 3600}', {"retry-after": "5"}), 5),
        (Reply(429, b'{"retry-after": 3600}', {"retry-after": "0"}), 0),
        (Reply(429, b'{"retry-after": "soon"}'), None),
        (Reply(429, b'{"retry-after": true}'), None),
        (Reply(429, b'{"retry-after": -1}'), None),
        (Reply(429, b'{"retry-after": 1e400}'), None),
        (Reply(429, b'{"parameters": 3}'), None),
        (Reply(429, b'[{"retry-after": 3}]'), None),
        (Reply(429, b""), None),
    ],
)
def test_the_seconds_to_wait_are_in_a_header_or_in_the_body(
    reply: Reply, seconds: float | None
) -> None:
    with pytest.raises(RateLimited) as refusal:
        accepted(reply)

    assert refusal.value.retry_after == seconds


@pytest.mark.parametrize(
    ("seconds", "date", "hint"),
    [
        (120, "Mon, 23 Nov 2026 15:05:02 +0100", "run again later"),
        (121, "Mon, 23 Nov 2026 15:05:02 +0100", "run again after 14:08 UTC"),
        (3600, "Mon, 23 Nov 2026 15:05:02 +0100", "run again after 15:06 UTC"),
        (86_400, "Mon, 23 Nov 2026 15:05:02 +0100", "run again after 2026-11-24 14:06 UTC"),
        (10**30, "Mon, 23 Nov 2026 15:05:02 +0100", "run again after 2027-11-24 14:06 UTC"),
        (3600, "", "run again later"),
    ],
)
def test_a_wait_that_is_too_long_has_a_time(seconds: int, date: str, hint: str) -> None:
    with pytest.raises(RateLimited) as refusal:
        accepted(Reply(429, b"", {"retry-after": str(seconds), "date": date}))

    assert refusal.value.hint == hint
