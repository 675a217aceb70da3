"""The network between client and service: how to get there, and why it failed.

The first part reads the proxies, certificates and headers of a client as requests reads them, from
the environment or from a session that the caller lends to the client. The second part turns an
exception of the HTTP libraries into one `TransportError` with a message and a hint, by its root
cause. The exceptions are not kept: they contain the request, and with it the token.
"""

import http.client
import os
import socket
import ssl
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.exceptions import InvalidHeader, InvalidProxyURL, InvalidSchema, InvalidURL
from requests.utils import (
    DEFAULT_CA_BUNDLE_PATH,
    check_header_validity,
    select_proxy,
)
from urllib3.exceptions import IncompleteRead, LocationValueError, ProxySchemeUnknown
from urllib3.exceptions import TimeoutError as PoolTimeoutError
from urllib3.util import parse_url
from urllib3.util.ssl_ import create_urllib3_context

from commandsync.api.arguments import Address
from commandsync.client.request import LONGEST_CONNECT, BodyError
from commandsync.diagnostics import Do, Hint
from commandsync.errors import ArgumentError, TransportError


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The settings of a client that its environment, or a session of the caller's, decides."""

    # Proxies, which may have a password, and certificates, by the names that requests uses.
    settings: Mapping[str, Any] = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)  # of requests
    context: ssl.SSLContext | None = None  # None for a context that is made of the settings


_OWN = frozenset(
    {"accept", "accept-encoding", "authorization", "connection", "content-length", "content-type"}
    | {"cookie", "host", "proxy-authorization", "transfer-encoding", "upgrade", "user-agent"}
)


def surroundings(address: Address, session: requests.Session | None = None) -> Surroundings:
    """Return the settings for a service, as a session has them; None for one without settings.

    Loopback is always reached directly: a proxy's loopback is another machine. Certificates are
    checked, even if the session disables that.
    """
    with closing(requests.Session()) as plain:
        lender = session or plain
        settings = lender.merge_environment_settings(
            address.api, {}, stream=True, verify=None, cert=None
        )
    if settings["verify"] in {None, True, False}:  # requests does not know the variable of OpenSSL
        settings["verify"] = (lender.trust_env and os.environ.get("SSL_CERT_FILE")) or True
    if address.loopback:
        settings["proxies"] = {}
    return Surroundings(settings, _lent(lender.headers))


