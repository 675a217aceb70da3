"""The services that can be simulated, by their names, and the lists of Discord bots among them.

top.gg and discordbotlist.com take the whole list of commands in one request, as Discord itself has
it, and do not show it to programs. `ListInterface` is that request. top.gg also has the project of
the token, and one announcement in four hours.

`simulate` decides the open questions of a service: the result is its simulation.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from commandsync.errors import UsageError
from commandsync.simulation.discord import DISCORD
from commandsync.simulation.exchange import (
    DocumentedService,
    RefusalError,
    Request,
    Response,
    ServiceState,
    Simulation,
    check_method,
    phrase,
)
from commandsync.simulation.telegram import TELEGRAM

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


class _Announcement(BaseModel):
    title: Annotated[str, Field(min_length=3, max_length=100)]
    content: Annotated[str, Field(min_length=10, max_length=2_000)]
    category: Literal["announcement", "event", "new_feature"]


DiscordCommand = _ChatCommand | _MenuCommand
"""A command by Discord's rules for names, descriptions and sub-commands."""

_DISCORD_LIST = TypeAdapter[Any](Annotated[list[DiscordCommand], Field(max_length=100)])
_ANNOUNCEMENT = TypeAdapter[Any](_Announcement)
_SUCCESS = {"json": (200, {"success": True}), "text": (200, "OK"), "none": (200, "")}
_BETWEEN_ANNOUNCEMENTS = 4 * 3_600.0  # seconds
_MOST_PROBLEMS = 3  # of a body that a refusal names


@dataclass(frozen=True, slots=True, kw_only=True)
class ListInterface:
    """The request by which a service replaces the list of a bot."""

    path: str  # with `{bot}` for the bot's id
    method: str = "POST"
    scheme: str = ""  # the text before the token in `Authorization`
    body: TypeAdapter[Any] = _DISCORD_LIST  # a list, or an object with `commands`
    success: tuple[int, object] = (204, "")  # the status and the content of the answer
    missing: int = 401  # the status without a token
    wrong: int = 401  # the status with a wrong token
    unlisted: int = 404  # the status of another bot
    invalid: int = 400  # the status of a body that is refused

    def answer(
        self, simulation: Simulation, request: Request, state: ServiceState, _now: datetime
    ) -> tuple[Response, ServiceState]:
        """Replace the list; there is no other path."""
        path = re.escape(self.path).replace(re.escape("{bot}"), "(?P<bot>[^/]+)")
        named = re.fullmatch(path, request.path)
        if named is None:
            raise RefusalError(404)
        check_method(request, simulation.answers.get("method", self.method).upper())
        self.check_caller(simulation, request, **named.groupdict())
        content = self.content(request, self.body)
        records = content if isinstance(content, list) else content["commands"] or []
        if not records and simulation.answers.get("empty") == "refused":
            raise RefusalError(self.invalid, "the list must not be empty")
        success = _SUCCESS.get(simulation.answers.get("success", ""), self.success)
        return Response(*success), state.with_list(records)

    def check_caller(self, simulation: Simulation, request: Request, bot: str = "") -> None:
        """Raise `RefusalError` without the token, or if a path names another bot."""
        answers = simulation.answers
        scheme = "" if answers.get("scheme") == "none" else self.scheme
        given = request.headers.get("authorization")
        if not given:
            raise RefusalError(int(answers.get("unauthorized", self.missing)), "a token is needed")
        if given != f"{scheme}{simulation.token}":
            raise RefusalError(
                int(answers.get("unauthorized", self.wrong)), "the token is not valid"
            )
        if bot not in {"", simulation.bot}:
            raise RefusalError(self.unlisted, "the bot is not listed")

    def content(self, request: Request, body: TypeAdapter[Any]) -> Any:  # noqa: ANN401 - JSON
        """Return the content of a body as it came; raises `RefusalError` if it is not valid."""
        try:
            body.validate_json(request.body)
        except ValidationError as error:
            problems = error.errors(include_url=False)[:_MOST_PROBLEMS]
            reasons = (
                f"{'.'.join(map(str, problem['loc'])) or 'the body'}: {problem['msg']}"
                for problem in problems
            )
            raise RefusalError(self.invalid, "; ".join(reasons)) from error
        return json.loads(request.body)


