"""GitHub's API: the calls for comments and for files of the base branch."""

from __future__ import annotations

import http.client
import json
import re
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from commandsync import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECONDS = 15.0  # per request
_MOST_BYTES = 16 * 2**20
_MOST_PAGES = 50
_PER_PAGE = 100
_NEXT = re.compile(r'<([^>]*)>;\s*rel="next"')
_MAY_WRITE = "the job needs `permissions: pull-requests: write`; a fork's job never has it"


class GitHubError(Exception):
    """A call of GitHub failed, by its HTTP status, or 0 where there was no answer.

    This never fails the run, so it is not a `CommandsyncError`.
    """

    def __init__(self, message: str, *, status: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.status = status


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token would be sent to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


@dataclass(frozen=True, slots=True)
class GitHub:
    """A client of GitHub's API: REST at `url`, and GraphQL."""

    url: str
    token: str = field(repr=False)
    graphql: str = ""

    def get(self, path: str) -> Any:  # noqa: ANN401 - any JSON
        """Read a resource."""
        return self._send("GET", self.url + path)[0]

    def pages(self, path: str) -> Iterator[Any]:
        """Read a whole list, page by page."""
        url = f"{self.url}{path}?per_page={_PER_PAGE}"
        for number in range(2, _MOST_PAGES + 2):
            content, links = self._send("GET", url)
            if not isinstance(content, list):
                raise GitHubError("GitHub did not answer with a list")
            yield from content
            following = _NEXT.search(links)
            if following and following[1].startswith(f"{self.url}/"):
                url = following[1]
            elif not links and len(content) >= _PER_PAGE:
                url = f"{self.url}{path}?per_page={_PER_PAGE}&page={number}"
            else:
                return

    def post(self, path: str, body: dict[str, Any]) -> Any:  # noqa: ANN401 - as above
        """Create a resource."""
        return self._send("POST", self.url + path, body)[0]

    def patch(self, path: str, body: dict[str, Any]) -> Any:  # noqa: ANN401 - as above
        """Change a resource."""
        return self._send("PATCH", self.url + path, body)[0]

    def login(self) -> str:
        """Return the login of the token; only GraphQL has that for every kind of token."""
        if not self.graphql:
            return ""
        content = self._send("POST", self.graphql, {"query": "query { viewer { login } }"})[0]
        try:
            return str(content["data"]["viewer"]["login"])
        except (KeyError, TypeError):
            return ""

    def _send(self, method: str, url: str, body: dict[str, Any] | None = None) -> tuple[Any, str]:
        """Send one request; return the JSON of the answer, and its `Link` header."""
        if not url.startswith(("https://", "http://")):
            raise GitHubError("GITHUB_API_URL is not a URL")
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
            url,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "User-Agent": f"commandsync/{__version__}",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        opener = urllib.request.build_opener(_NoRedirects)
        try:
            with opener.open(request, timeout=_SECONDS) as answer:
                return json.loads(answer.read(_MOST_BYTES) or b"null"), answer.headers["Link"] or ""
        except urllib.error.HTTPError as error:
            error.close()
            hint = _MAY_WRITE if error.code in {401, 403, 404} else ""
            message = f"GitHub answers {error.code}"
            raise GitHubError(message, status=error.code, hint=hint) from None
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            reason = getattr(error, "reason", error)
            raise GitHubError(f"no answer from GitHub: {reason}") from None
