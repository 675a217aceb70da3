"""An asynchronous connection: operations, sent and retried as the policy decides, from one loop."""

from contextlib import closing
from typing import Any, Self, TypeVar

from commandsync.api.operations import Operation
from commandsync.api.policy import Failure, Health
from commandsync.client.asyncgate import AsyncGate
from commandsync.client.asynctransport import AsyncTransport
from commandsync.client.shared import AnyConnection

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
        answer: Any = None
        with closing(self._steps(operation, health)) as steps:
            while True:
                try:
                    step = steps.send(answer)
                except StopIteration as end:
                    result: T | Failure = end.value
                    return result
                answer = await step

    async def close(self) -> None:
        """Stop, finish the writes in flight, and close the connections."""
        self.transport.closed = True
        self.stop()
        await self.transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
