"""The services that can be simulated, each from its documents, as of November 2026.

Most services take the whole list of commands in one request, and do not show it to programs.
Telegram has lists by scope and language, which can be read. `SERVICES` describes each of them,
`simulate` decides what the documents of one leave open, and `application` is what then answers
requests, under the conditions of a bad day.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from math import ceil
from secrets import token_hex
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from commandsync.errors import UsageError
from commandsync.pages.botpage import commands_page
from commandsync.records.texts import CommandText
from commandsync.server import simulated_service
from commandsync.server.bodies import LARGEST_BODY, describe
from commandsync.server.conditions import NORMAL, Conditions
from commandsync.server.middleware import body_limit
from commandsync.server.protocol import REQUEST_SECONDS
from commandsync.server.simulated_service import (
    ANNOUNCEMENT,
    DEFAULT,
    TELEGRAM,
    Body,
    Shown,
    SimulatedService,
    Simulation,
    answer,
    phrase,
)

_BETWEEN_ANNOUNCEMENTS = 4 * 3_600.0  # seconds
_MOST_PROBLEMS = 3  # that a refusal names
_SUCCESS = {"json": (200, {"success": True}), "text": (200, "OK"), "none": (200, "")}


def list_routes(simulation: Simulation) -> list[BaseRoute]:
    """Return the route of the request that replaces the list."""
    service, answers = simulation.service, simulation.answers

    async def replace_list(request: Request) -> Response:
        content = await _content(request, simulation, service.body)
        records = content if isinstance(content, list) else content["commands"] or []
        if not records and answers.get("empty") == "refused":
            raise HTTPException(service.invalid, "the list must not be empty")
        simulation.shown.put(records)
        return answer(*_SUCCESS.get(answers.get("success", ""), service.success))

    return [Route(service.path, replace_list, methods=[answers.get("method", service.method)])]


def project_routes(simulation: Simulation) -> list[BaseRoute]:
    """Return the routes of top.gg: the list, the project of the token, and its announcements."""
    posted: list[float] = []

    async def project(request: Request) -> Response:
        _check_caller(request, simulation)
        # The id is the service's own number of the project, not that of the bot.
        return answer(200, {"id": "934871250017923072", "name": "Lantern", "type": "bot"})

    async def post_announcement(request: Request) -> Response:
        content = await _content(request, simulation, ANNOUNCEMENT)
        left = ceil(posted[-1] + _BETWEEN_ANNOUNCEMENTS - monotonic()) if posted else 0
        if left > 0:
            refusal = simulation.refuse(429, "one announcement in 4 hours", left)
            refusal.headers["Retry-After"] = str(left)
            return refusal
        posted.append(monotonic())
        simulation.shown.announcements.appendleft(content)
        created = datetime.now(UTC).isoformat(timespec="milliseconds")
        kept = {name: content[name] for name in ("title", "content")}
        return answer(200, {**kept, "created_at": created})

    return [
        *list_routes(simulation),
        Route("/api/v1/projects/@me", project),
        Route("/api/v1/projects/@me/announcements", post_announcement, methods=["POST"]),
    ]


def max_routes(simulation: Simulation) -> list[BaseRoute]:
    """Return the routes of MAX: the list, and the bot of the token, which contains it."""

    async def me(request: Request) -> Response:
        _check_caller(request, simulation)
        account = {"user_id": 81204548, "first_name": "Lantern", "is_bot": True}
        return answer(200, {**account, "commands": simulation.shown.read()})

    return [*list_routes(simulation), Route("/me", me)]


def _check_caller(request: Request, simulation: Simulation) -> None:
    service, answers = simulation.service, simulation.answers
    scheme = "" if answers.get("scheme") == "none" else service.scheme
    given = request.headers.get("authorization")
    if not given:
        raise HTTPException(int(answers.get("unauthorized", service.missing)), "a token is needed")
    if given != f"{scheme}{simulation.token}":
        status = int(answers.get("unauthorized", service.wrong))
        raise HTTPException(status, "the token is not valid")
    if request.path_params.get("bot", simulation.bot) != simulation.bot:
        raise HTTPException(service.unlisted, "the bot is not listed")


async def _content(request: Request, simulation: Simulation, body: Body) -> Any:  # noqa: ANN401 - JSON
    """Return a body as it came; raise the refusal of a caller or a body that is not valid."""
    _check_caller(request, simulation)
    text = await request.body()
    try:
        body.validate_json(text)
    except ValidationError as error:
        problems = error.errors(include_url=False)[:_MOST_PROBLEMS]
        raise HTTPException(simulation.service.invalid, describe(problems)) from error
    return json.loads(text)


_MOST_COMMANDS = 100
_TOO_MANY_BYTES = 7_876  # of the commands; the service does not document it


def telegram_routes(simulation: Simulation) -> list[BaseRoute]:
    """Return the route of all methods; it has the token in its path."""
    bot, shown = simulation.bot, simulation.shown

    async def call(request: Request) -> Response:
        token, method = (request.path_params[name] for name in ("token", "method"))
        if token != simulation.token:
            raise _failed(401 if token.startswith(f"{bot}:") else 404)
        parameters = await _parameters(request)
        result: object = True
        match method.lower():
            case "getme":
                result = {"id": int(bot), "is_bot": True, "first_name": "Lantern"}
                result |= {"username": "lantern_bot"}
            case "getmycommands":
                result = shown.read(_key(parameters))
            case "deletemycommands":
                shown.put([], _key(parameters))
            case "setmycommands":
                shown.put(_commands(parameters, simulation.answers), _key(parameters))
            case _:
                raise _failed(404)
        return answer(200, {"ok": True, "result": result})

    return [Route(simulation.service.path, call, methods=["GET", "POST"])]


def refused(status: int, reason: str, seconds: int | None) -> object:
    """Return the content of a refusal, as the documents ("Making requests") have it."""
    content = {"ok": False, "error_code": status, "description": reason}
    if seconds is None:
        return content
    content["description"] = f"{phrase(status)}: retry after {seconds}"
    return {**content, "parameters": {"retry_after": seconds}}


async def _parameters(request: Request) -> dict[str, Any]:
    """Return the parameters from the query and the body: JSON, or a form with texts of JSON."""
    body = await request.body()
    given: dict[str, Any] = {**request.query_params}
    try:
        if "json" in request.headers.get("content-type", ""):
            return given | dict(json.loads(body or "{}"))
        given |= dict(parse_qsl(body.decode()))
        for name in given.keys() & {"commands", "scope"}:
            given[name] = json.loads(given[name])
    except (TypeError, ValueError, RecursionError) as error:
        raise _bad_request("can't parse the parameters") from error
    return given


def _key(parameters: dict[str, Any]) -> str:
    """Return the key of a list: its scope, and its language where it has one."""
    scope = parameters.get("scope") or {"type": DEFAULT}
    if not isinstance(scope, dict):
        raise _bad_request("can't parse BotCommandScope")
    words = (*scope.values(), parameters.get("language_code"))
    return " ".join(str(word) for word in words if word)


def _commands(parameters: dict[str, Any], answers: Mapping[str, str]) -> list[Any]:
    """Return commands as they are stored; one wrong entry refuses all."""
    try:
        commands: list[Any] = TELEGRAM.dump_python(
            TELEGRAM.validate_python(parameters.get("commands"))
        )
    except ValidationError as error:
        raise _bad_request("BOT_COMMAND_INVALID") from error
    text = json.dumps(commands, ensure_ascii=False, separators=(",", ":"))
    size = len(text.encode("utf-8", "surrogatepass"))
    if len(commands) > _MOST_COMMANDS or size >= _TOO_MANY_BYTES:
        raise _bad_request("BOT_COMMANDS_TOO_MUCH")
    if not commands and answers["empty"] == "refused":
        raise _bad_request("the list of commands is empty")
    return commands


def _bad_request(reason: str) -> HTTPException:
    return HTTPException(400, f"Bad Request: {reason}")


def _failed(status: int) -> HTTPException:
    return HTTPException(status, phrase(status))


_EMPTY = {"empty": ("accepted", "refused")}
_UNAUTHORIZED = {"unauthorized": ("401", "400")}


def _problem(status: int, reason: str, seconds: int | None) -> object:
    if seconds is not None:
        return {"retry-after": seconds}
    return {"type": "about:blank", "title": phrase(status), "status": status, "detail": reason}


_TOPGG = SimulatedService(
    name="top.gg",
    variable="COMMANDSYNC_TOKEN_TOPGG",
    path="/api/v1/projects/@me/commands",
    routes=project_routes,
    open={**_EMPTY, "method": ("put", "post"), **_UNAUTHORIZED, "retry_after": ("body", "header")},
    scheme="Bearer ",
    invalid=422,
    refused=_problem,
    media_type="application/problem+json",
    rate_limit="100/second",
    block=3_600,
)
_DISCORDBOTLIST = SimulatedService(
    name="discordbotlist.com",
    variable="COMMANDSYNC_TOKEN_DISCORDBOTLIST",
    path="/api/v1/bots/{bot}/commands",
    routes=list_routes,
    open={
        **_EMPTY,
        "scheme": ("documented", "none"),
        **_UNAUTHORIZED,
        "success": ("json", "text", "none"),
        "retry_after": ("header", "none"),
    },
    scheme="Bot ",
)
_TELEGRAM = SimulatedService(
    name="telegram",
    variable="COMMANDSYNC_TOKEN_TELEGRAM",
    path="/bot{token}/{method}",
    routes=telegram_routes,
    open={**_EMPTY, "retry_after": ("body", "header")},
    bot="8120454873",
    token="{bot}:simulated-{secret}",  # noqa: S106 - its form
    refused=refused,
)
_ONDISCORD = SimulatedService(
    name="bots.ondiscord.xyz",
    variable="COMMANDSYNC_TOKEN_ONDISCORD",
    path="/bot-api/bots/{bot}/commands",
    routes=list_routes,
    open=_EMPTY,
    declared="      fields: {name: name, description: description, category: category}\n"
    "    limits: {description: 1000, commands: 200}\n",
    body=simulated_service.ONDISCORD,
    rate_limit="10/hour",
)
_DISQ = SimulatedService(
    name="disq.ink",
    variable="COMMANDSYNC_TOKEN_DISQ",
    path="/v1/bots/{bot}/commands",
    routes=list_routes,
    declared="    limits: {name: 32, description: 100, commands: 200}\n",
    body=simulated_service.DISQ,
    success=(200, {"status": 200, "message": "OK"}),
    wrong=403,
    refused=lambda status, reason, _: {"error": {"status": status, "message": reason}},
)
_RADARCORD = SimulatedService(
    name="radarcord.net",
    variable="COMMANDSYNC_TOKEN_RADARCORD",
    path="/bot/{bot}/commands",
    routes=list_routes,
    open={**_EMPTY, "scheme": ("documented", "none")},
    declared="    limits: {description: 100, commands: 100}\n",
    scheme="Bearer ",
    body=simulated_service.WRAPPED,
    success=(200, {"message": "Success"}),
    missing=400,
    wrong=400,
    unlisted=400,
)

_MAX = SimulatedService(
    name="max",
    variable="COMMANDSYNC_TOKEN_MAX",
    path="/me/commands",
    method="PATCH",
    routes=max_routes,
    declared="      fields: {name: name, description: description}\n"
    "      read: {url: {url}/me, list: commands, absent: empty}\n"
    "    limits: {name: 64, description: 128, commands: 32}\n",
    body=simulated_service.MAX,
    success=(200, {"success": True}),
)

SERVICES: Mapping[str, SimulatedService] = {
    service.name: service
    for service in (_TOPGG, _DISCORDBOTLIST, _TELEGRAM, _ONDISCORD, _DISQ, _RADARCORD, _MAX)
}


def simulate(
    name: str,
    *,
    bot: str | None = None,
    conditions: Conditions = NORMAL,
    choices: Mapping[str, str | None],
) -> Simulation:
    """Return a simulation of a service, such as `top.gg`, with the id of its bot.

    `choices` are answers to the open questions of its documents; None for the default. Raises
    `UsageError` if there is no such service, or no such answer.
    """
    service = SERVICES.get(name)
    if service is None:
        known = ", ".join(SERVICES)
        raise UsageError(f"{name!r} is not a service that can be simulated", hint=f"use {known}")
    given = {question: text for question, text in choices.items() if text is not None}
    _check(service, given)
    answers = {question: default for question, (default, *_) in service.open.items()} | given
    bot = bot or service.bot
    token = service.token.format(bot=bot, secret=token_hex(16))
    limited = replace(conditions, rate_limit=conditions.rate_limit or service.rate_limit)
    return Simulation(service, answers, bot, token, limited, Shown())


def application(simulation: Simulation) -> Starlette:
    """Return the application that answers requests.

    `/`, which the service does not have, shows the lists: a browser gets a page, a program JSON.
    """
    service, shown = simulation.service, simulation.shown

    async def show(request: Request) -> Response:
        if "text/html" in request.headers.get("accept", ""):
            return Response(_page(simulation), media_type="text/html")
        lists = {"lists": shown.lists(), "announcements": [*shown.announcements]}
        return answer(200, {"simulated": service.name, **lists})

    async def refuse(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - its handler
        response = simulation.refuse(error.status_code, error.detail)
        response.headers.update(error.headers or {})
        return response

    app = Starlette(
        routes=[Route("/", show), *service.routes(simulation)],
        exception_handlers={HTTPException: refuse},
    )
    app.router.redirect_slashes = False
    app.add_middleware(body_limit, size=LARGEST_BODY, seconds=REQUEST_SECONDS)
    prefix, _, _ = service.path.partition("{")
    simulation.conditions.install(
        app,
        client=lambda scope: dict(scope["headers"]).get(b"authorization", b"").decode("latin-1"),
        prefix=prefix[: prefix.find("/", 1)],
        refuse=simulation.refuse,
        block=service.block,
    )
    return app


def _page(simulation: Simulation) -> str:
    """Return the HTML of the lists, each under its scope and language, and of announcements."""
    lists, announcements = simulation.shown.lists(), [*simulation.shown.announcements]
    groups = lists | ({"announcements": announcements} if announcements else {})
    entries = [
        CommandText(
            name=str(entry.get("name") or entry.get("command") or entry.get("title") or ""),
            description=str(entry.get("description") or entry.get("content") or ""),
            syntax=str(entry.get("usage") or ""),
            category=name if len(groups) > 1 else "",
        )
        for name, entries in groups.items()
        for entry in entries
    ]
    return commands_page(entries, bot=f"{simulation.service.name}, simulated")


def _check(service: SimulatedService, choices: Mapping[str, str]) -> None:
    for question, text in choices.items():
        if text not in service.open.get(question, ()):
            known = "; ".join(f"{name}: {', '.join(texts)}" for name, texts in service.open.items())
            raise UsageError(
                f"{text!r} is not a valid value of {question!r} for {service.name}",
                hint=f"its documents leave open: {known or 'nothing'}",
            )
