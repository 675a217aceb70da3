"""The connection to one listing service: operations, sent and retried as the policy decides.

`AnyConnection` has the settings, and the steps of a call as a generator: the policy says when to
send and when to wait, the gate gives each request its place among those in flight, the transport
sends it, and each result is logged. `Connection` takes these steps in the caller's thread, and
`AsyncConnection` awaits them in an event loop. Both have the same methods.

Discord limits each kind of request on its own ("Rate Limits" of its documentation): an answer says
how many more are allowed, and in how many seconds all of them are allowed again. Discord refuses
further requests. A `Budget` counts them. Answers of requests that are in flight together come in
any order: answers that are still awaited count as if no answer had counted them.
`registered_commands` returns the commands that a bot has registered, as Discord answers them.
"""

import os
import random
import re
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

from commandsync import errors
from commandsync.api import arguments
from commandsync.api.arguments import Address
from commandsync.api.content import Bucket, bucket_of, rate_limit_of
from commandsync.api.credentials import Token
from commandsync.api.operations import Operation
from commandsync.api.policy import LONGEST_WAIT, Failure, Health, Send, Wait, attempt
from commandsync.client import async_extra
from commandsync.client.network import surroundings_of
from commandsync.client.request import Secrecy, log_answer, not_sent
from commandsync.client.threads import Gate
from commandsync.client.transport import Transport
from commandsync.errors import Reply, TransportError, UsageError
from commandsync.services.service import PAGE, Service

if TYPE_CHECKING:
    from commandsync.client.asynctransport import AsyncGate, AsyncTransport


_POLL = 0.05  # seconds until it is known whether an answer has come


