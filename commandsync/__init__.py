"""Keep a chat bot's public command list in a file: validate, plan, apply; and its client library.

The public names load when first used (PEP 562), so that importing the package stays light.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes longer to import than the rest, and signals wait for it
if TYPE_CHECKING:
    from commandsync.api.credentials import (
        Token,
    )
    from commandsync.client.asynclibrary import (
        AsyncClient,
    )
    from commandsync.client.events import (
        Event,
        Ready,
        Reconnected,
        Reconnecting,
        Reminder,
        Vote,
    )
    from commandsync.client.library import (
        Client,
    )
    from commandsync.errors import (
        ApiError,
        ArgumentError,
        CommandsyncError,
        DecodeError,
        Forbidden,
        Invalid,
        ListingError,
        NotFound,
        PlainHttpError,
        RateLimited,
        Reply,
        ServerError,
        StoppedError,
        TransportError,
        Unauthorized,
        UsageError,
    )
    from commandsync.records.models import (
        Account,
        Announcement,
        Bot,
        BotPage,
        Command,
        Voter,
        VoterPage,
    )

__version__ = "0.1.0"

__all__ = [
    "Account",
    "Announcement",
    "ApiError",
    "ArgumentError",
    "AsyncClient",
    "Bot",
    "BotPage",
    "Client",
    "Command",
    "CommandsyncError",
    "DecodeError",
    "Event",
    "Forbidden",
    "Invalid",
    "ListingError",
    "NotFound",
    "PlainHttpError",
    "RateLimited",
    "Ready",
    "Reconnected",
    "Reconnecting",
    "Reminder",
    "Reply",
    "ServerError",
    "StoppedError",
    "Token",
    "TransportError",
    "Unauthorized",
    "UsageError",
    "Vote",
    "Voter",
    "VoterPage",
]

_HOMES = {
    "Account": "records.models",
    "Announcement": "records.models",
    "ApiError": "errors",
    "ArgumentError": "errors",
    "AsyncClient": "client.asynclibrary",
    "Bot": "records.models",
    "BotPage": "records.models",
    "Client": "client.library",
    "Command": "records.models",
    "CommandsyncError": "errors",
    "DecodeError": "errors",
    "Event": "client.events",
    "Forbidden": "errors",
    "Invalid": "errors",
    "ListingError": "errors",
    "NotFound": "errors",
    "PlainHttpError": "errors",
    "RateLimited": "errors",
    "Ready": "client.events",
    "Reconnected": "client.events",
    "Reconnecting": "client.events",
    "Reminder": "client.events",
    "Reply": "errors",
    "ServerError": "errors",
    "StoppedError": "errors",
    "Token": "api.credentials",
    "TransportError": "errors",
    "Unauthorized": "errors",
    "UsageError": "errors",
    "Vote": "client.events",
    "Voter": "records.models",
    "VoterPage": "records.models",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only who uses a name pays for it

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
