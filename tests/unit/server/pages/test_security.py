from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.datastructures import Headers

from commandsync.server.pages.security import HEADERS, is_from_own_page
from tests.support.callers import Caller

if TYPE_CHECKING:
    from tests.support.bots import Service


@pytest.mark.parametrize("path", ["/healthz", "/no/such/page", "/bot/none/live", "/v0/bots"])
def test_every_answer_beside_the_interface_has_the_headers(service: Service, path: str) -> None:
    for method in ("GET", "HEAD", "DELETE"):
        headers = Caller(service.url, "", "").raw(method, path).headers

        assert {name: headers.get(name.lower()) for name in HEADERS} == HEADERS


def test_answers_of_the_interface_are_as_they_were(service: Service) -> None:
    headers = Caller(service.url, "", "").raw("GET", "/v1/bots").headers

    assert not {name.lower() for name in HEADERS} & set(headers)


def test_the_policy_allows_nothing_inline_and_no_other_host() -> None:
    policy = dict(
        directive.split(maxsplit=1) for directive in HEADERS["Content-Security-Policy"].split("; ")
    )

    assert set(policy.values()) == {"'self'", "'none'"}
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "same-origin", "origin": "null"},
        {"origin": "http://127.0.0.1:8000"},
        {"origin": "https://127.0.0.1:8000"},
    ],
)
def test_a_page_of_the_service_may_send_a_form(headers: dict[str, str]) -> None:
    assert is_from_own_page(Headers({"host": "127.0.0.1:8000", **headers}))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},  # another port of this machine
        {"sec-fetch-site": "none"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8000"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
        {"origin": "http://127.0.0.1"},
        {"origin": "http://127.0.0.1:8000.example"},
        {"origin": "http://", "host": ""},
        {"origin": "null", "host": ""},
    ],
)
def test_nothing_else_may(headers: dict[str, str]) -> None:
    assert not is_from_own_page(Headers({"host": "127.0.0.1:8000", **headers}))
