"""What the blocking and the asynchronous connection share: their settings."""

import random
from collections.abc import Callable
from typing import Any, TypeAlias

from commandsync.api import arguments
from commandsync.api.address import Address
from commandsync.api.credentials import Token
from commandsync.api.operations import Operation
from commandsync.api.policy import Send, Wait
from commandsync.client.environment import surroundings_of
from commandsync.client.secrecy import Secrecy
from commandsync.services.page import PAGE
from commandsync.services.service import Service

OnWait: TypeAlias = Callable[[Operation[Any], Send | Wait | None], object]


class AnyConnection:
    """The service of a connection, and its limits.

    The time-out is in seconds, for one request from connecting to the last byte, at most 3,600.
    `retries` is how often an operation may be sent again, and `concurrency` the most requests in
    flight, unless connections share a gate. `jitter` returns a number from 0 to 1, which spreads
    the waits of many clients. `service` says how the token is sent. A session lends its settings.

    Attributes:
        deadline: Seconds for a whole call: for its place, its requests and all waits; None for
            those of the operation.
        on_wait: Called with an operation when it begins to wait: for its answer (`Send`) or for a
            retry (`Wait`), but not for its turn; and with None when it has ended.

    Raises:
        ArgumentError: A number is out of its bounds, or the session cannot be used.
    """

    transport: Any  # what sends the requests, for copies with other limits as well

    def __init__(  # noqa: PLR0913 - the settings of a run, all with the designed default
        self,
        address: Address,
        token: Token | None,
        *,
        timeout: float = 30.0,
        retries: int = 4,
        concurrency: int = 4,
        jitter: Callable[[], float] = random.random,
        gate: Any = None,  # noqa: ANN401 - that of the kind of connection
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
        self.on_wait: OnWait = lambda *_: None
        self._jitter = jitter
        self.surroundings = surroundings_of(session, address)
        self._open(gate)

    def _open(self, gate: Any) -> None:  # noqa: ANN401 - as above
        """Make what the kind of connection has of its own: its gate and its transport."""
