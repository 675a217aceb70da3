"""Calls in threads that end with the program, and what a forked child does not share with them."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from threading import Thread
from typing import Protocol, TypeVar
from weakref import WeakSet

T = TypeVar("T")

LONGEST_WAIT = 0.2
"""Seconds: no signal interrupts a longer wait on Windows."""


def in_thread(function: Callable[[], T], *, name: str) -> Future[T]:
    """Call a function in a thread; the end of the program does not wait for it."""
    result: Future[T] = Future()
    result.set_running_or_notify_cancel()  # it cannot be cancelled

    def work() -> None:
        try:
            result.set_result(function())
        except BaseException as error:  # noqa: BLE001 - raised where the result is taken
            result.set_exception(error)

    Thread(target=work, name=name, daemon=True).start()
    return result


def results_of(calls: Sequence[Future[T]]) -> list[T]:
    """Wait for the results of calls; raises the first error in their order."""
    while wait(calls, LONGEST_WAIT).not_done:
        pass
    return [call.result() for call in calls]


class Renewable(Protocol):
    """An object that is of use in a child only after it is renewed."""

    def renew(self) -> object:
        """Forget what threads and sockets of the parent hold; returns what must stay alive."""


_all: WeakSet[Renewable] = WeakSet()
_left: list[object] = []  # a pool or loop that is collected would change what the parent watches


def renew_in_children(renewable: Renewable) -> None:
    """Renew an object in every child that is forked from now on.

    The threads of the parent do not run in a child. A lock that one of them held would never be
    released there, and neither would the place of its request.
    """
    _all.add(renewable)


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows cannot fork
    os.register_at_fork(after_in_child=lambda: _left.extend(each.renew() for each in _all))
