"""Telegram's commands of a bot: lists by scope and language, which can be read."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from commandsync.server.simulation.bodies import TELEGRAM
from commandsync.server.simulation.service import Simulation, answer, phrase
from commandsync.server.simulation.shown import DEFAULT

_MOST_COMMANDS = 100


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
    if len(commands) > _MOST_COMMANDS:
        raise _bad_request("BOT_COMMANDS_TOO_MUCH")
    if not commands and answers["empty"] == "refused":
        raise _bad_request("the list of commands is empty")
    return commands


def _bad_request(reason: str) -> HTTPException:
    return HTTPException(400, f"Bad Request: {reason}")


def _failed(status: int) -> HTTPException:
    return HTTPException(status, phrase(status))
