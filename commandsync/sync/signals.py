"""SIGINT and SIGTERM: the first ends a run in good order, the second at once."""

from __future__ import annotations

import os
import signal
import sys
from _thread import interrupt_main
from contextlib import contextmanager
from threading import Timer, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

SIGNALLED = 128
"""POSIX shells report a program that a signal ended as 128 and the signal's number."""

_PATIENCE = 1.0
"""Seconds after which an interruption that did not arrive is raised once more."""

_HANDLED = (signal.SIGINT, signal.SIGTERM)


class Interruption(BaseException):
    """A signal came while nothing was being written: the run ends here.

    Attributes:
        number: The signal's number.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Signals:
    """What to do with a signal, and which one came.

    Attributes:
        number: The first signal that came; 0 for none.
        writing: Whether signals are answered in good order because something is being written.

    Args:
        armed: Whether a signal ends the run at once; if not, `arm` says from when on.
    """

    def __init__(self, *, armed: bool = True) -> None:
        self.number = 0
        self._armed = armed
        self._count = 0
        self._answer: Callable[[int], None] | None = None
        self._reminder: Timer | None = None

    @property
    def writing(self) -> bool:
        """Whether a write may be under way."""
        return self._answer is not None

    def arm(self, early: Sequence[int] = ()) -> None:
        """Let a signal end the run from now on.

        Args:
            early: The signals that came before these handlers.

        Raises:
            Interruption: One has come already.
        """
        self._armed = True
        self.number = self.number or next(iter(early), 0)
        if self.number:
            self._count = 1
            raise Interruption(self.number)

    def disarm(self) -> None:
        """Let a signal only decide the exit code from now on: the run has ended."""
        self._armed = False

    @contextmanager
    def answered_by(self, answer: Callable[[int], None]) -> Iterator[None]:
        """Call `answer` with the count of signals so far instead of ending the run.

        After the block a signal only decides the exit code: something was written by then, and
        the run is about to end.

        Raises:
            Interruption: A signal came before, and Python lost it.
        """
        if self._reminder is not None:
            raise Interruption(self.number)
        self._answer = answer
        try:
            yield
        finally:
            self._answer = lambda _: None

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal; it may come between any two steps of the program."""
        self.number = self.number or number
        self._count += 1
        if self._answer is None:
            if self._count > 1:
                os._exit(of_signal(self.number))  # the first one is being told, which takes long
            if not self._armed:
                return
            # Python drops what is raised in a weak reference's callback or a finalizer.
            self._reminder = Timer(_PATIENCE, self._remind)
            self._reminder.daemon = True
            self._reminder.start()
            raise Interruption(number)
        self._answer(self._count)

    def heard(self) -> None:
        """Say that the interruption has arrived where it is told."""
        if self._reminder is not None:
            self._reminder.cancel()
            self._reminder = None

    def _remind(self) -> None:
        self._count -= 1
        main = main_thread().ident
        if sys.platform == "win32" or main is None:
            interrupt_main(signal.Signals(self.number))
        else:  # also ends a wait in the middle
            signal.pthread_kill(main, self.number)


@contextmanager
def handled(*, armed: bool = True) -> Iterator[Signals]:
    """Handle signals for as long as the block lasts.

    Args:
        armed: As for `Signals`.
    """
    signals = Signals(armed=armed)
    before = {number: signal.signal(number, signals.handle) for number in _HANDLED}
    try:
        yield signals
    finally:
        signals.disarm()
        signals.heard()
        for number, handler in before.items():
            signal.signal(number, handler)


def of_signal(number: int) -> int:
    """Return the exit code of a run that a signal ended."""
    return SIGNALLED + number
