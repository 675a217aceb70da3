"""What watches a service asks it whether it runs, and whether its database answers."""

import json
from typing import Any

import pytest

from commandsync.server.runner import running
from tests.support.callers import Caller
from tests.support.postgres import Server


def ask(caller: Caller, path: str) -> tuple[int, Any]:
    reply = caller.raw("GET", path)
    return reply.status, json.loads(reply.content)


def test_a_service_is_healthy_and_ready(database_url: str) -> None:
    with running(database_url) as service:
        caller = Caller(service.url, "1", "")
        answers = [ask(caller, path) for path in ("/healthz", "/readyz")]

    assert [(status, answer["success"]) for status, answer in answers] == [(200, True)] * 2


def test_without_its_database_it_is_healthy_and_not_ready(
    postgres: Server, postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with running(postgres_url) as service:
        caller = Caller(service.url, "1", "")
        with postgres.closed_to_others(postgres_url):
            during = {path: ask(caller, path) for path in ("/healthz", "/readyz", "/v1/bot/1")}
            retry = caller.raw("GET", "/readyz").headers["retry-after"]
        after = ask(caller, "/readyz")

    statuses = [status for status, _ in (*during.values(), after)]
    assert (statuses, retry) == ([200, 503, 503, 200], "1")
    assert during["/readyz"] == during["/v1/bot/1"]
    assert "not currently accepting connections" in caplog.text
    assert "Traceback" not in caplog.text
