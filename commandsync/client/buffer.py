"""The events that a client has received and its readers have not taken yet."""

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable
from threading import Condition
from time import monotonic
from typing import Any, Protocol

from commandsync.client.events import Event
from commandsync.client.threads import LONGEST_WAIT

_log = logging.getLogger("commandsync.client")

_LATE = "the event did not arrive in time"


class Startable(Protocol):
    """A stream of events, which runs until it is stopped or fails."""

    def start(self) -> None:
        """Receive events, and put them into the buffer."""

    def stop(self) -> None:
        """End the stream."""

    def wait(self) -> Any:  # noqa: ANN401 - to be awaited, if it runs in a loop
        """Wait until it has ended."""


class Buffer:
    """The events of a client, for all its readers; `note` is called with each.

    When `size` events are kept for the slowest reader, no more are received. `changed` is held
    during each change. Its lock is re-entrant, and a change expects that a signal handler closes
    the buffer between any two steps.
    """

    def __init__(self, size: int, note: Callable[[Event], None]) -> None:
        self.changed = Condition()
        self._size = size
        self._note = note
        self._unhandled: deque[Event] = deque()  # whose handlers were not called
        self._readers: list[AnyReader] = []
        self._stream: Startable | None = None  # which all readers share
        self._closed = False
        self._make_room: Callable[[], object] | None = None

    @property
    def handled(self) -> bool:
        """Whether a reader calls the handlers."""
        return any(reader.handles for reader in self._readers)

    def join(self, reader: "AnyReader", stream: Callable[[], Startable]) -> None:
        """Add a reader, which takes the events from now on; the first one starts the stream."""
        with self.changed:
            if not self._closed:
                self._readers.append(reader)
                if self._stream is None:
                    self._stream = stream()
                    self._stream.start()
                reader.stream = self._stream
            if self._closed:
                reader.ended = True
                if reader.stream is not None:
                    reader.stream.stop()

    def leave(self, reader: "AnyReader") -> Startable | None:
        """Remove a reader; returns its stream if that has ended, or ends with its last reader."""
        with self.changed:
            if reader in self._readers:
                self._readers.remove(reader)
            if not self.handled:
                self._unhandled.clear()
            self._taken()
            if not self._readers and self._stream is not None:
                self._stream.stop()
                self._stream = None
            return None if reader.stream is self._stream else reader.stream

    async def put(self, event: Event, stream: object) -> None:
        """Add an event of a stream, and wait until there is room for another one."""
        with self.changed:
            if stream is not self._stream:
                return
            self._note(event)
            if self.handled:
                self._unhandled.append(event)
            for reader in self._readers:
                reader.events.append(event)
            self._wake()
            if self._left < self._size:
                return
            loop, room = asyncio.get_running_loop(), asyncio.Event()
            self._make_room = lambda: loop.call_soon_threadsafe(room.set)
        await room.wait()

    def take(self, reader: "AnyReader") -> Event | None:
        """Return the next event of a reader; None if there is none yet."""
        with self.changed:
            try:
                event = reader.events.popleft()
            except IndexError:
                return None
            reader.unhandled = []
            while reader.handles and any(other is event for other in self._unhandled):
                reader.unhandled.append(self._unhandled.popleft())
            self._taken()
            return event

    def end(self, stream: object, error: BaseException | None) -> None:
        """End the readers of a stream as soon as they have taken all its events."""
        with self.changed:
            if stream is self._stream:
                self._stream = None
                self._end(error)

    def close(self) -> Startable | None:
        """End all readers at once, and the stream; returns it."""
        self._closed = True
        with self.changed:
            left = self._left
            stream, self._stream, self._make_room = self._stream, None, None
            if stream is not None:
                stream.stop()
            self._end(None, at_once=True)
        if left:
            _log.warning("closed with %d event%s unread", left, "s" * (left > 1))
        return stream

    @property
    def _left(self) -> int:
        """How many events the slowest reader has not taken."""
        return max((len(reader.events) for reader in self._readers), default=0)

    def _end(self, error: BaseException | None, *, at_once: bool = False) -> None:
        for reader in self._readers:
            reader.ended, reader.error = True, error
            if at_once:
                reader.events.clear()
        self._wake()

    def _wake(self) -> None:
        self.changed.notify_all()
        for reader in self._readers:
            reader.wake()

    def _taken(self) -> None:
        if self._make_room is not None and self._left < self._size:
            self._make_room()
            self._make_room = None


class AnyReader:
    """One reader of a buffer; `handles` says whether it calls the handlers."""

    def __init__(self, buffer: Buffer, *, handles: bool) -> None:
        self._buffer = buffer
        self.handles = handles
        self.events: deque[Event] = deque()
        self.unhandled: list[Event] = []  # up to the last one taken: their handlers are called next
        self.stream: Startable | None = None
        self.ended = False  # whether there are no more events than those in the buffer
        self.error: BaseException | None = None  # which ended the stream
        self.wake: Callable[[], object] = lambda: None  # looks at the buffer again


class AsyncReader(AnyReader):
    """A reader in an event loop."""

    def __init__(self, buffer: Buffer, *, handles: bool) -> None:
        super().__init__(buffer, handles=handles)
        self._woken = asyncio.Event()
        self.wake = self._woken.set

    async def next(self, seconds: float = math.inf) -> Event | None:
        """Return the next event, None at the end; raises `TimeoutError`, or the stream's error."""
        try:
            async with asyncio.timeout(seconds if seconds < math.inf else None):
                while (event := self._buffer.take(self)) is None and not self.ended:
                    self._woken.clear()
                    await self._woken.wait()
        except TimeoutError:
            raise TimeoutError(_LATE) from None
        if event is None and self.error is not None:
            raise self.error
        return event


class Reader(AnyReader):
    """A reader in a thread."""

    def next(self, seconds: float = math.inf) -> Event | None:
        """Return the next event, None at the end; raises `TimeoutError`, or the stream's error."""
        end = monotonic() + seconds
        with self._buffer.changed:
            while (event := self._buffer.take(self)) is None and not self.ended:
                left = end - monotonic()
                if left <= 0:
                    raise TimeoutError(_LATE)
                self._buffer.changed.wait(min(left, LONGEST_WAIT))
        if event is None and self.error is not None:
            raise self.error
        return event
