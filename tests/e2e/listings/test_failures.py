"""A list that is refused, not answered or not understood: the exit code says what became of it."""

from __future__ import annotations

import pytest

from tests.support.bots import Instead, Proxy
from tests.support.destination import LOST_AFTER, Destination, Fault, outcomes, result_of
from tests.support.home import Ran
from tests.support.rawserver import Request

REFUSED = 1
INCOMPLETE = 6
PAGE_AFTER = Instead(200, b"<html>It works.</html>", {"Content-Type": "text/html"}, forwarded=True)
CUT_AFTER = Instead(200, b'{"ok": tr', forwarded=True)


def status(number: int, *, after: bool = False) -> Fault:
    """Return a fault that the simulation writes as the service does."""
    return lambda listing: listing.fail_next(number, after_write=after)


def instead(answer: Instead) -> Fault:
    return lambda _listing: answer


def changed(place: Destination, *options: str, form: str = "json", exits: int | None = None) -> Ran:
    """Apply one more command to a list that has two."""
    place.write("ping", "ban", "kick")
    return place.apply(*options, *place.known, form=form, exits=exits)


@pytest.mark.parametrize(
    "fault",
    [status(500, after=True), instead(LOST_AFTER), instead(PAGE_AFTER), instead(CUT_AFTER)],
    ids=["500", "lost", "page", "cut"],
)
def test_a_failure_after_the_effect_needs_a_read(place: Destination, fault: Fault) -> None:
    place.sent("ping", "ban")
    place.fail(fault)

    ran = changed(place)

    assert place.names == ["ping", "ban", "kick"]
    assert result_of(ran)["verified"] is (True if place.is_read else None)
    assert outcomes(ran) == ({"done": 1} if place.is_read else {"unknown": 1})
    assert ran.code == (0 if place.is_read else INCOMPLETE)


@pytest.mark.promise("exit-code-0-telegram")
@pytest.mark.parametrize("names", [("ping", "ban", "kick"), ("ban", "ping")])
def test_a_list_in_another_order_is_not_verified(
    telegram: Destination, names: tuple[str, ...]
) -> None:
    telegram.sent("ping", "ban")

    def sorted_when_read(request: Request) -> Instead | None:
        if not (telegram.proxy.writes and "getMyCommands" in request.path):
            return None
        commands = sorted(telegram.listing.commands, key=lambda each: each["command"])
        shown = commands if commands != telegram.listing.commands else commands[::-1]
        return Instead(200, {"ok": True, "result": shown})

    telegram.proxy.rule = sorted_when_read
    telegram.write(*names)
    ran = telegram.apply(form="text", exits=INCOMPLETE)

    assert "in another order" in ran.said
    assert "Verified" not in ran.said


@pytest.mark.promise("listing-requests")
@pytest.mark.parametrize("number", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(place: Destination, number: int) -> None:
    place.sent("ping", "ban")
    with Proxy(place.listing.base_url) as other:
        to = f"{other.url}/{place.listing.token}?key={place.listing.token}"
        place.fail(instead(Instead(number, headers={"Location": to})))
        ran = changed(place, "-vv", form="text")

    assert other.requests == []
    assert len(place.proxy.writes) == 1
    assert "not followed" in ran.said
    assert place.secret not in ran.said
    assert ran.code == (REFUSED if place.is_read else INCOMPLETE)
    assert place.names == ["ping", "ban"]


def test_a_429_without_a_time_is_not_followed_by_another_request(place: Destination) -> None:
    place.sent("ping", "ban")
    place.fail(instead(Instead(429, b"{}")), reads=True)

    changed(place, exits=REFUSED)

    assert [request.writes for request in place.proxy.requests] == [not place.is_read]
    assert place.names == ["ping", "ban"]
