"""An operation as the request that carries it: one spelling for every driver."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import requests

from commandsync import __version__

if TYPE_CHECKING:
    from commandsync.api.address import Address
    from commandsync.api.operations import Operation
    from commandsync.client.secrecy import Secrecy

HEADERS = {
    "User-Agent": f"commandsync/{__version__}",
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
}
"""What every request says about itself."""


def request_of(
    address: Address, operation: Operation[Any], secrecy: Secrecy
) -> requests.PreparedRequest:
    """Return the request as it goes over the wire.

    It is prepared without a session, which would look for credentials in `.netrc`.

    Raises:
        requests.exceptions.InvalidURL: The base URL's host is not a host name.
    """
    url = address.api + operation.path
    if operation.query:
        url += "?" + urlencode(operation.query, errors="surrogatepass")
    headers, body = HEADERS | secrecy.headers, None
    if operation.body is not None:
        body = json.dumps(operation.body)  # ASCII: `\u` escapes let even lone surrogates travel
        headers["Content-Type"] = "application/json"
    return requests.Request(operation.method, url, headers=headers, data=body).prepare()
