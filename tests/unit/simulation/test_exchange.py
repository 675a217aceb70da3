"""A simulation is a function: of a request, a state and a time to a response and the next state."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from commandsync.simulation import NAMES
from commandsync.simulation.exchange import Request, Response, ServiceState, Simulation
from commandsync.simulation.registry import SERVICES, simulate

NOW = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)
PING = {"name": "ping", "description": "Says pong.", "type": 1}
NEWS = {"title": "v2 is out", "content": "Slash commands everywhere.", "category": "event"}
COMMANDS, ANNOUNCEMENTS = (f"/api/v1/projects/@me/{name}" for name in ("commands", "announcements"))


@pytest.fixture
def top_gg() -> Simulation:
    return simulate(SERVICES["top.gg"], secret="s3cr3t", choices={})


def asked(simulation: Simulation, method: str, path: str, content: object = None) -> Request:
    headers = {"authorization": f"Bearer {simulation.token}"}
    return Request(method=method, path=path, headers=headers, body=json.dumps(content).encode())


def test_the_names_are_those_of_the_services() -> None:
    assert tuple(SERVICES) == NAMES


def test_a_write_gives_a_new_state_and_leaves_the_old_one(top_gg: Simulation) -> None:
    before = ServiceState()
    replaced, after = top_gg.respond(asked(top_gg, "PUT", COMMANDS, [PING]), before, now=NOW)
    again = top_gg.respond(asked(top_gg, "PUT", COMMANDS, [PING]), before, now=NOW)

    assert replaced == Response(204)
    assert (before, after) == (ServiceState(), ServiceState().with_list([PING]))
    assert again == (replaced, after)


def test_a_refusal_changes_nothing_and_names_the_first_problems(top_gg: Simulation) -> None:
    state = ServiceState().with_list([PING])
    wrong = [{**PING, "description": ""}] * 9
    refused, after = top_gg.respond(asked(top_gg, "PUT", COMMANDS, wrong), state, now=NOW)

    assert after is state
    assert (refused.status, refused.media_type) == (422, "application/problem+json")
    reason = json.loads(refused.body)["detail"]
    assert reason.startswith("0.")
    assert reason.count("; ") == 2


def test_another_method_is_refused_with_those_that_are_allowed(top_gg: Simulation) -> None:
    for path, allowed in ((COMMANDS, "PUT"), (ANNOUNCEMENTS, "POST"), (COMMANDS[:-9], "GET")):
        refused, _ = top_gg.respond(asked(top_gg, "PATCH", path), ServiceState(), now=NOW)

        assert (refused.status, refused.headers["Allow"]) == (405, allowed)
    head, _ = top_gg.respond(asked(top_gg, "HEAD", COMMANDS[:-9]), ServiceState(), now=NOW)
    assert head.status == 200


def test_the_time_decides_about_the_next_announcement(top_gg: Simulation) -> None:
    post = asked(top_gg, "POST", ANNOUNCEMENTS, NEWS)
    posted, state = top_gg.respond(post, ServiceState(), now=NOW)
    early, same = top_gg.respond(post, state, now=NOW + timedelta(hours=4, seconds=-1))
    due, last = top_gg.respond(post, state, now=NOW + timedelta(hours=4))

    assert [each.status for each in (posted, early, due)] == [200, 429, 200]
    assert (early.content, dict(early.headers)) == ({"retry-after": 1}, {"Retry-After": "1"})
    assert same is state
    assert last.announcements == (NEWS, NEWS)
    assert json.loads(posted.body)["created_at"] == "2026-03-04T12:30:00.000+00:00"


def test_only_the_last_hundred_writes_are_kept() -> None:
    state = ServiceState()
    for number in range(101):
        state = state.with_list([PING] * number).with_announcement({"n": number}, NOW)

    assert len(state.writes) == len(state.announcements) == 100
    assert len(state.writes[-1][1]) == 100
    assert state.announcements[0] == {"n": 100}


def test_no_token_is_shown_in_the_value(top_gg: Simulation) -> None:
    assert "s3cr3t" in top_gg.token
    assert "s3cr3t" not in repr(top_gg)
