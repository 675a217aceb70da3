"""The web server of the stand-ins, and its WebSocket, the gateway of Discord.

All of the platforms' hosts arrive at one socket with TLS. Discord's paths begin with `/api`,
Telegram's with `/bot` and the token: both are answered by values (`discordrest`, `telegrambot`). A
request that no stand-in knows is 404, and is named with `-v`. No header and no token is kept or
shown.

The gateway is at `/`. It says READY, so that a bot that logs in registers. One connection is one
`Session`: HELLO, heartbeats, IDENTIFY (or RESUME), READY with the shard that was asked for, the
server, and, where `--say` gives a text, a message of the bot's owner. What a session sends beside
that is passed over. Payloads are JSON, plain or in one stream of zlib or zstd.

Rules: Discord's documentation of the API version 10, "Gateway"; zstd frames: RFC 8878.
"""

from __future__ import annotations

import asyncio
import json
import re
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import WSMsgType, web

from commandsync.record.discordrest import FIXTURES, Asked, Discord
from commandsync.record.programenv import application_of
from commandsync.record.telegrambot import Telegram

_LARGEST_BODY = 16 << 20  # bytes of a request's body
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

    application = web.Application(client_max_size=_LARGEST_BODY)
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


_DISPATCH, _HEARTBEAT, _IDENTIFY, _RESUME, _MEMBERS, _HELLO, _ACKNOWLEDGED = 0, 1, 2, 6, 8, 10, 11
_INTERVAL = 41_250  # milliseconds between heartbeats, as Discord asks for
_SAID_AFTER = 1.0  # seconds after READY: a program prepares its handlers
_LARGEST_PAYLOAD = 1 << 20  # bytes of one payload
_RAW_BLOCK = 1 << 16  # bytes; a block of a zstd frame has at most 128 KiB
_ZSTD_HEAD = b"\x28\xb5\x2f\xfd\x00\x70"  # a frame with a window of 16 MiB, of unknown length


def plain(payload: str) -> str:
    """Return a payload as a text frame."""
    return payload


def zlib_stream() -> Callable[[str], bytes]:
    """Return an encoder into one zlib stream, flushed after each payload."""
    stream = zlib.compressobj()
    return lambda payload: stream.compress(payload.encode()) + stream.flush(zlib.Z_SYNC_FLUSH)


def zstd_stream() -> Callable[[str], bytes]:
    """Return an encoder into one zstd frame of raw blocks, which needs no library."""
    head = [_ZSTD_HEAD]

    def encode(payload: str) -> bytes:
        data, blocks = payload.encode(), head.copy()
        head.clear()
        for start in range(0, len(data), _RAW_BLOCK):
            block = data[start : start + _RAW_BLOCK]
            blocks += [struct.pack("<I", len(block) << 3)[:3], block]
        return b"".join(blocks)

    return encode


_ENCODERS: Mapping[str, Callable[[], Callable[[str], bytes]]] = {
    "zlib-stream": zlib_stream,
    "zstd-stream": zstd_stream,
}


class Session:
    """One connection of a program to the gateway."""

    def __init__(self, discord: Discord, say: str | None) -> None:
        self._discord, self._say = discord, say
        self._socket = web.WebSocketResponse(compress=False, max_msg_size=_LARGEST_PAYLOAD)
        self._sequence = 0
        self._encode: Callable[[str], str | bytes] = plain

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Answer the connection until it is closed."""
        if made := _ENCODERS.get(request.query.get("compress", "")):
            self._encode = made()
        await self._socket.prepare(request)
        await self._send(_HELLO, {"heartbeat_interval": _INTERVAL})
        tasks = set[asyncio.Task[None]]()
        async for message in self._socket:
            if message.type in {WSMsgType.TEXT, WSMsgType.BINARY}:
                await self._answer(message.data, tasks)
        for task in tasks:
            task.cancel()
        return self._socket

    async def _answer(self, data: str | bytes, tasks: set[asyncio.Task[None]]) -> None:
        try:
            payload = json.loads(data)
            operation, content = payload["op"], payload.get("d")
        except (ValueError, TypeError, KeyError):
            await self._socket.close(code=4002, message=b"Error while decoding payload.")
            return
        if operation == _HEARTBEAT:
            await self._send(_ACKNOWLEDGED, None)
        elif operation == _IDENTIFY:
            await self._ready(content)
            if self._say is not None and _first_shard(content):
                tasks.add(asyncio.create_task(self._say_text(self._say)))
        elif operation == _RESUME:
            await self._dispatch("RESUMED", {})
        elif operation == _MEMBERS:
            await self._dispatch("GUILD_MEMBERS_CHUNK", self._members(content))

    async def _ready(self, identified: Mapping[str, Any]) -> None:
        guild = self._discord.guild
        first = _first_shard(identified)
        shard = identified.get("shard") or [0, 1]
        application = {"id": self._discord.application, "flags": FIXTURES["application"]["flags"]}
        await self._dispatch(
            "READY",
            {
                "v": 10,
                "user": self._discord.bot,
                "guilds": [{"id": guild, "unavailable": True}] if first else [],
                "private_channels": [],
                "relationships": [],
                "session_id": f"recording-{shard[0]}",
                "session_type": "normal",
                "resume_gateway_url": "wss://gateway.discord.gg",
                "shard": shard,
                "application": application,
                "_trace": [],
            },
        )
        if first:
            members = [
                self._discord.member(FIXTURES["owner"]),
                self._discord.member(self._discord.bot),
            ]
            more = {"channels": [self._discord.channel], "members": members}
            await self._dispatch(
                "GUILD_CREATE", {**self._discord.guild_object, **FIXTURES["guild_create"], **more}
            )

    async def _say_text(self, text: str) -> None:
        await asyncio.sleep(_SAID_AFTER)
        owner = FIXTURES["owner"]
        message = self._discord.message(text, owner)
        member = {k: v for k, v in self._discord.member(owner).items() if k != "user"}
        place = {"guild_id": self._discord.guild, "member": member}
        await self._dispatch("MESSAGE_CREATE", {**message, **place})

    def _members(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        members = [self._discord.member(user) for user in (FIXTURES["owner"], self._discord.bot)]
        nonce = {"nonce": asked["nonce"]} if asked.get("nonce") else {}
        chunk = {"chunk_index": 0, "chunk_count": 1, "not_found": [], "presences": []}
        return {"guild_id": self._discord.guild, "members": members, **chunk, **nonce}

    async def _dispatch(self, event: str, content: Mapping[str, Any]) -> None:
        self._sequence += 1
        await self._send(_DISPATCH, content, s=self._sequence, t=event)

    async def _send(self, operation: int, content: object, **more: object) -> None:
        payload = {"op": operation, "d": content, "s": None, "t": None, **more}
        encoded = self._encode(json.dumps(payload))
        if isinstance(encoded, str):
            await self._socket.send_str(encoded)
        else:
            await self._socket.send_bytes(encoded)


def _first_shard(identified: Mapping[str, Any]) -> bool:
    """Whether the server belongs to the shard that identifies: it is in the first one."""
    return not (identified.get("shard") or [0])[0]
