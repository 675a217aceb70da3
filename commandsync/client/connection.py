# Generated from asyncconnection.py by `make clients`: edit that file.
"""A blocking connection: operations, sent and retried as the policy decides, from any thread."""

from contextlib import closing
from typing import Any, Self, TypeVar

from commandsync.api.operations import Operation
from commandsync.api.policy import Failure, Health
from commandsync.client.gate import Gate
from commandsync.client.shared import AnyConnection
from commandsync.client.transport import Transport

T = TypeVar("T")


class Connection(AnyConnection):
    """The connection to one listing service.

    It may be used from any thread.
    """

    gate: Gate
    transport: Transport

    def _open(self, gate: Gate | None) -> None:
        self.gate = Gate(self.concurrency) if gate is None else gate
        self.transport = Transport(
            self.address, self.secrecy, self.surroundings, kept=self.concurrency
        )

    def call(self, operation: Operation[T], *, health: Health | None = None) -> T:
        """Carry out an operation, retries included; calls of one run share its health.

        Raises `ListingError` if it failed; as `StoppedError`, if it was stopped before it was sent.
        """
        result = self.attempt(operation, health=health)
        if isinstance(result, Failure):
            raise result.raised(operation)
        return result

    def attempt(self, operation: Operation[T], *, health: Health | None = None) -> T | Failure:
        """Carry out an operation as `call`, but return how it failed; raises `StoppedError`."""
        answer: Any = None
        with closing(self._steps(operation, health)) as steps:
            while True:
                try:
                    step = steps.send(answer)
                except StopIteration as end:
                    result: T | Failure = end.value
                    return result
                answer = step

    def close(self) -> None:
        """Stop, finish the writes in flight, and close the connections."""
        self.transport.closed = True
        self.stop()
        self.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
