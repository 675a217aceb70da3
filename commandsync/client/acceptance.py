"""Whether a service accepts a token, by the one call that needs it and changes nothing.

Reads may be answered whatever the token is, and every other call that needs the token writes. The
gateway refuses a wrong token at once, and greets a right one with its bot (wire notes, "Events").
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from commandsync.client import async_extra
from commandsync.client.events import Ready, Reconnecting

if TYPE_CHECKING:
    from commandsync.client.connection import Connection
    from commandsync.client.watch import WatchStep
    from commandsync.records.models import Account

PATIENCE = 10.0
"""Seconds: the gateway greets at once."""


def accepted_bot(connection: Connection) -> Account | str:
    """Return the bot whose token a connection has, or why the service cannot be asked.

    Raises:
        Unauthorized: The token is refused; or as `Forbidden`.
        ListingError: The attempt failed, and a retry cannot help.
        UsageError: The extra [async] is not installed.
    """
    with async_extra("the check of the token needs"):
        import commandsync.client.stream  # noqa: F401, PLC0415 - an extra
    try:
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
    from commandsync.client.buffer import Buffer  # noqa: PLC0415 - with it
    from commandsync.client.stream import AsyncStream  # noqa: PLC0415 - as above
    from commandsync.client.watch import Watch  # noqa: PLC0415 - as above

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
