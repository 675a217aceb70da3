"""GitHub's API: calls of REST and queries of GraphQL; and the part that Gitea and Forgejo have.

A call that may succeed later is sent again: after 429, a 403 that asks to wait, 5xx, and a lost
connection. If that created a comment twice, `comment` finds both when it reads them again.

Gitea and Forgejo run the same workflows, and have comments, issues and statuses in the same form,
but neither GraphQL nor deployments nor runs of workflows in GitHub's form. Their documents:
docs.gitea.com/usage/actions/comparison, docs.gitea.com/api, forgejo.org/docs/latest/user/actions.
"""

import http.client
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import sleep
from typing import Any, Literal, TypeAlias, TypeVar

from commandsync.api.credentials import redacted
from commandsync.report.lines import visible
from commandsync.version import __version__

T = TypeVar("T")

Server: TypeAlias = Literal["GitHub", "Gitea", "Forgejo"]
"""The server whose runner runs the job."""

# The authors of the comments and issues that a job's own token writes.
_AUTHORS: dict[Server, frozenset[str]] = {
    "GitHub": frozenset({"github-actions[bot]"}),
    "Gitea": frozenset({"gitea-actions"}),
    "Forgejo": frozenset({"forgejo-actions", "gitea-actions"}),  # the second of older versions
}
_PAGES: dict[Server, str] = {"GitHub": "per_page=100", "Gitea": "limit=50", "Forgejo": "limit=50"}

_SECONDS = 15.0  # per request
_MOST_BYTES = 16 * 2**20
_MOST_PAGES = 50
_NEXT = re.compile(r'<([^>]*)>;\s*rel="next"')
_BACKOFF = (1.0, 4.0)  # seconds before a call is sent again
_LONGEST_WAIT = 15.0  # seconds that GitHub may ask for: a job is paid by the minute
_LONGEST_MESSAGE = 300  # characters
_UNAUTHORIZED, _FORBIDDEN, _MISSING, _TOO_MANY, _SERVER_ERROR = 401, 403, 404, 429, 500
_PERMISSIONS = {  # by a part of the path, the first one that it has
    "/deployments": "the job needs `permissions: deployments: write` (read, if it only plans)",
    "/statuses/": "the job needs `permissions: statuses: write`",
    "/actions/": "the job needs `permissions: actions: read`",
    "/git/": "the job needs `permissions: contents: read`",
    "/comments": "the job needs `permissions: pull-requests: write`; a fork's job never has it",
    "/pulls": "the job needs `permissions: pull-requests: read`",
    "/issues": "the job needs `permissions: issues: write`",
}
_WITHOUT_DEPLOYMENTS = (
    "this server has no deployments: set COMMANDSYNC_STATE below env: of the step to a file that "
    "stays on the runner's disk"
)
_AT_OTHERS = {  # Gitea has other permissions than GitHub, and Forgejo has none
    _FORBIDDEN: "the job's token may not do this; the input github-token takes another one",
}


