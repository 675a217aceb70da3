"""A simulated service as an application, with a bot, a token and the conditions of a bad day."""

from collections.abc import Mapping
from dataclasses import replace
from secrets import token_hex

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commandsync.errors import UsageError
from commandsync.server.bodies import LARGEST_BODY
from commandsync.server.conditions import NORMAL, Conditions
from commandsync.server.middleware import body_limit
from commandsync.server.protocol import REQUEST_SECONDS
from commandsync.server.simulation.service import SimulatedService, Simulation, answer
from commandsync.server.simulation.services import SERVICES
from commandsync.server.simulation.shown import Shown


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
