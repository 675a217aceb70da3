"""The way out to the service: drivers that carry operations over HTTP.

The names load when first used, for requests takes longer to import than `--help` takes to print.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commandsync.client.asyncdriving import drive_async
    from commandsync.client.asyncgate import AsyncGate
    from commandsync.client.asynchronous import AsyncConnection
    from commandsync.client.blocking import Connection
    from commandsync.client.driving import SnapshotReading, drive
    from commandsync.client.gate import Gate

__all__ = [
    "AsyncConnection",
    "AsyncGate",
    "Connection",
    "Gate",
    "SnapshotReading",
    "drive",
    "drive_async",
]

_HOMES = {
    "AsyncConnection": "asynchronous",
    "AsyncGate": "asyncgate",
    "Connection": "blocking",
    "Gate": "gate",
    "SnapshotReading": "driving",
    "drive": "driving",
    "drive_async": "asyncdriving",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