_PROJECT = "/api/v1/projects/@me"
_TOP_GG_LIST = ListInterface(path=f"{_PROJECT}/commands", scheme="Bearer ", invalid=422)


def _top_gg(
    simulation: Simulation, request: Request, state: ServiceState, now: datetime
) -> tuple[Response, ServiceState]:
    """Answer as top.gg: the list, the project of the token, and its announcements."""
    if request.path == _PROJECT:
        check_method(request, "GET")
        _TOP_GG_LIST.check_caller(simulation, request)
        # The id is the service's own number of the project, not the bot's id.
        return Response(200, {"id": "934871250017923072", "name": "Lantern", "type": "bot"}), state
    if request.path != f"{_PROJECT}/announcements":
        return _TOP_GG_LIST.answer(simulation, request, state, now)
    check_method(request, simulation.answers.get("announcements", "post").upper())
    _TOP_GG_LIST.check_caller(simulation, request)
    content = _TOP_GG_LIST.content(request, _ANNOUNCEMENT)
    if state.announced is not None:
        left = ceil(_BETWEEN_ANNOUNCEMENTS - (now - state.announced).total_seconds())
        if left > 0:
            raise RefusalError(429, "one announcement in 4 hours", left, Retry_After=str(left))
    kept = {name: content[name] for name in ("title", "content")}
    created = {**kept, "created_at": now.isoformat(timespec="milliseconds")}
    return Response(200, created), state.with_announcement(content, now)


def _problem(status: int, reason: str, seconds: int | None) -> object:
    if seconds is not None:
        return {"retry-after": seconds}
    return {"type": "about:blank", "title": phrase(status), "status": status, "detail": reason}


_EMPTY = {"empty": ("accepted", "refused")}
_UNAUTHORIZED = {"unauthorized": ("401", "400")}

TOP_GG = DocumentedService(
    name="top.gg",
    variable="COMMANDSYNC_TOKEN_TOPGG",
    prefix="/api",
    answer=_top_gg,
    open={
        **_EMPTY,
        "method": ("put", "post"),
        "announcements": ("post", "put"),
        **_UNAUTHORIZED,
        "retry_after": ("body", "header"),
    },
    refused=_problem,
    refusal_type="application/problem+json",
    rate_limit="100/second",
    block=3_600,
)
DISCORDBOTLIST = DocumentedService(
    name="discordbotlist.com",
    variable="COMMANDSYNC_TOKEN_DISCORDBOTLIST",
    prefix="/api",
    answer=ListInterface(path="/api/v1/bots/{bot}/commands", scheme="Bot ").answer,
    open={
        **_EMPTY,
        "scheme": ("documented", "none"),
        **_UNAUTHORIZED,
        "success": ("json", "text", "none"),
        "retry_after": ("header", "none"),
    },
    names_bot=True,
)


SERVICES: Mapping[str, DocumentedService] = {
    service.name: service for service in (TOP_GG, DISCORDBOTLIST, TELEGRAM, DISCORD)
}


def service_named(name: str) -> DocumentedService:
    """Return a service that can be simulated; raises `UsageError` if there is none."""
    if name not in SERVICES:
        message = f"{name!r} is not a service that can be simulated"
        raise UsageError(message, hint=f"use {', '.join(SERVICES)}")
    return SERVICES[name]


def simulate(
    service: DocumentedService,
    *,
    secret: str,
    bot: str | None = None,
    choices: Mapping[str, str | None],
) -> Simulation:
    """Return a simulation of a service, with the id of its bot.

    The token contains the `secret`. `choices` are answers to the open questions of the documents;
    None for the default. Raises `UsageError` if there is no such answer.
    """
    given = {question: text for question, text in choices.items() if text is not None}
    for question, text in given.items():
        if text not in service.open.get(question, ()):
            known = "; ".join(f"{name}: {', '.join(texts)}" for name, texts in service.open.items())
            raise UsageError(
                f"{text!r} is not a valid value of {question!r} for {service.name}",
                hint=f"its documents leave open: {known or 'nothing'}",
            )
    answers = {question: default for question, (default, *_) in service.open.items()} | given
    bot = bot or service.bot
    token = service.token.format(bot=bot, secret=secret)
    return Simulation(service=service, answers=answers, bot=bot, token=token)
