"""The embedded listing service (extra [server]): the same interface, with no account needed.

The public names load when first used, so that a missing extra is one clear message.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from commandsync.extras import missing

if TYPE_CHECKING:
    from commandsync.server.administration import add_bot as add_bot
    from commandsync.server.administration import find_bot as find_bot
    from commandsync.server.administration import remove_bot as remove_bot
    from commandsync.server.administration import stored as stored
    from commandsync.server.app import create_app as create_app
    from commandsync.server.app import openapi_text as openapi_text
    from commandsync.server.conditions import Conditions as Conditions
    from commandsync.server.conditions import parse_rate_limit as parse_rate_limit
    from commandsync.server.pages.commandlist import commands_page as commands_page
    from commandsync.server.preview import PreviewService as PreviewService
    from commandsync.server.preview import preview_service as preview_service
    from commandsync.server.runner import RunningService as RunningService
    from commandsync.server.runner import running as running
    from commandsync.server.runner import serve as serve
    from commandsync.server.seed import SeededBot as SeededBot

_MODULES = {
    "add_bot": "administration",
    "find_bot": "administration",
    "remove_bot": "administration",
    "stored": "administration",
    "create_app": "app",
    "openapi_text": "app",
    "commands_page": "pages.commandlist",
    "Conditions": "conditions",
    "parse_rate_limit": "conditions",
    "PreviewService": "preview",
    "preview_service": "preview",
    "RunningService": "runner",
    "running": "runner",
    "serve": "runner",
    "SeededBot": "seed",
}
_EXTRA = {
    *("alembic", "anyio", "fastapi", "h11", "jinja2", "jwt", "limits", "markupsafe", "nh3"),
    *("sqlalchemy", "starlette", "uvicorn", "websockets"),
}


def __getattr__(name: str) -> object:
    """Return a public name.

    Raises:
        UsageError: The extra is not installed.
    """
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_MODULES[name]}")
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise missing("the embedded service needs", "server", error) from error
    return getattr(module, name)
