"""The simulated listing service behind real sockets: every fault done as a network would do it.

The records, and what a fault does to them, are `listing`'s; here an answer, or none, is put on the
wire: reset, held back, dripped, of a wrong length, zipped to a bomb, without end.
"""

from __future__ import annotations

import gzip
import json
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from commandsync.errors import Reply
from tests.support.listing import REFUSED, Listing
from tests.support.rawserver import (
    Exchange,
    RawServer,
    answer,
    dripping,
    hanging,
    keeping,
    resetting,
    sending,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from tests.support.rawserver import Act

_BOMB = gzip.compress(bytes(48 * 2**20), 1)
_ENDLESS = b" " * (40 * 2**20)
_CLOSED_FOR = 0.4  # seconds: longer than the first wait before a next try


class _Always(list["Act"]):
    """Acts that never run out."""

    def __init__(self, act: Act) -> None:
        super().__init__([act])

    def pop(self, _: object = 0) -> Act:
        return self[0]


@dataclass
class FaultServer:
    """The service; use it as a context manager.

    Attributes:
        listing: What is listed, and what goes wrong with which request.
        arrived: Told of each request's number before anything is done; True swallows the request.
        answered: The same after what was asked is done, and before it is answered.
    """

    listing: Listing
    arrived: Callable[[int], bool] = lambda _: False
    answered: Callable[[int], bool] = lambda _: False
    raw: RawServer = field(default_factory=RawServer)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self.raw.acts = _Always(self._act)

    @property
    def url(self) -> str:
        return self.raw.url

    def __enter__(self) -> Self:
        self.raw.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.raw.__exit__()
        assert self.raw.troubles == []

    def _act(self, exchange: Exchange) -> None:
        with self._lock:  # one after the other, as a database does it
            number = len(self.listing.requests)
            if self.arrived(number):
                exchange.close()
                return
            reply, wire = self._asked(exchange)
            swallowed = self.answered(number)
            refuse = self._refuses(number + 1)
        if swallowed:
            exchange.close()
        elif refuse:
            sending(_bytes(reply, connection="close"))(exchange)
            self._shut_for_a_while()
        else:
            _acts(wire, reply)(exchange)

    def _asked(self, exchange: Exchange) -> tuple[Reply, str]:
        one = exchange.request
        parts = urlsplit(one.target)
        body = json.loads(one.body) if one.body else None
        path = parts.path.removeprefix("/v1")
        found = self.listing.handle(one.method, path, parse_qsl(parts.query), body)
        fault = self.listing.requests[-1].fault
        reply = found if isinstance(found, Reply) else Reply(200, b'{"success": true}')
        return reply, fault.wire if fault is not None else ""

    def _refuses(self, number: int) -> bool:
        if self.listing.faults.get(number) is not REFUSED:
            return False
        del self.listing.faults[number]
        return True

    def _shut_for_a_while(self) -> None:
        """Let nobody in, as a service that is being restarted."""
        port, raw = self.raw.port, self.raw
        listener = raw._listener  # noqa: SLF001 - the server is made of it
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()

        def again() -> None:
            if not raw.released.wait(_CLOSED_FOR):
                raw._listener = socket.create_server(("127.0.0.1", port))  # noqa: SLF001 - as above
                raw._listen()  # noqa: SLF001 - as above

        raw._start(again)  # noqa: SLF001 - as above


def _bytes(reply: Reply, **headers: str) -> bytes:
    return answer(reply.body, status=reply.status, headers={**reply.headers, **headers})


def _acts(wire: str, reply: Reply) -> Act:
    match wire:
        case "reset" | "refuse":
            return resetting
        case "hang":
            return hanging
        case "drip":
            return dripping(_bytes(reply)[:20], tail=b"x")
        case "":
            return keeping(_bytes(reply))
        case _:
            return sending(_spoilt(wire, reply))


def _spoilt(wire: str, reply: Reply) -> bytes:
    length = len(reply.body)
    match wire:
        case "long":
            return _bytes(reply, **{"Content-Length": str(length + 50)})
        case "short":
            return _bytes(reply, **{"Content-Length": str(max(length - 9, 1))})
        case "bomb":
            return answer(_BOMB, headers={"Content-Encoding": "gzip"})
        case "endless":
            return answer(_ENDLESS)
        case _:
            raise AssertionError(wire)
