"""Keep a chat bot's public command list in a file: validate, plan, apply; and its client library.

The public names load when first used (PEP 562), so that importing the package stays light.
"""

TYPE_CHECKING = False  # typing takes longer to import than the rest, and signals wait for it
if TYPE_CHECKING:
    from commandsync.api.arguments import Id as Id
    from commandsync.api.content import RateLimit as RateLimit
    from commandsync.api.credentials import Token as Token
    from commandsync.client.asynclibrary import AsyncClient as AsyncClient
    from commandsync.client.events import Event as Event
    from commandsync.client.events import Ready as Ready
    from commandsync.client.events import Reconnected as Reconnected
    from commandsync.client.events import Reconnecting as Reconnecting
    from commandsync.client.events import Reminder as Reminder
    from commandsync.client.events import Vote as Vote
    from commandsync.client.library import Client as Client
    from commandsync.errors import ApiError as ApiError
    from commandsync.errors import ArgumentError as ArgumentError
    from commandsync.errors import CommandsyncError as CommandsyncError
    from commandsync.errors import DecodeError as DecodeError
    from commandsync.errors import Forbidden as Forbidden
    from commandsync.errors import Invalid as Invalid
    from commandsync.errors import ListingError as ListingError
    from commandsync.errors import ManifestError as ManifestError
    from commandsync.errors import NotFound as NotFound
    from commandsync.errors import PlainHttpError as PlainHttpError
    from commandsync.errors import RateLimited as RateLimited
    from commandsync.errors import Redirected as Redirected
    from commandsync.errors import RefusedError as RefusedError
    from commandsync.errors import Reply as Reply
    from commandsync.errors import ServerError as ServerError
    from commandsync.errors import StoppedError as StoppedError
    from commandsync.errors import TransportError as TransportError
    from commandsync.errors import Unauthorized as Unauthorized
    from commandsync.errors import UsageError as UsageError
    from commandsync.errors import WrongBotError as WrongBotError
    from commandsync.records.models import Account as Account
    from commandsync.records.models import Announcement as Announcement
    from commandsync.records.models import Bot as Bot
    from commandsync.records.models import BotPage as BotPage
    from commandsync.records.models import BotQueries as BotQueries
    from commandsync.records.models import Command as Command
    from commandsync.records.models import Voter as Voter
    from commandsync.records.models import VoterPage as VoterPage
    from commandsync.records.texts import CommandText as CommandText
    from commandsync.records.texts import LoadedCommand as LoadedCommand
    from commandsync.sync.commands import load as load
    from commandsync.version import __version__ as __version__

_HOMES = {
    name: home
    for home, names in {
        "api.arguments": "Id",
        "api.credentials": "Token",
        "api.content": "RateLimit",
        "client.asynclibrary": "AsyncClient",
        "client.events": "Event Ready Reconnected Reconnecting Reminder Vote",
        "client.library": "Client",
        "errors": "ApiError ArgumentError CommandsyncError DecodeError Forbidden Invalid "
        "ListingError ManifestError NotFound PlainHttpError RateLimited Redirected RefusedError "
        "Reply ServerError StoppedError TransportError Unauthorized UsageError WrongBotError",
        "records.models": "Account Announcement Bot BotPage BotQueries Command Voter VoterPage",
        "records.texts": "CommandText LoadedCommand",
        "sync.commands": "load",
    }.items()
    for name in names.split()
}
__all__ = list(_HOMES)
_HOMES["__version__"] = "version"


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - a name is loaded when it is used

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_HOMES))
