"""One request of either transport: its form, its limits, the reuse of connections, and its log."""

import json
import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import urlencode

import requests

from commandsync.api.arguments import Address
from commandsync.api.operations import Operation
from commandsync.client.secrecy import Secrecy
from commandsync.errors import ListingError, Reply, StoppedError, TransportError
from commandsync.version import __version__

HEADERS = {
    "User-Agent": f"commandsync/{__version__}",
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
}
"""The headers of every request; what a service needs beside or instead of them replaces them."""

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
    """Log the result of a request; None for one that was cancelled in flight."""
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
