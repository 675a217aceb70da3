"""A stream of events: the steps of `watch` over aiohttp's WebSocket, in a loop or in a thread."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

import aiohttp

from commandsync.api.policy import Wait
from commandsync.client.asyncconnection import AsyncConnection
from commandsync.client.gateway import Say
from commandsync.client.watch import Ask, Closed, Listen, Open
from commandsync.errors import ListingError, StoppedError, TransportError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator

    from commandsync.api.operations import Operation
    from commandsync.client.asynctransport import WebSocket
    from commandsync.client.connection import Connection
    from commandsync.client.events import Event
    from commandsync.client.watch import WatchStep
    from commandsync.errors import Reply

    Sleep = Callable[[float], Awaitable[object]]

_LONGEST_WAIT = 0.2  # seconds: no signal interrupts a longer wait on Windows
_ABNORMAL = 1006
_LONGEST_CLOSE = 1.0  # seconds for the service to answer the closing handshake


class AsyncStream:
    """One stream of events, in the caller's event loop.

    Args:
        steps: The steps of a `Watch`.
        connection: The connection to the service.
        sleep: Waits.
    """

    def __init__(
        self,
        steps: Generator[WatchStep, Any, None],
        connection: AsyncConnection,
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._steps = steps
        self._connection = connection
        self._sleep = sleep
        self._socket: WebSocket | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield events as they arrive, reading on while the caller handles the last one.

        Raises:
            ListingError: As the steps do.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task = task = asyncio.create_task(self._run(queue.put_nowait))
        task.add_done_callback(lambda _: queue.put_nowait(None))
        if self._stopped:
            task.cancel()
        try:
            while (event := await queue.get()) is not None:
                yield event
            if not task.cancelled():
                task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def stop(self) -> None:
        """End the stream; events that have arrived are still yielded."""
        self._stopped = True
        if self._task is not None:
            self._task.cancel()

    async def _run(self, emit: Callable[[Event], None]) -> None:
        """Carry out the steps until they end; always close the WebSocket."""
        try:
            step = next(self._steps)
            while True:
                step = self._steps.send(await self._carry_out(step, emit))
        except (StopIteration, StoppedError):
            return
        finally:
            await self._close()

    async def _carry_out(self, step: WatchStep, emit: Callable[[Event], None]) -> Any:  # noqa: ANN401 - the result of each step
        match step:
            case Listen(seconds=seconds):
                return await self._listen(seconds)
            case Say(frame=frame):
                with suppress(ConnectionError):  # the next `Listen` returns that it is closed
                    await self._opened().send_str(frame)
            case Open(query=query):
                return await self._open(dict(query))
            case Wait(seconds=seconds):
                await self._sleep(seconds)
            case Ask(operation=operation, seconds=seconds):
                return await self._ask(operation, seconds)
            case _:
                emit(step)
        return None

    async def _ask(self, operation: Operation[Any], seconds: float) -> Any:  # noqa: ANN401 - as above
        try:
            async with asyncio.timeout(seconds if seconds < math.inf else None):
                return await self._connection.call(operation)
        except TimeoutError:
            return TransportError(f"no answer within {seconds:.1f} s", sent=True)
        except StoppedError:
            raise
        except ListingError as error:
            return error

    async def _open(self, query: dict[str, str]) -> Reply | TransportError | bool:
        await self._close()
        if not await self._connection.gate.enter():
            raise StoppedError("stopped before the gateway was opened")
        try:
            answer = await self._connection.transport.upgrade(query)
        finally:
            self._connection.gate.leave()
        if isinstance(answer, aiohttp.ClientWebSocketResponse):
            self._socket = answer
            return True
        return answer

    async def _listen(self, seconds: float) -> str | bytes | Closed | None:
        socket = self._opened()
        try:
            message = await socket.receive(seconds)
        except TimeoutError:
            return None
        if message.type in {aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY}:
            frame: str | bytes = message.data
            return frame
        reason = message.extra if isinstance(message.extra, str) else ""
        return Closed(socket.close_code or _ABNORMAL, reason)

    def _opened(self) -> WebSocket:
        assert self._socket is not None  # noqa: S101 - it is not used before it is open
        return self._socket

    async def _close(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LONGEST_CLOSE):
                    await socket.close()


class Stream:
    """One stream of events, in a thread with an event loop of its own, so that it misses none.

    Args:
        steps: The steps of a `Watch`.
        connection: The connection whose service and settings the stream uses.
        sleep: Waits.
    """

    def __init__(
        self,
        steps: Generator[WatchStep, Any, None],
        connection: Connection,
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._connection = AsyncConnection(
            connection.address,
            connection.token,
            timeout=connection.timeout,
            retries=connection.retries,
        )
        self._stream = AsyncStream(steps, self._connection, sleep=sleep)
        self._queue: SimpleQueue[Event | BaseException | None] = SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name="commandsync-events", daemon=True)

    def events(self) -> Generator[Event, None, None]:
        """Yield events as they arrive; raises as the steps do."""
        self._thread.start()
        try:
            while (event := self._next()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            self.stop()
            self._thread.join()

    def stop(self) -> None:
        """End the stream, from any thread; events that have arrived are still yielded."""
        with suppress(RuntimeError):  # the loop is closed already
            self._loop.call_soon_threadsafe(self._stream.stop)

    def _next(self) -> Event | BaseException | None:
        while True:
            with suppress(Empty):
                return self._queue.get(timeout=_LONGEST_WAIT)

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._main())
        except BaseException as raised:  # noqa: BLE001 - raised where the events are read
            error = raised
        self._queue.put(error)

    async def _main(self) -> None:
        async with self._connection:
            async for event in self._stream.events():
                self._queue.put(event)
