"""The functions that a client calls with events; a failure is logged, and the stream goes on."""

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


class _Handlers:
    """The handlers of a client by event, in the order in which they were added."""

    def __init__(self) -> None:
        self._handlers: defaultdict[str, list[Handler]] = defaultdict(list)

    def add(self, name: str, handler: H) -> H:
        """Call a handler with every event of that name.

        Raises:
            ArgumentError: There is no such event, or the client cannot wait for the handler.
        """
        self._handlers[checked_name(name)].append(handler)
        return handler


class AsyncHandlers(_Handlers):
    """Handlers that may be asynchronous."""

    async def call(self, event: Event) -> None:
        """Call the handlers of an event, and wait for those that are asynchronous."""
        for handler in self._handlers[event.name]:
            try:
                result = handler(event)
                if inspect.isawaitable(result):
                    await result
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():  # the stream itself is cancelled
                    raise
                _log_failure(handler, event)
            except Exception:  # noqa: BLE001 - whatever it is, the stream goes on; it is logged
                _log_failure(handler, event)


class Handlers(_Handlers):
    """Handlers of a client that cannot wait for an asynchronous one."""

    def add(self, name: str, handler: H) -> H:  # noqa: D102 - as above
        if inspect.iscoroutinefunction(handler):
            raise _asynchronous()
        return super().add(name, handler)

    def call(self, event: Event) -> None:
        """Call the handlers of an event."""
        for handler in self._handlers[event.name]:
            try:
                result = handler(event)
                if inspect.iscoroutine(result):  # of a function that is not a coroutine function
                    result.close()
                    raise _asynchronous()  # noqa: TRY301 - logged like other errors of a handler
            except Exception:  # noqa: BLE001 - whatever it is, the stream goes on; it is logged
                _log_failure(handler, event)


def _asynchronous() -> ArgumentError:
    return ArgumentError(
        "an asynchronous handler needs the asynchronous client", hint="use AsyncClient"
    )


def _log_failure(handler: Handler, event: Event) -> None:
    name = getattr(handler, "__qualname__", repr(handler))
    _log.exception("the handler %s failed with the event %r", name, event.name)
