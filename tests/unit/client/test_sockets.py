import socket
import threading

import pytest
import requests

from commandsync.client.transport import Adapter, _TimedSocket
from tests.support.rawserver import RawServer, answering


def test_bytes_that_are_already_there_come_too_late_after_the_time() -> None:
    near, far = socket.socketpair()
    with near, far:
        near.settimeout(0.01)
        far.sendall(b"late")
        timely = _TimedSocket(near, near.makefile("rb").detach())
        threading.Event().wait(0.02)

        with timely, pytest.raises(TimeoutError):
            timely.read(4)


def test_bytes_that_come_in_time_are_read() -> None:
    near, far = socket.socketpair()
    with near, far:
        near.settimeout(10)
        far.sendall(b"soon")
        with _TimedSocket(near, near.makefile("rb").detach()) as timely:
            threading.Event().wait(0.01)
            read = timely.read(4)
            left = near.gettimeout()

    assert read == b"soon"
    assert left is not None
    assert left < 10  # the next read may take only what this one left


def test_closing_hangs_up_at_once_whoever_still_holds_the_pool(server: RawServer) -> None:
    server.then(answering({"data": []}))
    adapter = Adapter()
    request = requests.Request("GET", server.url).prepare()
    held = adapter.get_connection_with_tls_context(request, verify=True)  # as by a traceback

    answer = adapter.send(request, timeout=10)
    assert answer.content
    adapter.close()
    server.hung_up()

    assert held.pool is None
