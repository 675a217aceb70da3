"""The test kit for bots: a listing service of a test's own, for pytest and for any other runner.

The public names load when first used, so that the plugin costs nothing in tests that do not use it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commandsync.testing.service import (
        ListedBot,
        Listing,
        SimulatedListing,
        serve_listing,
        serve_simulation,
    )

__all__ = ["ListedBot", "Listing", "SimulatedListing", "serve_listing", "serve_simulation"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from commandsync.testing import service  # noqa: PLC0415 - only its users pay

    return getattr(service, name)