def surroundings_of(session: Any, address: Address) -> Surroundings:  # noqa: ANN401 - of two libraries
    """Return the settings that a session of requests or aiohttp lends; None for the environment's.

    It lends proxies, certificates and headers, and nothing else: a TLS context only if it checks
    names. Raises `ArgumentError` for another object, or a header that is not valid.
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

    Headers that the client sets itself, or that decide how a request is sent, are left out.
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
    proxy = named if "://" in named else f"http://{named}"
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


_CHECK = "check the base URL and the network"
_CHECK_PROXY = "check HTTPS_PROXY, or add the host to NO_PROXY"
_PLAIN_ANSWERS = {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"}
_UNTRUSTED = (
    "if the service's certificate is signed by an authority of your own, "
    "set REQUESTS_CA_BUNDLE or SSL_CERT_FILE to its certificate file"
)


def root_of(error: BaseException) -> BaseException:
    """Return the root cause of an exception.

    `__context__` is not followed: it may be an unrelated exception that the caller was handling.
    """
    while not isinstance(error, BodyError):
        inner = (error.__cause__, getattr(error, "reason", None), *error.args)
        below = next((part for part in inner if isinstance(part, BaseException)), None)
        if below is None:
            break
        error = below
    return error


def failure(
    root: BaseException,
    address: Address,
    around: Surroundings,
    *,
    made: bool,
    seconds: float,
) -> TransportError:
    """Return the error of a request that got no answer in its time, by its root cause.

    With a connection (`made`) it may have been sent.
    """
    host = urlsplit(address.base_url).netloc
    impossible = _unsendable(root, host=host)
    if impossible is not None:
        return impossible
    if made:
        return _unanswered(root, host=host, seconds=seconds)
    unreached = isinstance(root, socket.gaierror | ConnectionRefusedError)
    if unreached and (name := proxy_host(address, around)):
        why = "cannot be found" if isinstance(root, socket.gaierror) else "refuses connections"
        return TransportError(f"the proxy {name} {why}", hint=_CHECK_PROXY, sent=False)
    return _never_made(root, host=host, seconds=min(seconds, LONGEST_CONNECT))


def _never_made(root: BaseException, *, host: str, seconds: float) -> TransportError:
    """Return the error of a connection that was never made: nothing was sent."""
    hint: str | Hint = _CHECK
    lasting = False
    match root:
        case ssl.SSLCertVerificationError():
            message = f"the certificate of {host} is not trusted: {root.verify_message}"
            hint, lasting = _UNTRUSTED, True
        case ssl.SSLError(reason=reason) if reason in _PLAIN_ANSWERS:
            message, lasting = f"{host} does not answer with https", True
            hint = "for plain http, write http:// in the base URL; else check its port"
        case ssl.SSLError():
            why = (root.reason or "it was closed").replace("_", " ").lower()
            message = f"no secure connection to {host}: {why}"
            hint = "does the service use https at this address and port?"
            lasting = not isinstance(root, ssl.SSLEOFError | ssl.SSLZeroReturnError)
        case socket.gaierror():
            message = f"the host name of {host} cannot be found"
        case ConnectionRefusedError():
            message = f"{host} refuses connections"
            hint = "is the service running there? check the base URL's host and port"
        case TimeoutError() | PoolTimeoutError():
            message = f"no connection to {host} within {max(round(seconds, 2), 0.01):g} s"
        case OSError() if "unnel" in str(root):  # "Tunnel connection failed: 407 ..."
            message = f"the proxy does not connect to {host}: {root}"
            hint = _CHECK_PROXY
        case OSError(strerror=str(why)):
            message = f"no connection to {host}: {why}"
        case _:
            message = f"no connection to {host}"
    return TransportError(message, hint=hint, sent=False, lasting=lasting)


def _unsendable(root: BaseException, *, host: str) -> TransportError | None:
    """Return the error of a request that could not be sent at all; None for other causes."""
    match root:
        case InvalidProxyURL() | InvalidSchema() | ProxySchemeUnknown():
            message = "the proxy is not valid"
            hint = "check HTTPS_PROXY and ALL_PROXY, or add the host to NO_PROXY"
        case InvalidURL() | LocationValueError():
            message, hint = f"{host} is not a valid host name", "check the base URL"
        case OSError() if "CA certificate bundle" in str(root):
            message = "the file of certificate authorities does not exist"
            hint = "check REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE and SSL_CERT_FILE"
        case _:
            return None
    return TransportError(message, hint=hint, sent=False, lasting=True)


def _unanswered(root: BaseException, *, host: str, seconds: float) -> TransportError:
    """Return the error of a missing answer to a request that may have arrived."""
    hint: str | Hint = _CHECK
    lasting = False
    match root:
        case BodyError():
            message, lasting = f"the answer of {host} {root}", True
            hint = "check the base URL: is it the listing service's?"
        case TimeoutError() | PoolTimeoutError():
            message = (
                f"{host} did not send a complete answer within {max(round(seconds, 2), 0.01):g} s"
            )
            hint = Do.RAISE_TIMEOUT()
        case IncompleteRead() | http.client.IncompleteRead():
            message = f"the answer of {host} is truncated"
            hint = "run again"
        case http.client.RemoteDisconnected() | ConnectionError():
            message = f"{host} closed the connection before it answered"
            hint = "run again later"
        case http.client.HTTPException():
            message = f"the answer of {host} is not HTTP"
            hint = "check the base URL: http or https, and the port"
        case _:
            message = f"the connection to {host} broke before it answered"
    return TransportError(message, hint=hint, lasting=lasting)
