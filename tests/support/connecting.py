from collections.abc import Callable, Iterator

import pytest

from commandsync.api.arguments import parse_address
from commandsync.api.credentials import Token
from commandsync.client.connection import Connection
from tests.support.clients import Blocked
from tests.support.rawserver import RawServer

TOKEN = "marked-token-7f3a9c1e"

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NETRC")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name in BUNDLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer() as running:
        yield running
    assert running.acts == []


def _connecting(kind: Callable[..., Connection]) -> Iterator[Callable[..., Connection]]:
    opened: list[Connection] = []

    def connect(url: str, token: str | None = TOKEN, **settings: object) -> Connection:
        given = {"retries": 0, "jitter": float, "timeout": 5.0} | settings
        address = parse_address(url, insecure_http=True)
        opened.append(kind(address, Token(token) if token else None, **given))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.end() if isinstance(connection, Blocked) else connection.close()


@pytest.fixture(params=[Connection, Blocked], ids=["blocking", "asynchronous"])
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[..., Connection]]:
    """Connect by either driver: what a test says is true of both."""
    yield from _connecting(request.param)


@pytest.fixture
def connect_blocking() -> Iterator[Callable[..., Connection]]:
    """Connect by the blocking driver, where a test looks into its threads."""
    yield from _connecting(Connection)
