"""The commands that a bot has registered with Discord, read from Discord's own interface.

The requests, their limits and the secrecy of the token are those of the other services. Discord's
documentation of application commands and of its HTTP interface gives paths and headers.
"""

import re
from dataclasses import replace
from typing import cast

from commandsync import errors
from commandsync.api.arguments import Address, parse_address
from commandsync.api.content import content_of
from commandsync.api.credentials import Token
from commandsync.api.operations import Operation
from commandsync.client.connection import Connection, OnWait
from commandsync.client.network import surroundings
from commandsync.version import __version__

BASE_URL = "https://discord.com/api"
"""The address of Discord's interface, without its version."""

_VERSION = 10
_EXAMPLE = f"give it as {BASE_URL}, without /v{_VERSION}"
_AGENT = f"DiscordBot (https://pypi.org/project/commandsync/, {__version__})"  # Discord's own form
_IDENTIFIER = re.compile("[0-9]{1,20}")
_HINTS: dict[type[errors.ListingError], str] = {
    errors.DecodeError: "check the base URL: is it Discord's?",
    errors.Unauthorized: "copy the token again from the page Bot of Discord's developer portal",
    errors.Forbidden: "is it the token of this application's bot?",
    errors.NotFound: "check the application's id on the page General Information of the portal",
}


def discord_address(base_url: str = BASE_URL) -> Address:
    """Read the URL of Discord's interface, with or without its version, as `parse_address` does."""
    try:
        return parse_address(base_url, version=_VERSION)
    except (errors.UsageError, errors.RefusedError) as error:
        raise error.having(hint=_EXAMPLE) from error.__cause__


def registered_commands(
    address: Address,
    token: Token,
    *,
    application: str = "",
    timeout: float = 30.0,
    retries: int = 4,
    on_wait: OnWait | None = None,
) -> bytes:
    """Return the body of Discord's answer: the bot's global commands with all localizations.

    It makes one request, and one more to ask for the application's id if that is empty. The token
    does not tell it: it contains the id of the bot's user, which is another one for old bots. The
    other arguments are those of a `Connection`, and an id that is not valid raises `UsageError`.
    """
    if application and not _IDENTIFIER.fullmatch(application):
        hint = "it is a number, on the page General Information of the developer portal"
        raise errors.UsageError(f"{application!r} is not an application's id", hint=hint)
    lent = replace(surroundings(address), headers={"User-Agent": _AGENT})
    with Connection(address, token, timeout=timeout, retries=retries, session=lent) as connection:
        connection.on_wait = on_wait or connection.on_wait
        try:
            application = application or connection.call(_OWN_APPLICATION)
            path, query = f"/applications/{application}/commands", (("with_localizations", "true"),)
            listing = Operation("list application commands", "GET", path, _list, query)
            return connection.call(listing)
        except errors.ListingError as error:
            raise _about_discord(error) from error.__cause__


def _application(reply: errors.Reply) -> str:
    content = content_of(reply)
    fields = cast("dict[str, object]", content) if isinstance(content, dict) else {}
    identifier = str(fields.get("id"))
    if not _IDENTIFIER.fullmatch(identifier):
        raise errors.DecodeError("the answer contains no application", reply=reply)
    return identifier


_OWN_APPLICATION = Operation("get application", "GET", "/applications/@me", _application)


def _list(reply: errors.Reply) -> bytes:
    if not isinstance(content_of(reply), list):
        raise errors.DecodeError("the answer contains no list of commands", reply=reply)
    return reply.body


def _about_discord(error: errors.ListingError) -> errors.ListingError:
    """Return an error with Discord in its message, unless it names the host."""
    is_answer = isinstance(error, errors.ApiError | errors.DecodeError)
    message = f"Discord: {error.message}" if is_answer else ""
    return error.having(message=message, hint=_HINTS.get(type(error), ""))
