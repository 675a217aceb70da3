"""Exit codes of errors and results."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from commandsync.errors import CommandsyncError, ManifestError, RefusedError, UsageError
from commandsync.sync.signals import SIGNALLED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commandsync.apply.outcomes import Result


class Exit(IntEnum):
    """What the program's exit code means."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    CHANGES = 3
    INVALID = 4
    REFUSED = 5
    INCOMPLETE = 6


_FIRST_OF = (Exit.INCOMPLETE, Exit.REFUSED, Exit.INVALID, Exit.USAGE, Exit.FAILED, Exit.CHANGES)


def of_error(error: CommandsyncError) -> Exit:
    """Return the exit code of an error that ended a run before anything was written."""
    match error:
        case ManifestError():
            return Exit.INVALID
        case RefusedError():
            return Exit.REFUSED
        case UsageError():
            return Exit.USAGE
        case _:
            return Exit.FAILED


def rank(error: CommandsyncError) -> int:
    """Return the place of an error among several, of which the first gives the exit code."""
    return _FIRST_OF.index(of_error(error))


def of_result(*results: Result) -> Exit:
    """Return the exit code of applied plans; `FAILED` means that no listing was changed."""
    if all(result.complete for result in results):
        return Exit.DONE
    changed = any(result.touched or result.rewritten for result in results)
    return Exit.INCOMPLETE if changed else Exit.FAILED


def worst(codes: Iterable[int]) -> int:
    """Return the exit code of several manifests, none of them applied."""
    known = set(codes)
    signalled = [code for code in known if code > SIGNALLED]
    if signalled:
        return min(signalled)
    return next((code for code in _FIRST_OF if code in known), Exit.DONE)
