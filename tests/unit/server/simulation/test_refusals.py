"""Each simulated service refuses in its own form: callers, bodies, paths, and too many requests."""

import pytest

from commandsync.testing import SimulatedListing, serve_simulation
from tests.support.simulations import Reply, ask, pings, send

# Without a token, with a wrong one, of another bot, and of a body that is not valid.
REFUSALS = {
    "top.gg": (401, 401, None, 422),
    "discordbotlist.com": (401, 401, 404, 400),
    "telegram": (None, 401, None, 400),
    "bots.ondiscord.xyz": (401, 401, 404, 400),
    "disq.ink": (401, 403, 404, 400),
    "radarcord.net": (400, 400, 400, 400),
}
NEWS = {"title": "v2 is out", "content": "Slash commands everywhere.", "category": "event"}


def refusal(listing: SimulatedListing, reply: Reply) -> int:
    """Return the status of a refusal, which has a reason and the form of the service."""
    match listing.service, reply.content:
        case "top.gg", {"type": str(), "title": str(), "status": reply.status, "detail": str(why)}:
            assert reply.headers["content-type"] == "application/problem+json"
        case "disq.ink", {"error": {"status": reply.status, "message": str(why)}}:
            pass
        case "telegram", {"ok": False, "error_code": reply.status, "description": str(why)}:
            pass
        case _, {"message": str(why)}:
            pass
        case other:
            raise AssertionError(other)
    assert why
    return reply.status


@pytest.mark.promise("serve-as")
def test_a_caller_without_its_right_token_is_refused(simulated: SimulatedListing) -> None:
    records = pings(simulated.service)
    missing, wrong, unlisted, _ = REFUSALS[simulated.service]
    token, bot = simulated.token, simulated.bot
    if missing is not None:
        assert refusal(simulated, send(simulated, records, Authorization="")) == missing
        reply = send(simulated, records, Authorization=f"Other {token}")
        assert refusal(simulated, reply) == wrong
    simulated.token = token[:-1]
    assert refusal(simulated, send(simulated, records)) == wrong
    simulated.token, simulated.bot = token, f"{bot}0"
    if unlisted is not None:
        assert refusal(simulated, send(simulated, records)) == unlisted

    assert simulated.writes == []


@pytest.mark.parametrize("body", [b"", b"{", b"null", b'"x"', b"[1]", b'{"commands": {}}', b"\xff"])
def test_a_body_without_a_list_is_refused(simulated: SimulatedListing, body: bytes) -> None:
    assert refusal(simulated, send(simulated, body)) == REFUSALS[simulated.service][3]
    assert simulated.writes == []


def test_other_paths_and_methods_are_refused_in_its_form(simulated: SimulatedListing) -> None:
    wrong = send(simulated, [], method="DELETE")

    assert refusal(simulated, ask(simulated, "GET", "/nowhere")) == 404
    assert refusal(simulated, wrong) == 405
    assert wrong.headers["allow"]


def test_telegram_refuses_a_token_of_no_bot_and_other_methods(telegram: SimulatedListing) -> None:
    for path in ("/bot1:x/getMe", "/botnonsense/getMe", f"/bot{telegram.token}/sendMessage"):
        assert refusal(telegram, ask(telegram, "POST", path)) == 404

    assert telegram.requests[1].path == "/bot***/getMe"
    assert telegram.token not in repr(telegram.requests)


def test_ondiscord_accepts_ten_requests_in_an_hour() -> None:
    with serve_simulation("bots.ondiscord.xyz") as listing:
        replies = [send(listing, pings(listing.service)) for _ in range(11)]

    assert [reply.status for reply in replies] == [204] * 10 + [429]
    assert 3_590 < int(replies[10].headers["retry-after"]) <= 3_600
    assert refusal(listing, replies[10]) == 429


def test_over_its_limit_topgg_blocks_for_an_hour() -> None:
    with serve_simulation("top.gg", rate_limit="2/second") as listing:
        replies = [send(listing, pings(listing.service)) for _ in range(20)]

    assert [reply.status for reply in replies[:2]] == [204, 204]
    assert replies[-1].status == 429
    assert 3_590 < replies[-1].content["retry-after"] <= 3_600
    assert "retry-after" not in replies[-1].headers
    assert len(listing.writes) < 20


def test_topgg_posts_one_announcement_in_four_hours() -> None:
    bodies = [{**NEWS, "title": "v2"}, {**NEWS, "content": "Short."}, {**NEWS, "category": "x"}]
    path = "/api/v1/projects/@me/announcements"
    with serve_simulation("top.gg") as listing:
        replies = [
            ask(listing, "POST", path, body, Authorization=f"Bearer {listing.token}")
            for body in (*bodies, NEWS, NEWS)
        ]

    assert [reply.status for reply in replies] == [422, 422, 422, 200, 429]
    assert replies[3].content.keys() == {"title", "content", "created_at"}
    assert 14_390 < int(replies[4].headers["retry-after"]) <= 14_400
    assert listing.announcements == [NEWS]