class Budget:
    """Counts the requests of one kind, from any thread; times are in seconds of one clock."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._bucket: Bucket | None = None  # of the last answer that had one
        self._left = 0  # how many of its requests are left
        self._renewal = 0.0  # when all of them are allowed again
        self._flying = 0  # how many were sent, and are not answered

    def take(self, now: float) -> float:
        """Take one request, and return 0; if none is left, return how long to wait."""
        with self._lock:
            if self._bucket and now >= self._renewal:
                if self._flying >= self._bucket.most:
                    return _POLL
            elif self._bucket:
                if self._left <= 0:
                    return self._renewal - now
                self._left -= 1
            self._flying += 1
            return 0.0

    def give_back(self, bucket: Bucket | None, now: float) -> None:
        """Note the end of a request, with the bucket in its answer, if any."""
        with self._lock:
            self._flying -= 1
            if bucket is None:
                return
            # A longer wait is left to the service: its refusal says how long it takes.
            self._bucket = bucket if bucket.seconds <= LONGEST_WAIT else None
            self._left, self._renewal = bucket.left - self._flying, now + bucket.seconds


T = TypeVar("T")

_SHOWN = 1.0  # seconds: a shorter wait for a limit is not worth a line

OnWait: TypeAlias = Callable[[Operation[Any], Send | Wait | None], object]


class AnyConnection:
    """The service of a connection, and its limits.

    The time-out is in seconds, for one request from connecting to the last byte, at most 3,600.
    `retries` is how often an operation may be sent again, and `concurrency` the most requests in
    flight, unless connections share a gate. `jitter` returns a number from 0 to 1, which spreads
    the waits of many clients. `service` says how the token is sent. A session lends its settings.

    Attributes:
        deadline: Seconds for a whole call: for its place, its requests and all waits; None for
            the deadline of the operation.
        on_wait: Called with an operation when it begins to wait: for its answer (`Send`) or for a
            retry (`Wait`), but not for its turn; and with None when it has ended.

    Raises:
        ArgumentError: A number is out of its bounds, or the session cannot be used.
        UsageError: An asynchronous connection lacks the extra [async].
    """

    gate: Any  # where requests take their places, for copies with other limits as well
    transport: Any  # sends them
    _open: Callable[[Any], None]  # makes these two, unless there is a gate

    def __init__(  # noqa: PLR0913 - the settings of a run, all with the designed default
        self,
        address: Address,
        token: Token | None,
        *,
        timeout: float = 30.0,
        retries: int = 4,
        concurrency: int = 4,
        jitter: Callable[[], float] = random.random,
        gate: Any = None,  # noqa: ANN401 - the gate of the kind of connection
        service: Service = PAGE,
        session: Any = None,  # noqa: ANN401 - as above
    ) -> None:
        self.address = address
        self.token = token
        self.timeout = arguments.seconds("timeout", timeout)
        self.retries = arguments.number("retries", retries, least=0)
        self.concurrency = arguments.number("concurrency", concurrency, least=1)
        self.service = service
        self.secrecy = Secrecy(token, authorization=service.authorization)
        self.deadline: float | None = None
        self.on_wait: OnWait = lambda _operation, _step: None
        self._jitter = jitter
        self._process = os.getpid()
        self._budgets: dict[str, Budget] = {}  # of each kind of request
        lent = surroundings_of(session, address)
        agent = {"User-Agent": service.agent} if service.agent else {}
        self.surroundings = replace(lent, headers={**lent.headers, **agent})
        self._open(gate)

    def stop(self) -> None:
        """Send nothing new and end all waits at once; requests in flight are finished."""
        self.gate.stop()

    def check_process(self) -> None:
        """Raise `UsageError` in a process that was forked since the connection was made.

        The threads of the parent do not run there: a lock that one of them held is never released.
        The sockets belong to both processes.
        """
        if os.getpid() != self._process:
            hint = "open the client after the fork"
            raise UsageError("the client was opened before this process was forked", hint=hint)

    def _steps(
        self, operation: Operation[T], health: Health | None
    ) -> Generator[Any, Any, T | Failure]:
        """Carry out an operation: yield each thing to be awaited, and receive its result."""
        self.check_process()
        policy = attempt(
            self.service.limited(operation),
            retries=self.retries,
            jitter=self._jitter,
            health=Health() if health is None else health,
        )
        end = monotonic() + (operation.deadline if self.deadline is None else self.deadline)
        answer: Any = None
        last: Reply | TransportError | None = None
        sent = operation
        try:
            while True:
                step = policy.send(answer)
                if isinstance(step, Send):
                    sent = step.other or sent
                    answer = last = yield from self._send_in_turn(sent, step, last, end)
                    continue
                self.on_wait(sent, step)
                if step.everyone:
                    self.gate.pause(step.seconds)
                in_time = monotonic() + step.seconds < end
                answer = in_time and (yield self.gate.wait(step.seconds))
        except StopIteration as stop:
            result: T | Failure = stop.value
            return result
        finally:
            self.on_wait(operation, None)

    def _send_in_turn(
        self, operation: Operation[T], step: Send, last: Reply | TransportError | None, end: float
    ) -> Generator[Any, Any, Reply | TransportError]:
        budget = self._budgets.setdefault(operation.name, Budget())
        taken = yield from self._take(budget, operation, end)
        answer: Reply | TransportError | None = None
        try:
            if not (taken and (yield self.gate.enter(end))):
                if last is not None:
                    return last
                raise not_sent(operation, stopped=self.gate.stopped, closed=self.transport.closed)
            self.on_wait(operation, step)
            start = monotonic()
            try:
                seconds = min(self.timeout, end - start)
                sent: Reply | TransportError = yield self.transport.send(operation, seconds=seconds)
                answer = sent
            finally:
                self.gate.leave()
                log_answer(operation, answer, start=start)
        finally:
            if taken:
                bucket = bucket_of(answer) if isinstance(answer, Reply) else None
                budget.give_back(bucket, monotonic())
        if isinstance(sent, Reply):
            self.transport.rate_limit = rate_limit_of(sent) or self.transport.rate_limit
        return sent

    def _take(
        self, budget: Budget, operation: Operation[T], end: float
    ) -> Generator[Any, Any, bool]:
        """Wait until the service allows a request of a kind; False at the `end`, and for a stop."""
        while (pause := budget.take(monotonic())) > 0:
            if pause >= _SHOWN:
                self.on_wait(operation, Wait(pause))
            left = end - monotonic()
            if left <= 0 or not (yield self.gate.wait(min(pause, left))):
                return False
        return True


class Connection(AnyConnection):
    """A connection that may be used from any thread."""

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
                    # This kind of gate and transport blocks: each step is its own result.
                    answer = steps.send(answer)
                except StopIteration as end:
                    result: T | Failure = end.value
                    return result

    def close(self) -> None:
        """Stop, finish the writes in flight, and close the connections."""
        self.transport.closed = True
        self.stop()
        self.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncConnection(AnyConnection):
    """A connection for one event loop, with the methods of `Connection`.

    A cancelled task closes the connection of its request.
    """

    gate: "AsyncGate"
    transport: "AsyncTransport"

    def _open(self, gate: "AsyncGate | None") -> None:
        with async_extra("the asynchronous client needs"):
            from commandsync.client.asynctransport import (  # noqa: PLC0415 - an extra
                AsyncGate,
                AsyncTransport,
            )
        self.gate = AsyncGate(self.concurrency) if gate is None else gate
        self.transport = AsyncTransport(
            self.address, self.secrecy, self.surroundings, timeout=self.timeout
        )

    async def call(self, operation: Operation[T], *, health: Health | None = None) -> T:
        """Carry out an operation as `Connection.call`."""
        result = await self.attempt(operation, health=health)
        if isinstance(result, Failure):
            raise result.raised(operation)
        return result

    async def attempt(
        self, operation: Operation[T], *, health: Health | None = None
    ) -> T | Failure:
        """Carry out an operation as `Connection.attempt`."""
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


_IDENTIFIER = re.compile("[0-9]{1,20}")


def registered_commands(
    address: Address,
    token: Token,
    *,
    application: str = "",
    timeout: float = 30.0,
    retries: int = 4,
    on_wait: OnWait | None = None,
) -> bytes:
    """Return the body of Discord's answer: the bot's global commands with all localizations.

    It makes one request, and one more to ask for the application's id if that is empty. The token
    does not tell it: it contains the id of the bot's user, which differs for old bots. The other
    arguments are as in `Connection`, and an id that is not valid raises `UsageError`.
    """
    from commandsync.services import discord  # noqa: PLC0415 - only an import from Discord needs it

    if application and not _IDENTIFIER.fullmatch(application):
        hint = "it is a number, on the page General Information of the developer portal"
        raise errors.UsageError(f"{application!r} is not an application's id", hint=hint)
    connecting = Connection(
        address, token, timeout=timeout, retries=retries, service=discord.DISCORD
    )
    with connecting as connection:
        connection.on_wait = on_wait or connection.on_wait
        try:
            application = application or connection.call(discord.application()).id
            return connection.call(discord.registered(application))
        except (errors.ApiError, errors.DecodeError) as error:
            raise error.having(message=f"Discord: {error.message}") from error.__cause__
