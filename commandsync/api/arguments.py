"""The arguments of a caller, checked before anything is sent: values, identifiers, base URL.

The first part checks a single value and returns it: strings, numbers and seconds as they are, an
identifier as a string. The second part reads the base URL of a service as an `Address`, which is
normalised, so that each service has one spelling.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple, Protocol, TypeAlias
from urllib.parse import SplitResult, urlsplit

from commandsync.diagnostics import Do
from commandsync.errors import ArgumentError, PlainHttpError, UsageError


class HasId(Protocol):
    """Anything with an id: a `Command`, a `Voter`, or a `Member` of discord.py."""

    @property
    def id(self) -> str | int:
        """The id."""


Id: TypeAlias = str | int | HasId
"""An identifier, or an object that has one."""

_LONGEST_TIMEOUT = 3600  # seconds; far below the most that sockets and threads can count


def string(name: str, value: object, *, empty: bool = True) -> str:
    """Return a string, which may be `empty`; the name is for the message of `ArgumentError`."""
    if not isinstance(value, str):  # the value is not shown: it may be a secret
        raise ArgumentError(f"{name} is not a string, but {type(value).__name__}")
    if not (empty or value.strip()):
        raise ArgumentError(f"{name} is empty", hint="the service requires it")
    return value


def strings(name: str, values: object, *, ids: bool = False) -> tuple[str, ...]:
    """Return strings or identifiers, none of them empty; raises as `string`, also for one alone."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} is not a list of strings: {values!r}")
    return tuple(
        identifier(name, value) if ids else string(name, value, empty=False) for value in values
    )


def identifier(name: str, value: object) -> str:
    """Return an identifier: a string, a number, or the `id` of an object.

    Raises `ArgumentError` if it is none of these; or it is empty, `.` or `..`, and would address
    something else as a part of a path.
    """
    known = value if isinstance(value, str | int) else getattr(value, "id", None)
    if isinstance(known, int) and not isinstance(known, bool) and known >= 0:
        return str(int(known))
    if not isinstance(known, str) or known.strip() in {"", ".", ".."}:
        hint = "an id is a string, a number, or an object with one of these as its id"
        raise ArgumentError(f"{name} is not a valid identifier: {value!r}", hint=hint)
    return known


def boolean(name: str, value: object) -> bool:
    """Return a boolean; raises `ArgumentError`."""
    if not isinstance(value, bool):
        raise ArgumentError(f"{name} is not True, False or None: {value!r}")
    return value


def number(name: str, value: object, *, least: int, most: int | None = None) -> int:
    """Return a whole number within bounds; raises `ArgumentError`."""
    if isinstance(value, int) and not isinstance(value, bool):
        limit = value if most is None else most
        if least <= value <= limit:
            return value
    bounds = f"from {least}" if most is None else f"from {least} to {most}"
    raise ArgumentError(f"{name} is not a whole number {bounds}: {value!r}")


def seconds(name: str, value: object) -> float:
    """Return a time-out in seconds; raises `ArgumentError`."""
    if isinstance(value, int | float) and value is not True and 0 < value <= _LONGEST_TIMEOUT:
        return float(value)
    bounds = f"above 0 and up to {_LONGEST_TIMEOUT:,}"
    raise ArgumentError(f"{name} is not a number of seconds {bounds}: {value!r}")


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

    `insecure_http` allows plain http to another machine. `version` is the version of the service's
    interface, None if its URL has none.

    Raises:
        UsageError: It is not an HTTP URL, or contains credentials, a token, a query or a fragment.
        PlainHttpError: It is plain http to another machine: the network could read the token.
    """
    if _TOKEN.search(string("base_url", text)):
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
