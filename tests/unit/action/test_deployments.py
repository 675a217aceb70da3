"""The list sent last, as deployments: what GitHub is told, and what its answers mean."""

import random
import string
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from commandsync.action.deployments import Deployments
from commandsync.action.rest import GitHub
from commandsync.errors import RefusedError, StalePlanError
from commandsync.sync.statefile import Delivery, End, Remembered
from tests.support.runner import REPOSITORY, SHA, Hub

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def fine(_memory: Remembered) -> None:
    """Nothing speaks against sending."""


def store(hub: Hub) -> Deployments:
    return Deployments(GitHub(hub.url, "job-token"), REPOSITORY, SHA, "https://github.com/run")


def new(*names: str, of: str = "one", identity: str = "here") -> Delivery:
    return Delivery(
        service="top.gg",
        identity=identity,
        token=of,
        digest=f"digest of {' '.join(names)}"[:64],
        names=names,
        size=len(names),
        commit="c" * 40,
        at=NOW,
    )


def send(hub: Hub, *names: str, end: End | None = End.ACCEPTED, of: str = "one") -> Delivery:
    run = store(hub)
    run.remembered("top.gg", "here", of)
    begun = run.begin(new(*names, of=of), fine)
    if end:
        run.end(begun, end)
    return begun


def memory(hub: Hub, of: str = "one") -> Remembered:
    return store(hub).remembered("top.gg", "here", of)


def shown(hub: Hub, of: str = "one") -> list[str]:
    return [" ".join(each.names or ("?",)) for each in memory(hub, of).possible]


def later(hub: Hub, **time: float) -> None:
    hub.deployments.now += timedelta(**time)


def test_a_list_that_is_sent_is_a_deployment_of_its_commit(hub: Hub) -> None:
    send(hub, "ping", "ban")
    (made,) = hub.deployments.deployments
    create, begin, end = (each.json for each in hub.requests if each.writes)

    assert (made["ref"], made["task"]) == ("c" * 40, "commandsync")
    assert made["environment"] == "commandsync/top.gg"
    assert made["payload"] == {
        "version": 1,
        "identity": "here",
        "token": "one",
        "request": "digest of ping ban",
        "size": 2,
        "names": ["ping", "ban"],
    }
    assert (create["auto_merge"], create["required_contexts"]) == (False, [])
    assert [(each["state"], each["auto_inactive"]) for each in (begin, end)] == [
        ("in_progress", False),
        ("success", False),
    ]


def test_a_list_of_no_commit_is_a_deployment_of_the_runs_own(hub: Hub) -> None:
    run = store(hub)
    run.begin(Delivery(**{**_fields(new("ping")), "commit": ""}), fine)

    assert hub.deployments.deployments[0]["ref"] == SHA


def _fields(delivery: Delivery) -> dict[str, Any]:
    return {name: getattr(delivery, name) for name in Delivery.__slots__}


def test_a_deployment_without_a_status_counts(hub: Hub) -> None:
    send(hub, "old")
    hub.rule = lambda line: (403, {}, {}) if line.endswith("/statuses") else None
    with pytest.raises(RefusedError, match="the sent list cannot be recorded: GitHub answers 403"):
        send(hub, "new")
    hub.rule = lambda _: None

    assert shown(hub) == ["new", "old"]


@pytest.mark.parametrize("state", ["inactive", "queued", "pending"])
@pytest.mark.parametrize("end", [End.ACCEPTED, End.UNKNOWN, None])
def test_no_other_status_takes_a_list_away(hub: Hub, state: str, end: End | None) -> None:
    send(hub, "old")
    sent = send(hub, "new", end=end)
    before = shown(hub)
    hub.deployments.append(sent.number, state, "")

    assert shown(hub) == before


def test_a_run_without_an_end_counts_until_no_job_can_run_so_long(hub: Hub) -> None:
    send(hub, "killed", end=None)
    later(hub, days=4)
    send(hub, "new")
    within = shown(hub)
    later(hub, days=2)
    send(hub, "newest")

    assert within == ["new", "killed"]
    assert shown(hub) == ["newest"]


