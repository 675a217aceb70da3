"""The live stream of a preview, as a browser reads it."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from itertools import takewhile
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class LiveStream:
    """A stream, and the head of its answer."""

    response: HTTPResponse

    def event(self) -> bytes:
        """Return the next event as it was sent, or the next comment; empty at the end."""
        lines = iter(self.response.readline, b"")
        return b"".join(takewhile(lambda line: line != b"\n", lines))

    def state(self) -> dict[str, Any]:
        """Return the next event's content; comments are skipped."""
        while (line := self.event()).startswith(b":"):
            pass
        content: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
        return content

    def rest(self) -> bytes:
        """Return everything until the end."""
        return self.response.read()


@contextmanager
def opened_stream(
    url: str, path: str, *, method: str = "GET", receives: int = 0
) -> Iterator[LiveStream]:
    """Open the stream of a page at a path of a service; whatever it is answered.

    `receives` is how many bytes the system keeps before they are read; 0 for its own choice.
    """
    with closing(HTTPConnection(urlsplit(url).netloc, timeout=30)) as connection:
        if receives:
            connection.sock = socket.socket()
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
            connection.sock.connect((connection.host, connection.port))
        connection.request(method, path)
        with connection.getresponse() as response:
            yield LiveStream(response)
