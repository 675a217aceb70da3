"""The client's tests talk to a server of raw sockets."""

from tests.support.clients import connect, connect_blocking, plain_environment, server

__all__ = ["connect", "connect_blocking", "plain_environment", "server"]
