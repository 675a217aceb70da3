"""The web server around the stand-ins: which host and path is answered by which of them.

All of the platforms' hosts arrive at one socket with TLS. Discord's paths begin with `/api`,
Telegram's with `/bot` and the token, and the gateway is a WebSocket at `/`. A request that no
stand-in knows is 404, and is named with `-v`. No header and no token is kept or shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from commandsync.record.discordgateway import Session
from commandsync.record.discordrest import Asked, Discord
from commandsync.record.programenv import application_of
from commandsync.record.telegrambot import Telegram

PLATFORM_HOSTS = (
    ".discord.com",
    ".discord.gg",
    ".discordapp.com",
    ".discordapp.net",
    "api.telegram.org",
    "discord.com",
    "discord.gg",
    "discordapp.com",
)
"""The hosts that the stand-ins answer for; one that begins with a dot means all below it."""

_MOST = 16 << 20  # bytes of a request's body
_API = re.compile(r"/api(?:/v\d+)?(?=/)")
_BOT = re.compile(r"/bot(?P<id>\d+):[^/]*/(?:test/)?(?P<method>\w+)")


def stand_ins(discord: Discord, telegram: Telegram, say: str | None) -> web.Application:
    """Return the application that answers for the platforms."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await Session(discord, say).serve(request)
        if matched := _BOT.fullmatch(request.path):
            given = {**request.query, **await _parameters(request)}
            status, value = await telegram.answer(matched["id"], matched["method"], given)
            return _json(status, value)
        if matched := _API.match(request.path):
            if application := application_of(request.headers.get("Authorization", "")):
                discord.application = application  # the bot is the one whose token is shown
            body = await _parameters(request)
            asked = Asked(request.method, request.path[matched.end() :].rstrip("/"), body)
            return _json(*discord.answer(asked))
        discord.unknown.append(f"{request.method} {request.host}{request.path}")
        return _json(404, {"message": "404: Not Found", "code": 0})

    application = web.Application(client_max_size=_MOST)
    application.router.add_route("*", "/{path:.*}", answer)
    return application


def _json(status: int, value: object) -> web.Response:
    """Return an answer with exactly the content type that discord.py compares with."""
    if value is None:
        return web.Response(status=status)
    body = json.dumps(value, ensure_ascii=False).encode()
    return web.Response(status=status, body=body, headers={"Content-Type": "application/json"})


async def _parameters(request: web.Request) -> Any:  # noqa: ANN401 - any value of JSON
    """Return the body as a value: JSON, or the fields of a form."""
    if request.content_type in {"multipart/form-data", "application/x-www-form-urlencoded"}:
        return _fields(await request.post())
    text = await request.text()
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return {}


def _fields(form: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as above
    if isinstance(payload := form.get("payload_json"), str):  # a message of Discord with files
        return json.loads(payload)
    return {name: value for name, value in form.items() if isinstance(value, str)}
