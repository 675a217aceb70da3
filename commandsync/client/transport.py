"""A blocking transport: one request over a pool of connections, without retries or redirects."""

from contextlib import closing, suppress
from functools import partial
from typing import Any

from urllib3 import Timeout
from urllib3.exceptions import HTTPError

from commandsync.api.arguments import Address
from commandsync.api.content import RateLimit
from commandsync.api.operations import Operation
from commandsync.client.body import Body, BodyError
from commandsync.client.environment import Surroundings
from commandsync.client.failures import failure, root_of
from commandsync.client.request import LONGEST_CONNECT, PIECE, Reuse, StaleError, request_of
from commandsync.client.secrecy import Secrecy
from commandsync.client.sockets import Adapter, state
from commandsync.client.threads import renew_in_children
from commandsync.errors import Reply, TransportError


class Transport:
    """Sends one request and returns its result, from any thread; keeps `kept` connections.

    Loopback is always reached directly, and `.netrc` is never read.
    """

    rate_limit: RateLimit | None = None  # that the last answer with one reported
    closed = False

    def __init__(
        self, address: Address, secrecy: Secrecy, surroundings: Surroundings, *, kept: int
    ) -> None:
        self._address = address
        self._secrecy = secrecy
        self._kept = kept
        self._adapter = self._new_adapter()
        self._reuse = Reuse()
        self._surroundings = surroundings
        renew_in_children(self)

    def renew(self) -> Adapter:
        """Open new connections from now on; returns the adapter with those before."""
        adapter, self._adapter = self._adapter, self._new_adapter()
        return adapter

    def send(self, operation: Operation[Any], *, seconds: float) -> Reply | TransportError:
        """Send an operation once, within so many seconds."""
        if self._reuse.allowed(operation):
            with suppress(StaleError):
                return self._exchange(operation, self._adapter, seconds)
        with closing(self._new_adapter()) as adapter:
            return self._exchange(operation, adapter, seconds)

    def _exchange(
        self, operation: Operation[Any], adapter: Adapter, seconds: float
    ) -> Reply | TransportError:
        vars(state).clear()  # of the request before
        try:
            lent = self._surroundings
            request = request_of(self._address, operation, self._secrecy, lent.headers)
            settings: Any = lent.settings
            time_out: Any = Timeout(connect=min(seconds, LONGEST_CONNECT), total=seconds)
            response = adapter.send(request, timeout=time_out, **settings)
            with closing(response):
                body = Body(encoding=response.headers.get("content-encoding", ""))
                for chunk in iter(partial(response.raw.read, PIECE, decode_content=False), b""):
                    body.feed(chunk)
                content = body.whole()
        except (OSError, HTTPError, BodyError) as error:
            if state.kept:
                self._reuse.broke(operation, root_of(error))
            unmade, state.failure = state.failure, None
            root, made = root_of(unmade or error), unmade is None
            return failure(root, self._address, self._surroundings, made=made, seconds=seconds)
        self._reuse.answered(kept=state.kept)
        return self._secrecy.reply(response.status_code, content, response.headers.items())

    def _new_adapter(self) -> Adapter:
        return Adapter(pool_connections=1, pool_maxsize=self._kept, max_retries=0)

    def close(self) -> None:
        """Close every kept connection."""
        self._adapter.close()
