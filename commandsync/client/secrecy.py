"""The one place that reveals the token: to the service, and never back to anybody else."""

from __future__ import annotations

import json
from email.utils import formatdate
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

from commandsync.errors import Reply

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commandsync.credentials import Token

_HIDDEN = "<hidden>"
_SHORTEST_SECRET = 8  # a shorter one may stand in a listing by chance, which must not be falsified
_SUCCESSES = range(200, 300)


class Secrecy:
    """Shows the token to the service, and takes it out of what the service says.

    Args:
        token: The token; None for a client without one.
    """

    def __init__(self, token: Token | None) -> None:
        self._token = token

    @property
    def headers(self) -> dict[str, str]:
        """The header that carries the token."""
        return {} if self._token is None else {"Authorization": f"Bot {self._token.reveal()}"}

    @property
    def query(self) -> dict[str, str]:
        """The query parameter that carries it where there are no headers (the gateway)."""
        return {} if self._token is None else {"token": self._token.reveal()}

    def reply(self, status: int, body: bytes, headers: Iterable[tuple[str, str]]) -> Reply:
        """Return an answer in which the token does not stand, even if the service echoes it."""
        named = {name.lower(): self.hide(value) for name, value in headers}
        named.setdefault("date", formatdate(usegmt=True))  # what a Retry-After date counts from
        if self._token is not None:
            secret = self._token.reveal()
            if status not in _SUCCESSES or len(secret) >= _SHORTEST_SECRET:
                for spelling in (secret, json.dumps(secret)[1:-1], secret.replace("/", "\\/")):
                    body = body.replace(spelling.encode("ascii"), _HIDDEN.encode("ascii"))
        return Reply(status, body, named, with_token=self._token is not None)

    def hide(self, text: str) -> str:
        """Return a text without the token, however a URL spells it."""
        if self._token is not None:
            secret = self._token.reveal()
            for spelling in (secret, quote(secret, safe=""), quote_plus(secret)):
                text = text.replace(spelling, _HIDDEN)
        return text
