"""SIGINT and SIGTERM: the first ends a run in order, the second ends the process at once."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any

_HANDLED = (signal.SIGINT, signal.SIGTERM)
_STOPPING = b"\nstopping: requests in flight are finished first (again: stop at once)\n"


class Interruption(BaseException):
    """A signal, by its number, came while nothing was being written: the run ends here."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Signals:
    """Handles signals; `number` is the first one that came, 0 for none.

    A signal ends the run at once if `armed`; if not, `arm` starts that.
    """

    def __init__(self, *, armed: bool = True) -> None:
        self.number = 0
        self._armed = armed
        self._count = 0
        self._answer: Callable[[int], None] | None = None

    @property
    def writing(self) -> bool:
        """Whether a write may be in flight."""
        return self._answer is not None

    def code(self, otherwise: int) -> int:
        """Return the exit code of the run: `otherwise` is that of a run without a signal."""
        return of_signal(self.number) if self.number else otherwise

    def arm(self, early: Sequence[int] = ()) -> None:
        """Let a signal end the run from now on, and those that came `early`: before the handlers.

        Raises `Interruption` if a signal has come already.
        """
        self._armed = True
        self.number = self.number or next(iter(early), 0)
        if self.number:
            self._count = 1
            raise Interruption(self.number)

    def disarm(self) -> None:
        """Let a signal only decide the exit code from now on: the run has ended."""
        self._armed = False
        sys.setprofile(None)

    def ignore(self) -> None:
        """Let no signal end the process any more."""
        self._answer = lambda _: None

    @contextmanager
    def answered_by(self, answer: Callable[[int], None]) -> Iterator[None]:
        """Call `answer` with the number of signals so far instead of ending the run.

        After the block a signal only decides the exit code: something was written by then, and
        the run is about to end. Raises `Interruption` if a signal has come already.
        """
        if self.number:
            raise Interruption(self.number)
        self._answer = answer
        try:
            yield
        finally:
            self.ignore()

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal; it may come between any two steps of the program."""
        self.number = self.number or number
        self._count += 1
        if self._answer is not None:
            self._answer(self._count)
        elif self._count > 1:
            os._exit(of_signal(self.number))  # the first is being reported, which takes long
        elif self._armed:
            interruption = Interruption(number)  # which calls a function of this program
            sys.setprofile(self._raise_again)
            raise interruption

    def _raise_again(self, frame: FrameType, event: str, _argument: object) -> None:
        """Raise an interruption again that was dropped: the run goes on, and nobody handles it.

        Finalizers drop what is raised in them, and so do extension modules here and there. It is
        raised at a call in this program's other modules, which drop nothing.
        """
        if event not in {"call", "c_call"}:
            return  # on its way out of a function
        module = str(frame.f_globals.get("__name__"))
        is_other = module.partition(".")[0] in {"commandsync", "__main__"} and module != __name__
        is_on_its_way = _interruption_in(sys.exc_info()[1]) is not None
        if is_other and not is_on_its_way:
            sys.setprofile(None)
            raise Interruption(self.number)


def _show_dropped(hook: Callable[[Any], object], unraisable: Any) -> None:  # noqa: ANN401 - sys.UnraisableHookArgs
    """Show an exception that was dropped, unless it is an interruption, which is raised again."""
    if not isinstance(unraisable.exc_value, Interruption):
        hook(unraisable)


def _interruption_in(error: BaseException | None) -> Interruption | None:
    """Return the interruption that an exception is, or was at first; None if it never was one."""
    while error is not None and not isinstance(error, Interruption):
        error = error.__context__
    return error


@contextmanager
def unwrapped() -> Iterator[None]:
    """Raise an interruption in place of an exception that it has become.

    Python 3.11 makes a `RuntimeError` of what is raised while a class tells its attributes their
    names, as it does in modules that load.
    """
    try:
        yield
    except Exception as error:
        if interruption := _interruption_in(error):
            raise interruption from None
        raise


@contextmanager
def handled(*, armed: bool = True) -> Iterator[Signals]:
    """Handle signals for as long as the block lasts; `armed` is as for `Signals`."""
    signals, hook = Signals(armed=armed), sys.unraisablehook
    sys.unraisablehook = partial(_show_dropped, hook)
    before = {number: signal.signal(number, signals.handle) for number in _HANDLED}
    try:
        yield signals
    finally:
        signals.disarm()
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook


def announce_stop() -> None:
    """Print that the run is stopping; a signal may come during another print, so write raw."""
    with suppress(OSError):  # it may have no reader
        os.write(2, _STOPPING)


def of_signal(number: int) -> int:
    """Return the exit code of a run that a signal ended, as POSIX shells report it."""
    return 128 + number
