from __future__ import annotations

from base64 import urlsafe_b64decode
from http.cookies import SimpleCookie

import pytest
from fastapi import Request, Response

from commandsync.server import tokens
from commandsync.server.pages.voter import COOKIE, new_voter, remember, voter_of

SECRET = "a secret of this test, as long as the service's own"
OTHER = "another secret of this test, as long as the service's"


def cookie(user: str, *, secret: str = SECRET, is_secure: bool = False) -> SimpleCookie:
    response = Response()
    remember(response, user, secret=secret, is_secure=is_secure)
    return SimpleCookie(response.headers["set-cookie"])


def reads(value: str | None, *, secret: str = SECRET) -> str | None:
    """Return the user that a request with this cookie has."""
    headers = [] if value is None else [(b"cookie", f"{COOKIE}={value}".encode("latin-1"))]
    return voter_of(Request({"type": "http", "headers": headers}), secret=secret)


def test_a_cookie_keeps_its_user() -> None:
    user = new_voter()

    assert reads(cookie(user)[COOKIE].value) == user


def test_no_two_voters_are_the_same() -> None:
    assert len({new_voter() for _ in range(100)}) == 100


@pytest.mark.parametrize("is_secure", [False, True])
def test_no_script_and_no_other_page_reads_the_cookie(*, is_secure: bool) -> None:
    kept = cookie("guest-1", is_secure=is_secure)[COOKIE]

    assert (kept["httponly"], kept["samesite"], kept["path"]) == (True, "lax", "/")
    assert kept["domain"] == ""
    assert bool(kept["secure"]) is is_secure
    assert int(kept["max-age"]) == 365 * 24 * 3600


GOOD = cookie("guest-1")[COOKIE].value
SIGNATURE = GOOD.partition(".")[2]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        ".",
        "guest-1",
        "guest-1.",
        f"guest-2.{SIGNATURE}",
        f"guest-1{GOOD}",
        f".{SIGNATURE}",
        SIGNATURE,
        GOOD[:-1],
        f"{GOOD[:-1]}{'0' if GOOD[-1] != '0' else '1'}",
        f"{GOOD}0",
        "guest-1.\xff\xfe",
        cookie("guest-1", secret=OTHER)[COOKIE].value,
        tokens.sign("guest-1", issued_at=1, secret=SECRET),
        "x" * 100_000,
    ],
)
def test_what_was_not_signed_here_is_nobody(value: str | None) -> None:
    assert reads(value) is None


def test_the_signature_of_a_token_signs_no_cookie() -> None:
    content, _, signature = tokens.sign("1", issued_at=1, secret=SECRET).rpartition(".")
    in_hex = urlsafe_b64decode(f"{signature}=").hex()

    assert reads(f"{content}.{in_hex}") is None


def test_a_cookie_is_not_a_token() -> None:
    with pytest.raises(tokens.BadTokenError):
        tokens.bot_of(f"Bot {GOOD}", secret=SECRET)
