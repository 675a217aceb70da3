"""Who asks, and under which name: the address or token that limits count, and the allowed hosts."""

import re
from collections.abc import Collection
from contextlib import suppress
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from commandsync.server import tokens
from commandsync.server.endpoint import refusal

_OWN = {"127.0.0.1", "::1"}
_ABSOLUTE = re.compile(rb"(?i:https?|wss?)://([^/]*)")
_HOST = re.compile(r"(\[[^\]]*\]|[^:@]*)(?::\d*)?")


def counted(host: str) -> str | None:
    """Return what a limit counts of an address: of IPv6 its network of a site (/64).

    None for this machine, which has no limits.
    """
    if host in _OWN:
        return None
    with suppress(ValueError):
        if isinstance(ip_address(host), IPv6Address):
            return str(ip_network((host, 64), strict=False))
    return host


def address_of(scope: Scope) -> str | None:
    """Return the address that sent a request, as it is counted; None for this machine.

    Of a request from this machine, a proxy has added the sender at the end of `X-Forwarded-For`.
    """
    host, _ = scope["client"] or ("", 0)
    forwarded = dict(scope["headers"]).get(b"x-forwarded-for", b"").decode("latin-1")
    return counted(forwarded.rpartition(",")[2].strip() or host if host in _OWN else host)


def caller_of(scope: Scope) -> str | None:
    """Return who sent a request: the bot of a valid token, else the address; see `address_of`."""
    header = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
    with suppress(tokens.BadTokenError):
        return "/".join(tokens.owner_of_header(header, secret=scope["app"].state.database.secret))
    return address_of(scope)


def addressed(app: ASGIApp, *, names: Collection[str]) -> ASGIApp:
    """Answer 421 to a host that is not an IP address, `localhost` or one of these names.

    Another site could lead a browser here by a name of its own (DNS rebinding). A request with a
    whole URL is answered as one for its path.
    """
    allowed = {"localhost", *(name.lower() for name in names)}

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            scope = _with_path(scope)
            host = dict(scope["headers"]).get(b"host", b"localhost").decode("latin-1")
            if not _is_allowed(host, allowed):
                reason = f"the host {host} is not allowed; serve --host-name allows another name"
                response = refusal(HTTPStatus.MISDIRECTED_REQUEST, reason)
                await response(scope, receive, send)
                return
        await app(scope, receive, send)

    return answer


def _with_path(scope: Scope) -> Scope:
    url = _ABSOLUTE.match(scope["raw_path"])
    if url is None:
        return scope
    path = scope["raw_path"][url.end() :] or b"/"
    headers = [(b"host", url[1]), *(pair for pair in scope["headers"] if pair[0] != b"host")]
    return {**scope, "path": unquote(path.decode("ascii")), "raw_path": path, "headers": headers}


def _is_allowed(host: str, names: Collection[str]) -> bool:
    match = _HOST.fullmatch(host)
    name = match[1].lower().removesuffix(".") if match else ""
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return name in names
    return True
