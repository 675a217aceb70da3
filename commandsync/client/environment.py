"""The environment's proxies and certificate authorities, read as requests reads them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests
from requests.exceptions import InvalidProxyURL
from requests.utils import DEFAULT_CA_BUNDLE_PATH, prepend_scheme_if_needed, select_proxy
from urllib3.util import parse_url
from urllib3.util.ssl_ import create_urllib3_context

if TYPE_CHECKING:
    import ssl

    from commandsync.api.address import Address


def surroundings(address: Address) -> dict[str, Any]:
    """Return the settings for a service, under the names that requests uses.

    Loopback is always reached directly: a proxy's loopback is another machine.
    """
    with requests.Session() as session:
        settings = session.merge_environment_settings(
            address.api, {}, stream=True, verify=None, cert=None
        )
    return {**settings, **({"proxies": {}} if address.loopback else {})}


def proxy_of(address: Address, settings: dict[str, Any]) -> str | None:
    """Return the URL of the proxy to use; None for a direct connection."""
    named = select_proxy(address.api, settings["proxies"])
    if not named:
        return None
    proxy: str = prepend_scheme_if_needed(named, "http")  # type: ignore[no-untyped-call]  # requests'
    parts = parse_url(proxy)
    if not parts.host or parts.scheme not in {"http", "https"}:
        raise InvalidProxyURL("not an http proxy")
    return proxy


def trust_of(settings: dict[str, Any]) -> ssl.SSLContext:
    """Return the TLS context with the accepted certificate authorities."""
    named = settings["verify"]
    path = Path(named if isinstance(named, str) else DEFAULT_CA_BUNDLE_PATH)
    if not path.exists():
        raise OSError("the CA certificate bundle does not exist")
    context = create_urllib3_context()
    context.load_verify_locations(**{"capath" if path.is_dir() else "cafile": str(path)})
    return context
