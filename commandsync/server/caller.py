"""The sender of a request: the bot of its token, or else its address.

A bot token is signed when a bot is created, checked for each write, and never logged. It is a JWT
(HS256) whose payload contains the bot's `id` and `iat` (wire notes); the interface sends it as
`Authorization: Bot <token>`. Limits count the requests of each bot with a valid token, and the
other requests of each address.
"""

import logging
import re
from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import unquote_plus

import jwt
from starlette.types import Scope

ALGORITHM = "HS256"
"""That signs tokens and cookies."""

_LOGGERS = ("uvicorn.access", "uvicorn.error")  # the second logs the requests of WebSockets
# A simulation of Telegram has the token in the path.
_IN_PATH = re.compile(r"/bot(?!s?(?:/|$))[^/]+")


class BadTokenError(Exception):
    """The token is missing or was not signed by this service; the message reports which."""


class Owner(NamedTuple):
    """The bot that a token was signed for, and the key that is the bot's own until it changes."""

    bot: str
    key: str


def sign(bot: str, *, issued_at: int, secret: str, key: str) -> str:
    """Return the token of a bot."""
    claims = {"id": bot, "iat": issued_at, "jti": key}
    return jwt.encode(claims, secret, algorithm=ALGORITHM)


def owner_of_header(authorization: str | None, *, secret: str) -> Owner:
    """Return the bot whose token a header contains; raises `BadTokenError`."""
    if not authorization:
        raise BadTokenError("a token is needed: send the header `Authorization: Bot <token>`")
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bot" or not token:
        raise BadTokenError("the header Authorization must be `Bot <token>`")
    return owner_of(token.strip(), secret=secret)


def owner_of(token: str, *, secret: str) -> Owner:
    """Return the bot that a token was signed for; raises `BadTokenError`."""
    if not token:
        raise BadTokenError("a bot token is needed")
    try:
        claims = jwt.decode(
            token,
            secret,
            algorithms=[ALGORITHM],
            # A clock set back must not lock a bot out: `iat` has to be there and limits nothing.
            options={"require": ["id", "iat"], "verify_iat": False},
        )
    except (jwt.InvalidTokenError, RecursionError) as error:  # deep nesting, in older PyJWT
        raise BadTokenError("the bot token is invalid") from error
    owner = Owner(claims["id"], claims.get("jti", ""))
    if not all(isinstance(part, str) for part in owner):
        raise BadTokenError("the bot token is invalid")
    return owner


def check(owner: Owner, key: str) -> None:
    """Raise `BadTokenError` unless a token has the key that its bot has now."""
    if owner.key != key:
        raise BadTokenError("the bot token was replaced by a new one")


def log_without_tokens() -> None:
    """Let the web server log no token; a second call changes nothing.

    The gateway's URL carries one by protocol (wire notes). Headers are never logged.
    """
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_redact)


def _redact(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        record.args = tuple(
            without_token(value) if isinstance(value, str) else value for value in record.args
        )
    return True


def without_token(path: str) -> str:
    """Return a path and its query with `***` in place of a token."""
    path, question, query = path.partition("?")
    return _IN_PATH.sub("/bot***", path) + question + "&".join(map(_redacted, query.split("&")))


def _redacted(parameter: str) -> str:
    name, _, _ = parameter.partition("=")
    return f"{name}=***" if unquote_plus(name).lower() == "token" else parameter


_OWN = {"127.0.0.1", "::1"}


def counted(host: str) -> str | None:
    """Return what a limit counts of an address: of IPv6 its network of a site (/64).

    None for this machine, which has no limits.
    """
    if host in _OWN:
        return None
    with suppress(ValueError):
        if isinstance(ip_address(host), IPv6Address):
            return str(ip_network((host, 64), strict=False))
    return host


def address_of(scope: Scope) -> str | None:
    """Return the address that sent a request, as it is counted; None for this machine.

    Of a request from this machine, a proxy has added the sender at the end of `X-Forwarded-For`.
    """
    host, _ = scope["client"] or ("", 0)
    forwarded = dict(scope["headers"]).get(b"x-forwarded-for", b"").decode("latin-1")
    return counted(forwarded.rpartition(",")[2].strip() or host if host in _OWN else host)


def caller_of(scope: Scope) -> str | None:
    """Return who sent a request: the bot of a valid token, else the address; see `address_of`."""
    header = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
    with suppress(BadTokenError):
        return "/".join(owner_of_header(header, secret=scope["app"].state.database.secret))
    return address_of(scope)
