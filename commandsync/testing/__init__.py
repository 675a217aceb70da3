"""The test kit for bots: a listing service of a test's own, for pytest and for any other runner.

The public names load when first used, so that the plugin costs nothing in tests that do not use it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commandsync.testing.listing import ListedBot as ListedBot
    from commandsync.testing.listing import Listing as Listing
    from commandsync.testing.listing import serve_listing as serve_listing

__all__ = ["ListedBot", "Listing", "serve_listing"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.listing"), name)
