"""The address of a service: its base URL, checked before anything is sent to it."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from commandsync.api import arguments
from commandsync.diagnostics import Do
from commandsync.errors import PlainHttpError, UsageError

API_VERSION = 1
"""The only available version of the service interface; it is part of every path."""

# A name, an IPv4 address, or an IPv6 address without a zone. Libraries read anything else in
# different ways: this machine for one library may be another machine for the next.
_HOST_AND_PORT = re.compile(
    r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_-])?)\.*(?P<port>:[0-9]+)?:?"
)
_LOCALHOST = "localhost"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_TOKEN = re.compile(r"eyJ[\w-]+\.eyJ[\w-]+\.")  # the beginning of every JWT, and of no host's name
_EXAMPLE = "give it as https://listing.example, without /v1"


class Address(NamedTuple):
    """A service's base URL, normalised: lower-case host, no trailing slash, no /v1.

    `version` is the version of its interface that this package supports; None for a service whose
    operations have it in their own paths.
    """

    base_url: str
    version: int | None = API_VERSION

    @property
    def api(self) -> str:
        """The URL that the paths of operations follow."""
        return self.base_url if self.version is None else f"{self.base_url}/v{self.version}"

    @property
    def loopback(self) -> bool:
        """Whether the service runs on this machine."""
        return _host(urlsplit(self.base_url)) == _LOCALHOST

    def __str__(self) -> str:
        return self.base_url


def parse_address(
    text: str, *, insecure_http: bool = False, version: int | None = API_VERSION
) -> Address:
    """Read a base URL as users write it, without a trailing slash and a trailing `/v1`.

    `insecure_http` allows plain http to another machine; `version` is that of the service's
    interface, None for a URL that has none.

    Raises:
        UsageError: It is not an HTTP URL, or contains credentials, a token, a query or a fragment.
        PlainHttpError: It is plain http to another machine: the network could read the token.
    """
    if _TOKEN.search(arguments.string("base_url", text)):
        raise UsageError(
            "the base URL contains a bot token",
            hint="remove the token from it: " + _EXAMPLE,
        )
    parts = _split(text.strip())
    path = parts.path.rstrip("/").removesuffix(f"/v{version}").rstrip("/")
    if version is not None and re.search(r"/v\d+$", path):
        message = f"the base URL {_shown(text)} has another version than /v{version}"
        raise UsageError(message, hint=_EXAMPLE)
    match = _HOST_AND_PORT.fullmatch(parts.netloc.lower())
    if match is None:
        raise UsageError(f"the base URL {_shown(text)} has no valid host", hint=_EXAMPLE)
    base_url = f"{parts.scheme}://{match['host']}{match['port'] or ''}{path}"
    address = Address(base_url, version)
    if parts.scheme == "http" and not (address.loopback or insecure_http):
        raise PlainHttpError(
            f"{address} is plain http to another machine: the network could read the token",
            hint=Do.USE_HTTPS(),
        )
    return address


def service_of(base_url: str) -> str:
    """Return the host and port of an address's base URL, the same for all URLs of one service.

    A default port and no port are the same, and so are http and https without one, and all names
    and addresses of this machine. The path does not count: one host has one listing of a bot.
    """
    parts = urlsplit(base_url)
    port = None if parts.port == _DEFAULT_PORTS.get(parts.scheme) else parts.port
    return _host(parts) + (f":{port}" if port is not None else "")


def _host(parts: SplitResult) -> str:
    """Return a URL's host, with one name for all names and addresses of this machine."""
    host = parts.hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    # the IPv4 address inside an IPv6 one, which Python versions judge differently
    plain: IPv4Address | IPv6Address = getattr(address, "ipv4_mapped", None) or address
    return _LOCALHOST if plain.is_loopback else str(plain)


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises on a port that is not a number
    except ValueError as error:
        raise UsageError(f"the base URL {_shown(text)} is not a URL", hint=_EXAMPLE) from error
    if "@" in parts.netloc:
        raise UsageError(
            "the base URL contains a user name or password",
            hint="the token is the only credential; " + _EXAMPLE,
        )
    problems = {
        "is not an http or https URL": parts.scheme not in _DEFAULT_PORTS or not parts.hostname,
        "contains a space or a non-ASCII letter": not re.fullmatch(r"[!-~]+", text),
        "has a query or a fragment": parts.query or parts.fragment,
    }
    if problem := next(filter(problems.get, problems), None):
        raise UsageError(f"the base URL {_shown(text)} {problem}", hint=_EXAMPLE)
    return parts


def _shown(text: str) -> str:
    """Return a URL for a message, unless it is not a URL or may contain a secret."""
    url = re.match(r"\s*https?:", text, re.IGNORECASE)
    return repr(text) if url and not set("@?#") & set(text) else "given"
