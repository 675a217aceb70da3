"""The services that can be simulated, each from its documents, as of November 2026."""

from collections.abc import Mapping

from commandsync.server.simulation import bodies
from commandsync.server.simulation.replacing import list_routes, project_routes
from commandsync.server.simulation.service import SimulatedService, phrase
from commandsync.server.simulation.telegram import refused, telegram_routes

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
    body=bodies.ONDISCORD,
    rate_limit="10/hour",
)
_DISQ = SimulatedService(
    name="disq.ink",
    variable="COMMANDSYNC_TOKEN_DISQ",
    path="/v1/bots/{bot}/commands",
    routes=list_routes,
    declared="    limits: {name: 32, description: 100, commands: 200}\n",
    body=bodies.DISQ,
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
    body=bodies.WRAPPED,
    success=(200, {"message": "Success"}),
    missing=400,
    wrong=400,
    unlisted=400,
)

SERVICES: Mapping[str, SimulatedService] = {
    service.name: service
    for service in (_TOPGG, _DISCORDBOTLIST, _TELEGRAM, _ONDISCORD, _DISQ, _RADARCORD)
}
