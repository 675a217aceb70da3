"""What a session of the caller's, of requests, lends to a client.

The client reads its proxies, certificates and headers, and uses connections of its own. A setting
that the client cannot keep to is refused, so that nobody relies on it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import requests
from requests.adapters import HTTPAdapter
from requests.cookies import get_cookie_header

from commandsync.client.environment import (
    Surroundings,
    lent_headers,
    refuse,
    surroundings,
    unusual,
)

if TYPE_CHECKING:
    from commandsync.api.address import Address


def surroundings_of(
    session: requests.Session | Surroundings | None, address: Address
) -> Surroundings:
    """Return the settings that a session lends for a service; those of the environment if None.

    Raises:
        ArgumentError: The session has a setting that would break a promise of the client.
    """
    if session is None or isinstance(session, Surroundings):
        return session or surroundings(address)
    refuse([(type(session) is not requests.Session, unusual(session))])
    adapter = session.get_adapter(address.api)
    plain = type(adapter) is HTTPAdapter and not adapter.max_retries.total
    cookies = get_cookie_header(session.cookies, requests.Request("GET", address.api).prepare())  # type: ignore[no-untyped-call]  # requests'
    files = (session.cert,) if isinstance(session.cert, str) else session.cert or ()
    refuse(
        [
            (session.auth is not None, "its auth would replace the token"),
            (any(session.hooks.values()), "its hooks would receive the token"),
            (bool(session.params), "its params would change the requests"),
            (bool(cookies), "it has cookies of the service"),
            (not plain, "its adapter could send an add twice"),
            (session.verify is False, "it does not check the certificate of the service"),
            (
                not all(Path(file).is_file() for file in files),
                "the file of its cert does not exist",
            ),
        ]
    )
    return surroundings(address, session, headers=lent_headers(session.headers))
