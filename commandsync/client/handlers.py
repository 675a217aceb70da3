"""The functions that a client calls with events; a failure is logged, and the stream goes on."""

import asyncio
import inspect
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from commandsync.client.events import Event, event_name
from commandsync.errors import ArgumentError

Handler = Callable[[Any], object]
H = TypeVar("H", bound=Callable[[Any], object])

_log = logging.getLogger("commandsync.client")


def overloaded_as(_method: H) -> Callable[[Callable[..., Any]], H]:
    """Return a decorator that gives a method the types of another one."""
    return lambda method: cast("H", method)


class _Handlers:
    """The handlers of a client by event, in the order in which they were added."""

    def __init__(self) -> None:
        self._handlers: defaultdict[str, list[tuple[Handler, bool]]] = defaultdict(list)

    def decorator(self, event: object, *, once: bool = False) -> Any:  # noqa: ANN401 - typed by `on`
        """Return a decorator for the handlers of an event, or the handler that was decorated.

        The event is its name or its type, or a handler called `on_vote` or `vote`; None for a
        decorator of such a handler.
        """
        if event is None:
            return lambda handler: self.decorator(handler, once=once)
        name = event_name(event)
        if isinstance(event, str | type):
            return lambda handler: self.add(name, handler, once=once)
        return self.add(name, event, once=once)  # type: ignore[type-var]  # it has a name, so it is a function

    def add(self, name: str, handler: H, *, once: bool = False) -> H:
        """Call a handler with every event of that name, or with the next one."""
        self._handlers[name].append((handler, once))
        return handler

    def remove(self, handler: Handler) -> None:
        """Call a handler no more, with no event; it is not an error if it was not added."""
        for entries in self._handlers.values():
            entries[:] = [entry for entry in entries if entry[0] != handler]

    def _of(self, event: Event) -> Iterator[Handler]:
        entries = self._handlers[event.name]
        for handler, once in tuple(entries):
            if once:
                try:
                    entries.remove((handler, once))
                except ValueError:  # another thread is calling it
                    continue
            yield handler


class AsyncHandlers(_Handlers):
    """Handlers that may be asynchronous."""

    async def call(self, event: Event) -> None:
        """Call the handlers of an event, and wait for those that are asynchronous."""
        for handler in self._of(event):
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

    def add(self, name: str, handler: H, *, once: bool = False) -> H:  # noqa: D102 - as above
        if inspect.iscoroutinefunction(handler):
            raise _asynchronous()
        return super().add(name, handler, once=once)

    def call(self, event: Event) -> None:
        """Call the handlers of an event."""
        for handler in self._of(event):
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
