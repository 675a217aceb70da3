"""A real HTTP server in front of the embedded service: it counts, delays and replaces answers."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from tests.support.bots import Service
from tests.support.rawserver import Exchange, Request, SocketServer, answer

Rule = Callable[[Request], "Instead | None"]


@dataclass(frozen=True)
class Instead:
    """What is answered in place of the service; `forwarded` lets it do the work all the same.

    The status 0 closes the connection without an answer.
    """

    status: int = 200
    body: bytes | object = b""
    headers: dict[str, str] = field(default_factory=dict)
    forwarded: bool = False


@dataclass(repr=False)  # what was sent would be in the reports of generated tests
class Proxy(SocketServer):
    """The server."""

    upstream: str  # the base URL of the service
    # Asked about each request before it goes on; it may wait, and may answer itself.
    rule: Rule = lambda _: None
    hangs_up: bool = False  # whether it closes each connection right after its answer
    most: int = 0  # the most requests that were here at the same time
    _here: int = 0

    def handle(self, exchange: Exchange) -> None:
        with self._changed:
            self._here += 1
            self.most = max(self.most, self._here)
        try:
            instead = self.rule(exchange.request)
            if instead is None or instead.forwarded:
                forwarded = self._forwarded(exchange.request)
                instead = instead or forwarded
        finally:
            with self._changed:
                self._here -= 1
        if not instead.status:
            exchange.reset()
            return
        exchange.send(answer(instead.body, status=instead.status, headers=instead.headers))
        exchange.open = not self.hangs_up

    def _forwarded(self, request: Request) -> Instead:
        kept = {"authorization", "content-type"}
        headers = {name: value for name, value in request.headers.items() if name in kept}
        netloc = urlsplit(self.upstream).netloc
        with closing(HTTPConnection(netloc, timeout=30)) as connection:
            connection.request(request.method, request.target, request.body or None, headers)
            reply = connection.getresponse()
            waits = {"Retry-After": reply.headers.get("Retry-After", "")}
            return Instead(reply.status, reply.read(), waits)


@pytest.fixture
def proxy(service: Service) -> Iterator[Proxy]:
    with Proxy(service.url) as running:
        yield running


def meeting(count: int, *, when: Callable[[Request], bool] = lambda _: True) -> Rule:
    """Return a rule that lets requests go on only by so many at a time."""
    all_here = threading.Barrier(count)

    def rule(request: Request) -> None:
        if when(request):
            all_here.wait(20)  # breaks unless so many are here at once

    return rule
