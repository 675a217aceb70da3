import logging
import signal

import pytest

from commandsync.server import running, serve
from tests.support.callers import Caller


@pytest.mark.parametrize(
    ("query", "logged"),
    [
        ("token=secret", "token=***"),
        ("transport=websocket&token=secret&EIO=3", "transport=websocket&token=***&EIO=3"),
        ("Token=secret&token=secret", "Token=***&token=***"),
        ("t%6Fken=secret", "t%6Fken=***"),
        ("token=%73ecret?token=secret", "token=***"),
        ("tokens=3&q=token", "tokens=3&q=token"),
        ("token", "token=***"),
    ],
)
def test_the_log_of_requests_shows_no_token_of_a_query(
    caplog: pytest.LogCaptureFixture, query: str, logged: str
) -> None:
    log = logging.getLogger("uvicorn.access")
    log.addHandler(caplog.handler)

    def ask_and_stop(url: str, _bots: object) -> None:
        Caller(url, "1", "").raw("GET", f"/v1/gateway/?{query}")
        signal.raise_signal(signal.SIGINT)

    serve(host="127.0.0.1", port=0, database=":memory:", access_log=True, on_ready=ask_and_stop)
    log.removeHandler(caplog.handler)

    assert {message.split('"')[1] for message in caplog.messages} == {
        f"GET /v1/gateway/?{logged} HTTP/1.1"
    }


def test_records_with_other_arguments_are_logged_as_they_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with running():
        log = logging.getLogger("uvicorn.error")
        log.warning("no arguments?token=1")
        log.warning("%(name)s", {"name": "by name"})

    assert caplog.messages == ["no arguments?token=1", "by name"]
