"""Services that the user allows: `--allow HOST:PORT` is a relay to that one, for a database.

What the program does there is real. A platform's or a listing's own host is refused (it is what the
stand-ins are for), and a connection that begins like a call of a platform is closed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from commandsync.errors import UsageError
from commandsync.record.fence import Place
from commandsync.record.hosts import PLATFORM_HOSTS

_PLATFORM_CALL = re.compile(rb"(?:GET|POST|PUT|PATCH|DELETE) (?:/bot[^ /]*/|/api/v)")
_FORM = "HOST:PORT, such as 127.0.0.1:5432"
_PIECE = 1 << 16


class Allowed(NamedTuple):
    """A service that the program may reach, and the address inside that stands for it."""

    host: str
    port: int
    inside: str  # an IPv4 address

    @property
    def name(self) -> str:
        """The service as it is written: `HOST:PORT`."""
        return f"{self.host}:{self.port}"

    @property
    def place(self) -> Place:
        """The socket inside the fence."""
        return Place("tcp", self.inside, self.port)


def parse_allowed(values: Iterable[str], refused_hosts: Iterable[str]) -> tuple[Allowed, ...]:
    """Read the values of `--allow`; a host without an address of its own gets one of loopback.

    Raises `UsageError` for another form, and for the host of a platform or of a listing.
    """
    refused = (*PLATFORM_HOSTS, *refused_hosts)
    allowed = []
    for number, value in enumerate(dict.fromkeys(values), 1):
        host, _, port = value.lower().strip().rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
            raise UsageError(f"--allow {value} is not a valid service", hint=f"write {_FORM}")
        if any(host == name or (name.startswith(".") and host.endswith(name)) for name in refused):
            message = f"--allow {value}: the stand-ins answer for this host, or it is a listing"
            raise UsageError(message, hint="allow only services that the bot needs to start")
        allowed.append(Allowed(host, int(port), _inside(host, number)))
    return tuple(allowed)


def _inside(host: str, number: int) -> str:
    if host == "localhost":
        return "127.0.0.1"
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError:
        return f"127.0.1.{number}"


async def relay(
    allowed: Allowed, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Carry one connection from inside to the service, in both directions."""
    with suppress(OSError):
        first = asyncio.create_task(reader.read(_PIECE))
        outward, inward = await asyncio.open_connection(allowed.host, allowed.port)
        back = asyncio.create_task(_carry(outward, writer))
        data = await first
        if not _PLATFORM_CALL.match(data):
            inward.write(data)
            await _carry(reader, inward)
            await back
        back.cancel()
        inward.close()
    writer.close()


async def _carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(_PIECE):
            target.write(data)
            await target.drain()
        target.write_eof()
