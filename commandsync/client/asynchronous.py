"""The asynchronous driver: one aiohttp session that sends what the policy says, from one loop."""

from __future__ import annotations

import random
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, assert_never

from commandsync.api.policy import Health, Send, Wait, attempt
from commandsync.client.asyncgate import AsyncGate
from commandsync.client.asyncsessions import Session
from commandsync.client.secrecy import Secrecy
from commandsync.client.sending import log_answer, not_sent
from commandsync.errors import StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Self

    from commandsync.api.address import Address
    from commandsync.api.credentials import Token
    from commandsync.api.operations import Operation
    from commandsync.client.asyncsessions import WebSocket
    from commandsync.errors import Reply, TransportError

T = TypeVar("T")


class AsyncConnection:
    """The way to one listing service from an event loop; what `Connection` is for threads.

    It may be made before the loop runs, and belongs to the loop of its first call. A task that is
    cancelled gives its place back and closes the connection its request was on.

    Args:
        address: Where the service is.
        token: The bot's token, sent with every request; None reads without one.
        timeout: Seconds that one request may take in all, from connecting to the last byte.
        retries: How often an operation may be sent again.
        concurrency: How many requests may be in flight at the same time, over all tasks.
        jitter: Gives a number from 0 to 1; spreads the waits of many clients.
        gate: A gate to share with other connections, instead of `concurrency` places of its own.
    """

    def __init__(  # noqa: PLR0913 - the settings of a run, all with the designed default
        self,
        address: Address,
        token: Token | None,
        *,
        timeout: float = 30.0,
        retries: int = 4,
        concurrency: int = 4,
        jitter: Callable[[], float] = random.random,
        gate: AsyncGate | None = None,
    ) -> None:
        self._session = Session(address, Secrecy(token), timeout=timeout)
        self._retries = retries
        self._jitter = jitter
        self._gate = AsyncGate(concurrency) if gate is None else gate

    async def call(self, operation: Operation[T], *, health: Health | None = None) -> T:
        """Carry an operation to its end, as `Connection.call` does."""
        steps = attempt(
            operation,
            retries=self._retries,
            jitter=self._jitter,
            health=Health() if health is None else health,
        )
        last: Reply | TransportError | None = None
        answer: Reply | TransportError | bool
        step = next(steps)
        while True:
            match step:
                case Send():
                    answer = last = await self._send_in_turn(operation, last)
                case Wait(seconds=seconds, everyone=everyone):
                    if everyone:
                        self._gate.pause(seconds)
                    answer = await self._gate.wait(seconds)
                case _:
                    assert_never(step)
            try:
                step = steps.send(answer)
            except StopIteration as end:
                value: T = end.value
                return value

    def stop(self) -> None:
        """Send nothing new and end all waits at once; what is in flight comes to its end."""
        self._gate.stop()

    async def close(self) -> None:
        """Stop, and close the pooled connections."""
        self.stop()
        await self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def upgrade(self, query: Mapping[str, str]) -> WebSocket | Reply | TransportError:
        """Open the gateway's WebSocket; a `Reply` says that the service does not want to.

        Raises:
            StoppedError: `stop` came before.
        """
        if not await self._gate.enter():
            raise StoppedError("stopped before the gateway was opened")
        try:
            return await self._session.upgrade(query)
        finally:
            self._gate.leave()

    async def _send_in_turn(
        self, operation: Operation[Any], last: Reply | TransportError | None
    ) -> Reply | TransportError:
        if not await self._gate.enter():
            return not_sent(operation, last)
        begun, answer = monotonic(), None
        try:
            answer = await self._session.send(operation)
        finally:
            self._gate.leave()
            log_answer(operation, answer, begun=begun)
        return answer
