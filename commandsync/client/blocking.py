"""The blocking driver: a pool of connections that sends what the policy says, from any thread."""

from __future__ import annotations

import random
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, assert_never

from commandsync.api.policy import Health, Send, Wait, attempt
from commandsync.client.gate import Gate
from commandsync.client.secrecy import Secrecy
from commandsync.client.sending import log_answer, not_sent
from commandsync.client.sessions import Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from commandsync.api.address import Address
    from commandsync.api.credentials import Token
    from commandsync.api.operations import Operation
    from commandsync.errors import Reply, TransportError

T = TypeVar("T")


class Connection:
    """The way to one listing service: pooled, thread-safe, and never past its time.

    Args:
        address: Where the service is.
        token: The bot's token, sent with every request; None reads without one.
        timeout: Seconds that one request may take in all, from connecting to the last byte.
        retries: How often an operation may be sent again.
        concurrency: How many requests may be in flight at the same time, over all threads.
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
        gate: Gate | None = None,
    ) -> None:
        self._session = Session(address, Secrecy(token), timeout=timeout, kept=concurrency)
        self._retries = retries
        self._jitter = jitter
        self._gate = Gate(concurrency) if gate is None else gate

    def call(self, operation: Operation[T], *, health: Health | None = None) -> T:
        """Carry an operation to its end, sending it again as the policy says.

        Args:
            operation: What to do.
            health: What the run has seen of the service so far, shared by its calls.

        Raises:
            ListingError: It failed; `policy.may_have_happened` tells what that means for a write.
            StoppedError: `stop` came before it was sent for the first time.
        """
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
                    answer = last = self._send_in_turn(operation, last)
                case Wait(seconds=seconds, everyone=everyone):
                    if everyone:
                        self._gate.pause(seconds)
                    answer = self._gate.wait(seconds)
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

    def close(self) -> None:
        """Stop, and close the pooled connections."""
        self.stop()
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _send_in_turn(
        self, operation: Operation[Any], last: Reply | TransportError | None
    ) -> Reply | TransportError:
        if not self._gate.enter():
            return not_sent(operation, last)
        begun = monotonic()
        try:
            answer = self._session.send(operation)
        finally:
            self._gate.leave()
        log_answer(operation, answer, begun=begun)
        return answer
