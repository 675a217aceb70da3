"""Whether a service accepts a token, by the one call that needs it and changes nothing.

Reads may be answered whatever the token is, and every other call that needs the token writes. The
gateway refuses a wrong token at once, and greets a right one with its bot (wire notes, "Events").
"""

import asyncio

from commandsync.client import async_extra
from commandsync.client.buffer import Buffer
from commandsync.client.connection import Connection
from commandsync.client.events import Ready, Reconnecting
from commandsync.client.watch import Watch, WatchStep
from commandsync.records.models import Account

PATIENCE = 10.0
"""Seconds: the gateway greets at once."""


def accepted_bot(connection: Connection) -> Account | str:
    """Return the bot whose token a connection has, or why the service cannot be asked.

    Raises `Unauthorized` or `Forbidden` for a refused token, `ListingError` if the attempt failed
    and a retry cannot help, and `UsageError` without the extra [async].
    """
    try:
        with async_extra("the check of the token needs"):
            step = asyncio.run(_first_step(connection))
    except TimeoutError:
        return f"the gateway does not answer within {PATIENCE:g} s"
    match step:
        case Ready(bot=bot):
            return bot
        case Reconnecting(reason=reason):
            return reason
        case _:
            return "the service has no gateway"


async def _first_step(connection: Connection) -> WatchStep:
    from commandsync.client.asyncconnection import AsyncConnection  # noqa: PLC0415 - an extra
    from commandsync.client.stream import AsyncStream  # noqa: PLC0415 - with it

    watch = Watch(bot="-", jitter=lambda: 0.0, secrecy=connection.secrecy)
    async with (
        asyncio.timeout(min(connection.timeout, PATIENCE)),
        AsyncConnection(
            connection.address,
            connection.token,
            timeout=connection.timeout,
            retries=0,
            session=connection.surroundings,
        ) as opened,
    ):
        return await AsyncStream(watch.steps(), opened, Buffer(1, lambda _: None)).first()
