"""The hosts that a recorded program finds: the platforms, and the services that the user allows.

Every program inside the fence asks the `Resolver`, since resolv.conf names it. A host that it does
not know gets NXDOMAIN and is counted, so that the user reads which other hosts the program
asked for. A service of `--allow HOST:PORT`, such as a database, is reached through a `relay`, and
the program really changes it. A platform's or a listing's own host is refused there, since the
stand-ins replace it, and a connection that begins like a call of a platform is closed.

`Refusals` counts the connections to ports where nothing listens, such as the port of a database.

DNS: RFC 1035. TCP: RFC 9293.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import NamedTuple, cast

from commandsync.errors import UsageError
from commandsync.recording.fence import REFUSALS, FenceSocket

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
"""The hosts that the stand-ins answer for; a name that begins with a dot means all below it."""

_ADDRESS, _ANY_CLASS = 1, 1  # the type A, and the class IN
_ANSWERED, _UNKNOWN, _MALFORMED = 0x8580, 0x8583, 0x8581  # authoritative; NXDOMAIN; FORMERR
_HEADER = struct.Struct(">6H")
_LASTS = 60  # seconds that a program may keep an answer
_MOST_NAMES = 200  # hosts that are counted
_PAUSE, _LONGEST_TRY = 0.1, 1.0  # seconds


def is_in(host: str, domain: str) -> bool:
    """Whether a host is a known one, or below a domain as `.discord.com`."""
    return host == domain or (domain.startswith(".") and host.endswith(domain))


PLATFORM_ADDRESS = "192.0.2.1"
"""The address of the platforms inside the fence: the second one of loopback."""

PLATFORMS = FenceSocket("tcp", PLATFORM_ADDRESS, 443)
NAME_SERVER = FenceSocket("udp", "127.0.0.1", 53)
SOCKETS = (PLATFORMS, NAME_SERVER, *REFUSALS)
"""The sockets that every fence has inside. Allowed services have further ones."""

MOST_CONNECTIONS = 256
"""Of a program to the platforms, and to the allowed services, at the same time."""


class Resolver(asyncio.DatagramProtocol):
    """Answers each query for a known host with its address; counts the others in `refused`.

    `hosts` maps a host, or a domain as `.discord.com` for all below it, to an IPv4 address.
    """

    def __init__(self, hosts: Mapping[str, str]) -> None:
        self.refused: Counter[str] = Counter()
        self.known: Counter[str] = Counter()  # the hosts that were answered
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
        address = next((self._hosts[host] for host in self._hosts if is_in(name, host)), None)
        if questions != 1 or address is None:
            if kind == _ADDRESS and (name in self.refused or len(self.refused) < _MOST_NAMES):
                self.refused[name] += 1
            return _HEADER.pack(number, _UNKNOWN, 1, 0, 0, 0) + question
        if kind != _ADDRESS:  # the host is known, without an IPv6 address
            return _HEADER.pack(number, _ANSWERED, 1, 0, 0, 0) + question
        self.known[next(host for host in self._hosts if is_in(name, host))] += 1
        record = struct.pack(">HHHIH", 0xC00C, _ADDRESS, _ANY_CLASS, _LASTS, 4)
        head = _HEADER.pack(number, _ANSWERED, 1, 1, 0, 0)
        return head + question + record + socket.inet_aton(address)


def _name_at(query: bytes, place: int) -> tuple[str, int]:
    """Return the host at a place of a query, in lower case, and the place behind it."""
    labels = []
    while length := query[place]:
        labels.append(query[place + 1 : place + 1 + length].decode("ascii").lower())
        place += 1 + length
    return ".".join(labels), place + 1


_PLATFORM_CALL = re.compile(rb"(?:GET|POST|PUT|PATCH|DELETE) (?:/bot[^ /]*/|/api/v)")
_FORM = "HOST:PORT, such as 127.0.0.1:5432 or [::1]:5432"
_PIECE = 1 << 16
_THIS_MACHINE = {"localhost", "127.0.0.1", "0.0.0.0", "[::1]", "[::]"}  # noqa: S104 - not bound
_HEADER_WORDS, _SEQUENCE = 0x0F, slice(4, 8)


class Refusals(asyncio.Protocol):
    """Counts the refused connections by port, as raw sockets of the fence see them."""

    def __init__(self) -> None:
        self.ports: Counter[int] = Counter()
        self.first = 0.0  # when one was refused at first, in seconds of the event loop

    def watch(self, stack: AsyncExitStack, inside: socket.socket) -> None:
        """Count until the stack is closed."""
        loop = asyncio.get_running_loop()
        inside.setblocking(False)  # noqa: FBT003 - the only way to say it
        loop.add_reader(inside, self._read, inside)
        stack.callback(loop.remove_reader, inside)

    def _read(self, inside: socket.socket) -> None:
        with suppress(OSError):
            packet = inside.recv(128)
            start = 4 * (packet[0] & _HEADER_WORDS) if inside.family == socket.AF_INET else 0
            segment = packet[start:]
            # The refusal of a connection is the only one without a number of its own.
            if len(segment) > _HEADER.size and not any(segment[_SEQUENCE]):
                self.ports[int.from_bytes(segment[:2])] += 1
                self.first = self.first or asyncio.get_running_loop().time()


class Allowed(NamedTuple):
    """A service that the program may reach, and its address inside the fence."""

    host: str
    port: int
    inside: str  # an IPv4 address

    @property
    def name(self) -> str:
        """The service as it is written: `HOST:PORT`."""
        return f"{self.host}:{self.port}"

    @property
    def sockets(self) -> tuple[FenceSocket, ...]:
        """The sockets inside the fence: both addresses of this machine, else one."""
        addresses = ("127.0.0.1", "::1") if self.inside == "127.0.0.1" else (self.inside,)
        return tuple(FenceSocket("tcp", address, self.port) for address in addresses)


def parse_allowed(values: Iterable[str], refused_hosts: Iterable[str]) -> tuple[Allowed, ...]:
    """Read the values of `--allow`; a host without an address of its own gets one of loopback.

    `localhost`, `127.0.0.1`, `[::1]` and `0.0.0.0` are one place, this machine. Raises `UsageError`
    for another form, and for the host of a platform or of a listing.
    """
    refused, addresses, allowed = (*PLATFORM_HOSTS, *refused_hosts), dict[str, str](), []
    for value in values:
        host, _, port = value.lower().strip().rpartition(":")
        host = host.removesuffix(".")
        is_port = port.isascii() and port.isdecimal() and 0 < int(port) < 1 << 16
        if not is_port or not re.fullmatch(r"\[[0-9a-f:.]+\]|[\w.-]+", host, re.ASCII):
            raise UsageError(f"--allow {value} is not a valid service", hint=f"write {_FORM}")
        if any(is_in(host, name) for name in refused):
            message = f"--allow {value}: the stand-ins answer for this host, or it is a listing"
            raise UsageError(message, hint="allow only services that the bot needs to start")
        host = "127.0.0.1" if host in _THIS_MACHINE else host
        if host not in addresses:
            addresses[host] = _address_inside(host, value, len(addresses) + 1)
        service = Allowed(host, int(port), addresses[host])
        if service not in allowed:
            allowed.append(service)
    return tuple(allowed)


def _address_inside(host: str, value: str, number: int) -> str:
    """Return the address of a host inside the fence: its own, or one of loopback for a name."""
    if host.startswith("["):
        message = f"--allow {value}: an IPv6 address of another machine is not supported"
        raise UsageError(message, hint="allow the service by its name or its IPv4 address")
    if not re.fullmatch(r"[\d.]+", host):
        return f"127.0.1.{number}"
    try:
        address = ipaddress.IPv4Address(host)
    except ValueError:
        address = None
    if address is None or address.is_multicast or address.is_reserved or host == PLATFORM_ADDRESS:
        raise UsageError(f"--allow {value}: {host} is not the address of a service", hint=_FORM)
    return host


class Hosts(NamedTuple):
    """The counts of the hosts while a program runs."""

    resolver: Resolver
    refusals: Refusals


async def serve_hosts(
    stack: AsyncExitStack,
    sockets: Mapping[FenceSocket, socket.socket],
    allowed: Sequence[Allowed],
) -> Hosts:
    """Answer as the name server, and relay to the allowed services, until the stack is closed.

    `sockets` are open inside the fence.
    """
    known = dict.fromkeys(PLATFORM_HOSTS, PLATFORM_ADDRESS)
    resolver = Resolver(known | {service.host: service.inside for service in allowed})
    refusals, loop = Refusals(), asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: resolver, sock=sockets[NAME_SERVER])
    stack.callback(transport.close)
    for each in REFUSALS:
        refusals.watch(stack, sockets[each])
    for service in allowed:
        for each in service.sockets:
            task = asyncio.create_task(accept(sockets[each], partial(relay, service)))
            stack.push_async_callback(cancelled, task)
    return Hosts(resolver, refusals)


async def accept(
    listening: socket.socket,
    carry: Callable[[socket.socket], Awaitable[None]],
    others: Callable[[], int] = lambda: 0,
) -> None:
    """Carry each connection in a task of its own; too many of them are closed at once.

    `others` counts the connections that go on after their task.
    """

    async def carry_and_close(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            await carry(connection)

    loop, tasks = asyncio.get_running_loop(), set[asyncio.Task[None]]()
    listening.setblocking(False)  # noqa: FBT003 - the only way to say it
    try:
        while True:
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError:  # no file descriptor is left
                await asyncio.sleep(_PAUSE)
                continue
            if len(tasks) + others() >= MOST_CONNECTIONS:
                connection.close()
                continue
            task = asyncio.create_task(carry_and_close(connection))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
    finally:
        for task in tasks:
            task.cancel()


async def cancelled(task: asyncio.Task[None]) -> None:
    """Cancel a task, and wait for its end."""
    task.cancel()
    await asyncio.wait([task])


async def relay(allowed: Allowed, connection: socket.socket) -> None:
    """Carry one connection from inside to the service, in both directions."""

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(_PIECE):
                target.write(data)
                await target.drain()
            target.write_eof()

    reader, writer = await asyncio.open_connection(sock=connection)
    first = asyncio.create_task(reader.read(_PIECE))
    back: asyncio.Task[None] | None = None
    try:
        outward, inward = await asyncio.open_connection(allowed.host, allowed.port)
        back = asyncio.create_task(copy(outward, writer))
        data = await first
        if not _PLATFORM_CALL.match(data):
            inward.write(data)
            await copy(reader, inward)
            await back
        inward.close()
    finally:
        for task in filter(None, (first, back)):
            task.cancel()
        writer.close()


async def listens(port: int) -> bool:
    """Whether something listens at a port of this machine, outside of the fence."""
    with suppress(OSError):
        async with asyncio.timeout(_LONGEST_TRY):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        return True
    return False
