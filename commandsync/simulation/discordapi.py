"""Discord as a service: who may ask, how often, and the lists that `serve` shows.

The answers are those of `discord`. Here are the token, the application and the servers of a caller,
and the rate limits: 50 requests in a second, and a bucket of each route that changes commands. The
documents give no numbers for buckets: clients read them from the headers, and wait.

Rules: Discord's documentation of the API version 10, "Rate Limits", "Reference".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from math import ceil

from commandsync.simulation import discord, exchange
from commandsync.simulation.discordcommands import Call, DiscordError, Limit, Lists, Window
from commandsync.simulation.exchange import DEFAULT, Request, Response, Service, Simulation, phrase

_BUCKETS = {"5/20s": Limit(5, 20.0), "1/s": Limit(1, 1.0), "none": None}
_INSTALLS = {"both": (0, 1), "guild": (0,), "user": (1,)}
_OTHER_BOT = "812045337190064139"
_USER_AGENT = re.compile(r"DiscordBot \(\S+, \S+\)")


@dataclass(frozen=True, slots=True)
class State(exchange.State):
    """What Discord keeps.

    Attributes:
        application: It and its commands; `lists` shows them by server.
        buckets: The requests of each bucket that was used.
    """

    application: discord.State = field(default_factory=lambda: discord.State(""))
    buckets: Mapping[str, Window] = field(default_factory=dict)


def _start(simulation: Simulation) -> State:
    answers = simulation.answers
    lists = Lists(
        installs=_INSTALLS[answers["installs"]],
        keeps_unknown=answers["unknown_keys"] == "kept",
    )
    application = discord.State(simulation.bot, lists=lists, name="Lantern")
    if answers["bot_id"] == "other":
        application = replace(application, bot_id=_OTHER_BOT)
    return State(application=application)


def _answer(
    simulation: Simulation, request: Request, state: exchange.State, now: datetime
) -> tuple[Response, exchange.State]:
    """Answer a caller with the token."""
    assert isinstance(state, State)  # noqa: S101 - as `_start` makes it
    call = discord.call_of(request)
    limit = _BUCKETS[simulation.answers["bucket"]]
    headers: Mapping[str, str] = {}
    try:
        _check_caller(simulation, request)
        if call is not None:
            _check_application(simulation, call, state.application)
        if call is not None and limit is not None and call.method != "GET":
            state, headers = _spend(call, limit, state, now)
    except DiscordError as error:
        return error.response, state
    if headers.get("Retry-After"):
        content = {
            "message": "You are being rate limited.",
            "retry_after": float(headers["X-RateLimit-Reset-After"]),
            "global": False,
        }
        return Response(429, content, headers=headers), state
    response, after = discord.respond(request, state.application, now=now)
    is_change = call is not None and after.registrations > state.application.registrations
    state = replace(state, application=after)
    if call is not None and is_change:
        shown = after.lists.shown(call.application, call.guild)
        state = state.with_list(shown, call.guild or DEFAULT)
    return replace(response, headers=headers), state


def _check_caller(simulation: Simulation, request: Request) -> None:
    user_agent = request.headers.get("user-agent", "")
    if simulation.answers["user_agent"] == "checked" and not _USER_AGENT.match(user_agent):
        raise DiscordError(403, 40333, "internal network error")
    if request.headers.get("authorization") != f"Bot {simulation.token}":
        raise DiscordError(401, 0, "401: Unauthorized")
    if not request.path.startswith("/api/"):
        raise DiscordError(404, 0, "404: Not Found")


def _check_application(simulation: Simulation, call: Call, known: discord.State) -> None:
    if call.application != simulation.bot:
        message = "You are not authorized to perform this action on this application"
        raise DiscordError(403, 20012, message)
    is_known = simulation.answers["servers"] == "any" and call.guild.isdecimal()
    if call.guild and not is_known and call.guild != known.guild:
        raise DiscordError(403, 50001, "Missing Access")


def _spend(
    call: Call, limit: Limit, state: State, now: datetime
) -> tuple[State, Mapping[str, str]]:
    """Return the state after a request of a bucket, and its headers: with `Retry-After` if full.

    A bucket is that of a method and a kind of path, and each server has its own.
    """
    route = f"{call.method} {bool(call.guild)} {bool(call.command_id)}"
    key = f"{route} {call.guild}"
    window = limit.window(state.buckets.get(key), now)
    is_full = window.used >= limit.most
    window = window if is_full else window.spend()
    left = limit.left(window, now)
    headers = {
        "X-RateLimit-Limit": str(limit.most),
        "X-RateLimit-Remaining": str(limit.most - window.used),
        "X-RateLimit-Reset": f"{now.timestamp() + left:.3f}",
        "X-RateLimit-Reset-After": f"{left:.3f}",
        "X-RateLimit-Bucket": sha256(route.encode()).hexdigest()[:32],
    }
    if is_full:
        headers |= {"Retry-After": str(ceil(left)), "X-RateLimit-Scope": "user"}
    return replace(state, buckets={**state.buckets, key: window}), headers


def _refused(status: int, _reason: str, seconds: int | None) -> object:
    if seconds is None:
        return {"message": f"{status}: {phrase(status)}", "code": 0}
    content = {"message": "You are being rate limited.", "retry_after": float(seconds)}
    return {**content, "global": True}


DISCORD = Service(
    name="discord",
    variable="COMMANDSYNC_TOKEN_DISCORD",
    prefix="/api",
    answer=_answer,
    start=_start,
    open={
        "bucket": tuple(_BUCKETS),
        "installs": tuple(_INSTALLS),
        "bot_id": ("same", "other"),
        "servers": ("any", "one"),
        "unknown_keys": ("dropped", "kept"),
        "user_agent": ("any", "checked"),
    },
    refused=_refused,
    rate_limit="50/second",
)
