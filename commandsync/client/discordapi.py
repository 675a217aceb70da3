"""The commands that a bot has registered with Discord, as Discord answers them.

The requests are as for a listing at Discord; their limits and the secrecy of the token are as for
all services.
"""

import re

from commandsync import errors
from commandsync.api.arguments import Address
from commandsync.api.credentials import Token
from commandsync.client.connection import Connection, OnWait
from commandsync.services import discord

_IDENTIFIER = re.compile("[0-9]{1,20}")


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
    does not tell it: it contains the id of the bot's user, which differs for old bots. The other
    arguments are as in `Connection`, and an id that is not valid raises `UsageError`.
    """
    if application and not _IDENTIFIER.fullmatch(application):
        hint = "it is a number, on the page General Information of the developer portal"
        raise errors.UsageError(f"{application!r} is not an application's id", hint=hint)
    connecting = Connection(
        address, token, timeout=timeout, retries=retries, service=discord.DISCORD
    )
    with connecting as connection:
        connection.on_wait = on_wait or connection.on_wait
        try:
            application = application or connection.call(discord.application()).id
            return connection.call(discord.registered(application))
        except (errors.ApiError, errors.DecodeError) as error:
            raise error.having(message=f"Discord: {error.message}") from error.__cause__
