"""The connection to the service, over HTTP and WebSocket, and the client library."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def async_extra(what: str) -> Iterator[None]:
    """Import what needs aiohttp in this block; raises `UsageError`, which `what` begins."""
    try:
        yield
    except ModuleNotFoundError as error:
        from commandsync.extras import missing  # noqa: PLC0415 - seldom needed

        raise missing(what, "async", error) from error
