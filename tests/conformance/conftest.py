"""Whatever is said of a client here is said of both."""

from collections.abc import Callable, Iterator

import pytest

from tests.support import clients
from tests.support.bots import Service, proxy, serving
from tests.support.clients import (
    TOKEN,
    Either,
    HastyAsyncClient,
    HastyClient,
    Source,
    plain_environment,
    server,
)
from tests.support.gateway import Gateway
from tests.support.postgres import Server
from tests.support.rawserver import RawServer

__all__ = ["client", "gateway", "open_client", "plain_environment", "proxy", "server", "service"]

DATABASES = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def service_on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(str(tmp_path_factory.mktemp("service") / "listing.db")) as started:
        yield started


@pytest.fixture(scope="session")
def service_on_postgresql(postgres: Server) -> Iterator[Service]:
    with postgres.database() as url, serving(url) as started:
        yield started


@pytest.fixture(scope="session", params=DATABASES)
def service(request: pytest.FixtureRequest) -> Service:
    """The embedded service, on both databases."""
    started: Service = request.getfixturevalue(f"service_on_{request.param}")
    return started


@pytest.fixture(params=["stand-in", *DATABASES])
def source(request: pytest.FixtureRequest) -> Iterator[Source]:
    """What sends events: the stand-in for a gateway, and the embedded service on both databases."""
    if request.param == "stand-in":
        with clients.played() as standing_in:
            yield standing_in
    else:
        started: Service = request.getfixturevalue(f"service_on_{request.param}")
        yield clients.real(started.bot())


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
def client(open_client: Callable[..., Either], server: RawServer) -> Either:
    """A client of the server of raw sockets."""
    return open_client(TOKEN, server.url, bot="42")


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with Gateway() as running:
        yield running
