"""A real HTTP server in place of GitHub's REST API: comments by page, pull requests."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.gitrepo import GitRepo
from tests.support.rawserver import Exchange, Request, SocketServer, answer
from tests.support.runner import REPOSITORY, SHA

Record = dict[str, Any]
Answer = tuple[int, Any, dict[str, str]]

JOBS_OWN = "github-actions[bot]"
_COMMENTS = re.compile(rf"/repos/{REPOSITORY}/issues/(\d+)/comments")
_COMMENT = re.compile(rf"/repos/{REPOSITORY}/issues/comments/(\d+)")
_ISSUES = re.compile(rf"/repos/{REPOSITORY}/issues(?:/(\d+))?")
_HEAD = re.compile(rf"/repos/{REPOSITORY}/git/ref/heads/(.+)")
_TREE = re.compile(rf"/repos/{REPOSITORY}/git/trees/(\w+)")
_RUNS = f"/repos/{REPOSITORY}/actions/runs"
_STATUSES = re.compile(rf"/repos/{REPOSITORY}/statuses/(\w+)")
_OBJECT = re.compile(r'(c\d+): object\(oid: "(\w+)"\)')


@dataclass
class Hub(SocketServer):
    """The server.

    Attributes:
        comments: The comments of all pull requests, in order; those of 7 unless they name another.
        issues: The issues, in order.
        checkout: The repository whose commits the branch has.
        head: The newest commit of the branch; empty for that of the checkout.
        merged: The numbers of the pull requests that each commit came with; of `SHA`, those that
            the newest one did.
        statuses: The statuses of each commit.
        runs: The runs of workflows.
        read_only: Whether all writes are answered 403.
        tells_login: Whether GraphQL says whose token it is.
        page: The most comments of a page.
        rule: Asked about each request, as method and path, before it is answered; it may answer
            itself, with a status, a content (any JSON, or bytes as they are) and headers.
    """

    comments: list[Record] = field(default_factory=list)
    issues: list[Record] = field(default_factory=list)
    checkout: Path | None = None
    head: str = ""
    merged: dict[str, list[int]] = field(default_factory=dict)
    statuses: dict[str, list[Record]] = field(default_factory=dict)
    runs: list[Record] = field(default_factory=list)
    read_only: bool = False
    tells_login: bool = True
    page: int = 100
    rule: Callable[[str], Answer | None] = lambda _: None

    @property
    def writes(self) -> list[Request]:
        """The writes of comments and issues."""
        return [request for request in super().writes if "/issues" in request.target]

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
        return status, content, {"Link": link} if link else {}

    def _usual(self, request: Request) -> tuple[int, Any, str]:
        if request.path == "/graphql":
            return self._queried(request.json["query"])
        if request.writes:
            return self._written(request)
        if match := _COMMENTS.fullmatch(request.path):
            return self._paged(match[1], request.path, int(request.query.get("page", "1")))
        return self._of_git(request)

    def _queried(self, query: str) -> tuple[int, Any, str]:
        if asked := _OBJECT.findall(query):
            return 200, {"data": {"repository": dict(map(self._commit, asked))}}, ""
        if self.tells_login:
            return 200, {"data": {"viewer": {"login": JOBS_OWN}}}, ""
        return 404, {}, ""

    def _of_git(self, request: Request) -> tuple[int, Any, str]:
        if request.path == _RUNS:
            runs = [run for run in self.runs if run["head_sha"] == request.query["head_sha"]]
            return 200, {"total_count": len(runs), "workflow_runs": runs}, ""
        if self.checkout and _HEAD.fullmatch(request.path):
            newest = self.head or GitRepo(self.checkout).git("rev-parse", "HEAD")
            return 200, {"object": {"type": "commit", "sha": newest}}, ""
        if self.checkout and (match := _TREE.fullmatch(request.path)):
            return 200, {"truncated": False, "tree": self._tree(match[1])}, ""
        return 404, {"message": "Not Found"}, ""

    def _written(self, request: Request) -> tuple[int, Any, str]:
        method, path = request.method, request.path
        if self.read_only:
            return 403, {"message": "Resource not accessible by integration"}, ""
        if method == "POST" and (match := _COMMENTS.fullmatch(path)):
            return 201, self.says(request.json["body"], on=int(match[1])), ""
        if match := _STATUSES.fullmatch(path):
            self.statuses.setdefault(match[1], []).append(request.json)
            return 201, request.json, ""
        match = _COMMENT.fullmatch(path)
        record = next((one for one in self.comments if match and one["id"] == int(match[1])), None)
        if record is None:
            return 404, {"message": "Not Found"}, ""
        if method == "DELETE":
            self.comments.remove(record)
            return 204, b"", ""
        record["body"] = request.json["body"]
        return 200, record, ""

    def _commit(self, asked: tuple[str, str]) -> tuple[str, Record]:
        """Return what GraphQL tells of a commit."""
        name, commit = asked
        numbers = self.merged.get(commit) or (self.merged.get(SHA, []) if name == "c0" else [])
        newest = {each["context"]: each for each in self.statuses.get(commit, [])}
        contexts = [
            {**each, "state": each["state"].upper(), "description": each.get("description")}
            for each in newest.values()
        ]
        requests = [{"number": number, "merged": True} for number in numbers]
        status = {"contexts": contexts} if contexts else None
        return name, {"status": status, "associatedPullRequests": {"nodes": requests}}

    def _tree(self, commit: str) -> list[Record]:
        assert self.checkout
        lines = GitRepo(self.checkout).git("ls-tree", "-r", commit).splitlines()
        records = []
        for line in lines:
            head, _, path = line.partition("\t")
            mode, kind, identifier = head.split()
            records.append({"path": path, "mode": mode, "type": kind, "sha": identifier})
        return records

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


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as running:
        yield running
