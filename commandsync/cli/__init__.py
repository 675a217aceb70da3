"""The command line: options -> core -> render; one file per command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

__all__ = ["main"]


def main(early: Sequence[int] = ()) -> NoReturn:
    """Run the command line and leave with its exit code.

    Args:
        early: The signals that came while the program was loaded.
    """
    from commandsync.cli.program import leave  # noqa: PLC0415 - a part of this folder needs no click

    leave(early)
