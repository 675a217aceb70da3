"""Whether a listing service can be reached, and accepts the token, for the checks of a set-up.

It reads one list, and opens the gateway once: nothing is written.
"""

from collections.abc import Iterator
from dataclasses import replace
from time import monotonic
from typing import Any

from commandsync.api.operations import Operation, list_bots
from commandsync.api.policy import Send
from commandsync.client.acceptance import accepted_bot
from commandsync.client.connection import Connection
from commandsync.client.network import proxy_host
from commandsync.diagnostics import Check
from commandsync.errors import (
    CommandsyncError,
    Forbidden,
    ListingError,
    Reply,
    Unauthorized,
    UsageError,
    WrongBotError,
)
from commandsync.records.texts import Resource
from commandsync.sync.destinations import ListSite
from commandsync.sync.job import connected
from commandsync.sync.settings import Settings
from commandsync.sync.site import Site

_GATEWAY: Operation[Reply] = Operation("open the gateway", "GET", "/gateway/", lambda reply: reply)
_UNCHECKED = "no other call checks a token and changes nothing: the first apply shows it"


def failed(name: str, error: CommandsyncError) -> Check:
    """Return the check that an error failed."""
    return Check(name, "failed", error.message, error.hint)


def reachability(settings: Settings, site: Site) -> Iterator[Check]:
    """Yield the checks of the way to a service; where there is no answer, the last one says so."""
    with connected(replace(settings, retries=0), [site]) as (connection,):
        yield _proxy(connection)
        service, answered = _service(connection, site)
        yield service
        if answered and site.token is not None:
            yield _access(connection, site)


def acceptance(settings: Settings, site: ListSite) -> Check:
    """Return the check of the token for a service that takes a whole list.

    The request changes nothing; where the service has no such request, the check says so.
    """
    name = site.service.name
    try:
        site.check_token()
        if site.service.check is None:
            message = f"not checked: the token is in {site.token_from}"
            return Check(name, "skipped", message, _UNCHECKED.replace("other ", ""))
        with connected(replace(settings, retries=0), [site]) as (connection,):
            account = connection.call(site.service.check())
    except CommandsyncError as error:
        return failed(name, error)
    of = f" of {account}" if account else ""
    return Check(name, "ok", f"accepts the token{of} in {site.token_from}")


def _proxy(connection: Connection) -> Check:
    if connection.address.loopback:
        return Check("proxy", "ok", "none: this machine is reached directly")
    try:
        host = proxy_host(connection.address, connection.surroundings)
    except OSError:
        hint = "give it as http://host:port in HTTPS_PROXY, or add the host to NO_PROXY"
        return Check("proxy", "failed", "the URL of the proxy is not valid", hint)
    return Check("proxy", "ok", f"{host}, from the environment" if host else "none")


def _service(connection: Connection, site: Site) -> tuple[Check, bool]:
    """Read a list; return the check, and whether there was an answer."""
    operation: Operation[Any] = list_bots(limit=1)
    if site.bot:
        operation = connection.service.read(site.bot, Resource.COMMAND)
    start = monotonic()
    try:
        listed = connection.call(operation)
    except ListingError as error:
        return failed("service", error), bool(getattr(error, "reply", None))
    milliseconds = round(1000 * (monotonic() - start))
    count = f", commands listed: {len(listed):,}" if site.bot else ""
    return Check("service", "ok", f"answers in {milliseconds:,} ms{count}"), True


def _access(connection: Connection, site: Site) -> Check:
    """Ask the gateway whether the token is accepted, and for which bot."""
    connection.on_wait(_GATEWAY, Send())
    try:
        bot = accepted_bot(connection)
    except (Unauthorized, Forbidden) as error:
        return failed("access", error)
    except (ListingError, UsageError) as error:
        return Check("access", "skipped", error.message, error.hint or _UNCHECKED)
    finally:
        connection.on_wait(_GATEWAY, None)
    if isinstance(bot, str):
        return Check("access", "skipped", f"not checked: {bot}", _UNCHECKED)
    if bot.id and site.bot and bot.id != site.bot:
        message = f"the token is accepted for bot {bot.id}, not for bot {site.bot}"
        return failed("access", WrongBotError(message, hint="use the token from this bot's page"))
    name = f" ({bot.username})" if bot.username else ""
    return Check("access", "ok", f"the service accepts the token, for bot {bot.id}{name}")
