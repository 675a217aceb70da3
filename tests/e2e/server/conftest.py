"""Bots of their own for each test, on the one embedded service of the session."""

import pytest

from tests.support.bots import Service
from tests.support.callers import Caller


def _caller(service: Service) -> Caller:
    bot = service.bot()
    return Caller(bot.url, bot.id, bot.token)


@pytest.fixture
def caller(service: Service) -> Caller:
    """The owner of a bot that no other test uses."""
    return _caller(service)


@pytest.fixture
def stranger(service: Service) -> Caller:
    """The owner of another such bot."""
    return _caller(service)
