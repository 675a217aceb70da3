"""One service for the tests of a process."""

from tests.support.bots import service

__all__ = ["service"]
