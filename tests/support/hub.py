"""A real HTTP stand-in for GitHub's REST API: comments by page, pull requests, contents."""

from __future__ import annotations

import base64
import json
import re
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.support.runner import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    Record = dict[str, Any]
    Answer = tuple[int, Any, dict[str, str]]

JOBS_OWN = "github-actions[bot]"
_COMMENTS = re.compile(rf"/repos/{REPOSITORY}/issues/(\d+)/comments")
_COMMENT = re.compile(rf"/repos/{REPOSITORY}/issues/comments/(\d+)")
_PULLS = re.compile(rf"/repos/{REPOSITORY}/commits/(\w+)/pulls")
_CONTENTS = re.compile(rf"/repos/{REPOSITORY}/contents/(.*)")


@dataclass
class Hub:
    """The server.

    Attributes:
        comments: What stands on pull request 7, in its order.
        merged: The pull requests that each commit came with.
        files: The base branch's files.
        requests: What came, as method and path.
        read_only: Whether all writes are answered 403.
        tells_login: Whether GraphQL says whose token it is.
        links: Whether a page names the next one.
        page: The most comments of a page.
        rule: Asked about each request, as method and path, before it is answered; it may answer
            itself, with a status, a content (any JSON, or bytes as they are) and headers.
    """

    comments: list[Record] = field(default_factory=list)
    merged: dict[str, list[Record]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    read_only: bool = False
    tells_login: bool = True
    links: bool = True
    page: int = 100
    rule: Callable[[str], Answer | None] = lambda _: None

    def __post_init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def writes(self) -> list[str]:
        return [one for one in self.requests if not one.startswith("GET") and "graphql" not in one]

    @property
    def ours(self) -> list[str]:
        """The bodies of the comments that the job's own account wrote."""
        return [one["body"] for one in self.comments if one["user"]["login"] == JOBS_OWN]

    def says(self, body: str, *, login: str = JOBS_OWN) -> Record:
        """Add a comment."""
        number = len(self.comments) + 1
        url = f"https://github.com/{REPOSITORY}/pull/7#issuecomment-{number}"
        record = {"id": number, "body": body, "user": {"login": login}, "html_url": url}
        self.comments.append(record)
        return record

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, method: str, target: str, body: Record) -> Answer:
        """Return the status, the content, and headers."""
        request = f"{method} {target}"
        self.requests.append(request)
        if (instead := self.rule(request)) is not None:
            return instead
        status, content, link = self._usual(method, target, body)
        return status, content, {"Link": link} if link and self.links else {}

    def _usual(self, method: str, target: str, body: Record) -> tuple[int, Any, str]:
        parts = urlsplit(target)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/graphql":
            login = JOBS_OWN if self.tells_login else None
            return (200, {"data": {"viewer": {"login": login}}}, "") if login else (404, {}, "")
        if method != "GET":
            return self._written(method, parts.path, body)
        if _COMMENTS.fullmatch(parts.path):
            return self._paged(parts.path, int(query.get("page", "1")))
        if match := _PULLS.fullmatch(parts.path):
            return 200, self.merged.get(match[1], []), ""
        if match := _CONTENTS.fullmatch(parts.path):
            return self._content(unquote(match[1]))
        return 404, {"message": "Not Found"}, ""

    def _written(self, method: str, path: str, body: Record) -> tuple[int, Any, str]:
        if self.read_only:
            return 403, {"message": "Resource not accessible by integration"}, ""
        if method == "POST" and _COMMENTS.fullmatch(path):
            return 201, self.says(body["body"]), ""
        if method == "PATCH" and (match := _COMMENT.fullmatch(path)):
            record = self.comments[int(match[1]) - 1]
            record["body"] = body["body"]
            return 200, record, ""
        return 404, {"message": "Not Found"}, ""

    def _paged(self, path: str, number: int) -> tuple[int, Any, str]:
        begin = (number - 1) * self.page
        shown = self.comments[begin : begin + self.page]
        more = begin + self.page < len(self.comments)
        link = f'<{self.url}{path}?page={number + 1}>; rel="next"' if more else ""
        return 200, shown, link

    def _content(self, path: str) -> tuple[int, Any, str]:
        if path in self.files:
            content = base64.encodebytes(self.files[path].encode()).decode()
            return 200, {"type": "file", "content": content}, ""
        folder = f"{path}/" if path else ""
        names = [name.removeprefix(folder) for name in self.files if name.startswith(folder)]
        listed = [{"type": "file", "name": name} for name in names if "/" not in name]
        return (200, listed, "") if listed else (404, {}, "")

    def _handler(hub) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - self is the handler's
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = json.loads(sent) if sent else {}
                status, content, headers = hub.answer(self.command, self.path, body)
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                with suppress(OSError):  # who asked may be gone
                    self.send_response(status)
                    for name, value in {"Content-Length": str(len(data)), **headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(data)

            do_POST = do_PATCH = do_GET  # noqa: N815 - http.server's names

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as running:
        yield running
