"""Services that take the whole list of commands in one request, and do not show it to programs."""

import json
from datetime import UTC, datetime
from math import ceil
from time import monotonic
from typing import Any

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from commandsync.server.bodies import describe
from commandsync.server.simulation.bodies import ANNOUNCEMENT, Body
from commandsync.server.simulation.service import Simulation, answer

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

    return [Route(service.path, replace_list, methods=[answers.get("method", "post")])]


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
