"""The secrecy of the token: it is sent to the service, and hidden in everything received."""

from __future__ import annotations

import json
import re
from email.utils import formatdate
from typing import TYPE_CHECKING

from commandsync.errors import Reply

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commandsync.api.credentials import Token

_HIDDEN = "<hidden>"
_SHORTEST_SECRET = 8  # a shorter one may be in a text by chance
_SUCCESSES = range(200, 300)
_WORD = "[0-9A-Za-z]"
_BEFORE = rf"(?:(?<!{_WORD})|(?<=%[0-9A-Fa-f]{{2}})|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{{4}}))"
_DEEPEST = 15  # backslashes before one that escapes: JSON within JSON within JSON


class Secrecy:
    """Reveals the token, if any, to the service, and hides it in what the service sends.

    A token shorter than 8 characters may be in a text by chance. It is hidden only where it is a
    whole word, and not in a listing, which must not be changed.
    """

    def __init__(self, token: Token | None) -> None:
        self._token = token
        secret = "" if token is None else token.reveal()
        self._long = len(secret) >= _SHORTEST_SECRET
        spelled = "".join(map(_spelling, secret))
        pattern = spelled if self._long else f"{_BEFORE}{spelled}(?!{_WORD})"
        self._spelled = re.compile(pattern) if secret else None

    @property
    def known(self) -> bool:
        """Whether there is a token."""
        return self._token is not None

    @property
    def headers(self) -> dict[str, str]:
        """The header that carries the token."""
        return {} if self._token is None else {"Authorization": f"Bot {self._token.reveal()}"}

    @property
    def query(self) -> dict[str, str]:
        """The query parameter that carries the token where there are no headers (the gateway)."""
        return {} if self._token is None else {"token": self._token.reveal()}

    def reply(self, status: int, body: bytes, headers: Iterable[tuple[str, str]]) -> Reply:
        """Return an answer without the token, even if the service echoes it."""
        named = {name.lower(): self.hide(value) for name, value in headers}
        named.setdefault("date", formatdate(usegmt=True))  # a Retry-After date is relative to it
        if status not in _SUCCESSES or self._long:
            body = self._hidden(body)
        return Reply(status, body, named, with_token=self.known)

    def hide(self, text: str) -> str:
        """Return a text without the token, also if JSON or a URL escapes some of its characters.

        JSON in a string of JSON has to be hidden again after the string is decoded.
        """
        return text if self._spelled is None else self._spelled.sub(_HIDDEN, text)

    def _hidden(self, body: bytes) -> bytes:
        """Return a body without the token, in any encoding of JSON."""
        if self._spelled is None:
            return body
        encoding = json.detect_encoding(body)
        errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
        text = body.decode(encoding, errors)
        hidden = self.hide(text)
        return body if hidden == text else hidden.encode(encoding, errors)


def _spelling(character: str) -> str:
    """Return the pattern of a character that JSON or a URL may escape, and JSON within JSON."""
    plain, code = re.escape(character), f"(?i:{ord(character):02x})"
    if character == "\\":
        return rf"(?:\\(?:u00{code})?|%{code}){{1,{_DEEPEST}}}"
    return rf"(?:%{code}|{plain}|\\(?:\\{{0,{_DEEPEST}}}+)(?:u00{code}|{plain}))"
