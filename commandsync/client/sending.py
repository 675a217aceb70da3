"""What sending one request means to every driver: how long to knock, when not to, what to log."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any

from commandsync.errors import Reply, StoppedError, TransportError

if TYPE_CHECKING:
    from commandsync.operations import Operation

LONGEST_CONNECT = 10.0
"""Seconds: a host that can be reached at all answers the knock sooner."""

PIECE = 64 * 1024
"""Bytes of an answer that are read at a time."""

_log = logging.getLogger("commandsync.client")


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