def test_of_two_runs_at_once_the_later_one_decides_again(hub: Hub) -> None:
    send(hub, "old")
    first, second = store(hub), store(hub)
    for run in (first, second):
        run.remembered("top.gg", "here", "one")
    asked: list[Remembered] = []

    def late(known: Remembered) -> StalePlanError:
        asked.append(known)
        return StalePlanError("late")

    first.begin(new("first"), fine)
    with pytest.raises(StalePlanError):
        second.begin(new("second"), late)

    assert [each.names for each in asked[0].possible] == [("first",), ("old",)]
    assert hub.deployments.states()[-1] == ["in_progress", "failure"]
    assert shown(hub) == ["first", "old"]


def test_a_run_that_sends_the_known_list_again_sees_one_that_came_between(hub: Hub) -> None:
    send(hub, "old")
    first, asked = store(hub), list[Remembered]()
    first.remembered("top.gg", "here", "one")
    again = new("old")

    def rule(line: str) -> None:
        if line.endswith("/1000/statuses") and line.startswith("POST"):
            hub.rule = lambda _: None
            send(hub, "newer")

    hub.rule = rule
    first.begin(again, asked.append)

    assert [[each.names for each in known.possible] for known in asked] == [[("newer",)]]
    assert hub.deployments.states()[0] == ["in_progress", "success", "in_progress"]
    assert shown(hub) == ["newer", "old"]


def test_a_list_that_is_sent_again_gets_another_status(hub: Hub) -> None:
    send(hub, "ping")
    send(hub, "ping")

    assert hub.deployments.states() == [["in_progress", "success"] * 2]
    assert shown(hub) == ["ping"]


def test_an_accepted_attempt_ends_what_was_in_flight_long_before(hub: Hub) -> None:
    send(hub, "killed", end=None)
    send(hub, "daily")
    for _ in range(7):
        later(hub, days=1)
        send(hub, "daily")

    assert shown(hub) == ["daily"]


def test_an_attempt_without_an_end_does_not_count_for_ever(hub: Hub) -> None:
    send(hub, "old")
    send(hub, "daily", end=None)
    for _ in range(7):
        later(hub, days=1)
        send(hub, "daily")
    later(hub, days=9)
    send(hub, "new")

    assert shown(hub) == ["new"]


def test_another_token_or_listing_is_skipped(hub: Hub) -> None:
    send(hub, "ping")
    send(hub, "staging", of="two")
    other = memory(hub, "three")
    elsewhere = store(hub).remembered("top.gg", "there", "one")

    assert (shown(hub), shown(hub, "two")) == (["ping"], ["staging"])
    assert other.possible == ()
    assert other.other_token == hub.deployments.now - timedelta(seconds=2)
    assert elsewhere == Remembered()


def test_a_list_sent_again_with_another_token_is_another_deployment(hub: Hub) -> None:
    send(hub, "ping")
    send(hub, "ping", of="two")

    assert len(hub.deployments.deployments) == 2


@pytest.mark.parametrize(
    "payload", ["", "deploy it", {}, {"web": 1}, ["a"], None, 3, {"version": 1}]
)
def test_deployments_of_other_programs_are_skipped(hub: Hub, payload: object) -> None:
    send(hub, "ping")
    hub.deployments.deployments[0]["payload"], ours = payload, hub.deployments.payloads()[0]
    send(hub, "ban")

    assert ours["names"] == ["ping"]
    assert shown(hub) == ["ban"]


def test_the_newest_are_read_page_by_page_as_far_as_they_count(hub: Hub) -> None:
    hub.deployments.page = 3
    for number in range(10):
        send(hub, f"command{number}")
        later(hub, days=7)
    hub.requests.clear()

    assert shown(hub) == ["command9"]
    assert len(hub.requests) == 3  # a page, and the statuses of two
    assert memory(hub, "other").other_token


