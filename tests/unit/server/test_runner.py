import socket
from contextlib import closing

import pytest

from commandsync.errors import UsageError
from commandsync.server.runner import _listen, serve


@pytest.mark.parametrize(
    ("host", "port"),
    [("a" * 70, 0), ("a..b", 0), ("\ud800", 0), ("localhost", -1), ("::1", 70_000)],
)
def test_an_impossible_host_name_or_port_is_reported(host: str, port: int) -> None:
    with pytest.raises(UsageError, match=f"cannot listen on .*, port {port}: ") as caught:
        serve(host=host, port=port, database=":memory:", on_ready=_end)

    assert "address" in str(caught.value.hint)


def _end(url: str, _bots: object) -> None:
    raise AssertionError(url)


def test_the_system_notices_a_client_that_is_gone_without_a_word() -> None:
    with (
        closing(_listen("127.0.0.1", 0)) as listener,
        closing(socket.create_connection(listener.getsockname(), 30)),
        closing(listener.accept()[0]) as connection,
    ):
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) != 0
