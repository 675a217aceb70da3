# Generated from asyncconnection.py by `make clients`: edit that file.
"""A blocking connection: operations, sent and retried as the policy decides, from any thread."""

from time import monotonic
from typing import Self, TypeVar, assert_never

from commandsync.api.operations import Operation
from commandsync.api.policy import Failure, Health, Send, Wait, attempt
from commandsync.api.refusals import rate_limit_of
from commandsync.client.gate import Gate
from commandsync.client.request import log_answer, not_sent
from commandsync.client.shared import AnyConnection
from commandsync.client.transport import Transport
from commandsync.errors import Reply, TransportError

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
        try:
            return self._carry_out(operation, health)
        finally:
            self.on_wait(operation, None)

    def _carry_out(self, operation: Operation[T], health: Health | None) -> T | Failure:
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
                    answer = last = self._send_in_turn(operation, step, last, end)
                case Wait(seconds=seconds, everyone=everyone):
                    self.on_wait(operation, step)
                    if everyone:
                        self.gate.pause(seconds)
                    answer = monotonic() + seconds < end and self.gate.wait(seconds)
                case _:
                    assert_never(step)
            try:
                step = steps.send(answer)
            except StopIteration as end:
                result: T | Failure = end.value
                return result

    def _send_in_turn(
        self, operation: Operation[T], step: Send, last: Reply | TransportError | None, end: float
    ) -> Reply | TransportError:
        if not self.gate.enter(end):
            if last is not None:
                return last
            closed = self.transport.closed
            raise not_sent(operation, stopped=self.gate.stopped, closed=closed)
        self.on_wait(operation, step)
        start, answer = monotonic(), None
        try:
            answer = self.transport.send(operation, seconds=min(self.timeout, end - start))
        finally:
            self.gate.leave()
            log_answer(operation, answer, start=start)
        if isinstance(answer, Reply):
            self.transport.rate_limit = rate_limit_of(answer) or self.transport.rate_limit
        return answer

    def stop(self) -> None:
        """Send nothing new and end all waits at once; requests in flight are finished."""
        self.gate.stop()

    def close(self) -> None:
        """Stop, finish the writes in flight, and close the connections."""
        self.transport.closed = True
        self.stop()
        self.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
