"""Filters of the kernel: the system calls that a recorded program may make, and TCP's refusals.

Only sockets of IPv4, IPv6, Unix and netlink can be made: others, such as those between a virtual
machine and its host, belong to no network namespace. `io_uring` would make sockets and open files
without a system call that a filter sees. A call of a foreign architecture (32-bit, x32) has numbers
that this filter does not know. The kernel's key rings belong to no namespace, and memory without a
file or a process would not be counted.

The filters are programs of classic BPF, see seccomp(2), socket(7) and linux/filter.h. Each
instruction is a code, two jumps and a number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

_LOAD, _LOAD_BYTE, _LOAD_BYTE_BEHIND, _LOAD_HEADER = 0x20, 0x30, 0x50, 0xB1  # bpf_common.h
_AND, _EQUAL, _AT_LEAST, _RETURN = 0x54, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # places in struct seccomp_data
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NOT_PERMITTED, _NO_CALL, _NO_FAMILY = 1, 38, 97  # EPERM, ENOSYS, EAFNOSUPPORT
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
_X32 = 0x40000000  # the bit in the numbers of the x32 calls
_IO_URING = (425, 426, 427)  # setup, enter, register
_FLAGS, _REFUSED = 13, 0x14  # of TCP: the place, and RST with ACK

_Instruction = tuple[int, int, int, int]


class _Machine(NamedTuple):
    audit: int  # linux/audit.h
    sockets: Sequence[int]  # socket, socketpair
    keys: Sequence[int]  # add_key, request_key, keyctl
    memory: Sequence[int]  # shmget, memfd_create, memfd_secret


_MACHINES: Mapping[str, _Machine] = {
    "x86_64": _Machine(0xC000003E, (41, 53), (248, 249, 250), (29, 319, 447)),
    "aarch64": _Machine(0xC00000B7, (198, 199), (217, 218, 219), (194, 279, 447)),
}


def seccomp_filter(machine: str) -> bytes | None:
    """Return the filter for a machine, as `uname -m` names it; None if there is none for it."""
    if machine not in _MACHINES:
        return None
    known = _MACHINES[machine]
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, known.audit),
        (_RETURN, 0, 0, _ERROR | _NO_CALL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _ERROR | _NO_CALL),
    ]
    for numbers, error in (
        (_IO_URING + tuple(known.memory), _NO_CALL),
        (known.keys, _NOT_PERMITTED),
    ):
        for number in numbers:
            program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERROR | error)]
    first, second = known.sockets
    program += [
        (_EQUAL, 2, 0, first),
        (_EQUAL, 1, 0, second),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),  # its lower half, since a family is an int
    ]
    for left, family in zip(range(len(_FAMILIES), 0, -1), _FAMILIES, strict=True):
        program.append((_EQUAL, left, 0, family))
    return _packed([*program, (_RETURN, 0, 0, _ERROR | _NO_FAMILY), (_RETURN, 0, 0, _ALLOW)])


def refusals_only(*, has_header: bool) -> bytes:
    """Return a filter of a raw socket that takes only the packets that refuse a connection.

    `has_header` says whether a packet begins with its IP header, as those of IPv4 do.
    """
    load = (_LOAD_BYTE_BEHIND if has_header else _LOAD_BYTE, 0, 0, _FLAGS)
    header = [(_LOAD_HEADER, 0, 0, 0)] if has_header else []
    compared = [(_AND, 0, 0, _REFUSED), (_EQUAL, 0, 1, _REFUSED)]
    return _packed([*header, load, *compared, (_RETURN, 0, 0, 0xFFFF), (_RETURN, 0, 0, 0)])


def _packed(program: Iterable[_Instruction]) -> bytes:
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)
