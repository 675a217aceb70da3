"""A real HTTP server in front of the embedded service: it counts, holds, and answers otherwise."""

from __future__ import annotations

import json
import threading
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from tests.support.bots import Service

    Rule = Callable[["Seen"], "Instead | None"]


@dataclass(frozen=True)
class Seen:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str] = field(repr=False)
    body: bytes = b""

    @property
    def short(self) -> str:
        """Method and what follows the bot, such as `GET commands`."""
        return f"{self.method} {'/'.join(self.path.split('/')[4:])}"

    @property
    def writes(self) -> bool:
        return self.method != "GET"

    @property
    def json(self) -> Any:  # noqa: ANN401 - any content
        return json.loads(self.body)


@dataclass(frozen=True)
class Instead:
    """What is answered in place of the service; `forwarded` lets it do the work all the same."""

    status: int = 200
    body: bytes | object = b""
    headers: dict[str, str] = field(default_factory=dict)
    forwarded: bool = False

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class Proxy:
    """The server.

    Attributes:
        requests: What came, in the order in which it came.
        most: The most requests that were here at the same time.
        troubles: What went wrong in a rule.
        rule: Asked about each request before it goes on; it may wait, and may answer itself.
        hangs_up: Whether each connection is closed right after its answer, without a word.
    """

    def __init__(self, upstream: str) -> None:
        self.requests: list[Seen] = []
        self.most = 0
        self.troubles: list[str] = []
        self.rule: Rule = lambda _: None
        self.hangs_up = False
        self._upstream = urlsplit(upstream).netloc
        self._here = 0
        self._changed = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def writes(self) -> list[Seen]:
        return [one for one in self.requests if one.writes]

    def shorts(self) -> list[str]:
        return [one.short for one in self.requests]

    def wait_for(self, count: int, *, writes: bool = True) -> None:
        """Return when so many requests have come."""

        def come() -> bool:
            return len(self.writes if writes else self.requests) >= count

        with self._changed:
            assert self._changed.wait_for(come, 30), self.shorts()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(proxy) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - self is the handler's
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                proxy._pass(self, Seen(self.command, self.path, headers, body))

            do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - http.server's names

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def _pass(self, handler: BaseHTTPRequestHandler, seen: Seen) -> None:
        with self._changed:
            self.requests.append(seen)
            self._here += 1
            self.most = max(self.most, self._here)
            self._changed.notify_all()
        try:
            instead = self._ruled(seen)
            if instead is None or instead.forwarded:
                forwarded = self._forwarded(seen)
                instead = instead or forwarded
        finally:
            with self._changed:
                self._here -= 1
        try:
            handler.send_response(instead.status)
            length = str(len(instead.content))
            named = {"Content-Type": "application/json", "Content-Length": length}
            for name, value in (named | instead.headers).items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(instead.content)
            handler.close_connection = self.hangs_up
        except OSError:
            handler.close_connection = True  # the client has left

    def _ruled(self, seen: Seen) -> Instead | None:
        try:
            return self.rule(seen)
        except Exception as error:  # noqa: BLE001 - the test is told of it in the end
            self.troubles.append(f"{seen.short}: {error!r}")
            return Instead(500)

    def _forwarded(self, seen: Seen) -> Instead:
        kept = {"authorization", "content-type"}
        headers = {name: value for name, value in seen.headers.items() if name in kept}
        with closing(HTTPConnection(self._upstream, timeout=30)) as connection:
            connection.request(seen.method, seen.path, seen.body or None, headers)
            reply = connection.getresponse()
            return Instead(reply.status, reply.read())


@pytest.fixture
def proxy(service: Service) -> Iterator[Proxy]:
    with Proxy(service.url) as running:
        yield running
    assert running.troubles == []


def meeting(count: int, *, when: Callable[[Seen], bool] = lambda _: True) -> Rule:
    """Return a rule that lets requests go on only by so many at a time."""
    all_here = threading.Barrier(count)

    def rule(seen: Seen) -> None:
        if when(seen):
            all_here.wait(20)  # breaks unless so many are here at once

    return rule
