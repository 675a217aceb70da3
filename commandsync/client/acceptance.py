"""Whether a service accepts a token, by the one call that needs it and changes nothing.

Reads may be answered whatever the token is, and every other call that needs the token writes. The
gateway refuses a wrong token at once, and greets a right one with its bot (wire notes, "Events").
"""

import asyncio
from contextlib import aclosing

from commandsync.client.asynclibrary import AsyncClient
from commandsync.client.connection import Connection
from commandsync.client.events import Event, Ready, Reconnecting
from commandsync.errors import ArgumentError
from commandsync.records.models import Account

PATIENCE = 10.0  # seconds: the gateway greets at once


def accepted_bot(connection: Connection) -> Account | str:
    """Return the bot whose token a connection has, or why the service cannot be asked.

    Raises `Unauthorized` or `Forbidden` for a refused token, `ListingError` if the attempt failed
    and a retry cannot help, and `UsageError` without the extra [async].
    """
    try:
        event = asyncio.run(_first_event(connection))
    except TimeoutError:
        return f"the gateway does not answer within {PATIENCE:g} s"
    except ArgumentError:  # without a gateway, the voters of a bot would be read
        return "the service has no gateway"
    if isinstance(event, Ready):
        return event.bot
    unexpected = f"the gateway begins with the event {event.name!r}"
    return event.reason if isinstance(event, Reconnecting) else unexpected


async def _first_event(connection: Connection) -> Event:
    client = AsyncClient(
        connection.token,
        str(connection.address),
        timeout=connection.timeout,
        retries=0,
        insecure_http=True,
        session=connection.surroundings,  # type: ignore[arg-type]  # a session lends them
    )
    async with asyncio.timeout(min(connection.timeout, PATIENCE)), client:
        client.bot = ""
        async with aclosing(client.events()) as events:
            return await anext(events)
