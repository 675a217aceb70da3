"""Comments go to a real HTTP stand-in for GitHub, and no call waits before it is sent again."""

import pytest

from commandsync.action import rest
from tests.support.runner import hub

__all__ = ["hub", "waits"]


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that calls would have waited."""
    waited: list[float] = []
    monkeypatch.setattr(rest, "sleep", waited.append)
    return waited
