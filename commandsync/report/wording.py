"""A hint in the words of the program that shows it: a command line has flags, the Action inputs."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_renaming: ContextVar[Callable[[str], str]] = ContextVar("_renaming", default=str)


def worded(hint: str) -> str:
    """Return a hint, which names flags where it is written, in the words of the program."""
    return _renaming.get()(hint)


@contextmanager
def wording(rename: Callable[[str], str]) -> Iterator[None]:
    """Show every hint as `rename` returns it, until the block ends."""
    token = _renaming.set(rename)
    try:
        yield
    finally:
        _renaming.reset(token)
