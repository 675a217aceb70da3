"""Whatever is said of a client here is said of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.bots import service
from tests.support.clients import Either, HastyAsyncClient, HastyClient
from tests.support.connecting import plain_environment, server
from tests.support.gateway import Gateway

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.rawserver import RawServer

__all__ = ["gateway", "open_client", "plain_environment", "server", "service"]


@pytest.fixture(params=[HastyClient, HastyAsyncClient], ids=["blocking", "asynchronous"])
def open_client(
    request: pytest.FixtureRequest,
    server: RawServer,  # noqa: ARG001 - it ends only after the clients that keep connections to it
) -> Iterator[Callable[..., Either]]:
    opened: list[Either] = []

    def open_client(*args: object, **kwargs: object) -> Either:
        opened.append(Either(request.param(*args, **kwargs)))
        return opened[-1]

    yield open_client
    for one in opened:
        one.end()


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with Gateway() as running:
        yield running
