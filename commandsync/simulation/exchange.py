"""The values of a simulation: requests, responses, the state between them, and the service itself.

A `DocumentedService` has the rules of its documents, and the questions that they leave open
(`open`). A `Simulation` is a service with one bot, and with these questions decided. Its `respond`
asks the service for an answer; where a rule raises a `RefusalError`, the state stays as it is.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from http.client import responses
from typing import Any, TypeAlias

Records: TypeAlias = list[dict[str, Any]]

DEFAULT = "default"
"""The key of the list that every service has."""

_MOST_KEPT = 100  # writes and announcements: the oldest are forgotten


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it arrived."""

    method: str
    path: str  # decoded, without the query
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)  # by their names in lower case
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Response:
    """A response; its content is a text as it is, or else a value of JSON."""

    status: int
    content: object = ""
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        """The content as it is sent."""
        is_text = isinstance(self.content, str)
        return (str(self.content) if is_text else json.dumps(self.content)).encode()


class RefusalError(Exception):
    """A request is refused; `Simulation.refuse` writes the response as the service does."""

    def __init__(
        self, status: int, reason: str = "", seconds: int | None = None, **headers: str
    ) -> None:
        self.status = status
        self.reason = reason or phrase(status)
        self.seconds = seconds  # until the client may come back
        self.headers = {name.replace("_", "-"): text for name, text in headers.items()}
        super().__init__(self.reason)


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The lists that a service shows, and the requests that wrote to it."""

    lists: Mapping[str, Records] = field(default_factory=lambda: {DEFAULT: []})  # by their keys
    writes: tuple[tuple[str, Records], ...] = ()  # key and list of each, the oldest first
    announcements: tuple[Mapping[str, Any], ...] = ()  # the newest first
    announced: datetime | None = None  # when the newest one was posted

    def with_list(self, records: Records, key: str = DEFAULT) -> "ServiceState":
        """Return the state after a list was replaced."""
        writes = (*self.writes, (key, records))[-_MOST_KEPT:]
        return replace(self, lists={**self.lists, key: records}, writes=writes)

    def with_announcement(self, content: Mapping[str, Any], at: datetime) -> "ServiceState":
        """Return the state after an announcement was posted."""
        announcements = (content, *self.announcements)[:_MOST_KEPT]
        return replace(self, announcements=announcements, announced=at)


Answer: TypeAlias = Callable[
    ["Simulation", Request, ServiceState, datetime], tuple[Response, ServiceState]
]
"""Answers a request to a simulation in a state at a time; may raise `RefusalError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedService:
    """The rules of a service's documents."""

    name: str
    variable: str  # the environment variable of its token
    prefix: str  # the beginning of the paths of its interface
    answer: Answer
    # Returns the state before any request.
    start: Callable[["Simulation"], ServiceState] = lambda _simulation: ServiceState()
    # What the documents leave open: for each question its answers, the default first.
    open: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Returns the content of a refusal; it has the arguments of `Simulation.refuse`.
    refused: Callable[[int, str, int | None], object] = lambda _status, reason, _seconds: {
        "message": reason
    }
    refusal_type: str = "application/json"  # the media type of a refusal
    refusal_headers: Mapping[str, str] = field(default_factory=dict)  # of each refusal
    bot: str = "812045337190064138"  # the id of the bot if no other one is given
    token: str = "simulated-{secret}"  # noqa: S105 - the form of its token, with `{bot}` too
    names_bot: bool = False  # whether its entry in a manifest has the bot's id
    # Returns the other lines of this entry, for a URL.
    entry: Callable[["Simulation", str], str] = lambda _simulation, url: f"    base_url: {url}\n"
    rate_limit: str | None = None  # the requests that a client may send
    block: int = 0  # seconds for which a client over this limit is refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """A simulated service with its one bot, ready to answer."""

    service: DocumentedService
    answers: Mapping[str, str]  # to the questions that its documents leave open
    bot: str
    token: str = field(repr=False)

    def respond(
        self, request: Request, state: ServiceState, *, now: datetime
    ) -> tuple[Response, ServiceState]:
        """Return the response to a request, and the state after it."""
        try:
            return self.service.answer(self, request, state, now)
        except RefusalError as refusal:
            response = self.refuse(refusal.status, refusal.reason, refusal.seconds)
            return replace(response, headers={**response.headers, **refusal.headers}), state

    def refuse(self, status: int, reason: str, seconds: int | None = None) -> Response:
        """Return a refusal as the service writes it; the client may come back after `seconds`."""
        content = self.service.refused(status, reason, seconds)
        in_header = self.answers.get("retry_after", "header") == "header"
        headers = {"Retry-After": str(seconds)} if seconds is not None and in_header else {}
        headers = {**self.service.refusal_headers, **headers}
        return Response(status, content, self.service.refusal_type, headers)

    def manifest_lines(self, url: str) -> str:
        """Return the lines of a manifest that lead to it at a URL."""
        bot = f'    bot: "{self.bot}"\n' if self.service.names_bot else ""
        entry = self.service.entry(self, url)
        return f"listings:\n  - service: {self.service.name}\n{bot}{entry}"


def check_method(request: Request, *methods: str) -> None:
    """Raise `RefusalError` if a request has none of these methods; HEAD is a kind of GET."""
    if ("GET" if request.method == "HEAD" else request.method) not in methods:
        raise RefusalError(405, Allow=", ".join(methods))


def phrase(status: int) -> str:
    """Return the name of a status."""
    return responses.get(status, "Error")
