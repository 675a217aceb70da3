"""The pytest plugin: the fixture `listing`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from commandsync.testing.service import Listing


@pytest.fixture
def listing() -> Iterator[Listing]:
    """A listing service of this test's own, in memory and on a free port of loopback."""
    from commandsync.testing.service import serve_listing  # noqa: PLC0415 - only its users pay

    with serve_listing() as service:
        yield service
