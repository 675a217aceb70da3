"""Exit codes of errors and results."""

from collections.abc import Iterable

from commandsync.apply.outcomes import Result
from commandsync.errors import CommandsyncError, Exit
from commandsync.sync.signals import SIGNALLED

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


def worst(codes: Iterable[int]) -> int:
    """Return the exit code of several manifests, none of them applied."""
    known = set(codes)
    signalled = [code for code in known if code > SIGNALLED]
    if signalled:
        return min(signalled)
    return next((code for code in _FIRST_OF if code in known), Exit.DONE)
