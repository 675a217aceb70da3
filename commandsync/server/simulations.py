"""The services that can be simulated, each from its documents (November 2026), and their start.

`simulate` chooses a service and decides what its documents leave open; `application` is what then
answers requests, under the conditions of a bad day.
"""

from collections.abc import Mapping
from dataclasses import replace
from secrets import token_hex

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commandsync.errors import UsageError
from commandsync.server import simulated_service
from commandsync.server.bodies import LARGEST_BODY
from commandsync.server.conditions import NORMAL, Conditions
from commandsync.server.middleware import body_limit
from commandsync.server.protocol import REQUEST_SECONDS
from commandsync.server.simulated_requests import (
    list_routes,
    project_routes,
    refused,
    telegram_routes,
)
from commandsync.server.simulated_service import Shown, SimulatedService, Simulation, answer, phrase

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

SERVICES: Mapping[str, SimulatedService] = {
    service.name: service
    for service in (_TOPGG, _DISCORDBOTLIST, _TELEGRAM, _ONDISCORD, _DISQ, _RADARCORD)
}


def simulate(
    name: str,
    *,
    bot: str | None = None,
    lag: float = 0,
    conditions: Conditions = NORMAL,
    choices: Mapping[str, str | None],
) -> Simulation:
    """Return a simulation of a service, such as `top.gg`, with the id of its bot.

    `choices` are answers to what its documents leave open; None for the default. Reads show a write
    after `lag` seconds. Raises `UsageError` if there is no such service, or no such answer.
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
    return Simulation(service, answers, bot, token, limited, Shown(lag=lag))


def application(simulation: Simulation) -> Starlette:
    """Return what answers requests; `/`, which the service does not have, shows the lists."""
    service, shown = simulation.service, simulation.shown

    async def show(_request: Request) -> Response:
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


def _check(service: SimulatedService, choices: Mapping[str, str]) -> None:
    for question, text in choices.items():
        if text not in service.open.get(question, ()):
            known = "; ".join(f"{name}: {', '.join(texts)}" for name, texts in service.open.items())
            raise UsageError(
                f"{text!r} is not a valid value of {question!r} for {service.name}",
                hint=f"its documents leave open: {known or 'nothing'}",
            )
