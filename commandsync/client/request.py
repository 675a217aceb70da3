"""One request of either transport, from the operation to the `Reply`.

`request_of` makes the request, and `Secrecy` puts the token into it. `Reuse` decides whether it may
use a connection that was kept after another request. `LimitedBody` unzips the answer while it is
read and limits its size, and `Secrecy` hides the token in the answer. Each request is logged with
its result.
"""

import json
import logging
import ssl
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from time import monotonic
from typing import Any
from urllib.parse import quote, urlencode

import requests

from commandsync.api.arguments import Address
from commandsync.api.credentials import Token, Tokens
from commandsync.api.operations import Operation
from commandsync.errors import ListingError, Reply, StoppedError, TransportError
from commandsync.version import __version__

_SUCCESSES = range(200, 300)
_LONGEST_ERROR = 10_000  # bytes of an answer in which parts of the token are searched
_IN_PATH = "{token}"
_in_paths: Tokens = {}  # of requests
_library_log = logging.getLogger("urllib3.connectionpool")


def _without_tokens(record: logging.LogRecord) -> bool:
    """Hide the tokens of paths in a record of the HTTP library's log."""
    message = record.getMessage()
    for token in _in_paths.values():
        message = token.hide(message)
    record.msg, record.args = message, ()
    return True


