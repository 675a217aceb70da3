"""The hosts that a recorded program finds: the platforms, and the services that the user allows.

Every program inside the fence asks the `Resolver`, since resolv.conf names it. A host that it does
not know gets NXDOMAIN and is counted, so that the user reads what the program wanted beside the
platform. A service of `--allow HOST:PORT`, such as a database, is reached through a `relay`, and
what the program does there is real. A platform's or a listing's own host is refused there (it is
what the stand-ins are for), and a connection that begins like a call of a platform is closed.

DNS: RFC 1035.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import NamedTuple, cast

from commandsync.errors import UsageError
from commandsync.record.fence import Place

PLATFORM_HOSTS = (
    ".discord.com",
    ".discord.gg",
    ".discordapp.com",
    ".discordapp.net",
    "api.telegram.org",
    "discord.com",
    "discord.gg",
    "discordapp.com",
)
"""The hosts that the stand-ins answer for; one that begins with a dot means all below it."""

_ADDRESS, _ANY_CLASS = 1, 1  # the type A, and the class IN
_ANSWERED, _UNKNOWN, _MALFORMED = 0x8580, 0x8583, 0x8581  # authoritative; NXDOMAIN; FORMERR
_HEADER = struct.Struct(">6H")
_LASTS = 60  # seconds that a program may keep an answer


def is_in(host: str, domain: str) -> bool:
    """Whether a host is a known one, or below a domain as `.discord.com`."""
    return host == domain or (domain.startswith(".") and host.endswith(domain))


PLACES = (Place("tcp", "127.0.0.1", 443), Place("udp", "127.0.0.1", 53))
"""Where the platforms and the name server answer inside the fence; allowed services follow."""


class Resolver(asyncio.DatagramProtocol):
    """Answers each query for a known host with its address; counts the others in `refused`.

    `hosts` maps a host, or a domain as `.discord.com` for all below it, to an IPv4 address.
    """

    def __init__(self, hosts: Mapping[str, str]) -> None:
        self.refused: Counter[str] = Counter()
        self._hosts = hosts
        self._transport: asyncio.DatagramTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport that answers."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer one query."""
        self._transport.sendto(self.answer(data), addr)

    def answer(self, query: bytes) -> bytes:
        """Return the response to a query."""
        try:
            number, _, questions, *_ = _HEADER.unpack_from(query)
            name, end = _name_at(query, _HEADER.size)
            kind, _ = struct.unpack_from(">2H", query, end)
        except (struct.error, IndexError, UnicodeDecodeError):
            return _HEADER.pack(0, _MALFORMED, 0, 0, 0, 0)
        question = query[_HEADER.size : end + 4]
        address = self._address(name)
        if questions != 1 or address is None:
            if kind == _ADDRESS:
                self.refused[name] += 1
            return _HEADER.pack(number, _UNKNOWN, 1, 0, 0, 0) + question
        if kind != _ADDRESS:  # the host is known, without an IPv6 address
            return _HEADER.pack(number, _ANSWERED, 1, 0, 0, 0) + question
        record = struct.pack(">HHHIH", 0xC00C, _ADDRESS, _ANY_CLASS, _LASTS, 4)
        head = _HEADER.pack(number, _ANSWERED, 1, 1, 0, 0)
        return head + question + record + socket.inet_aton(address)

    def _address(self, name: str) -> str | None:
        known = (address for host, address in self._hosts.items() if is_in(name, host))
        return next(known, None)


def _name_at(query: bytes, place: int) -> tuple[str, int]:
    """Return the host at a place of a query, in lower case, and the place behind it."""
    labels = []
    while length := query[place]:
        labels.append(query[place + 1 : place + 1 + length].decode("ascii").lower())
        place += 1 + length
    return ".".join(labels), place + 1


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
        if any(is_in(host, name) for name in refused):
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


async def serve_hosts(
    stack: AsyncExitStack, sockets: Sequence[socket.socket], allowed: Sequence[Allowed]
) -> Counter[str]:
    """Answer as the name server, and relay to the allowed services, until the stack is closed.

    The sockets are those in the fence, behind that of the platforms. Returns the hosts that are
    refused, with their numbers, which grow.
    """
    hosts = dict.fromkeys(PLATFORM_HOSTS, "127.0.0.1")
    resolver = Resolver(hosts | {service.host: service.inside for service in allowed})
    name_socket, *relayed = sockets
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: resolver, sock=name_socket)
    stack.callback(transport.close)
    for service, inside in zip(allowed, relayed, strict=True):
        await asyncio.start_server(partial(relay, service), sock=inside)
    return resolver.refused


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