class GitHubError(Exception):
    """A call of GitHub failed, by its HTTP status, or 0 where there was no answer.

    This never fails the run, so it is not a `CommandsyncError`. `wait` is the seconds after
    which the same call may succeed; None if it has to be changed.
    """

    def __init__(
        self, message: str, *, status: int = 0, hint: str = "", wait: float | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.status = status
        self.wait = wait


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token would be sent to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


@dataclass(frozen=True, slots=True)
class GitHub:
    """A client of the API of GitHub, or of another server: REST at `url`, and GraphQL."""

    url: str
    token: str = field(repr=False)
    graphql: str = ""
    server: Server = "GitHub"

    @property
    def is_github(self) -> bool:
        """Whether it is GitHub, and no other server that runs its workflows."""
        return self.server == "GitHub"

    def get(self, path: str) -> Any:  # noqa: ANN401 - any JSON
        """Read a resource."""
        return self._send("GET", self.url + path)[0]

    def pages(self, path: str) -> Iterator[Any]:
        """Read a whole list, page by page."""
        url = f"{self.url}{path}{'&' if '?' in path else '?'}{_PAGES[self.server]}"
        for _ in range(_MOST_PAGES):
            content, links = self._send("GET", url)
            if not isinstance(content, list):
                raise GitHubError(f"{self.server} did not answer with a list")
            yield from content
            following = _NEXT.search(links)
            if not (following and following[1].startswith(f"{self.url}/")):
                return
            url = following[1]

    def post(self, path: str, body: Mapping[str, object]) -> Any:  # noqa: ANN401 - any JSON
        """Create a resource, and return it."""
        return self._send("POST", self.url + path, body)[0]

    def patch(self, path: str, body: Mapping[str, str]) -> None:
        """Change a resource."""
        self._send("PATCH", self.url + path, body)

    def delete(self, path: str) -> None:
        """Remove a resource; another run may have removed it already."""
        try:
            self._send("DELETE", self.url + path)
        except GitHubError as error:
            if error.status != _MISSING:
                raise

    def authors(self) -> frozenset[str]:
        """Return the logins that the author of our comments and issues may have."""
        with suppress(GitHubError):  # an old server, or a token without the right
            if login := self.login():
                return frozenset({login})
        return _AUTHORS[self.server]

    def login(self) -> str:
        """Return the login of the token; at GitHub, only GraphQL has that for every kind of it."""
        if not self.is_github:
            return known_part(self.get("/user"), "login", kind=str)
        asked = self.query("query { viewer { login } }") if self.graphql else {}
        return known_part(asked, "viewer", "login", kind=str)

    def query(self, text: str) -> dict[str, Any]:
        """Send a query of GraphQL, and return its data."""
        content = self._send("POST", self.graphql, {"query": text})[0]
        content = content if isinstance(content, dict) else {}
        data = content.get("data")
        return data if isinstance(data, dict) else {}

    def _send(
        self, method: str, url: str, body: Mapping[str, object] | None = None
    ) -> tuple[Any, str]:
        """Send a request until it is answered; return the answer's JSON and its `Link` header."""
        for backoff in _BACKOFF:
            try:
                return self._send_once(method, url, body)
            except GitHubError as error:
                if error.wait is None:
                    raise
                sleep(max(backoff, error.wait))
        return self._send_once(method, url, body)

    def _send_once(
        self, method: str, url: str, body: Mapping[str, object] | None
    ) -> tuple[Any, str]:
        if not url.startswith(("https://", "http://")):
            raise GitHubError("GITHUB_API_URL is not a URL")
        shown = None if body is None else _shown(body)  # others will read it
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
            url,
            method=method,
            data=None if shown is None else json.dumps(shown).encode(),
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
            with error:
                raise _github_error(error, url, self.server) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            wait = None if isinstance(reason, TimeoutError) else 0.0
            raise GitHubError(
                f"no answer from {self.server}: {visible(str(reason))}", wait=wait
            ) from None
        except (ValueError, RecursionError) as error:
            raise GitHubError(f"{self.server}'s answer cannot be read: {error}") from None


def _shown(value: object) -> object:
    """Return a value of JSON without tokens."""
    match value:
        case str():
            return redacted(value)
        case Mapping():
            return {key: _shown(each) for key, each in value.items()}
        case list() | tuple():
            return [_shown(each) for each in value]
        case _:
            return value


def part(content: object, *keys: str, kind: type[T]) -> T:
    """Return the part of an answer below keys; raises `GitHubError` if it is of another type."""
    for key in keys:
        content = content.get(key) if isinstance(content, Mapping) else None
    # Half of a surrogate pair is valid in JSON, and in no URL or file.
    broken = isinstance(content, str) and any("\ud800" <= sign <= "\udfff" for sign in content)
    if type(content) is not kind or broken:
        raise GitHubError(f"the server's answer cannot be read: {'.'.join(keys)} has another type")
    return content


def known_part(content: object, *keys: str, kind: type[T]) -> T:
    """Return the part as `part` does, and an empty one if the server does not know it: null."""
    *above, last = keys
    parent = known_part(content, *above, kind=dict) if above else content
    if isinstance(parent, Mapping) and parent.get(last) is None:
        return kind()
    return part(parent, last, kind=kind)


def server_of(environ: Mapping[str, str]) -> Server:
    """Return the server of a job; Forgejo's runner also sets the variable of Gitea's."""
    if environ.get("FORGEJO_ACTIONS") == "true":
        return "Forgejo"
    return "Gitea" if environ.get("GITEA_ACTIONS") == "true" else "GitHub"


def github_of(token: str, environ: Mapping[str, str]) -> GitHub | None:
    """Return the client for the server of a job; None without a token."""
    if not token:
        return None
    url = environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
    return GitHub(url, token, environ.get("GITHUB_GRAPHQL_URL", ""), server_of(environ))


def _github_error(error: urllib.error.HTTPError, url: str, server: Server) -> GitHubError:
    answer = _message(error)
    message = f"{server} answers {error.code}" + (f": {answer}" if answer else "")
    after = error.headers["Retry-After"] or ""
    asked = float(after) if re.fullmatch(r"\d{1,9}", after) else 0.0
    passing = error.code == _TOO_MANY or error.code >= _SERVER_ERROR
    if passing or (error.code == _FORBIDDEN and asked):
        if asked <= _LONGEST_WAIT:
            return GitHubError(message, status=error.code, wait=asked)
        return GitHubError(f"{message} (wait {asked:.0f} seconds)", status=error.code)
    return GitHubError(message, status=error.code, hint=_hint(error.code, answer, url, server))


def _hint(status: int, message: str, url: str, server: Server) -> str:
    if status == _UNAUTHORIZED:
        return "is the input github-token a valid token of this server?"
    if "is locked" in message:
        return "the conversation is locked; the plan is in the job's summary"
    if status not in {_FORBIDDEN, _MISSING} or "rate limit" in message.lower():
        return ""
    if server != "GitHub":
        return _WITHOUT_DEPLOYMENTS if "/deployments" in url else _AT_OTHERS.get(status, "")
    return next((hint for part, hint in _PERMISSIONS.items() if part in url), "")


def _message(error: urllib.error.HTTPError) -> str:
    """Return GitHub's message about a refusal, on one line; empty if it cannot be read."""
    try:
        message = json.loads(error.read(_MOST_BYTES))["message"]
    except (OSError, http.client.HTTPException, ValueError, TypeError, KeyError, RecursionError):
        return ""
    return visible(message)[:_LONGEST_MESSAGE] if isinstance(message, str) else ""
