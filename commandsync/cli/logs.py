"""The client's log on stderr: all of it at `-vv`, and its warnings while somebody watches."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commandsync.report.escape import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Say = Callable[[str], None]

_log = logging.getLogger("commandsync")


class _Shown(logging.Handler):
    """Says a record, in which the service may have its word, line by line and harmless."""

    def __init__(self, say: Say) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        self._say("\n".join(map(visible, self.format(record).splitlines())))


def show_all(say: Say) -> None:
    """Let every record be seen, for the rest of the run."""
    logging.basicConfig(handlers=[_Shown(say)], format="%(message)s")
    _log.setLevel(logging.DEBUG)


@contextmanager
def warnings_shown(say: Say) -> Iterator[None]:
    """Let warnings be seen, unless everything is already."""
    everything = _log.getEffectiveLevel() <= logging.DEBUG
    handler = logging.NullHandler() if everything else _Shown(say)
    handler.setLevel(logging.WARNING)
    _log.addHandler(handler)
    try:
        yield
    finally:
        _log.removeHandler(handler)
