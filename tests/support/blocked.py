"""The asynchronous connection with the interface of the blocking one: its calls run in a thread.

Every test of a driver can so run with both.
"""

import asyncio
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from commandsync.api.arguments import Address
from commandsync.api.credentials import Token
from commandsync.api.operations import Operation
from commandsync.api.policy import Health
from commandsync.client.connection import AsyncConnection

T = TypeVar("T")


class LoopThread:
    """An event loop that runs in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], longest: float = 30) -> T:
        """Carry a coroutine out and return what it returns."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(longest)

    def close(self) -> None:
        """Stop the loop."""
        self.run(self.loop.shutdown_default_executor())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self.loop.close()


class Blocked:
    """An `AsyncConnection` with the interface of `Connection`."""

    def __init__(self, address: Address, token: Token | None, **settings: Any) -> None:  # noqa: ANN401 - passed on
        self._thread = LoopThread()
        self.connection = AsyncConnection(address, token, **settings)
        self._closed = False

    def call(self, operation: Operation[T], *, health: Health | None = None) -> T:
        return self._thread.run(self.connection.call(operation, health=health))

    def stop(self) -> None:
        self._thread.loop.call_soon_threadsafe(self.connection.stop)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._thread.run(self.connection.close())

    def end(self) -> None:
        """Close, and end the thread."""
        self.close()
        self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
