"""The voter of a browser: a random user whose id is in a cookie that only this service can sign."""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import Request, Response

COOKIE = "commandsync_voter"
"""The name of the cookie. Its value is the user's id and a signature, separated by a dot."""

_LIFETIME = 365 * 24 * 60 * 60  # seconds; the longest time between two votes
_PURPOSE = b"commandsync voter cookie"


def voter_of(request: Request, *, secret: str) -> str | None:
    """Return the id of the user of a browser; None without a cookie that was signed here."""
    user, _, signature = request.cookies.get(COOKIE, "").rpartition(".")
    is_own = hmac.compare_digest(signature.encode(), _signature(user, secret).encode())
    return user if is_own else None


def new_voter() -> str:
    """Return the id of a new user, which is nobody's on a platform."""
    return f"guest-{secrets.token_hex(8)}"


def name_of(user: str) -> str:
    """Return what the lists of voters call a user."""
    return f"Guest {user.removeprefix('guest-')[:4]}"


def remember(response: Response, user: str, *, secret: str, is_secure: bool) -> None:
    """Let the browser keep a user's id; `is_secure` is whether the page was read over https."""
    response.set_cookie(
        COOKIE,
        f"{user}.{_signature(user, secret)}",
        max_age=_LIFETIME,
        path="/",
        secure=is_secure,
        httponly=True,
        samesite="lax",  # sent where a link of another site leads here, so that the page is right
    )


def _signature(user: str, secret: str) -> str:
    """Return the signature of an id, with a key of its own: none of a bot token is valid here."""
    key = hmac.digest(secret.encode(), _PURPOSE, "sha256")
    return hmac.digest(key, user.encode(), "sha256").hex()
