"""Requests to a simulation, as any client would send them."""

import json
from typing import Any, NamedTuple

from commandsync.testing import SimulatedListing
from tests.support.callers import Caller

PING = {"name": "ping", "description": "Says pong.", "type": 1}
TELEGRAM_PING = {"command": "ping", "description": "Says pong."}
PATHS = {
    "top.gg": "/api/v1/projects/@me/commands",
    "discordbotlist.com": "/api/v1/bots/{bot}/commands",
    "telegram": "/bot{token}/setMyCommands",
    "bots.ondiscord.xyz": "/bot-api/bots/{bot}/commands",
    "disq.ink": "/v1/bots/{bot}/commands",
    "radarcord.net": "/bot/{bot}/commands",
}
SCHEMES = {"top.gg": "Bearer ", "discordbotlist.com": "Bot ", "radarcord.net": "Bearer "}
BARE = {"top.gg", "discordbotlist.com"}  # the list alone; the others have it under `commands`


class Reply(NamedTuple):
    """An answer; the content is decoded JSON, or text."""

    status: int
    content: Any
    headers: dict[str, str]


def ask(
    listing: SimulatedListing, method: str, path: str, body: object = None, **headers: str
) -> Reply:
    """Send a request with exactly these headers; what is not bytes is sent as JSON."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    headers_sent = {"Content-Type": "application/json", **sent}
    status, content, got = Caller(listing.base_url, "", "").raw(method, path, data, headers_sent)
    is_json = "json" in got.get("content-type", "")
    return Reply(status, json.loads(content) if is_json else content.decode(), got)


def send(listing: SimulatedListing, records: object, *, method: str = "", **headers: str) -> Reply:
    """Send a list, or a body of bytes, as the documents of the service have it, with the token."""
    service = listing.service
    token = f"{SCHEMES.get(service, '')}{listing.token}"
    is_whole = service in BARE or isinstance(records, bytes)
    method = method or ("PUT" if service == "top.gg" else "POST")
    path = PATHS[service].format(bot=listing.bot, token=listing.token)
    body = records if is_whole else {"commands": records}
    return ask(listing, method, path, body, **{"Authorization": token} | headers)


def pings(service: str, number: int = 1) -> list[dict[str, Any]]:
    """Return as many commands as a service accepts them."""
    key = "command" if service == "telegram" else "name"
    ping = TELEGRAM_PING if service == "telegram" else PING
    return [{**ping, key: f"ping{each}"} for each in range(number)]


def call(listing: SimulatedListing, method: str, **parameters: object) -> Reply:
    """Call a method of Telegram, with the token."""
    return ask(listing, "POST", f"/bot{listing.token}/{method}", parameters)
