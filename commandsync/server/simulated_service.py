"""A simulation on the web: the carrier of its requests and of its state.

The rules are those of `commandsync.simulation`, which knows no server. `SimulatedService` reads a
request, lets the simulation respond, and keeps the next state in memory, under the conditions of a
bad day. `/`, which no service has, shows the lists: a browser gets a page, a program JSON.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPMethod
from secrets import token_hex

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from commandsync.pages.botpage import commands_page
from commandsync.records.texts import CommandText
from commandsync.server.bodies import LARGEST_BODY
from commandsync.server.conditions import NORMAL, Conditions
from commandsync.server.middleware import body_limit
from commandsync.server.protocol import REQUEST_SECONDS
from commandsync.simulation import exchange
from commandsync.simulation.registry import simulate


class SimulatedService:
    """A simulated service, ready to be served.

    Attributes:
        simulation: Its rules, its bot and its token.
        conditions: What is wrong with it; with the documented rate limit, if no other one is given.
        state: What it shows now. It is a value: another thread may read it.
        app: The application that answers requests.
    """

    def __init__(
        self,
        service: exchange.Service,
        *,
        bot: str | None = None,
        conditions: Conditions = NORMAL,
        choices: Mapping[str, str | None],
    ) -> None:
        """Make a new token; raises `UsageError` as `simulate`."""
        self.simulation = simulate(service, secret=token_hex(16), bot=bot, choices=choices)
        limit = conditions.rate_limit or service.rate_limit
        self.conditions = replace(conditions, rate_limit=limit)
        self.state = service.start(self.simulation)
        methods = [method.value for method in HTTPMethod]
        routes = [Route("/", self._show), Route("/{path:path}", self._respond, methods=methods)]
        self.app = Starlette(routes=routes)
        self.app.add_middleware(body_limit, size=LARGEST_BODY, seconds=REQUEST_SECONDS)
        self.conditions.install(
            self.app,
            client=lambda scope: (
                dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
            ),
            prefix=service.prefix,
            refuse=self.refuse,
            block=service.block,
        )

    def refuse(self, status: int, reason: str, seconds: int | None = None) -> Response:
        """Return a refusal as the service writes it; `seconds` is when to come back."""
        return _sent(self.simulation.refuse(status, reason, seconds))

    async def _respond(self, request: Request) -> Response:
        arrived = exchange.Request(
            method=request.method,
            path=request["path"],
            query=request.query_params,
            headers=request.headers,
            body=await request.body(),
        )
        # Nothing is awaited from here on: no other request sees the state in between.
        now = datetime.now(UTC)
        response, self.state = self.simulation.respond(arrived, self.state, now=now)
        return _sent(response)

    async def _show(self, request: Request) -> Response:
        name, state = self.simulation.service.name, self.state
        if "text/html" in request.headers.get("accept", ""):
            return Response(_page(name, state), media_type="text/html")
        shown = {"lists": state.lists, "announcements": state.announcements}
        return JSONResponse({"simulated": name, **shown})


def _sent(response: exchange.Response) -> Response:
    media_type = response.media_type
    if isinstance(response.content, str):
        media_type = "text/plain" if response.content else ""
    headers = dict(response.headers)
    return Response(response.body, response.status, headers, media_type=media_type or None)


def _page(name: str, state: exchange.State) -> str:
    """Return the HTML of the lists, each under its scope and language, and of announcements."""
    groups = {**state.lists}
    if state.announcements:
        groups["announcements"] = [*map(dict, state.announcements)]
    entries = [
        CommandText(
            name=str(entry.get("name") or entry.get("command") or entry.get("title") or ""),
            description=str(entry.get("description") or entry.get("content") or ""),
            syntax=str(entry.get("usage") or ""),
            category=key if len(groups) > 1 else "",
        )
        for key, entries in groups.items()
        for entry in entries
    ]
    return commands_page(entries, bot=f"{name}, simulated")
