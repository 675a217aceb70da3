"""The web server of the stand-ins, and Discord's gateway.

`Platforms` carries the pure functions of Discord and Telegram: it has their states, and answers a
connection of a program by its path. The gateway sends the events that a bot awaits at its login.
One connection is one `StandInSession`: HELLO, heartbeats, IDENTIFY (or RESUME), READY with the
shard that was asked for, the server, and, where `--say` gives a text, a message of the bot's owner.
All other messages of a program are ignored. Payloads are JSON, plain or in one stream of zlib or
zstd.

The program may be anything: the bodies of a run have a limit together, and an unreadable body is an
error of the platform.

Rules: Discord's documentation of the API version 10, "Gateway"; zstd frames: RFC 8878.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
import ssl
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import WSMsgType, web

from commandsync.recording.hosts import accept, cancelled
from commandsync.recording.programenv import application_of, without_tokens
from commandsync.simulation import discord, telegram
from commandsync.simulation.discord import FIXTURES
from commandsync.simulation.exchange import Request, Response

MOST_BODIES = 64 << 20  # bytes of all bodies of a run together
_LONGEST_ECHO = 200  # characters of a request that is named
_BOT = re.compile(r"/bot(?P<id>\d{1,15}):[^/]*/(?:test/)?(?P<method>\w+)")
_FORMS = {"multipart/form-data", "application/x-www-form-urlencoded"}
_SILENT = logging.getLogger("commandsync.recording")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
_LONGEST_HANDSHAKE = 10.0  # seconds


class Platforms:
    """The states of the platforms while a program runs, and its actions so far."""

    def __init__(
        self, of_discord: discord.ApplicationState, of_telegram: telegram.BotState
    ) -> None:
        self.discord, self.telegram = of_discord, of_telegram
        self.moments: list[float] = []  # when a list was changed, or a change refused
        self.requests: Counter[str] = Counter()  # by platform
        self.logins = 0
        self.last = 0.0  # when the program asked for something, in seconds of the event loop
        self.untrusted = 0  # connections that did not trust the certificate
        self.ended = asyncio.Event()  # the recording, for polls that wait
        self._left = MOST_BODIES
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(
            application,
            access_log=None,
            logger=_SILENT,
            shutdown_timeout=0,
            lingering_time=0,
        )

    async def serve(
        self, stack: AsyncExitStack, listening: socket.socket, context: ssl.SSLContext
    ) -> None:
        """Answer the connections of a listening socket until the stack is closed."""
        loop = asyncio.get_running_loop()
        stack.push_async_callback(self._close)
        await self._runner.setup()
        assert self._runner.server is not None  # noqa: S101 - it is set up
        server = self._runner.server

        async def begin(connection: socket.socket) -> None:
            own = socket.socket(fileno=connection.detach())  # which the transport closes
            try:
                await loop.connect_accepted_socket(
                    server, own, ssl=context, ssl_handshake_timeout=_LONGEST_HANDSHAKE
                )
            except ssl.SSLError:
                self.untrusted += 1

        task = asyncio.create_task(accept(listening, begin, lambda: len(server.connections)))
        stack.push_async_callback(cancelled, task)

    async def _close(self) -> None:
        """End each poll and connection."""
        self.ended.set()
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        # Polls go on for ever: only the first request may be one.
        if not (self.last and request.path.lower().endswith("/getupdates")):
            self.last = asyncio.get_running_loop().time()
        if request.headers.get("Upgrade", "").lower() == "websocket":
            self.logins += 1
            return await StandInSession(self).serve(request)
        body = await self._body(request)
        if matched := _BOT.fullmatch(request.path):
            self.requests["telegram"] += 1
            parameters: dict[str, Any] = {**request.query}
            with suppress(ValueError, RecursionError):
                value = json.loads(body or b"")
                parameters |= value if isinstance(value, dict) else {}
            return await self._telegram(
                telegram.BotCall(matched["id"], matched["method"], parameters)
            )
        if request.path.startswith("/api/"):
            self.requests["discord"] += 1
            if application := application_of(request.headers.get("Authorization", "")):
                # The bot is the one whose token is shown.
                self.discord = replace(self.discord, application=application)
            headers = {name.lower(): value for name, value in request.headers.items()}
            call = Request(
                method=request.method, path=request.path, query=request.query, headers=headers
            )
            return self._discord(call, body)
        named = without_tokens(f"{request.method} {request.host}{request.path}")[:_LONGEST_ECHO]
        unknown = (*self.discord.unknown, named)
        self.discord = replace(self.discord, unknown=unknown[:_LONGEST_ECHO])
        return _response(404, {"message": "404: Not Found", "code": 0})

    def _discord(self, call: Request, body: bytes | None) -> web.StreamResponse:
        before = self.discord
        if body is None and discord.is_registration(call):
            response = Response(413, {"message": "Request entity too large", "code": 40005})
            self.discord = discord.refuse(call, before, response)
        else:
            call = replace(call, body=body or b"")
            response, self.discord = discord.respond(call, before, now=datetime.now(UTC))
        after = self.discord
        if (before.registrations, before.refused) != (after.registrations, after.refused):
            self.moments.append(asyncio.get_running_loop().time())
        return _response(response.status, response.content)

    async def _telegram(self, call: telegram.BotCall) -> web.StreamResponse:
        before = self.telegram
        response, self.telegram = telegram.respond(call, before)
        after = self.telegram
        if call.method.lower() == "getupdates":
            self.logins += 1
        if (before.registrations, before.refused) != (after.registrations, after.refused):
            self.moments.append(asyncio.get_running_loop().time())
        if response.wait:
            with suppress(TimeoutError):
                async with asyncio.timeout(response.wait):
                    await self.ended.wait()
        return _response(response.status, response.body)

    async def _body(self, request: web.Request) -> bytes | None:
        """Return the body, a form as JSON; None if the bodies of the run are too large together."""
        data = bytearray()
        async for piece in request.content.iter_chunked(1 << 16):
            self._left -= len(piece)
            if self._left < 0:
                return None
            data += piece
        if request.content_type not in _FORMS:
            return bytes(data)
        texts = _form_texts(request.headers["Content-Type"], bytes(data))
        # A message of Discord with files has its text beside them.
        return texts.get("payload_json", json.dumps(texts)).encode("utf-8", "replace")


def _response(status: int, content: object) -> web.Response:
    """Return an answer with exactly the content type that discord.py compares with."""
    if content == "":
        return web.Response(status=status)
    body = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
    return web.Response(status=status, body=body, headers={"Content-Type": "application/json"})


def _form_texts(kind: str, data: bytes) -> dict[str, str]:
    """Return the texts of a form, without its files."""
    if kind.startswith("application/"):
        return dict(parse_qsl(data.decode("utf-8", "replace"), keep_blank_values=True))
    head = f"Content-Type: {kind}\r\n\r\n".encode("utf-8", "replace")
    fields = {}
    for part in BytesParser(policy=HTTP).parsebytes(head + data).iter_parts():
        disposition = part["Content-Disposition"]
        if disposition and "filename" not in disposition.params and "name" in disposition.params:
            content = part.get_payload(decode=True)
            text = content.decode("utf-8", "replace") if isinstance(content, bytes) else ""
            fields[disposition.params["name"]] = text
    return fields


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


class StandInSession:
    """One connection of a program to the gateway."""

    def __init__(self, platforms: Platforms) -> None:
        self._platforms = platforms
        self._socket = web.WebSocketResponse(compress=False, max_msg_size=_LARGEST_PAYLOAD)
        self._sequence = 0
        self._encode: Callable[[str], str | bytes] = plain

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Answer the connection until it is closed."""
        if encoder := _ENCODERS.get(request.query.get("compress", "")):
            self._encode = encoder()
        await self._socket.prepare(request)
        tasks = set[asyncio.Task[None]]()
        with suppress(ConnectionError):
            await self._send(_HELLO, {"heartbeat_interval": _INTERVAL})
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
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            await self._socket.close(code=4002, message=b"Error while decoding payload.")
            return
        content = content if isinstance(content, dict) else {}
        if operation == _HEARTBEAT:
            await self._send(_ACKNOWLEDGED, None)
        elif operation == _IDENTIFY:
            shard, say = _shard(content), self._platforms.telegram.say
            await self._ready(shard)
            if say is not None and not shard[0] and not tasks:
                tasks.add(asyncio.create_task(self._say(say)))
        elif operation == _RESUME:
            await self._dispatch("RESUMED", {})
        elif operation == _MEMBERS:
            await self._dispatch("GUILD_MEMBERS_CHUNK", self._members(content))

    async def _ready(self, shard: list[int]) -> None:
        state = self._platforms.discord
        is_first = not shard[0]  # the server belongs to the first one
        application = {"id": state.application, "flags": FIXTURES["application"]["flags"]}
        await self._dispatch(
            "READY",
            {
                "v": 10,
                "user": state.bot,
                "guilds": [{"id": state.guild, "unavailable": True}] if is_first else [],
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
        if is_first:
            members = [state.member(FIXTURES["owner"]), state.member(state.bot)]
            more = {"channels": [state.channel], "members": members}
            event = {**state.guild_object, **FIXTURES["guild_create"], **more}
            await self._dispatch("GUILD_CREATE", event)

    async def _say(self, text: str) -> None:
        await asyncio.sleep(_SAID_AFTER)
        state, owner = self._platforms.discord, FIXTURES["owner"]
        member = {k: v for k, v in state.member(owner).items() if k != "user"}
        place = {"guild_id": state.guild, "member": member}
        with suppress(ConnectionError):
            await self._dispatch("MESSAGE_CREATE", {**state.message(text, owner), **place})

    def _members(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        state = self._platforms.discord
        members = [state.member(user) for user in (FIXTURES["owner"], state.bot)]
        nonce = {"nonce": asked["nonce"]} if asked.get("nonce") else {}
        chunk = {"chunk_index": 0, "chunk_count": 1, "not_found": [], "presences": []}
        return {"guild_id": state.guild, "members": members, **chunk, **nonce}

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


def _shard(identified: Mapping[str, Any]) -> list[int]:
    """Return the number of the shard that logs in, and the number of shards."""
    given = identified.get("shard")
    is_pair = isinstance(given, list) and len(given) == 2  # noqa: PLR2004 - a pair
    if is_pair and all(isinstance(each, int) for each in given):  # type: ignore[union-attr]
        return [*given]  # type: ignore[misc]
    return [0, 1]
