"""A list that is refused, not answered or not understood: the exit code says what became of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.destination import LOST, LOST_AFTER, Destination, Fault, outcomes, result_of
from tests.support.home import Ran
from tests.support.proxy import Instead, Proxy

REFUSED = 1
INCOMPLETE = 6
PAGE = Instead(200, b"<html>It works.</html>", {"Content-Type": "text/html"})
PAGE_AFTER = Instead(200, b"<html>It works.</html>", {"Content-Type": "text/html"}, forwarded=True)
CUT_AFTER = Instead(200, b'{"ok": tr', forwarded=True)


def status(number: int, *, after: bool = False, seconds: int | None = None) -> Fault:
    """Return a fault that the simulation writes as the service does."""
    return lambda listing: listing.fail_next(number, after_write=after, retry_after=seconds)


def instead(answer: Instead) -> Fault:
    return lambda _listing: answer


def changed(place: Destination, *options: str, form: str = "json") -> Ran:
    """Apply one more command to a list that has two."""
    place.write("ping", "ban", "kick")
    return place.apply(*options, *place.known, form=form)


def test_a_short_wait_is_waited_for(place: Destination) -> None:
    place.sent("ping", "ban")
    place.fail(status(429, seconds=20), times=1)

    ran = changed(place, "-v")

    assert ran.code == 0
    assert len(place.proxy.writes) == 2
    assert re.search(r"\b2\d(\.\d+)? s\b", ran.err), ran.err
    assert place.names == ["ping", "ban", "kick"]


def test_a_long_wait_is_named_and_not_waited_for(place: Destination) -> None:
    place.sent("ping", "ban")
    place.fail(status(429, seconds=3600))

    ran = changed(place, form="text")

    later = datetime.now(UTC) + timedelta(hours=1)
    times = {f"{later - timedelta(minutes=ago):%H:%M} UTC" for ago in range(-1, 2)}
    assert ran.code == REFUSED
    assert len(place.proxy.writes) == 1
    assert any(f"run again after {time}" in ran.said for time in times), ran.said
    assert place.names == ["ping", "ban"]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("kind", ["500", "lost", "page"])
def test_one_failure_is_repaired_by_a_second_request(
    place: Destination, kind: str, *, after: bool
) -> None:
    place.sent("ping", "ban")
    faults = {
        "500": status(500, after=after),
        "lost": instead(LOST_AFTER if after else LOST),
        "page": instead(PAGE_AFTER if after else PAGE),
    }
    place.fail(faults[kind], times=1)

    ran = changed(place)

    assert ran.code == 0, ran.said
    assert len(place.proxy.writes) == 2
    assert place.names == ["ping", "ban", "kick"]


@pytest.mark.parametrize(
    "fault", [status(500), instead(LOST), instead(PAGE)], ids=["500", "lost", "page"]
)
def test_without_a_read_a_failure_before_the_effect_is_unknown(
    unread: Destination, fault: Fault
) -> None:
    unread.sent("ping", "ban")
    unread.fail(fault)

    ran = changed(unread)

    assert ran.code == INCOMPLETE
    assert outcomes(ran) == {"unknown": 1}
    assert result_of(ran)["verified"] is None
    assert len(unread.proxy.writes) == 5


@pytest.mark.parametrize(
    "fault",
    [status(500, after=True), instead(LOST_AFTER), instead(PAGE_AFTER), instead(CUT_AFTER)],
    ids=["500", "lost", "page", "cut"],
)
def test_a_failure_after_the_effect_is_known_by_a_read_only(
    place: Destination, fault: Fault
) -> None:
    place.sent("ping", "ban")
    place.fail(fault)

    ran = changed(place)

    assert place.names == ["ping", "ban", "kick"]
    assert result_of(ran)["verified"] is (True if place.is_read else None)
    assert outcomes(ran) == ({"done": 1} if place.is_read else {"unknown": 1})
    assert ran.code == (0 if place.is_read else INCOMPLETE)


@pytest.mark.parametrize("last", [400, 401, 429])
def test_a_refusal_proves_nothing_about_an_earlier_request(place: Destination, last: int) -> None:
    place.sent("ping", "ban")
    faults = iter([status(500, after=True), status(last, seconds=3600)])
    place.fail(lambda listing: next(faults)(listing), times=2)  # noqa: PLW0108 - one for each call

    ran = changed(place)

    assert len(place.proxy.writes) == 2
    assert outcomes(ran) == ({"done": 1} if place.is_read else {"unknown": 1})
    assert ran.code == (0 if place.is_read else INCOMPLETE)


@pytest.mark.parametrize(
    ("fault", "code", "outcome"),
    [
        (status(500), 1, "failed"),
        (instead(LOST), INCOMPLETE, "unknown"),
        (instead(PAGE), INCOMPLETE, "unknown"),
    ],
    ids=["500", "lost", "page"],
)
def test_a_list_that_is_read_shows_that_nothing_was_changed(
    telegram: Destination, fault: Fault, code: int, outcome: str
) -> None:
    telegram.sent("ping", "ban")
    telegram.fail(fault)

    ran = changed(telegram)

    assert (ran.code, outcomes(ran)) == (code, {outcome: 1})
    assert result_of(ran)["verified"] is False
    assert telegram.names == ["ping", "ban"]


def test_a_list_that_cannot_be_read_again_is_not_verified(telegram: Destination) -> None:
    telegram.sent("ping", "ban")
    telegram.proxy.rule = lambda request: (
        Instead(500) if telegram.proxy.writes and not request.writes else None
    )
    ran = changed(telegram)

    assert ran.code == INCOMPLETE
    assert result_of(ran)["verified"] is False
    assert telegram.names == ["ping", "ban", "kick"]


def test_a_service_that_stores_another_list_is_not_verified(telegram: Destination) -> None:
    telegram.sent("ping", "ban")
    telegram.fail(instead(Instead(200, {"ok": True, "result": True})))

    ran = changed(telegram)

    assert ran.code == INCOMPLETE
    assert outcomes(ran) == {"unknown": 1}
    assert result_of(ran)["verified"] is False


def test_an_unreadable_list_is_not_an_empty_one(telegram: Destination) -> None:
    telegram.sent("ping", "ban")
    telegram.fail(instead(PAGE), reads=True)

    ran = changed(telegram, form="text")

    assert ran.code == REFUSED
    assert telegram.proxy.writes == []


@pytest.mark.parametrize("number", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(place: Destination, number: int) -> None:
    place.sent("ping", "ban")
    with Proxy(place.listing.base_url) as other:
        to = f"{other.url}/{place.listing.token}?key={place.listing.token}"
        place.fail(instead(Instead(number, headers={"Location": to})))
        ran = changed(place, "-vv", form="text")

    assert other.requests == []
    assert len(place.proxy.writes) == 1
    assert "redirects are not followed" in ran.said
    assert place.secret not in ran.said
    assert ran.code == (REFUSED if place.is_read else INCOMPLETE)
    assert place.names == ["ping", "ban"]


def test_a_wrong_token_changes_nothing(place: Destination) -> None:
    place.sent("ping", "ban")
    number = "8120454873:" if place.is_read else ""
    place.home.variable(place.listing.variable, f"{number}wrong-Token-0123456789abcdef")

    ran = changed(place, "-vv", form="text")

    assert ran.code == REFUSED
    assert "wrong-Token" not in ran.said
    assert len(place.proxy.requests) == 1
    assert place.names == ["ping", "ban"]


def test_a_body_that_is_refused_changes_nothing(place: Destination) -> None:
    place.sent("ping", "ban")
    place.fail(status(400))

    ran = changed(place)

    assert (ran.code, outcomes(ran)) == (REFUSED, {"failed": 1})
    assert len(place.proxy.writes) == 1
    assert result_of(ran)["changes"][0]["error"]


def test_too_long_a_list_is_refused_in_the_services_words(topgg: Destination) -> None:
    topgg.write(*(f"command{number}" for number in range(101)))

    ran = topgg.apply("--unseen", form="text")

    assert ran.code == REFUSED
    assert "at most 100 items" in ran.said
    assert topgg.names == []
