"""Recorded bytes are played by a server of raw sockets."""

from tests.support.clients import connect, connect_blocking, plain_environment, server

__all__ = ["connect", "connect_blocking", "plain_environment", "server"]
