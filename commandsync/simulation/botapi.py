"""Telegram's Bot API: the lists of commands by scope and language, and the bot itself.

The token is in the path. Parameters come in the query and in the body, as JSON or as a form.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import parse_qsl

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from commandsync.simulation.exchange import (
    DEFAULT,
    Records,
    RefusalError,
    Request,
    Response,
    Service,
    Simulation,
    State,
    check_method,
    phrase,
)

_MOST_COMMANDS = 100
_TOO_MANY_BYTES = 7_876  # of the commands; the service does not document it


class _TelegramCommand(BaseModel, extra="allow"):  # newer keys are kept and returned
    command: Annotated[str, Field(pattern="^[a-z0-9_]{1,32}$")]
    description: Annotated[str, Field(min_length=1, max_length=256)]


_COMMANDS = TypeAdapter(list[_TelegramCommand])


def _answer(
    simulation: Simulation, request: Request, state: State, _now: datetime
) -> tuple[Response, State]:
    """Call a method; its name may be in upper or lower case."""
    called = re.fullmatch(r"/bot(?P<token>[^/]+)/(?P<method>[^/]+)", request.path)
    if called is None:
        raise RefusalError(404)
    check_method(request, "GET", "POST")
    if called["token"] != simulation.token:
        raise RefusalError(401 if called["token"].startswith(f"{simulation.bot}:") else 404)
    parameters = _parameters(request)
    result: object = True
    match called["method"].lower():
        case "getme":
            account = {"is_bot": True, "first_name": "Lantern", "username": "lantern_bot"}
            result = {"id": int(simulation.bot), **account}
        case "getmycommands":
            result = state.lists.get(_key(parameters), [])
        case "deletemycommands":
            state = state.with_list([], _key(parameters))
        case "setmycommands":
            records = _commands(parameters, simulation.answers)
            state = state.with_list(records, _key(parameters))
        case _:
            raise RefusalError(404)
    return Response(200, {"ok": True, "result": result}), state


def _refused(status: int, reason: str, seconds: int | None) -> object:
    """Return the content of a refusal, as the documents ("Making requests") have it."""
    content = {"ok": False, "error_code": status, "description": reason}
    if seconds is None:
        return content
    content["description"] = f"{phrase(status)}: retry after {seconds}"
    return {**content, "parameters": {"retry_after": seconds}}


def _parameters(request: Request) -> dict[str, Any]:
    """Return the parameters from the query and the body: JSON, or a form with texts of JSON."""
    given: dict[str, Any] = {**request.query}
    try:
        if "json" in request.headers.get("content-type", ""):
            return given | dict(json.loads(request.body or b"{}"))
        given |= dict(parse_qsl(request.body.decode()))
        for name in given.keys() & {"commands", "scope"}:
            given[name] = json.loads(given[name])
    except (TypeError, ValueError, RecursionError) as error:
        raise _bad_request("can't parse the parameters") from error
    return given


def _key(parameters: Mapping[str, Any]) -> str:
    """Return the key of a list: its scope, and its language where it has one."""
    scope = parameters.get("scope") or {"type": DEFAULT}
    if not isinstance(scope, dict):
        raise _bad_request("can't parse BotCommandScope")
    words = (*scope.values(), parameters.get("language_code"))
    return " ".join(str(word) for word in words if word)


def _commands(parameters: Mapping[str, Any], answers: Mapping[str, str]) -> Records:
    """Return commands as they are stored; one wrong entry refuses all."""
    try:
        valid = _COMMANDS.validate_python(parameters.get("commands"))
    except ValidationError as error:
        raise _bad_request("BOT_COMMAND_INVALID") from error
    commands = [command.model_dump() for command in valid]
    text = json.dumps(commands, ensure_ascii=False, separators=(",", ":"))
    size = len(text.encode("utf-8", "surrogatepass"))
    if len(commands) > _MOST_COMMANDS or size >= _TOO_MANY_BYTES:
        raise _bad_request("BOT_COMMANDS_TOO_MUCH")
    if not commands and answers["empty"] == "refused":
        raise _bad_request("the list of commands is empty")
    return commands


def _bad_request(reason: str) -> RefusalError:
    return RefusalError(400, f"Bad Request: {reason}")


TELEGRAM = Service(
    name="telegram",
    variable="COMMANDSYNC_TOKEN_TELEGRAM",
    prefix="/bot",
    answer=_answer,
    open={"empty": ("accepted", "refused"), "retry_after": ("body", "header")},
    refused=_refused,
    bot="8120454873",
    token="{bot}:simulated-{secret}",  # noqa: S106 - its form
)
