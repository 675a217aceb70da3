"""A real HTTP server in place of GitHub's REST API: comments by page, pull requests, contents."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from tests.support.rawserver import Exchange, Request, SocketServer, answer
from tests.support.runner import REPOSITORY, SHA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Record = dict[str, Any]
    Answer = tuple[int, Any, dict[str, str]]

JOBS_OWN = "github-actions[bot]"
_COMMENTS = re.compile(rf"/repos/{REPOSITORY}/issues/(\d+)/comments")
_COMMENT = re.compile(rf"/repos/{REPOSITORY}/issues/comments/(\d+)")
_ISSUES = re.compile(rf"/repos/{REPOSITORY}/issues")
_ISSUE = re.compile(rf"/repos/{REPOSITORY}/issues/(\d+)")
_PULL = re.compile(rf"/repos/{REPOSITORY}/pulls/7")
_PULLS = re.compile(rf"/repos/{REPOSITORY}/commits/(\w+)/pulls")
_CONTENTS = re.compile(rf"/repos/{REPOSITORY}/contents/(.*)")


@dataclass
class Hub(SocketServer):
    """The server.

    Attributes:
        comments: The comments of pull request 7, in order.
        issues: The issues, in order.
        merged: The pull requests that each commit came with.
        files: The base branch's files.
        read_only: Whether all writes are answered 403.
        tells_login: Whether GraphQL says whose token it is.
        links: Whether a page names the next one.
        page: The most comments of a page.
        rule: Asked about each request, as method and path, before it is answered; it may answer
            itself, with a status, a content (any JSON, or bytes as they are) and headers.
    """

    comments: list[Record] = field(default_factory=list)
    issues: list[Record] = field(default_factory=list)
    merged: dict[str, list[Record]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    read_only: bool = False
    tells_login: bool = True
    links: bool = True
    page: int = 100
    rule: Callable[[str], Answer | None] = lambda _: None

    @property
    def writes(self) -> list[Request]:
        return [request for request in super().writes if "graphql" not in request.target]

    @property
    def ours(self) -> list[str]:
        """The bodies of the comments that the job's own account wrote."""
        return [record["body"] for record in self.comments if record["user"]["login"] == JOBS_OWN]

    def says(self, body: str, *, login: str = JOBS_OWN) -> Record:
        """Add a comment."""
        number = 1 + max((record["id"] for record in self.comments), default=0)
        url = f"https://github.com/{REPOSITORY}/pull/7#issuecomment-{number}"
        record = {"id": number, "body": body, "user": {"login": login}, "html_url": url}
        self.comments.append(record)
        return record

    def opens(self, *, title: str, body: str, login: str = JOBS_OWN) -> Record:
        """Add an issue."""
        number = len(self.issues) + 1
        record = {
            "number": number,
            "title": title,
            "body": body,
            "state": "open",
            "user": {"login": login},
            "html_url": f"https://github.com/{REPOSITORY}/issues/{number}",
        }
        self.issues.append(record)
        return record

    def handle(self, exchange: Exchange) -> None:
        status, content, headers = self._answer(exchange.request)
        exchange.send(answer(content, status=status, headers=headers))

    def _answer(self, request: Request) -> Answer:
        if (instead := self.rule(f"{request.method} {request.target}")) is not None:
            return instead
        status, content, link = self._usual(request)
        return status, content, {"Link": link} if link and self.links else {}

    def _usual(self, request: Request) -> tuple[int, Any, str]:
        if request.path == "/graphql":
            login = JOBS_OWN if self.tells_login else None
            return (200, {"data": {"viewer": {"login": login}}}, "") if login else (404, {}, "")
        if request.writes:
            return self._written(request)
        if _COMMENTS.fullmatch(request.path):
            return self._paged(request.path, int(request.query.get("page", "1")))
        if _ISSUES.fullmatch(request.path):
            return 200, self._issues(request.query), ""
        if _PULL.fullmatch(request.path):
            return 200, {"number": 7, "head": {"sha": SHA}}, ""
        if match := _PULLS.fullmatch(request.path):
            return 200, self.merged.get(match[1], []), ""
        if match := _CONTENTS.fullmatch(request.path):
            return self._content(unquote(match[1]))
        return 404, {"message": "Not Found"}, ""

    def _written(self, request: Request) -> tuple[int, Any, str]:
        method, path = request.method, request.path
        if self.read_only:
            return 403, {"message": "Resource not accessible by integration"}, ""
        if method == "POST" and _COMMENTS.fullmatch(path):
            return 201, self.says(request.json["body"]), ""
        if method == "POST" and _ISSUES.fullmatch(path):
            return 201, self.opens(**request.json), ""
        if method == "PATCH" and (found := _ISSUE.fullmatch(path)):
            self.issues[int(found[1]) - 1].update(request.json)
            return 200, self.issues[int(found[1]) - 1], ""
        match = _COMMENT.fullmatch(path)
        record = next((one for one in self.comments if match and one["id"] == int(match[1])), None)
        if record is None:
            return 404, {"message": "Not Found"}, ""
        if method == "DELETE":
            self.comments.remove(record)
            return 204, b"", ""
        record["body"] = request.json["body"]
        return 200, record, ""

    def _issues(self, query: Mapping[str, str]) -> list[Record]:
        return [
            record
            for record in self.issues
            if record["state"] == query["state"] and record["user"]["login"] == query["creator"]
        ]

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


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as running:
        yield running
