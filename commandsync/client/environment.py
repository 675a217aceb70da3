"""The proxies, certificates and headers of a client, read as requests reads them.

They are the environment's, or those of a session that the caller lends to the client.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests
from requests.exceptions import InvalidHeader, InvalidProxyURL
from requests.utils import (
    DEFAULT_CA_BUNDLE_PATH,
    check_header_validity,
    prepend_scheme_if_needed,
    select_proxy,
)
from urllib3.util import parse_url
from urllib3.util.ssl_ import create_urllib3_context

from commandsync.errors import ArgumentError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Mapping

    from commandsync.api.address import Address


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The settings of a client that its environment, or a session of the caller's, decides.

    Attributes:
        settings: Proxies and certificates, under the names that requests uses.
        headers: The headers that every request has beside those of the client.
        context: The TLS context; None for one that is made of the settings.
    """

    settings: Mapping[str, Any] = field(repr=False)  # a proxy may have a password
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    context: ssl.SSLContext | None = None


_OWN = frozenset({"accept", "accept-encoding", "connection", "content-type", "user-agent"})
_NEVER = frozenset(
    {"authorization", "content-length", "cookie", "host", "proxy-authorization"}
    | {"transfer-encoding", "upgrade"}
)


def surroundings(
    address: Address,
    session: requests.Session | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    context: ssl.SSLContext | None = None,
) -> Surroundings:
    """Return the settings for a service, as a session has them; None for one without settings.

    Loopback is always reached directly: a proxy's loopback is another machine.
    """
    with closing(requests.Session()) as plain:
        settings = (session or plain).merge_environment_settings(
            address.api, {}, stream=True, verify=None, cert=None
        )
    if address.loopback:
        settings["proxies"] = {}
    return Surroundings(settings, headers or {}, context)


def refuse(reasons: Iterable[tuple[bool, str]]) -> None:
    """Refuse a session for the first of these reasons that holds.

    Raises:
        ArgumentError: There is one.
    """
    for holds, reason in reasons:
        if holds:
            hint = "pass a session that only has proxies, certificates and headers of its own"
            raise ArgumentError(f"the session cannot be used: {reason}", hint=hint)


def unusual(session: object) -> str:
    """Return why a session of another class cannot be used."""
    return f"it is a {type(session).__name__}, which sends requests in a way of its own"


def lent_headers(headers: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of a session that a client adds to its own.

    Raises:
        ArgumentError: A header would change how a request is sent, or is not valid.
    """
    lent: dict[str, str] = {}
    for name, value in headers.items():
        refuse([(name.lower() in _NEVER, f"it has a header {name}")])
        if name.lower() not in _OWN:
            try:
                check_header_validity((name, value))
            except InvalidHeader:
                refuse([(True, f"its header {name!r} is not valid")])
            lent[name] = value if isinstance(value, str) else value.decode("latin-1")
    return lent


def proxy_of(address: Address, around: Surroundings) -> str | None:
    """Return the URL of the proxy to use; None for a direct connection."""
    named = select_proxy(address.api, around.settings["proxies"])
    if not named:
        return None
    proxy: str = prepend_scheme_if_needed(named, "http")  # type: ignore[no-untyped-call]  # requests'
    parts = parse_url(proxy)
    if not parts.host or parts.scheme not in {"http", "https"}:
        raise InvalidProxyURL("not an http proxy")
    return proxy


def proxy_host(address: Address, around: Surroundings) -> str:
    """Return the host and port of the proxy, without its password; empty for none.

    Raises:
        OSError: The URL of the proxy is not valid.
    """
    proxy = proxy_of(address, around)
    return urlsplit(proxy).netloc.rpartition("@")[2] if proxy else ""


def trust_of(around: Surroundings) -> ssl.SSLContext:
    """Return the TLS context with the accepted certificate authorities."""
    if around.context is not None:
        return around.context
    named, cert = around.settings["verify"], around.settings["cert"]
    path = Path(named if isinstance(named, str) else DEFAULT_CA_BUNDLE_PATH)
    if not path.exists():
        raise OSError("the CA certificate bundle does not exist")
    context = create_urllib3_context()
    context.load_verify_locations(**{"capath" if path.is_dir() else "cafile": str(path)})
    if cert:
        context.load_cert_chain(*((cert,) if isinstance(cert, str) else cert))
    return context
