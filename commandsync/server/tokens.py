"""Bot tokens: signed when a bot is created, checked for each write.

Wire notes: a JWT (HS256) whose payload contains the bot's `id` and `iat`; the interface sends it as
`Authorization: Bot <token>`.
"""

from __future__ import annotations

import jwt

_ALGORITHM = "HS256"


class BadTokenError(Exception):
    """The token is missing or was not signed by this service; the message reports which."""


def sign(bot: str, *, issued_at: int, secret: str) -> str:
    """Return the token of a bot, which is the same for the same second since the epoch."""
    return jwt.encode({"id": bot, "iat": issued_at}, secret, algorithm=_ALGORITHM)


def bot_of(authorization: str | None, *, secret: str) -> str:
    """Return the id of the bot whose token the header of a request contains, if it was sent.

    Raises:
        BadTokenError: There is no token, or it was not signed here.
    """
    if not authorization:
        raise BadTokenError("a token is needed: send the header `Authorization: Bot <token>`")
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bot" or not token:
        raise BadTokenError("the header Authorization must be `Bot <token>`")
    return owner_of(token.strip(), secret=secret)


def owner_of(token: str, *, secret: str) -> str:
    """Return the id of the bot that a token belongs to.

    Raises:
        BadTokenError: The token is empty, or it was not signed here.
    """
    if not token:
        raise BadTokenError("a bot token is needed")
    try:
        claims = jwt.decode(
            token,
            secret,
            algorithms=[_ALGORITHM],
            # A clock set back must not lock a bot out: `iat` has to be there and limits nothing.
            options={"require": ["id", "iat"], "verify_iat": False},
        )
    except (jwt.InvalidTokenError, RecursionError) as error:  # deep nesting, in older PyJWT
        raise BadTokenError("the bot token is invalid") from error
    bot = claims["id"]
    if not isinstance(bot, str):
        raise BadTokenError("the bot token is invalid")
    return bot
