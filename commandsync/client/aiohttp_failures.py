"""What aiohttp raises, as the plain exceptions that `failures` has words for."""

from __future__ import annotations

import http.client

import aiohttp
from requests.exceptions import InvalidURL

from commandsync.client.failures import root_of


def plain(error: BaseException) -> BaseException:
    """Return what an exception of aiohttp's was made of, or what it means."""
    match error:
        case TimeoutError():
            meaning: BaseException = TimeoutError()  # the cause asyncio gives is a cancellation
        case aiohttp.ClientHttpProxyError(status=status, message=message):
            meaning = OSError(f"Tunnel connection failed: {status} {message}")
        case aiohttp.ServerDisconnectedError():
            meaning = http.client.RemoteDisconnected("")
        case aiohttp.ClientPayloadError():
            meaning = http.client.IncompleteRead(b"")
        case aiohttp.ClientResponseError():
            meaning = http.client.HTTPException()
        case aiohttp.InvalidURL() | UnicodeError():
            meaning = InvalidURL()  # a label of the host's name is too long, or empty
        case _:
            meaning = root_of(error)
    return meaning
