"""What a session of the caller's, of aiohttp, lends to a client, as `environment` has it."""

import ssl

import aiohttp
import requests

from commandsync.api.address import Address
from commandsync.client.environment import Surroundings, lent_headers, not_session, surroundings


def surroundings_of(
    session: aiohttp.ClientSession | Surroundings | None, address: Address
) -> Surroundings:
    """Return what a session of the caller's lends; the settings of the environment if None.

    It lends its proxy, headers and TLS context, if that checks certificates, and nothing else.
    """
    if session is None or isinstance(session, Surroundings):
        return session or surroundings(address)
    if not isinstance(session, aiohttp.ClientSession):
        raise not_session(session, "aiohttp.ClientSession")
    # aiohttp has no public names for the proxy and the context.
    proxy, context = vars(session)["_default_proxy"], vars(session.connector or ()).get("_ssl")
    checks = isinstance(context, ssl.SSLContext) and context.check_hostname
    with requests.Session() as known:
        known.trust_env = session.trust_env and not proxy
        if proxy:
            known.proxies = dict.fromkeys(("http", "https"), str(proxy))
        return surroundings(
            address,
            known,
            headers=lent_headers(session.headers),
            context=context if checks else None,
        )
