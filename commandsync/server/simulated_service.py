"""A simulated service as a value: its documents, its bot, its lists, and the bodies it accepts.

`SimulatedService` states what the documents of a service say. A `Simulation` is one of these that
is ready to run, with what the documents leave open decided. `Shown` has its lists in memory. The
models at the beginning are the bodies that services accept.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import responses
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, Field, TypeAdapter
from starlette.responses import Response
from starlette.routing import BaseRoute

from commandsync.server.conditions import Conditions

T = TypeVar("T")

_MOST_OPTIONS = Field(max_length=25)


class _Described(BaseModel):
    name: Annotated[
        str, Field(pattern=r"^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}&&[^\p{Lu}\p{Lt}]]{1,32}$")
    ]
    description: Annotated[str, Field(min_length=1, max_length=100)]


class _CommandOption(_Described):
    type: Annotated[int, Field(ge=3)]


class _Subcommand(_Described):
    type: Literal[1]
    options: Annotated[list[_CommandOption], _MOST_OPTIONS] = []


class _CommandGroup(_Described):
    type: Literal[2]
    options: Annotated[list[_Subcommand], _MOST_OPTIONS] = []


class _ChatCommand(_Described):
    type: Literal[1] = 1
    options: Annotated[list[_Subcommand | _CommandGroup | _CommandOption], _MOST_OPTIONS] = []


class _MenuCommand(BaseModel):
    type: Literal[2, 3, 4]
    name: Annotated[str, Field(min_length=1, max_length=32)]


class _LongCommand(BaseModel):
    name: Annotated[str, Field(min_length=1)]
    description: Annotated[str, Field(max_length=1_000)] = ""


class _MaxCommand(BaseModel, extra="allow"):
    name: Annotated[str, Field(min_length=1, max_length=64)]
    description: Annotated[str | None, Field(min_length=1, max_length=128)] = None


class _TelegramCommand(BaseModel, extra="allow"):  # newer keys are kept and returned
    command: Annotated[str, Field(pattern="^[a-z0-9_]{1,32}$")]
    description: Annotated[str, Field(min_length=1, max_length=256)]


class _Announcement(BaseModel):
    title: Annotated[str, Field(min_length=3, max_length=100)]
    content: Annotated[str, Field(min_length=10, max_length=2_000)]
    category: Literal["announcement", "event", "new_feature"]


class _Wrapped(BaseModel, Generic[T]):
    commands: T


Body = TypeAdapter[Any]
_Discord = _ChatCommand | _MenuCommand
_Hundred = Annotated[list[_Discord], Field(max_length=100)]
_OneToTwoHundred = Annotated[list[_Discord], Field(min_length=1, max_length=200)]
_TwoHundredLong = Annotated[list[_LongCommand], Field(max_length=200)]
DISCORD_LIST = Body(_Hundred)
WRAPPED = Body(_Wrapped[_Hundred])
ONDISCORD = Body(_Wrapped[_TwoHundredLong | None])
MAX = Body(_Wrapped[Annotated[list[_MaxCommand], Field(max_length=32)]])
DISQ = Body(_Wrapped[_OneToTwoHundred])
TELEGRAM = Body(list[_TelegramCommand])
ANNOUNCEMENT = Body(_Announcement)


Records = list[dict[str, Any]]

DEFAULT = "default"
"""The key of the list that every service has."""

_MOST_KEPT = 100  # writes and announcements: the oldest are forgotten


class Shown:
    """The lists of one listing by their keys, and its announcements.

    Attributes:
        writes: The key and the list of each write that was accepted, the oldest first.
        announcements: What was posted, the newest first.
    """

    def __init__(self) -> None:
        self.writes = deque[tuple[str, Records]](maxlen=_MOST_KEPT)
        self.announcements = deque[dict[str, Any]](maxlen=_MOST_KEPT)
        self._lists: dict[str, Records] = {DEFAULT: []}

    def put(self, records: Records, key: str = DEFAULT) -> None:
        """Replace a list."""
        self._lists[key] = records
        self.writes.append((key, records))

    def read(self, key: str = DEFAULT) -> Records:
        """Return a list."""
        return self._lists.get(key, [])

    def lists(self) -> dict[str, Records]:
        """Return every list; there is always the default one."""
        return {**self._lists}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedService:
    """What the documents of a service say."""

    name: str
    variable: str  # the environment variable of its token
    path: str  # the path of the request that replaces the list
    method: str = "POST"  # and its method
    routes: Callable[["Simulation"], list[BaseRoute]]  # what answers the requests of a simulation
    # What the documents leave open: for each question its answers, the default first.
    open: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    declared: str = ""  # the last lines of its entry in a manifest, if commandsync does not know it
    bot: str = "812045337190064138"  # the id of the bot if no other one is given
    token: str = "simulated-{secret}"  # noqa: S105 - the form of its token, with `{bot}` too
    scheme: str = ""  # what precedes the token in `Authorization`
    body: Body = DISCORD_LIST  # that of the request: a list, or an object with `commands`
    success: tuple[int, object] = (204, "")  # the status and the content of the answer
    missing: int = 401  # the status without a token
    wrong: int = 401  # the status with a wrong token
    unlisted: int = 404  # the status of another bot
    invalid: int = 400  # the status of a body that is refused
    # Returns the content of a refusal; its arguments are those of `Simulation.refuse`.
    refused: Callable[[int, str, int | None], object] = lambda _, reason, __: {"message": reason}
    media_type: str = "application/json"  # of a refusal
    rate_limit: str | None = None  # the requests that a client may send
    block: int = 0  # seconds for which a client over this limit is refused


@dataclass(frozen=True, slots=True)
class Simulation:
    """A simulated service that is ready to run."""

    service: SimulatedService
    answers: Mapping[str, str]  # what its documents leave open, decided
    bot: str  # the id of its one bot
    token: str = field(repr=False)  # the token of this bot
    conditions: Conditions  # with its own rate limit, if no other one was given
    shown: Shown = field(repr=False)

    def manifest_lines(self, url: str) -> str:
        """Return the lines of a manifest that lead to it at a URL."""
        service = self.service
        lines = ["listings:", f"  - service: {service.name}"]
        if "{bot}" in service.path:
            lines.append(f'    bot: "{self.bot}"')
        if not service.declared:
            return "\n".join([*lines, f"    base_url: {url}\n"])
        replace = f"    replace:\n      method: {service.method}\n      url: {url}{service.path}"
        authorization = f'      authorization: "{service.scheme}{{token}}"\n      wrap: commands'
        lines += [f"    token_env: {service.variable}", replace, authorization]
        lines.append(service.declared.replace("{url}", url))
        return "\n".join(lines)

    def refuse(self, status: int, reason: str, seconds: int | None = None) -> Response:
        """Return a refusal as the service writes it; `seconds` is when to come back."""
        content = self.service.refused(status, reason, seconds)
        response = answer(status, content, self.service.media_type)
        if seconds is not None and self.answers.get("retry_after", "header") == "header":
            response.headers["Retry-After"] = str(seconds)
        return response


def answer(status: int, content: object, media_type: str = "application/json") -> Response:
    """Return an answer: JSON, or a text as it is."""
    if isinstance(content, str):
        return Response(content, status, media_type="text/plain" if content else None)
    return Response(json.dumps(content), status, media_type=media_type)


def phrase(status: int) -> str:
    """Return the name of a status."""
    return responses.get(status, "Error")
