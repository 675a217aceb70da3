"""Carry out what `watching` says: over aiohttp's WebSocket, in a loop, or in a thread with one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

import aiohttp

from commandsync.api.policy import Wait
from commandsync.client.gateway import Say
from commandsync.client.watching import Ask, Closed, Listen, Open
from commandsync.errors import ListingError, StoppedError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator

    from commandsync.client.asynchronous import AsyncConnection
    from commandsync.client.asyncsessions import WebSocket
    from commandsync.client.events import Event
    from commandsync.client.watching import Step

    Sleep = Callable[[float], Awaitable[object]]

_GLANCE = 0.2  # seconds: a wait that a signal cannot break (Windows) is never longer than this
_ABNORMAL = 1006
_GOODBYE = 1.0  # seconds that the other side has to answer a farewell


class _Line:
    """The WebSocket of a stream, as far as there is one."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._socket: WebSocket | None = None

    async def open(self, query: tuple[tuple[str, str], ...]) -> Any:  # noqa: ANN401 - see `Open`
        await self.close()
        answer = await self._connection.upgrade(dict(query))
        if isinstance(answer, aiohttp.ClientWebSocketResponse):
            self._socket = answer
            return True
        return answer

    async def listen(self, seconds: float) -> str | bytes | Closed | None:
        socket = self._there()
        try:
            message = await socket.receive(seconds)
        except TimeoutError:
            return None
        if message.type in {aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY}:
            frame: str | bytes = message.data
            return frame
        reason = message.extra if isinstance(message.extra, str) else ""
        return Closed(socket.close_code or _ABNORMAL, reason)

    async def say(self, frame: str) -> None:
        with suppress(ConnectionError):  # the next `listen` tells that it is closed
            await self._there().send_str(frame)

    def _there(self) -> WebSocket:
        assert self._socket is not None  # noqa: S101 - nobody uses it before it is open
        return self._socket

    async def close(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_GOODBYE):
                    await socket.close()


async def pump(
    steps: Generator[Step, Any, None],
    connection: AsyncConnection,
    *,
    emit: Callable[[Event], object],
    sleep: Sleep = asyncio.sleep,
) -> None:
    """Carry steps out until they end, passing the events on; close the WebSocket in any case.

    Raises:
        ListingError: As the steps do.
    """
    line = _Line(connection)
    try:
        step = next(steps)
        while True:
            step = steps.send(await _do(step, line, connection, emit, sleep))
    except (StopIteration, StoppedError):
        return
    finally:
        await line.close()


async def _do(
    step: Step,
    line: _Line,
    connection: AsyncConnection,
    emit: Callable[[Event], object],
    sleep: Sleep,
) -> Any:  # noqa: ANN401 - what each step asks for
    match step:
        case Listen(seconds=seconds):
            return await line.listen(seconds)
        case Say(frame=frame):
            await line.say(frame)
        case Open(query=query):
            return await line.open(query)
        case Wait(seconds=seconds):
            await sleep(seconds)
        case Ask(operation=operation):
            try:
                return await connection.call(operation)
            except StoppedError:
                raise
            except ListingError as error:
                return error
        case _:
            emit(step)
    return None


async def stream(
    steps: Generator[Step, Any, None],
    connection: AsyncConnection,
    *,
    running: set[asyncio.Task[None]],
    sleep: Sleep = asyncio.sleep,
) -> AsyncGenerator[Event, None]:
    """Yield events as they come, reading on while the caller deals with the last one.

    Args:
        steps: What `Watch.steps` returned.
        connection: The way to the service.
        running: Where the task stands while it runs; cancelled, it ends the stream.
        sleep: Waits.

    Raises:
        ListingError: As the steps do.
    """
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    task = asyncio.create_task(pump(steps, connection, emit=queue.put_nowait, sleep=sleep))
    running.add(task)
    task.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        if not task.cancelled():
            task.result()
    finally:
        running.discard(task)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class EventThread:
    """A thread with an event loop, in which a stream runs for those who have none.

    Args:
        steps: What `Watch.steps` returned.
        connect: Makes the way to the service.
        sleep: Waits.
    """

    def __init__(
        self,
        steps: Generator[Step, Any, None],
        connect: Callable[[], AsyncConnection],
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._steps = steps
        self._connect = connect
        self._sleep = sleep
        self._queue: SimpleQueue[Event | None] = SimpleQueue()
        self._error: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        self._thread = Thread(target=self._run, name="commandsync-events", daemon=True)

    def __iter__(self) -> Iterator[Event]:
        """Yield events as they come; raises as the steps do."""
        self._thread.start()
        try:
            while (event := self._next()) is not None:
                yield event
            if self._error is not None:
                raise self._error
        finally:
            self.stop()
            self._thread.join()

    def stop(self) -> None:
        """End the stream, from any thread; the events that came are still yielded."""
        with suppress(RuntimeError):  # the loop is closed already
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        self._stopped = True
        if self._task is not None:
            self._task.cancel()

    def _next(self) -> Event | None:
        while True:
            with suppress(Empty):
                return self._queue.get(timeout=_GLANCE)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._main())
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits for events
            self._error = error
        finally:
            self._queue.put(None)

    async def _main(self) -> None:
        self._task = asyncio.current_task()
        if self._stopped:
            return
        async with self._connect() as connection:
            await pump(self._steps, connection, emit=self._queue.put, sleep=self._sleep)
