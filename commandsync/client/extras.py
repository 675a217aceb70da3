"""What to say when a library is missing that only an extra brings."""

from __future__ import annotations

from commandsync.errors import UsageError


def missing(error: ModuleNotFoundError) -> UsageError:
    """Say which extra brings what could not be imported."""
    return UsageError(
        f"the module {error.name!r} is not installed",
        hint="install the extra: pip install 'commandsync[async]'",
    )
