"""The connection to the service, over HTTP and WebSocket, and the client library."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import aiohttp
    import requests


class ClientSettings(TypedDict, total=False):
    """The arguments of a client beside the token, the service and the bot."""

    timeout: float
    retries: int
    concurrency: int
    insecure_http: bool
    event_buffer: int
    session: requests.Session | aiohttp.ClientSession | None


@contextmanager
def async_extra(need: str) -> Generator[None, None, None]:
    """Import modules that need aiohttp in this block.

    Raises `UsageError` without aiohttp; its message begins with `need`, such as "events need".
    """
    try:
        yield
    except ModuleNotFoundError as error:
        from commandsync.extras import missing  # noqa: PLC0415 - seldom needed

        raise missing(need, "async", error) from error
