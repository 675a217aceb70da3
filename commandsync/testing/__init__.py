"""The test kit for bots: a listing service of a test's own, for pytest and for any other runner.

The public names load when first used, so that the plugin costs nothing in tests that do not use it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commandsync.testing.recorded import SimulatedListing, serve_simulation
    from commandsync.testing.service import ListedBot as ListedBot
    from commandsync.testing.service import Listing as Listing
    from commandsync.testing.service import serve_listing as serve_listing

_MODULES = {
    **dict.fromkeys(("ListedBot", "Listing", "serve_listing"), "service"),
    **dict.fromkeys(("SimulatedListing", "serve_simulation"), "recorded"),
}
__all__ = ["ListedBot", "Listing", "SimulatedListing", "serve_listing", "serve_simulation"]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
