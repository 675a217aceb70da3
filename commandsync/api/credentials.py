"""The bot token: hidden, and read only to find the bot it belongs to.

Wire notes: a token is a JWT (HS256) whose payload carries the bot's `id`. Nothing here verifies the
signature: only the service can. A token that is not a JWT is opaque, and the service decides.
"""

from __future__ import annotations

import binascii
import json
import re
from base64 import urlsafe_b64decode
from typing import final

from commandsync.api import arguments
from commandsync.errors import UsageError


@final
class Token:
    """A bot token, hidden in every representation; surrounding whitespace is stripped.

    Raises:
        UsageError: It is empty, contains a control character, or is not valid in an HTTP header;
            as `ArgumentError`, it is not a string.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        text = arguments.string("token", secret)
        stripped = re.sub(r"^Bot(\s+|$)", "", text.strip())  # some users copy the whole header
        if not stripped:
            raise UsageError("the token is empty", hint="copy it again from the service's bot page")
        if not all("\x20" < character < "\x7f" for character in stripped):
            raise UsageError(
                "the token contains a space, a control character or a letter outside ASCII",
                hint="copy it again, without line breaks, from the service's bot page",
            )
        self._secret = stripped

    def reveal(self) -> str:
        """Return the secret itself, for the request that contains it."""
        return self._secret

    @property
    def bot(self) -> str:
        """The id of the bot the token belongs to; empty if the token does not contain it."""
        _, *rest = self._secret.split(".")
        if len(rest) != 2:  # noqa: PLR2004 - a JWT has a payload and a signature
            return ""
        try:
            claims = json.loads(urlsafe_b64decode(rest[0] + "=" * (-len(rest[0]) % 4)))
        except (binascii.Error, ValueError, RecursionError):
            return ""
        identifier = claims.get("id") if isinstance(claims, dict) else None
        named = isinstance(identifier, str | int) and not isinstance(identifier, bool)
        return str(identifier) if named else ""

    def __repr__(self) -> str:
        return "Token(<hidden>)"

    __str__ = __repr__

    def __reduce__(self) -> tuple[object, ...]:
        """Refuse to be pickled: a pickle would contain the secret."""
        raise TypeError("a token cannot be pickled")
