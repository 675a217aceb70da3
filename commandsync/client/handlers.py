"""Functions that are called with events: one that fails is logged, and the stream goes on."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeVar

from commandsync.client.events import checked_name
from commandsync.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandsync.client.events import Event

    Handler = Callable[[Any], object]
    H = TypeVar("H", bound=Callable[[Any], object])

_log = logging.getLogger("commandsync.client")


class Handlers:
    """The handlers of one client, by the event they want, in the order in which they came.

    Args:
        waiting: Whether the client can wait for asynchronous handlers.
    """

    def __init__(self, *, waiting: bool) -> None:
        self._waiting = waiting
        self._of: defaultdict[str, list[Handler]] = defaultdict(list)

    def add(self, name: str, handler: H) -> H:
        """Call a handler with every event of that name.

        Raises:
            ArgumentError: There is no such event, or the client cannot wait for the handler.
        """
        if inspect.iscoroutinefunction(handler) and not self._waiting:
            raise _asynchronous()
        self._of[checked_name(name)].append(handler)
        return handler

    def call(self, event: Event) -> None:
        """Call those who want an event."""
        for handler in self._of[event.name]:
            try:
                result = handler(event)
                if inspect.iscoroutine(result):  # of a function that did not look like it
                    result.close()
                    raise _asynchronous()  # noqa: TRY301 - logged as what else a handler raises
            except Exception:  # noqa: BLE001 - whatever it is, the stream goes on; it is logged
                _failed(handler, event)

    async def call_async(self, event: Event) -> None:
        """Call those who want an event, and wait for those that are asynchronous."""
        for handler in self._of[event.name]:
            try:
                result = handler(event)
                if inspect.isawaitable(result):
                    await result
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():  # it is the stream that is cancelled
                    raise
                _failed(handler, event)
            except Exception:  # noqa: BLE001 - whatever it is, the stream goes on; it is logged
                _failed(handler, event)


def _asynchronous() -> ArgumentError:
    return ArgumentError(
        "an asynchronous handler needs the asynchronous client", hint="use AsyncClient"
    )


def _failed(handler: Handler, event: Event) -> None:
    name = getattr(handler, "__qualname__", repr(handler))
    _log.exception("the handler %s failed with the event %r", name, event.name)