def test_many_names_are_packed_and_too_many_are_not_known(hub: Hub) -> None:
    draw = random.Random(1)  # noqa: S311 - names
    many = [f"command-number-{n}" for n in range(5_000)]
    random_names = ["".join(draw.choices(string.printable, k=32)) for _ in range(5_000)]
    send(hub, *many)
    (kept,) = memory(hub).possible
    send(hub, *random_names)
    (unknown,) = memory(hub).possible

    assert kept.names == tuple(many)
    assert isinstance(hub.deployments.payloads()[0]["names"], str)
    assert (unknown.names, unknown.size) == (None, 5_000)


@pytest.mark.parametrize("permission", ["", "read"])
def test_a_missing_permission_is_said(hub: Hub, permission: str) -> None:
    hub.deployments.permission = permission
    with pytest.raises(RefusedError, match="403") as raised:
        send(hub, "ping")

    assert "deployments: write" in str(raised.value.hint)


def test_without_a_token_for_github_nothing_is_known() -> None:
    with pytest.raises(RefusedError, match="no github-token") as raised:
        Deployments(None, REPOSITORY).remembered("top.gg", "here", "one")

    assert "input" in str(raised.value.hint)


Spoil = Callable[[dict[str, Any], dict[str, Any]], object]
SPOILT: dict[str, Spoil] = {
    "id is text": lambda made, _: made.update(id="1000"),
    "id is true": lambda made, _: made.update(id=True),
    "no time": lambda made, _: made.update(created_at=None),
    "odd time": lambda made, _: made.update(created_at="yesterday"),
    "no sha": lambda made, _: made.update(sha=7),
    "identity": lambda made, _: made["payload"].update(identity=["here"]),
    "token": lambda made, _: made["payload"].update(token=None),
    "request": lambda made, _: made["payload"].update(request=1),
    "size": lambda made, _: made["payload"].update(size="2"),
    "names": lambda made, _: made["payload"].update(names={"ping": 1}),
    "a name": lambda made, _: made["payload"].update(names=["ping", 1]),
    "packed names": lambda made, _: made["payload"].update(names="no base64!"),
    "other packed names": lambda made, _: made["payload"].update(names="aGVsbG8="),
    "version": lambda made, _: made["payload"].update(version=2),
    "state": lambda _, status: status.update(state=["success"]),
    "status is text": lambda _, status: status.update(state=None),
    "time of a status": lambda _, status: status.update(created_at=5),
    "id of a status": lambda _, status: status.update(id={}),
}


@pytest.mark.parametrize("name", SPOILT)
def test_an_answer_of_another_type_is_unreadable(hub: Hub, name: str) -> None:
    sent = send(hub, "ping")
    SPOILT[name](hub.deployments.deployments[0], hub.deployments.statuses[sent.number][0])
    with pytest.raises(RefusedError, match="the list sent last is not known"):
        memory(hub)


@pytest.mark.parametrize("content", [[1], ["a"], [None], [[]], {"message": "x"}, "x", None])
def test_a_list_of_another_type_is_unreadable(hub: Hub, content: object) -> None:
    hub.rule = lambda _: (200, content, {})
    with pytest.raises(RefusedError, match="the list sent last is not known"):
        memory(hub)


@pytest.mark.parametrize("content", [{}, {"id": "1"}, [], None, 7])
def test_a_deployment_without_a_number_is_not_sent(hub: Hub, content: object) -> None:
    hub.rule = lambda line: (201, content, {}) if line.startswith("POST") else None
    with pytest.raises(RefusedError, match="the sent list cannot be recorded"):
        send(hub, "ping")


def test_deployments_in_another_order_are_unreadable(hub: Hub) -> None:
    send(hub, "ping")
    send(hub, "ban")
    hub.deployments.deployments.reverse()
    with pytest.raises(RefusedError, match="not in order"):
        memory(hub)
