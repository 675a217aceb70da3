"""What the documents of a service leave open is answered as it was chosen."""

from typing import Any

import pytest

from commandsync.server.simulations import SERVICES
from commandsync.testing import serve_simulation
from tests.support.simulations import PATHS, SCHEMES, Reply, ask, pings, send


def sent(service: str, number: int = 1, *, by: str = "", **choices: Any) -> Reply:  # noqa: ANN401 - as it takes them
    with serve_simulation(service, **choices) as listing:
        return send(listing, pings(service, number), method=by)


def open_at(question: str) -> list[str]:
    return [name for name, service in SERVICES.items() if question in service.open]


@pytest.mark.parametrize("service", open_at("empty"))
def test_an_empty_list_is_accepted_or_refused(service: str) -> None:
    accepted, refused = (sent(service, 0, empty=answer) for answer in ("accepted", "refused"))

    assert accepted.status in {200, 204}
    assert refused.status in {400, 422}


def test_disq_accepts_no_empty_list() -> None:
    assert sent("disq.ink", 0).status == 400


@pytest.mark.parametrize(("answer", "put", "post"), [("put", 204, 405), ("post", 405, 204)])
def test_topgg_takes_put_or_post(answer: str, put: int, post: int) -> None:
    statuses = [sent("top.gg", by=method, method=answer) for method in ("PUT", "POST")]

    assert [reply.status for reply in statuses] == [put, post]


@pytest.mark.parametrize("service", open_at("scheme"))
def test_a_token_has_a_scheme_or_none(service: str) -> None:
    accepted = {}
    for answer in ("documented", "none"):
        with serve_simulation(service, scheme=answer) as listing:
            accepted[answer] = [
                send(listing, pings(service), Authorization=f"{scheme}{listing.token}").status
                == 200
                for scheme in (SCHEMES[service], "")
            ]

    assert accepted == {"documented": [True, False], "none": [False, True]}


@pytest.mark.parametrize("service", open_at("unauthorized"))
@pytest.mark.parametrize("status", [401, 400])
def test_a_missing_or_wrong_token_has_a_status(service: str, status: int) -> None:
    with serve_simulation(service, unauthorized=str(status)) as listing:
        statuses = [send(listing, [], Authorization=token).status for token in ("", "x")]

    assert statuses == [status, status]


def test_a_success_has_a_body_or_none() -> None:
    replies = {name: sent("discordbotlist.com", success=name) for name in ("json", "text", "none")}

    assert {reply.status for reply in replies.values()} == {200}
    assert {name: reply.content for name, reply in replies.items()} == {
        "json": {"success": True},
        "text": "OK",
        "none": "",
    }


@pytest.mark.parametrize("service", open_at("retry_after"))
def test_a_429_says_how_long_in_its_header_or_elsewhere(service: str) -> None:
    for answer in SERVICES[service].open["retry_after"]:
        with serve_simulation(service, retry_after=answer) as listing:
            listing.fail_next(429, retry_after=460)
            reply = send(listing, pings(service))

        assert reply.status == 429
        assert (reply.headers.get("retry-after") == "460") == (answer == "header")
        assert ("460" in str(reply.content)) == (service != "discordbotlist.com")
        assert listing.writes == []


def test_topgg_proves_that_a_token_is_accepted() -> None:
    with serve_simulation("top.gg") as listing:
        path = PATHS["top.gg"].removesuffix("/commands")
        known = ask(listing, "GET", path, Authorization=f"Bearer {listing.token}")
        unknown = ask(listing, "GET", path, Authorization="Bearer x")

    assert (known.status, unknown.status) == (200, 401)
    assert known.content["id"] != listing.bot
