"""A stream of events: the steps of a subscription over a WebSocket, in a loop or in a thread."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from threading import Thread
from typing import Any

import aiohttp

from commandsync.api.policy import Wait
from commandsync.client.asynctransport import WebSocket
from commandsync.client.connection import AsyncConnection, Connection
from commandsync.client.events import Buffer
from commandsync.client.gateway import ABNORMAL, Ended, Say
from commandsync.client.subscription import Ask, Listen, Open, SubscriptionStep
from commandsync.errors import Reply, StoppedError, TransportError

Sleep = Callable[[float], Awaitable[object]]

_LONGEST_CLOSE = 1.0  # seconds for the service to answer the closing handshake


class AsyncStream:
    """A `Subscription` in the caller's event loop; `owner` is the stream for the buffer."""

    def __init__(
        self,
        steps: Generator[SubscriptionStep, Any, None],
        connection: AsyncConnection,
        buffer: Buffer,
        *,
        sleep: Sleep = asyncio.sleep,
        owner: "Stream | None" = None,
    ) -> None:
        self._steps = steps
        self._connection = connection
        self._buffer = buffer
        self._sleep = sleep
        self._owner = self if owner is None else owner
        self._socket: WebSocket | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    def start(self) -> None:
        """Receive events in a task of its own, while the readers handle those before."""
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(self._ended)
        if self._stopped:
            self._task.cancel()

    def stop(self) -> None:
        """End the stream."""
        self._stopped = True
        if self._task is not None:
            self._task.cancel()

    async def wait(self) -> None:
        """Wait until the stream has ended."""
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._buffer.end(self._owner, None if task.cancelled() else task.exception())

    async def _run(self) -> None:
        """Carry out the steps until they end; always close the WebSocket."""
        try:
            step = next(self._steps)
            while True:
                step = self._steps.send(await self._carry_out(step))
        except (StopIteration, StoppedError):
            return
        finally:
            await self._close()

    async def _carry_out(self, step: SubscriptionStep) -> Any:  # noqa: ANN401 - the result of each step
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
            case Ask(operation=operation):
                return await self._connection.attempt(operation)
            case _:
                await self._buffer.put(step, self._owner)
        return None

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

    async def _listen(self, seconds: float) -> str | bytes | Ended | None:
        socket = self._opened()
        try:
            message = await socket.receive(seconds)
        except TimeoutError:
            return None
        if message.type in {aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY}:
            frame: str | bytes = message.data
            return frame
        reason = message.extra if isinstance(message.extra, str) else ""
        return Ended(socket.close_code or ABNORMAL, reason)

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
    """One stream of events, in a thread with an event loop of its own, so that it misses none."""

    def __init__(
        self,
        steps: Generator[SubscriptionStep, Any, None],
        connection: Connection,
        buffer: Buffer,
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._connection = AsyncConnection(
            connection.address,
            connection.token,
            timeout=connection.timeout,
            retries=connection.retries,
            session=connection.surroundings,
            service=connection.service,
        )
        self._buffer = buffer
        self._stream = AsyncStream(steps, self._connection, buffer, sleep=sleep, owner=self)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name="commandsync-events", daemon=True)

    def start(self) -> None:
        """Receive events in the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the stream, from any thread."""
        with suppress(RuntimeError):  # the loop is closed already
            self._loop.call_soon_threadsafe(self._stream.stop)

    def wait(self) -> None:
        """Wait until the thread has ended.

        Not for ever: the thread may wait for code that a signal handler has interrupted.
        """
        self._thread.join(2 * _LONGEST_CLOSE)

    def _run(self) -> None:
        async def receive() -> None:
            async with self._connection:
                self._stream.start()
                await self._stream.wait()

        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(receive())
        except BaseException as error:  # noqa: BLE001 - raised where the events are read
            self._buffer.end(self, error)
