"""Exit codes of errors and results."""

from collections.abc import Iterable

from commandsync.apply.outcomes import Result
from commandsync.errors import CommandsyncError, Exit

_FIRST_OF = (Exit.INCOMPLETE, Exit.REFUSED, Exit.INVALID, Exit.USAGE, Exit.FAILED, Exit.CHANGES)


def rank(error: CommandsyncError) -> int:
    """Return the place of an error among several, of which the first gives the exit code."""
    return _FIRST_OF.index(error.exit_code)


def of_result(*results: Result, unread: bool = False) -> Exit:
    """Return the exit code of applied plans; `FAILED` means that no listing was changed.

    `unread` is whether there is a listing for which no plan could be made.
    """
    if all(result.complete for result in results) and not unread:
        return Exit.DONE
    changed = any(result.touched or result.rewritten for result in results)
    return Exit.INCOMPLETE if changed else Exit.FAILED


def worst(codes: Iterable[Exit]) -> Exit:
    """Return the exit code of several manifests, none of them applied."""
    return min(set(codes) - {Exit.DONE}, key=_FIRST_OF.index, default=Exit.DONE)
