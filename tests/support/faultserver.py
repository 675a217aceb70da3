"""The simulated listing service behind real sockets: every fault done as a network would do it.

`listing` holds the records and applies the faults to them. This module sends the answer, or none:
reset, delayed, byte by byte, of a wrong length, as a gzip bomb, without end.
"""

import gzip
import threading
from collections.abc import Callable
from dataclasses import dataclass

from commandsync.errors import Reply
from tests.support.listing import REFUSED, Listing
from tests.support.rawserver import (
    Act,
    Exchange,
    Request,
    SocketServer,
    answer,
    dripping,
    hanging,
    keeping,
    resetting,
    sending,
)

_BOMB = gzip.compress(bytes(48 * 2**20), 1)
_ENDLESS = b" " * (40 * 2**20)
_CLOSED_FOR = 0.4  # seconds: longer than the first wait before a next try


@dataclass
class FaultServer(SocketServer):
    """The service.

    Attributes:
        listing: What is listed, and what goes wrong with which request.
        arrived: Told of each request's number before anything is done; True swallows the request.
        answered: The same after what was asked is done, and before it is answered.
    """

    listing: Listing
    arrived: Callable[[int], bool] = lambda _: False
    answered: Callable[[int], bool] = lambda _: False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._lock = threading.Lock()

    def handle(self, exchange: Exchange) -> None:
        with self._lock:  # one after the other, as a database does it
            number = len(self.listing.requests)
            if self.arrived(number):
                exchange.close()
                return
            reply, wire = self._asked(exchange.request)
            swallowed = self.answered(number)
            refuse = self.listing.faults.get(number + 1) is REFUSED
        if swallowed:
            exchange.close()
        elif refuse:
            del self.listing.faults[number + 1]
            sending(_bytes(reply, connection="close"))(exchange)
            self.away(_CLOSED_FOR)
        else:
            _acts(wire, reply)(exchange)

    def _asked(self, request: Request) -> tuple[Reply, str]:
        path = request.path.removeprefix("/v1")
        answered = self.listing.handle(
            request.method, path, tuple(request.query.items()), request.json
        )
        fault = self.listing.requests[-1].fault
        reply = answered if isinstance(answered, Reply) else Reply(200, b'{"success": true}')
        return reply, fault.wire if fault is not None else ""


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
