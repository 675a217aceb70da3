"""The commands that a bot has registered with Discord, as a source: the token, then the read.

The settings come from options and the environment alone. A manifest may be part of an untrusted
pull request, which could name another host or another secret.
"""

import os

from commandsync.api.credentials import Token
from commandsync.api.redaction import keep_secret
from commandsync.errors import UsageError
from commandsync.sources.entry import SourceReading
from commandsync.sources.reading import read_answer
from commandsync.sync.job import calls_of
from commandsync.sync.settings import Settings
from commandsync.sync.site import Site

TOKEN_VARIABLE = "DISCORD_TOKEN"  # noqa: S105 - the variable's name
"""The variable that contains the bot's token for Discord, unless another one is given."""

_OURS = "COMMANDSYNC_"
_PORTAL = "copy the bot's token from the page Bot of Discord's developer portal"


def read_registered(
    settings: Settings,
    locale: str = "",
    *,
    variable: str = TOKEN_VARIABLE,
    application: str = "",
    base_url: str = "",
) -> SourceReading:
    """Read the commands that a bot has registered with Discord.

    Args:
        settings: The time-out, the retries and the progress; nothing else of them is used.
        locale: The language of the texts, such as `de`; empty for the default texts.
        variable: The variable of the environment that contains the token for Discord.
        application: The id of the application; empty for the token's own.
        base_url: The address of Discord's interface; empty for Discord's own.

    Raises:
        UsageError: The token is missing or is one of a listing service, or an argument is invalid.
        PlainHttpError: The base URL is plain http to another machine.
        ListingError: Discord refused, or did not answer.
        FileError: The answer contains something other than application commands.
    """
    from commandsync.client.discordapi import (  # noqa: PLC0415 - loads requests
        BASE_URL,
        discord_address,
        registered_commands,
    )

    token = _token(variable)
    address = discord_address(base_url or BASE_URL)
    answer = registered_commands(
        address,
        token,
        application=application,
        timeout=settings.timeout,
        retries=settings.retries,
        on_wait=calls_of(settings, Site(address, bot="", token=token, token_from=variable)),
    )
    return read_answer(answer, locale=locale)


def _token(variable: str) -> Token:
    """Return the token for Discord, which must not be the one for a listing service."""
    if variable.upper().startswith(_OURS):
        message = f"the variable {variable} is for the token of a listing service"
        raise UsageError(message, hint=f"put the token for Discord into {TOKEN_VARIABLE}")
    secret = os.environ.get(variable, "")
    if not secret.strip():
        raise UsageError(f"the variable {variable} is not set", hint=_PORTAL)
    try:
        keep_secret(token := Token(secret))
    except UsageError as error:
        raise UsageError(f"{variable}: {error.message}", hint=_PORTAL) from None
    if token.bot:
        raise UsageError(f"{variable} contains the token of a listing service", hint=_PORTAL)
    return token