class Secrecy:
    """Reveals the token, if any, to the service, and hides it in all that the service sends.

    A short token is not hidden in a listing, which must not be changed. `hide` and `hide_parts` do
    as the methods of the token.
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
        _in_paths[self._token.reveal()] = self._token
        _library_log.addFilter(_without_tokens)
        return path.replace(_IN_PATH, quote(self._token.reveal(), safe=":"))

    def reply(self, status: int, body: bytes, headers: Iterable[tuple[str, str]]) -> Reply:
        """Return an answer without the token, even if the service echoes it."""
        named: dict[str, str] = {}
        for name, value in headers:  # a repeated one is one list (RFC 9110, 5.2)
            before = f"{named[name.lower()]}, " if name.lower() in named else ""
            named[name.lower()] = before + self.hide(value)
        named.setdefault("date", formatdate(usegmt=True))  # a Retry-After date is relative to it
        is_success = status in _SUCCESSES
        if self._token and not (is_success and self._token.is_short):
            hide = self.hide if is_success or len(body) > _LONGEST_ERROR else self.hide_parts
            encoding = json.detect_encoding(body)
            errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
            text = body.decode(encoding, errors)
            if (hidden := hide(text)) != text:
                body = hidden.encode(encoding, errors)
        return Reply(status, body, named, with_token=self.known)


HEADERS = {
    "User-Agent": f"commandsync/{__version__}",
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
}
"""The headers of every request, unless a service needs others."""

LONGEST_CONNECT = 10.0
"""Seconds: a host that can be reached at all accepts a connection sooner."""

PIECE = 64 * 1024
"""Bytes of an answer that are read at a time."""

_log = logging.getLogger("commandsync.client")


def request_of(
    address: Address, operation: Operation[Any], secrecy: Secrecy, headers: Mapping[str, str]
) -> requests.PreparedRequest:
    """Return an operation as the request that is sent, with these headers beside its own.

    It is prepared without a session, which would look for credentials in `.netrc`.
    """
    url = address.api + secrecy.path(operation.path)
    if operation.query:
        url += "?" + urlencode(operation.query, errors="surrogatepass")
    headers, body = {**HEADERS, **headers, **secrecy.headers}, None
    if operation.body is not None:
        body = json.dumps(operation.body)  # ASCII: `\u` escapes can contain half a surrogate pair
        headers["Content-Type"] = "application/json"
    return requests.Request(operation.method, url, headers=headers, data=body).prepare()


class StaleError(Exception):
    """The service closed a kept connection before it answered; the request may be sent again."""


@dataclass(slots=True)
class Reuse:
    """Which requests may use a connection that was kept after another request.

    A service may close a connection right after an answer without notice. It may or may not have
    read a request that was sent meanwhile. An idempotent request is then sent again at once, on a
    new connection. An add cannot be sent again: it uses a kept connection only if the service has
    answered on one before, and none has broken since.
    """

    _proven: bool = False
    _broken: bool = False

    def allowed(self, operation: Operation[Any]) -> bool:
        """Whether an operation may use a kept connection."""
        return operation.idempotent or (self._proven and not self._broken)

    def answered(self, *, kept: bool) -> None:
        """Note that an answer arrived, and whether on a kept connection."""
        self._proven = self._proven or kept

    def broke(self, operation: Operation[Any], root: BaseException) -> None:
        """Note that a kept connection broke; raises `StaleError` to send again at once."""
        if isinstance(root, ConnectionError | ssl.SSLEOFError | ssl.SSLZeroReturnError):
            self._broken = True
            if operation.idempotent:
                raise StaleError


def not_sent(operation: Operation[Any], *, stopped: bool, closed: bool) -> ListingError:
    """Return the error of an operation that was given up before it was sent."""
    if closed:
        return StoppedError(f"the client is closed: {operation.name!r} was not sent")
    if stopped:
        return StoppedError(f"stopped before {operation.name!r} was sent")
    return TransportError(f"the deadline passed before {operation.name!r} was sent", sent=False)


def log_answer(
    operation: Operation[Any], answer: Reply | TransportError | None, *, start: float
) -> None:
    """Log the result of a request; None if it was cancelled in flight."""
    match answer:
        case Reply(status=status):
            result = f"HTTP {status}"
        case TransportError(message=message):
            result = message
        case _:
            result = "cancelled; it may have been sent"
            if not operation.idempotent:
                _log.warning("%r was cancelled; check whether it is listed", operation.name)
    milliseconds = round(1000 * (monotonic() - start))
    _log.debug("%s %s: %s (%d ms)", operation.method, operation.path, result, milliseconds)


LARGEST_BODY = 32 * 1024 * 1024
"""Bytes of an unzipped answer; 20,000 commands fit many times."""

_GZIP = 31  # zlib's code for a gzip header and any window


class BodyError(Exception):
    """A body that cannot be read; the message is the end of a sentence about the answer."""


class LimitedBody:
    """A body that is being read; the limit is of the unzipped body, in bytes.

    Its encoding, its size or its content may raise `BodyError`, at any step.
    """

    def __init__(self, *, encoding: str = "", limit: int = LARGEST_BODY) -> None:
        self._limit = limit
        self._body = bytearray()
        self._unzip: Any = None  # of the member that is being read
        self._zipped = encoding.strip().lower() in {"gzip", "x-gzip"}
        if not self._zipped and encoding.strip().lower() not in {"", "identity"}:
            raise BodyError("has a content encoding that was not requested")

    def feed(self, chunk: bytes) -> None:
        """Add bytes from the network."""
        for piece in self._unzipped(chunk) if self._zipped else (chunk,):
            self._body += piece
            if len(self._body) > self._limit:
                raise BodyError(f"is larger than {self._limit // 1024 // 1024} MiB")

    def whole(self) -> bytes:
        """Return the whole body, at its end."""
        if self._unzip is not None and not self._unzip.eof:
            raise BodyError("is truncated gzip")
        return bytes(self._body)

    def _unzipped(self, rest: bytes) -> Iterator[bytes]:
        """Unzip in small pieces, so that the limit is checked before memory fills up."""
        try:
            while rest:
                # There may be several members (RFC 1952, 2.2).
                if self._unzip is None or self._unzip.eof:
                    self._unzip = zlib.decompressobj(_GZIP)
                yield self._unzip.decompress(rest, PIECE)
                rest = self._unzip.unconsumed_tail or self._unzip.unused_data
        except zlib.error as error:
            raise BodyError("is not valid gzip") from error
