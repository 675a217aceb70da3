"""The test kit's simulations: their handles, and how they fail on request."""

from http.client import BadStatusLine, RemoteDisconnected
from typing import Any

import pytest
import yaml

from commandsync import UsageError
from commandsync.testing import Listing
from tests.support.callers import PING, ask, send
from tests.support.simulations import SERVICES, serve_simulation

LOST = (RemoteDisconnected, ConnectionResetError, BadStatusLine)


def test_a_listing_has_simulations_beside_it(listing: Listing) -> None:
    first = listing.simulate("top.gg", empty="refused")
    second = listing.simulate("top.gg")
    send(first, [PING])

    assert (first.commands, second.commands) == ([PING], [])
    assert first.token != second.token
    assert send(first, []).status == 422
    assert send(second, []).status == 204


def test_a_rate_limit_that_is_not_valid_is_refused_at_once() -> None:
    with (
        pytest.raises(ValueError, match="'often' is not a valid rate limit"),
        serve_simulation("top.gg", rate_limit="often"),
    ):
        pass


@pytest.mark.parametrize("service", SERVICES)
def test_a_handle_says_what_leads_to_it(service: str) -> None:
    with serve_simulation(service, bot="42") as listing:
        (entry,) = yaml.safe_load(listing.manifest)["listings"]

    assert entry["service"] == service
    assert entry.get("bot", "42") == "42"
    assert listing.variable.startswith("COMMANDSYNC_TOKEN_")
    if "replace" in entry:
        assert entry["token_env"] == listing.variable
        assert entry["replace"]["url"].startswith(f"{listing.base_url}/")
        assert ("{bot}" in entry["replace"]["url"]) is ("bot" in entry)
        assert "{token}" in entry["replace"]["authorization"]
    else:
        assert entry["base_url"] == listing.base_url


@pytest.mark.parametrize(("after_write", "written"), [(False, 0), (True, 1)])
@pytest.mark.parametrize("service", ["top.gg", "disq.ink"])
def test_a_request_fails_before_or_after(service: str, *, after_write: bool, written: int) -> None:
    with serve_simulation(service) as listing:
        listing.fail_next(500, times=2, after_write=after_write)
        statuses = [send(listing, [PING]).status for _ in range(2)]

    assert statuses == [500, 500]
    assert len(listing.writes) == 2 * written
    assert len(listing.requests) == 2


@pytest.mark.parametrize(("after_write", "written"), [(False, 0), (True, 1)])
def test_an_answer_is_lost_at_once_and_quietly(
    caplog: pytest.LogCaptureFixture, *, after_write: bool, written: int
) -> None:
    with serve_simulation("discordbotlist.com") as listing:
        listing.lose_next(after_write=after_write)
        with pytest.raises(LOST):
            send(listing, [PING])
        writes = len(listing.writes)
        again = send(listing, [PING])

    assert (writes, again.status) == (written, 200)
    assert caplog.records == []


def test_a_redirect_does_nothing() -> None:
    with serve_simulation("top.gg") as listing:
        listing.redirect_next("http://127.0.0.1:9/elsewhere")
        reply = send(listing, [PING])

    assert (reply.status, reply.headers["location"]) == (307, "http://127.0.0.1:9/elsewhere")
    assert listing.writes == []


def test_an_answer_may_be_unreadable_after_its_work() -> None:
    with serve_simulation("telegram") as listing:
        listing.answer_next(b"<html>", content_type="text/html")
        reply = ask(listing, "POST", f"/bot{listing.token}/deleteMyCommands", {})

    assert (reply.status, reply.content) == (200, "<html>")
    assert len(listing.writes) == 1


def test_a_service_that_is_unknown_is_named_with_those_that_are_not() -> None:
    with pytest.raises(UsageError, match="'list' is not a service that can be simulated") as caught:
        serve_simulation("list").__enter__()

    assert "top.gg, discordbotlist.com, telegram" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("service", "choice", "hint"),
    [
        ("disq.ink", {"empty": "refused"}, "nothing"),
        ("telegram", {"method": "put"}, "empty: accepted, refused; retry_after: body, header"),
        ("bots.ondiscord.xyz", {"empty": "no"}, "empty: accepted, refused"),
    ],
)
def test_an_impossible_choice_is_refused(service: str, choice: dict[str, Any], hint: str) -> None:
    with pytest.raises(UsageError, match=r"is not a valid value of '(empty|method)'") as caught:
        serve_simulation(service, **choice).__enter__()

    assert str(caught.value.hint).endswith(f" open: {hint}")
