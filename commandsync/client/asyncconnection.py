"""An asynchronous connection: operations, sent and retried as the policy decides, from one loop."""

from time import monotonic
from typing import Self, TypeVar, assert_never

from commandsync.api.operations import Operation
from commandsync.api.policy import Failure, Health, Send, Wait, attempt
from commandsync.api.refusals import rate_limit_of
from commandsync.client.asyncgate import AsyncGate
from commandsync.client.asynctransport import AsyncTransport
from commandsync.client.request import log_answer, not_sent
from commandsync.client.shared import AnyConnection
from commandsync.errors import Reply, TransportError

T = TypeVar("T")


class AsyncConnection(AnyConnection):
    """The connection to one listing service.

    Use it from one event loop; a cancelled task closes the connection of its request.
    """

    gate: AsyncGate
    transport: AsyncTransport

    def _open(self, gate: AsyncGate | None) -> None:
        self.gate = AsyncGate(self.concurrency) if gate is None else gate
        self.transport = AsyncTransport(
            self.address, self.secrecy, self.surroundings, timeout=self.timeout
        )

    async def call(self, operation: Operation[T], *, health: Health | None = None) -> T:
        """Carry out an operation, retries included; calls of one run share its health.

        Raises `ListingError` if it failed; as `StoppedError`, if it was stopped before it was sent.
        """
        result = await self.attempt(operation, health=health)
        if isinstance(result, Failure):
            raise result.raised(operation)
        return result

    async def attempt(
        self, operation: Operation[T], *, health: Health | None = None
    ) -> T | Failure:
        """Carry out an operation as `call`, but return how it failed; raises `StoppedError`."""
        try:
            return await self._carry_out(operation, health)
        finally:
            self.on_wait(operation, None)

    async def _carry_out(self, operation: Operation[T], health: Health | None) -> T | Failure:
        steps = attempt(
            operation,
            retries=self.retries,
            jitter=self._jitter,
            health=Health() if health is None else health,
        )
        seconds = operation.deadline if self.deadline is None else self.deadline
        end = monotonic() + seconds
        last: Reply | TransportError | None = None
        answer: Reply | TransportError | bool
        step = next(steps)
        while True:
            match step:
                case Send(other=other):
                    operation = other or operation
                    answer = last = await self._send_in_turn(operation, step, last, end)
                case Wait(seconds=seconds, everyone=everyone):
                    self.on_wait(operation, step)
                    if everyone:
                        self.gate.pause(seconds)
                    answer = monotonic() + seconds < end and await self.gate.wait(seconds)
                case _:
                    assert_never(step)
            try:
                step = steps.send(answer)
            except StopIteration as end:
                result: T | Failure = end.value
                return result

    async def _send_in_turn(
        self, operation: Operation[T], step: Send, last: Reply | TransportError | None, end: float
    ) -> Reply | TransportError:
        if not await self.gate.enter(end):
            if last is not None:
                return last
            closed = self.transport.closed
            raise not_sent(operation, stopped=self.gate.stopped, closed=closed)
        self.on_wait(operation, step)
        start, answer = monotonic(), None
        try:
            answer = await self.transport.send(operation, seconds=min(self.timeout, end - start))
        finally:
            self.gate.leave()
            log_answer(operation, answer, start=start)
        if isinstance(answer, Reply):
            self.transport.rate_limit = rate_limit_of(answer) or self.transport.rate_limit
        return answer

    def stop(self) -> None:
        """Send nothing new and end all waits at once; requests in flight are finished."""
        self.gate.stop()

    async def close(self) -> None:
        """Stop, finish the writes in flight, and close the connections."""
        self.transport.closed = True
        self.stop()
        await self.transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
