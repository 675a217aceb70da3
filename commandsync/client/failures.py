"""The exceptions of the HTTP libraries as one error with a message and a hint.

The foreign exceptions are not kept: they contain the request, and with it the token.
"""

import http.client
import socket
import ssl
from urllib.parse import urlsplit

from requests.exceptions import InvalidProxyURL, InvalidSchema, InvalidURL
from urllib3.exceptions import IncompleteRead, LocationValueError, ProxySchemeUnknown
from urllib3.exceptions import TimeoutError as PoolTimeoutError

from commandsync.api.arguments import Address
from commandsync.client.body import BodyError
from commandsync.client.environment import Surroundings, proxy_host
from commandsync.client.request import LONGEST_CONNECT
from commandsync.diagnostics import Do, Hint
from commandsync.errors import TransportError

_CHECK = "check the base URL and the network"
_CHECK_PROXY = "check HTTPS_PROXY, or add the host to NO_PROXY"
_UNTRUSTED = (
    "if the service's certificate is signed by an authority of your own, "
    "set REQUESTS_CA_BUNDLE to its certificate file"
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
            hint = "check REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE"
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
