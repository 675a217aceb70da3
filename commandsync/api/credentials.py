"""The bot token: kept out of sight, and read only as far as to tell whose it is.

Wire notes: a token is a JWT (HS256) whose payload carries the bot's `id`. Nothing here verifies the
signature: only the service can. Any token that does not read as such is opaque and left to it.
"""

from __future__ import annotations

import binascii
import json
import re
from base64 import urlsafe_b64decode
from typing import final

from commandsync.api import arguments
from commandsync.errors import UsageError

_JWT_PARTS = 3


@final
class Token:
    """A bot token that does not show itself.

    Args:
        secret: The token as the user keeps it; surrounding whitespace is stripped.

    Raises:
        UsageError: It is empty, holds a control character, or cannot stand in an HTTP header.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        text = arguments.string("token", secret)
        stripped = re.sub(r"^Bot(\s+|$)", "", text.strip())  # some paste the whole header
        if not stripped:
            raise UsageError("the token is empty", hint="copy it again from the service's bot page")
        if not all("\x20" < character < "\x7f" for character in stripped):
            raise UsageError(
                "the token contains a space, a control character or a letter outside ASCII",
                hint="copy it again, without line breaks, from the service's bot page",
            )
        self._secret = stripped

    def reveal(self) -> str:
        """Return the secret itself, for the one header that carries it."""
        return self._secret

    @property
    def bot(self) -> str:
        """The id of the bot the token belongs to; empty when the token does not say."""
        return _bot_of(self._secret)

    def __repr__(self) -> str:
        return "Token(<hidden>)"

    __str__ = __repr__

    def __reduce__(self) -> tuple[object, ...]:
        """Refuse to be pickled: a pickle would show the secret."""
        raise TypeError("a token is not pickled")


def _bot_of(secret: str) -> str:
    parts = secret.split(".")
    if len(parts) != _JWT_PARTS:
        return ""
    payload = parts[1]
    try:
        claims = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return ""
    identifier = claims.get("id") if isinstance(claims, dict) else None
    named = isinstance(identifier, str | int) and not isinstance(identifier, bool)
    return str(identifier) if named else ""
