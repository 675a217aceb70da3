import signal
import socket
from contextlib import closing
from http.client import HTTPConnection
from threading import Thread

import pytest

from commandsync.errors import UsageError
from commandsync.server import serve
from commandsync.server.runner import _listen


@pytest.mark.parametrize("host", ["a" * 70, "a..b", "\ud800"])
def test_an_impossible_host_name_is_reported(host: str) -> None:
    with pytest.raises(UsageError, match="cannot listen on") as caught:
        serve(host=host, port=0, database=":memory:", on_ready=_end)

    assert "address" in caught.value.hint


@pytest.mark.parametrize("port", [-1, 70_000])
def test_a_port_that_is_none_is_not_taken_for_another(port: int) -> None:
    with pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1, port {port}: "):
        serve(host="127.0.0.1", port=port, database=":memory:", on_ready=_end)


def _end(url: str, _bots: object) -> None:
    raise AssertionError(url)


def test_the_system_notices_a_client_that_is_gone_without_a_word() -> None:
    with (
        closing(_listen("127.0.0.1", 0)) as listener,
        closing(socket.create_connection(listener.getsockname(), 30)),
        closing(listener.accept()[0]) as connection,
    ):
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) != 0


def test_it_serves_without_telling_anybody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    statuses: list[int] = []

    def ask_and_stop() -> None:
        while not statuses:
            with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as line:
                try:
                    line.request("GET", "/v1")
                    statuses.append(line.getresponse().status)
                except ConnectionError:
                    continue  # not there yet
        signal.raise_signal(signal.SIGINT)

    asking = Thread(target=ask_and_stop, daemon=True)
    asking.start()
    serve(host="127.0.0.1", port=port, database=":memory:")
    asking.join()

    assert statuses == [404]
