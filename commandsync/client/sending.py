"""What sending one request means to every driver: how long to knock, when not to, what to log."""

from __future__ import annotations

import logging
import ssl
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from commandsync.errors import Reply, StoppedError, TransportError

if TYPE_CHECKING:
    from commandsync.api.operations import Operation

LONGEST_CONNECT = 10.0
"""Seconds: a host that can be reached at all answers the knock sooner."""

PIECE = 64 * 1024
"""Bytes of an answer that are read at a time."""

_log = logging.getLogger("commandsync.client")


class StaleError(Exception):
    """A kept connection was closed before its request was answered, and it may be sent again."""


@dataclass(slots=True)
class Reuse:
    """Which requests may travel on a connection that was kept after another.

    A service may close a connection right after an answer without a word, and a request that
    crosses this on its way may have been read or not. What is idempotent is then sent again at
    once, on a new connection. An add cannot be: it takes a kept connection only where the service
    has answered on one before, and none has broken since.
    """

    _shown: bool = False
    _broken: bool = False

    def allowed(self, operation: Operation[Any]) -> bool:
        """Whether an operation may take a kept connection."""
        return operation.idempotent or (self._shown and not self._broken)

    def answered(self, *, kept: bool) -> None:
        """Note that an answer came, and whether it came on a kept connection."""
        self._shown = self._shown or kept

    def broke(self, operation: Operation[Any], root: BaseException) -> None:
        """Note that a kept connection broke.

        Raises:
            StaleError: The operation is to be sent again at once.
        """
        if isinstance(root, ConnectionError | ssl.SSLEOFError | ssl.SSLZeroReturnError):
            self._broken = True
            if operation.idempotent:
                raise StaleError


def not_sent(
    operation: Operation[Any], last: Reply | TransportError | None
) -> Reply | TransportError:
    """Say how an operation ended that was stopped before its turn: as its last try ended.

    Raises:
        StoppedError: There was no try before.
    """
    if last is None:
        raise StoppedError(f"stopped before {operation.name!r} was sent")
    return last


def log_answer(
    operation: Operation[Any], answer: Reply | TransportError | None, *, begun: float
) -> None:
    """Log what came of a request; None for one that its caller left while it was in flight."""
    match answer:
        case Reply(status=status):
            said = f"HTTP {status}"
        case TransportError(message=message):
            said = message
        case _:
            said = "cancelled; it may have been sent"
    taken = round(1000 * (monotonic() - begun))
    _log.debug("%s %s: %s (%d ms)", operation.method, operation.path, said, taken)
