"""Services that only these tests simulate, each as a manifest declares it with `replace:`.

commandsync has no value of its own for them. Their documents differ from those of the known
services in the form of a list, in statuses and in what can be read back.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, Field, TypeAdapter

from commandsync.server.conditions import Conditions
from commandsync.simulation.exchange import (
    DEFAULT,
    Answer,
    DocumentedService,
    Request,
    Response,
    ServiceState,
    Simulation,
    check_method,
)
from commandsync.simulation.registry import SERVICES as KNOWN
from commandsync.simulation.registry import DiscordCommand, ListInterface
from commandsync.testing import SimulatedListing, service
from commandsync.testing import serve_simulation as serve_known

T = TypeVar("T")
_Body = TypeAdapter[Any]


class _LongCommand(BaseModel):
    name: Annotated[str, Field(min_length=1)]
    description: Annotated[str, Field(max_length=1_000)] = ""


class _MaxCommand(BaseModel, extra="allow"):
    name: Annotated[str, Field(min_length=1, max_length=64)]
    description: Annotated[str | None, Field(min_length=1, max_length=128)] = None


class _Wrapped(BaseModel, Generic[T]):
    commands: T


def _declared(interface: ListInterface, variable: str, lines: str) -> Callable[..., str]:
    """Return the function that makes the entry of a service with these last lines."""

    def entry(_simulation: Simulation, url: str) -> str:
        authorization = f'      authorization: "{interface.scheme}{{token}}"\n'
        replace = (
            f"    replace:\n      method: {interface.method}\n      url: {url}{interface.path}\n"
        )
        wrapped = f"{authorization}      wrap: commands\n{lines.replace('{url}', url)}"
        return f"    token_env: {variable}\n{replace}{wrapped}"

    return entry


def _service(
    name: str,
    interface: ListInterface,
    lines: str,
    *,
    prefix: str,
    answer: Answer | None = None,
    **documented: Any,  # noqa: ANN401 - fields of a service
) -> DocumentedService:
    variable = f"COMMANDSYNC_TOKEN_{name.split('.')[-2 if '.' in name else 0].upper()}"
    return DocumentedService(
        name=name,
        variable=variable,
        prefix=prefix,
        answer=answer or interface.answer,
        names_bot="{bot}" in interface.path,
        entry=_declared(interface, variable, lines),
        **documented,
    )


_EMPTY = {"empty": ("accepted", "refused")}
_ONDISCORD = ListInterface(
    path="/bot-api/bots/{bot}/commands",
    body=_Body(_Wrapped[Annotated[list[_LongCommand], Field(max_length=200)] | None]),
)
_DISQ = ListInterface(
    path="/v1/bots/{bot}/commands",
    body=_Body(_Wrapped[Annotated[list[DiscordCommand], Field(min_length=1, max_length=200)]]),
    success=(200, {"status": 200, "message": "OK"}),
    wrong=403,
)
_RADARCORD = ListInterface(
    path="/bot/{bot}/commands",
    scheme="Bearer ",
    body=_Body(_Wrapped[Annotated[list[DiscordCommand], Field(max_length=100)]]),
    success=(200, {"message": "Success"}),
    missing=400,
    wrong=400,
    unlisted=400,
)
_MAX = ListInterface(
    path="/me/commands",
    method="PATCH",
    body=_Body(_Wrapped[Annotated[list[_MaxCommand], Field(max_length=32)]]),
    success=(200, {"success": True}),
)


def _max(
    simulation: Simulation, request: Request, state: ServiceState, now: datetime
) -> tuple[Response, ServiceState]:
    """Answer as MAX: the list, and the bot of the token, which contains it."""
    if request.path != "/me":
        return _MAX.answer(simulation, request, state, now)
    check_method(request, "GET")
    _MAX.check_caller(simulation, request)
    account = {"user_id": 81204548, "first_name": "Lantern", "is_bot": True}
    return Response(200, {**account, "commands": state.lists[DEFAULT]}), state


DECLARED: Mapping[str, DocumentedService] = {
    each.name: each
    for each in (
        _service(
            "bots.ondiscord.xyz",
            _ONDISCORD,
            "      fields: {name: name, description: description, category: category}\n"
            "    limits: {description: 1000, commands: 200}\n",
            prefix="/bot-api",
            open=_EMPTY,
            rate_limit="10/hour",
        ),
        _service(
            "disq.ink",
            _DISQ,
            "    limits: {name: 32, description: 100, commands: 200}\n",
            prefix="/v1",
            refused=lambda status, reason, _: {"error": {"status": status, "message": reason}},
        ),
        _service(
            "radarcord.net",
            _RADARCORD,
            "    limits: {description: 100, commands: 100}\n",
            prefix="/bot",
            open={**_EMPTY, "scheme": ("documented", "none")},
        ),
        _service(
            "max",
            _MAX,
            "      fields: {name: name, description: description}\n"
            "      read: {url: {url}/me, list: commands, absent: empty}\n"
            "    limits: {name: 64, description: 128, commands: 32}\n",
            prefix="/me",
            answer=_max,
        ),
    )
}

SERVICES: Mapping[str, DocumentedService] = {**KNOWN, **DECLARED}


@contextmanager
def serve_simulation(
    name: str, *, bot: str | None = None, rate_limit: str | None = None, **choices: str
) -> Iterator[SimulatedListing]:
    """Do as the test kit's own function, for the services of these tests, too."""
    if name not in DECLARED:
        with serve_known(name, bot=bot, rate_limit=rate_limit, **choices) as listing:
            yield listing
        return
    conditions = Conditions(rate_limit=rate_limit)
    with service.running_simulation(DECLARED[name], bot, conditions, choices) as listing:
        yield listing
