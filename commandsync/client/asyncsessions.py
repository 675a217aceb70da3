"""What a session of the caller's, of aiohttp, lends to a client, as `sessions` has it."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import aiohttp
import requests
from yarl import URL

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
    session: aiohttp.ClientSession | Surroundings | None, address: Address
) -> Surroundings:
    """Return the settings that a session lends for a service; those of the environment if None.

    Raises:
        ArgumentError: The session has a setting that would break a promise of the client.
    """
    if session is None or isinstance(session, Surroundings):
        return session or surroundings(address)
    refuse([(type(session) is not aiohttp.ClientSession, unusual(session))])
    refuse([(session.closed, "it is closed")])
    # aiohttp has no public names for these settings; a test covers each.
    private, context = vars(session), vars(session.connector).get("_ssl")
    checks = context is True or (isinstance(context, ssl.SSLContext) and context.check_hostname)
    refuse(
        [
            (bool(private.get("_default_auth")), "its auth would replace the token"),
            (bool(session.trace_configs), "its trace_configs would receive the token"),
            (bool(private["_middlewares"]), "its middlewares would receive the token"),
            (bool(private.get("_default_proxy_auth")), "its proxy_auth belongs into its proxy"),
            (_has_cookies(session, address), "it has cookies of the service"),
            (not _plain(session.connector), "its connector connects in a way of its own"),
            (not checks, "it does not check the certificate of the service"),
        ]
    )
    with requests.Session() as known:
        proxy = private["_default_proxy"]
        known.trust_env = session.trust_env and not proxy
        if proxy:
            known.proxies = dict.fromkeys(("http", "https"), str(proxy))
        return surroundings(
            address,
            known,
            headers=lent_headers(session.headers),
            context=context if isinstance(context, ssl.SSLContext) else None,
        )


def _plain(connector: aiohttp.BaseConnector | None) -> bool:
    pool = vars(connector)
    return (
        type(connector) is aiohttp.TCPConnector
        and isinstance(pool["_resolver"], aiohttp.DefaultResolver)
        and not pool["_local_addr_infos"]
        and not pool["_socket_factory"]
    )


def _has_cookies(session: aiohttp.ClientSession, address: Address) -> bool:
    return bool(session.cookie_jar.filter_cookies(URL(address.api)))
