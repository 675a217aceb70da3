"""The proxies, certificates and headers of a client, read as requests reads them.

They are the environment's, or those of a session that the caller lends to the client.
"""

import ssl
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
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

from commandsync.api.arguments import Address
from commandsync.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The settings of a client that its environment, or a session of the caller's, decides."""

    # Proxies, which may have a password, and certificates, by the names that requests uses.
    settings: Mapping[str, Any] = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # of every request
    context: ssl.SSLContext | None = None  # None for one that is made of the settings


_OWN = frozenset(
    {"accept", "accept-encoding", "authorization", "connection", "content-length", "content-type"}
    | {"cookie", "host", "proxy-authorization", "transfer-encoding", "upgrade", "user-agent"}
)


def surroundings(address: Address, session: requests.Session | None = None) -> Surroundings:
    """Return the settings for a service, as a session has them; None for one without settings.

    Loopback is always reached directly: a proxy's loopback is another machine. Certificates are
    checked, whatever the session says.
    """
    with closing(requests.Session()) as plain:
        lender = session or plain
        settings = lender.merge_environment_settings(
            address.api, {}, stream=True, verify=None, cert=None
        )
    settings["verify"] = settings["verify"] or True
    if address.loopback:
        settings["proxies"] = {}
    return Surroundings(settings, _lent(lender.headers))


def surroundings_of(session: Any, address: Address) -> Surroundings:  # noqa: ANN401 - of two libraries
    """Return what a session of requests or aiohttp lends; None for the environment's settings.

    It lends proxies, certificates and headers, and nothing else: a TLS context only if it checks
    names. Raises `ArgumentError` for what is not a session, or has a header that is not valid.
    """
    if session is None or isinstance(session, Surroundings):
        return session or surroundings(address)
    if isinstance(session, requests.Session):
        return surroundings(address, session)
    if not hasattr(session, "_default_proxy"):
        kind = type(session).__name__
        raise ArgumentError(f"session is not a session of requests or aiohttp, but {kind}")
    # aiohttp has no public names for the proxy and the context.
    proxy, context = session._default_proxy, getattr(session.connector, "_ssl", None)  # noqa: SLF001
    checks = isinstance(context, ssl.SSLContext) and context.check_hostname
    with requests.Session() as known:
        known.trust_env = session.trust_env and not proxy
        known.proxies = dict.fromkeys(("http", "https"), str(proxy)) if proxy else {}
        lent = surroundings(address, known)
    return replace(lent, headers=_lent(session.headers), context=context if checks else None)


def _lent(headers: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of a session that a client adds to its own.

    Those that the client sets itself, or that decide how a request is sent, are left out.
    """
    lent: dict[str, str] = {}
    for name, value in headers.items():
        if name.lower() in _OWN:
            continue
        try:
            check_header_validity((name, value))
        except InvalidHeader as error:
            raise ArgumentError(f"the session's header {name!r} is not valid") from error
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
    """Return the host and port of the proxy, without its password; empty for none."""
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
