# Generated from asyncconnection.py by `make clients`: edit that file.
"""A blocking connection: operations, sent and retried as the policy decides, from any thread."""

from __future__ import annotations

import random
from copy import copy
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, assert_never

from commandsync.api import arguments
from commandsync.api.policy import Health, Send, Wait, attempt
from commandsync.api.refusals import rate_limit_of
from commandsync.client.gate import Gate
from commandsync.client.request import log_answer, not_sent
from commandsync.client.secrecy import Secrecy
from commandsync.client.sessions import surroundings_of
from commandsync.client.transport import Transport
from commandsync.errors import Reply

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self, TypeAlias

    import requests

    from commandsync.api.address import Address
    from commandsync.api.credentials import Token
    from commandsync.api.operations import Operation
    from commandsync.client.environment import Surroundings
    from commandsync.errors import TransportError

    OnWait: TypeAlias = Callable[[Operation[Any], Send | Wait | None], object]

T = TypeVar("T")


def _ignore(_operation: Operation[Any], _step: Send | Wait | None) -> None:
    """Do nothing: nobody wants to know."""


class Connection:
    """The connection to one listing service.

    It may be used from any thread.

    The time-out is in seconds, for one request from connecting to the last byte, at most 3,600.
    `retries` is how often an operation may be sent again, and `concurrency` the most requests in
    flight, unless connections share a gate. `jitter` returns a number from 0 to 1, which spreads
    the waits of many clients. A session lends its settings, as `surroundings_of` describes.

    Attributes:
        on_wait: Called with an operation when it begins to wait: for its answer (`Send`) or for a
            retry (`Wait`), but not for its turn; and with None when it has ended.

    Raises:
        ArgumentError: A number is out of its bounds, or the session cannot be used.
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
        session: requests.Session | Surroundings | None = None,
    ) -> None:
        self.address = address
        self.token = token
        self.timeout = arguments.seconds("timeout", timeout)
        self.retries = arguments.number("retries", retries, least=0)
        self.concurrency = arguments.number("concurrency", concurrency, least=1)
        self.gate = Gate(concurrency) if gate is None else gate
        self.secrecy = Secrecy(token)
        self.surroundings = surroundings_of(session, address)
        self.transport = Transport(address, self.secrecy, self.surroundings, kept=concurrency)
        self.deadline = inf
        self.on_wait: OnWait = _ignore
        self._jitter = jitter

    def with_options(
        self,
        *,
        timeout: float | None = None,
        retries: int | None = None,
        deadline: float | None = None,
    ) -> Self:
        """Return the same connection with other limits on each call; None keeps a limit.

        Args:
            timeout: Seconds for one request.
            retries: How often an operation may be sent again.
            deadline: Seconds for a whole call: for its place, its requests and all waits.

        Raises:
            ArgumentError: A number is out of its bounds.
        """
        connection = copy(self)
        if timeout is not None:
            connection.timeout = arguments.seconds("timeout", timeout)
        if retries is not None:
            connection.retries = arguments.number("retries", retries, least=0)
        if deadline is not None:
            connection.deadline = arguments.seconds("deadline", deadline)
        return connection

    def call(self, operation: Operation[T], *, health: Health | None = None) -> T:
        """Carry out an operation, retries included; calls of one run share its health.

        Raises:
            ListingError: It failed; `policy.may_have_happened` decides what that means for a write.
            StoppedError: `stop` was called before it was sent for the first time.
        """
        try:
            return self._carry_out(operation, health)
        finally:
            self.on_wait(operation, None)

    def _carry_out(self, operation: Operation[T], health: Health | None) -> T:
        steps = attempt(
            operation,
            retries=self.retries,
            jitter=self._jitter,
            health=Health() if health is None else health,
        )
        end = monotonic() + self.deadline
        last: Reply | TransportError | None = None
        answer: Reply | TransportError | bool
        step = next(steps)
        while True:
            match step:
                case Send():
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
                value: T = end.value
                return value

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
