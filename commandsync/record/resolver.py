"""The name server inside the fence: it knows the platforms and the allowed hosts, and no other.

Every program asks it, since resolv.conf names it. A host that it does not know gets NXDOMAIN and is
counted, so that the user reads what the program wanted beside the platform. DNS: RFC 1035.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import Mapping
from typing import cast

_ADDRESS, _ANY_CLASS = 1, 1  # the type A, and the class IN
_ANSWERED, _UNKNOWN, _MALFORMED = 0x8580, 0x8583, 0x8581  # authoritative; NXDOMAIN; FORMERR
_HEADER = struct.Struct(">6H")
_LASTS = 60  # seconds that a program may keep an answer


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
        if name in self._hosts:
            return self._hosts[name]
        _, dot, domain = name.partition(".")
        while dot:
            if f".{domain}" in self._hosts:
                return self._hosts[f".{domain}"]
            _, dot, domain = domain.partition(".")
        return None


def _name_at(query: bytes, place: int) -> tuple[str, int]:
    """Return the host at a place of a query, in lower case, and the place behind it."""
    labels = []
    while length := query[place]:
        labels.append(query[place + 1 : place + 1 + length].decode("ascii").lower())
        place += 1 + length
    return ".".join(labels), place + 1
