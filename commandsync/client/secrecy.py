"""The secrecy of the token: it is sent to the service, and hidden in everything received."""

import json
import logging
from collections.abc import Callable, Iterable
from email.utils import formatdate
from urllib.parse import quote

from commandsync.api.credentials import Token
from commandsync.errors import Reply

_SUCCESSES = range(200, 300)
_LONGEST_ERROR = 10_000  # bytes of an answer in which parts of the token are searched
_IN_PATH = "{token}"
_in_log: dict[str, Token] = {}  # the tokens of this process that are part of a path
_library_log = logging.getLogger("urllib3.connectionpool")


def _without_tokens(record: logging.LogRecord) -> bool:
    """Hide the tokens of paths in a record of the HTTP library's log."""
    message = record.getMessage()
    for token in _in_log.values():
        message = token.hide(message)
    record.msg, record.args = message, ()
    return True


class Secrecy:
    """Reveals the token, if any, to the service, and hides it in what the service sends.

    A short token is not hidden in a listing, which must not be changed. `hide` and `hide_parts` are
    those of the token.
    """

    def __init__(self, token: Token | None, *, authorization: str = "{token}") -> None:
        self._token = token
        self._authorization = authorization
        self.known = token is not None
        self.hide: Callable[[str], str] = token.hide if token else str
        self.hide_parts: Callable[[str], str] = token.hide_parts if token else str

    @property
    def headers(self) -> dict[str, str]:
        """The header that carries the token."""
        if self._token is None or not self._authorization:
            return {}
        return {"Authorization": self._authorization.replace("{token}", self._token.reveal())}

    @property
    def query(self) -> dict[str, str]:
        """The query parameter that carries the token where there are no headers (the gateway)."""
        return {} if self._token is None else {"token": self._token.reveal()}

    def path(self, path: str) -> str:
        """Return the path of a request with the token where it has `{token}`.

        The HTTP library logs such a path: it is hidden there too.
        """
        if self._token is None or _IN_PATH not in path:
            return path
        _in_log[self._token.reveal()] = self._token
        _library_log.addFilter(_without_tokens)
        return path.replace(_IN_PATH, quote(self._token.reveal(), safe=":"))

    def reply(self, status: int, body: bytes, headers: Iterable[tuple[str, str]]) -> Reply:
        """Return an answer without the token, even if the service echoes it."""
        named: dict[str, str] = {}
        for name, value in headers:  # one that is repeated is one list (RFC 9110, 5.2)
            before = f"{named[name.lower()]}, " if name.lower() in named else ""
            named[name.lower()] = before + self.hide(value)
        named.setdefault("date", formatdate(usegmt=True))  # a Retry-After date is relative to it
        if self._token and status not in _SUCCESSES and len(body) <= _LONGEST_ERROR:
            body = self._hidden(body, self.hide_parts)
        elif self._token and (status not in _SUCCESSES or not self._token.is_short):
            body = self._hidden(body, self.hide)
        return Reply(status, body, named, with_token=self.known)

    @staticmethod
    def _hidden(body: bytes, hide: Callable[[str], str]) -> bytes:
        encoding = json.detect_encoding(body)
        errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
        text = body.decode(encoding, errors)
        hidden = hide(text)
        return body if hidden == text else hidden.encode(encoding, errors)
