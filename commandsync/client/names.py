"""Look-ups of host names: in threads, since the system's own cannot be interrupted."""

from __future__ import annotations

import socket
from concurrent.futures import Future
from threading import Thread
from typing import Any


def look_up(*args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 - passed on
    """Do as `socket.getaddrinfo`, in a thread for which the end of the program does not wait."""
    answer: Future[Any] = Future()

    def work() -> None:
        answer.set_running_or_notify_cancel()
        try:
            answer.set_result(socket.getaddrinfo(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - raised where the result is taken
            answer.set_exception(error)

    Thread(target=work, name="commandsync-name", daemon=True).start()
    return answer
