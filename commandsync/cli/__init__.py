"""The command line: options -> core -> render; one file per command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commandsync.cli.signals import Interruption, handled, of_signal

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command line and leave with its exit code; signals are handled first thing."""
    with handled():
        try:
            from commandsync.cli.program import leave  # noqa: PLC0415 - signals first
        except Interruption as interruption:
            os._exit(of_signal(interruption.number))
        leave()
