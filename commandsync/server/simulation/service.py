"""One simulated service as a value, and a simulation of it: its bot, and what it shows."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import responses

from starlette.responses import Response
from starlette.routing import BaseRoute

from commandsync.server.conditions import Conditions
from commandsync.server.simulation.bodies import DISCORD_LIST, Body
from commandsync.server.simulation.shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedService:
    """What the documents of a service say."""

    name: str
    variable: str  # the environment variable of its token
    path: str  # the path of the request that replaces the list
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
        replace = f"    replace:\n      method: POST\n      url: {url}{service.path}"
        authorization = f'      authorization: "{service.scheme}{{token}}"\n      wrap: commands'
        lines += [f"    token_env: {service.variable}", replace, authorization, service.declared]
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
