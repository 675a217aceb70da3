"""Gitea and Forgejo in place of GitHub, as their documents of the API and of Actions describe them.

Nobody has tried this at such a server yet. Of their API it has the calls that the Action makes,
below /api/v1: comments, issues, branches, trees, statuses, and the pull request that
a commit merged. Neither GraphQL nor deployments are there, a list of comments has one page, and a
wrong path is answered 404. A job's token writes as the account of the server's actions.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.home import GitRepo
from tests.support.rawserver import Request
from tests.support.runner import REPOSITORY, Answer, Hub, Record

ACCOUNTS = {"Gitea": "gitea-actions", "Forgejo": "forgejo-actions"}
API = "/api/v1"
_NOT_FOUND: Answer = 404, {"message": "The target couldn't be found.", "errors": []}, {}
_COMMENTS = re.compile(rf"/repos/{REPOSITORY}/issues/(\d+)/comments")
_COMMENT = re.compile(rf"/repos/{REPOSITORY}/issues/comments/(\d+)")
_ISSUES = re.compile(rf"/repos/{REPOSITORY}/issues(?:/(\d+))?")
_BRANCH = re.compile(rf"/repos/{REPOSITORY}/branches/(.+)")
_TREE = re.compile(rf"/repos/{REPOSITORY}/git/trees/(\w+)")
_STATUSES = re.compile(rf"/repos/{REPOSITORY}/statuses/(\w+)")
_COMMIT = re.compile(rf"/repos/{REPOSITORY}/commits/(\w+)/(status|pull)")


@dataclass
class Gitea(Hub):
    """The server; what it holds is that of a `Hub`.

    Attributes:
        kind: Gitea or Forgejo.
        lists_user: Whether a job's token may read its account.
        files: The most files on a page of a tree.
    """

    kind: str = "Gitea"
    lists_user: bool = True
    files: int = 1000

    @property
    def account(self) -> str:
        return ACCOUNTS[self.kind]

    @property
    def ours(self) -> list[str]:
        """The bodies of the comments of the account of the server's actions."""
        return [each["body"] for each in self.comments if each["user"]["login"] == self.account]

    @property
    def variables(self) -> dict[str, str]:
        """What the runner sets in each step, in place of GitHub's values."""
        own = {"GITEA_ACTIONS": "true"} | (
            {"FORGEJO_ACTIONS": "true"} if self.kind == "Forgejo" else {}
        )
        return own | {
            "GITHUB_API_URL": f"{self.url}{API}",
            "GITHUB_GRAPHQL_URL": "",
            "GITHUB_RUN_NUMBER": "12",
            "GITHUB_SERVER_URL": self.url,
            "GITHUB_WORKFLOW_REF": "",
        }

    def _answer(self, request: Request) -> Answer:
        if (instead := self.rule(f"{request.method} {request.target}")) is not None:
            return instead
        path = urlsplit(request.target).path
        if not path.startswith(API):
            return _NOT_FOUND
        path = path.removeprefix(API)
        if request.writes and self.read_only:
            return 403, {"message": "user should have a permission to write to a repo"}, {}
        if path == "/user":
            user = {"id": -2, "login": self.account, "full_name": f"{self.kind} Actions"}
            return (200, user, {}) if self.lists_user else (403, {"message": "no scope"}, {})
        return self._of_issues_at(request, path) or self._of_commits(request, path)

    def _of_issues_at(self, request: Request, path: str) -> Answer | None:
        if match := _COMMENTS.fullmatch(path):
            return self._of_comments(request, int(match[1]))
        if match := _COMMENT.fullmatch(path):
            return self._of_comment(request, int(match[1]))
        if match := _ISSUES.fullmatch(path):
            return self._of_all_issues(request, match[1])
        return None

    def _of_commits(self, request: Request, path: str) -> Answer:
        if request.method == "POST" and (match := _STATUSES.fullmatch(path)):
            self.statuses.setdefault(match[1], []).append(request.json)
            return 201, request.json, {}
        if self.checkout and _BRANCH.fullmatch(path):
            newest = self.head or GitRepo(self.checkout).git("rev-parse", "HEAD")
            return 200, {"name": "main", "commit": {"id": newest}}, {}
        if self.checkout and (match := _TREE.fullmatch(path)):
            return 200, self._page(match[1], int(request.query.get("page", "1"))), {}
        if match := _COMMIT.fullmatch(path):
            return self._status(match[1]) if match[2] == "status" else self._pull(match[1])
        return _NOT_FOUND

    def _page(self, commit: str, page: int) -> Record:
        every, end = self._tree(commit), page * self.files
        shown = {"tree": every[end - self.files : end], "truncated": end < len(every)}
        return {**shown, "page": page, "total_count": len(every)}

    def _of_comments(self, request: Request, number: int) -> Answer:
        if request.method == "POST":
            return 201, self.says(request.json["body"], login=self.account, on=number), {}
        return 200, [each for each in self.comments if f"/pull/{number}#" in each["html_url"]], {}

    def _of_comment(self, request: Request, number: int) -> Answer:
        record = next((each for each in self.comments if each["id"] == number), None)
        if record is None:
            return _NOT_FOUND
        if request.method == "DELETE":
            self.comments.remove(record)
            return 204, b"", {}
        record["body"] = request.json["body"]
        return 200, record, {}

    def _of_all_issues(self, request: Request, number: str | None) -> Answer:
        if number is not None:
            self.issues[int(number) - 1].update(request.json)
            return 201, self.issues[int(number) - 1], {}
        if request.method == "POST":
            return 201, self.opens(**request.json, login=self.account), {}
        query = request.query
        if query.get("created_by"):  # it has no such user in its database
            return _NOT_FOUND
        return 200, [each for each in self.issues if each["state"] == query["state"]], {}

    def _status(self, commit: str) -> Answer:
        newest = {each["context"]: each for each in self.statuses.get(commit, [])}
        statuses: list[Record] = [
            {"context": each["context"], "status": each["state"]} for each in newest.values()
        ]
        return 200, {"sha": commit, "statuses": statuses or None}, {}

    def _pull(self, commit: str) -> Answer:
        numbers = self.merged.get(commit, [])
        pull: Any = {"number": numbers[0], "merged": True} if numbers else None
        return (200, pull, {}) if pull else _NOT_FOUND


@pytest.fixture(params=["Gitea", "Forgejo"])
def gitea(request: pytest.FixtureRequest) -> Iterator[Gitea]:
    with Gitea(kind=request.param) as running:
        yield running
