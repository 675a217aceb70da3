"""A real HTTP server in place of GitHub's REST API: comments by page, pull requests, contents."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from tests.support.rawserver import Exchange, Request, SocketServer, answer
from tests.support.runner import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Record = dict[str, Any]
    Answer = tuple[int, Any, dict[str, str]]

JOBS_OWN = "github-actions[bot]"
_COMMENTS = re.compile(rf"/repos/{REPOSITORY}/issues/(\d+)/comments")
_COMMENT = re.compile(rf"/repos/{REPOSITORY}/issues/comments/(\d+)")
_ISSUES = re.compile(rf"/repos/{REPOSITORY}/issues(?:/(\d+))?")
_PULLS = re.compile(rf"/repos/{REPOSITORY}/(?:commits/(\w+)/)?pulls")
_CONTENTS = re.compile(rf"/repos/{REPOSITORY}/contents/(.*)")


@dataclass
class Hub(SocketServer):
    """The server.

    Attributes:
        comments: The comments of all pull requests, in order; those of 7 unless they name another.
        issues: The issues, in order.
        merged: The pull requests that each commit came with.
        closed: The pull requests that were closed last.
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
    closed: list[Record] = field(default_factory=list)
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

    def says(self, body: str, *, login: str = JOBS_OWN, on: int = 7) -> Record:
        """Add a comment on a pull request."""
        number = 1 + max((record["id"] for record in self.comments), default=0)
        url = f"https://github.com/{REPOSITORY}/pull/{on}#issuecomment-{number}"
        record = {
            "id": number,
            "body": body,
            "user": {"login": login},
            "html_url": url,
            "url": f"{self.url}/repos/{REPOSITORY}/issues/comments/{number}",
        }
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
        issues = _ISSUES.fullmatch(request.path)
        usual = self._of_issues(request, issues[1]) if issues else self._usual(request)
        status, content, link = usual
        return status, content, {"Link": link} if link and self.links else {}

    def _usual(self, request: Request) -> tuple[int, Any, str]:
        if request.path == "/graphql":
            login = JOBS_OWN if self.tells_login else None
            return (200, {"data": {"viewer": {"login": login}}}, "") if login else (404, {}, "")
        if request.writes:
            return self._written(request)
        if match := _COMMENTS.fullmatch(request.path):
            return self._paged(match[1], request.path, int(request.query.get("page", "1")))
        if match := _PULLS.fullmatch(request.path):
            return 200, self.merged.get(match[1], []) if match[1] else self.closed, ""
        if match := _CONTENTS.fullmatch(request.path):
            return self._content(unquote(match[1]))
        return 404, {"message": "Not Found"}, ""

    def _written(self, request: Request) -> tuple[int, Any, str]:
        method, path = request.method, request.path
        if self.read_only:
            return 403, {"message": "Resource not accessible by integration"}, ""
        if method == "POST" and (match := _COMMENTS.fullmatch(path)):
            return 201, self.says(request.json["body"], on=int(match[1])), ""
        match = _COMMENT.fullmatch(path)
        record = next((one for one in self.comments if match and one["id"] == int(match[1])), None)
        if record is None:
            return 404, {"message": "Not Found"}, ""
        if method == "DELETE":
            self.comments.remove(record)
            return 204, b"", ""
        record["body"] = request.json["body"]
        return 200, record, ""

    def _of_issues(self, request: Request, number: str | None) -> tuple[int, Any, str]:
        if not request.writes:
            return 200, [each for each in self.issues if self._asked(each, request.query)], ""
        if self.read_only:
            return 403, {"message": "Resource not accessible by integration"}, ""
        if number is None:
            return 201, self.opens(**request.json), ""
        self.issues[int(number) - 1].update(request.json)
        return 200, self.issues[int(number) - 1], ""

    @staticmethod
    def _asked(issue: Record, query: Mapping[str, str]) -> bool:
        return bool(issue["state"] == query["state"] and issue["user"]["login"] == query["creator"])

    def _paged(self, pull: str, path: str, number: int) -> tuple[int, Any, str]:
        begin = (number - 1) * self.page
        comments = [one for one in self.comments if f"/pull/{pull}#" in one["html_url"]]
        shown = comments[begin : begin + self.page]
        more = begin + self.page < len(comments)
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
