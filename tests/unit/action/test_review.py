from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commandsync.action.comment import key_of
from commandsync.action.event import GitHubEvent
from commandsync.action.inputs import Inputs
from commandsync.action.marker import Marker, changes_of, fingerprint_of, removals_of, render
from commandsync.action.rest import GitHub
from commandsync.action.review import Review, review_of
from commandsync.plan.plan import make_plan
from commandsync.records.snapshot import Entry
from tests.support.runner import REPOSITORY, SHA
from tests.support.runs import EVERYTHING, TARGET, announcement, command, wanted
from tests.support.schedules import day, post, posted

if TYPE_CHECKING:
    from commandsync.plan.plan import Plan
    from tests.support.hub import Hub

INPUTS = Inputs(label="lantern")
KEY = key_of(INPUTS, [])
EVENT = GitHubEvent("push", REPOSITORY, SHA, default_branch=True, branch="main")
MERGED = [{"number": 7, "merged_at": "2026-01-07"}]


def plan(*deleted: str, added: tuple[str, ...] = (), replaced: bool = False) -> Plan:
    return make_plan(
        desired=wanted([command(name) for name in added], [announcement("v2")] * replaced),
        listed=wanted(
            [Entry(command(name), name) for name in deleted],
            [Entry(announcement("v2", "Soon."), "v2")] * replaced,
        ),
        target=TARGET,
        rules=EVERYTHING,
    )


def says(hub: Hub, plan: Plan, *, on: int = 7, applied: bool = False, login: str = "") -> None:
    marker = Marker(
        key=KEY,
        fingerprint=fingerprint_of([plan]),
        removals=removals_of([plan]),
        applied=applied,
        changes=changes_of([plan]),
    )
    hub.says(f"{render(marker)}\nThe plan.", on=on, **({"login": login} if login else {}))


def review(hub: Hub, plan: Plan, event: GitHubEvent = EVENT) -> Review:
    return review_of([plan], inputs=INPUTS, github=GitHub(hub.url, "token"), event=event, key=KEY)


def unseen(hub: Hub, plan: Plan, event: GitHubEvent = EVENT) -> list[str]:
    return [change.name for change in review(hub, plan, event).unseen]


def test_a_delete_and_a_replace_have_to_be_shown(hub: Hub) -> None:
    hub.merged[SHA] = MERGED
    says(hub, plan("a", added=("b",)))

    assert unseen(hub, plan("a", "c", added=("d",))) == ["c"]
    assert unseen(hub, plan("a", replaced=True)) == ["v2"]
    assert unseen(hub, plan(added=("d",))) == []


def test_the_comments_of_earlier_requests_count_until_one_that_was_applied(hub: Hub) -> None:
    hub.merged[SHA] = MERGED
    hub.closed = [
        {"number": 6, "merged_at": "2026-01-06"},
        {"number": 9, "merged_at": None},
        *MERGED,
        {"number": 5, "merged_at": "2026-01-05"},
        {"number": 4, "merged_at": "2026-01-04"},
    ]
    for number, name in enumerate("dcba", 4):
        says(hub, plan(name), on=number, applied=number == 5)
    says(hub, plan("e"), on=9)

    assert unseen(hub, plan(*"ab")) == []
    assert unseen(hub, plan(*"abcde")) == ["c", "d", "e"]
    assert [number for number, _ in review(hub, plan(*"abcde")).shown] == [7, 6]


def test_without_a_delete_only_the_runs_own_request_is_read(hub: Hub) -> None:
    hub.merged[SHA] = MERGED
    says(hub, plan("a", added=("b",)))
    review(hub, plan(added=("b",)))

    assert [request.path.rpartition("/")[2] for request in hub.requests] == [
        "pulls",
        "comments",
    ]


def test_a_push_without_a_request_is_compared_with_the_last_ones(hub: Hub) -> None:
    hub.closed = MERGED
    says(hub, plan("a"))
    pushed = GitHubEvent("push", REPOSITORY, "", branch="next/1 2")

    assert unseen(hub, plan("a", "b"), pushed) == ["b"]
    (search,) = (each.target for each in hub.requests if each.path.endswith("/pulls"))
    assert "base=next%2F1%202" in search


def test_what_others_write_was_not_reviewed(hub: Hub) -> None:
    hub.merged[SHA] = MERGED
    says(hub, plan("a"), login="mallory")
    forged = review(hub, plan("a"))
    says(hub, plan("b"))

    assert forged.note.startswith("No comment shows a reviewed plan")
    assert unseen(hub, plan("a")) == ["a"]


def test_of_too_many_deletes_all_or_those_left_by_another_have_to_be_shown(hub: Hub) -> None:
    hub.merged[SHA] = MERGED
    many = [f"{n:0120}" for n in range(120)]
    says(hub, plan(*many))
    says(hub, plan("a"), on=6)
    hub.closed = [*MERGED, {"number": 6, "merged_at": "2026-01-06"}]

    assert unseen(hub, plan(*many)) == []
    assert unseen(hub, plan("a", *many)) == []
    assert len(unseen(hub, plan(*many[1:]))) == 119
    assert "differs from the one that was reviewed (#7, #6)." in review(hub, plan("a", *many)).note


@pytest.mark.parametrize("answer", [{}, ["text", {}, {"number": "7", "merged_at": "2026"}]])
def test_answers_of_odd_shapes_name_no_request(hub: Hub, answer: object) -> None:
    hub.rule = lambda _: (200, answer, {})

    assert review(hub, plan("a")).note.startswith("No comment shows a reviewed plan")


def test_equal_changes_were_reviewed_whatever_else_is_listed(hub: Hub) -> None:
    hub.merged[SHA] = MERGED
    before = plan("a", added=("help",))
    says(hub, before)
    after = make_plan(
        desired=wanted([command("help"), command("Help")], None),
        listed=wanted([Entry(command("Help"), "h"), Entry(command("a"), "a")]),
        target=TARGET,
        rules=EVERYTHING,
    )

    assert before.fingerprint != after.fingerprint
    assert review(hub, after).note == "This is the plan that was reviewed (#7)."


def test_a_plan_without_changes_needs_no_review(hub: Hub) -> None:
    assert review(hub, plan()) == Review()
    assert hub.requests == []


def scheduled(number: int) -> Plan:
    return make_plan(
        desired=wanted(None, [post("v1", until=3), post("v2", publish=2)]),
        listed=wanted(None, [posted("v1", id="1")]),
        target=TARGET,
        rules=EVERYTHING,
        now=day(number),
    )


def test_what_becomes_due_or_ends_after_the_review_is_named_and_needs_no_other_one(
    hub: Hub,
) -> None:
    hub.merged[SHA] = MERGED
    says(hub, plan("a", added=("b",)))

    due, ended = (review(hub, scheduled(number)) for number in (2, 3))

    assert due.unseen == ended.unseen == ()
    assert "not in that one: add announcement `v2`; no longer" in due.note
    assert "not in that one: add announcement `v2`, delete announcement `v1`; no" in ended.note


def test_an_end_that_the_comment_shows_was_reviewed(hub: Hub) -> None:
    hub.merged[SHA] = MERGED
    says(hub, scheduled(3))

    assert review(hub, scheduled(3)).note == "This is the plan that was reviewed (#7)."


def test_an_end_that_the_comment_shows_is_known_beside_other_changes(hub: Hub) -> None:
    hub.merged[SHA] = MERGED
    says(hub, scheduled(3))
    posted_already = make_plan(
        desired=wanted(None, [post("v1", until=3), post("v2", publish=2)]),
        listed=wanted(None, [posted("v1", id="1"), posted("v2", id="2")]),
        target=TARGET,
        rules=EVERYTHING,
        now=day(3),
    )

    assert review(hub, posted_already).note == (
        "The plan differs from the one that was reviewed (#7); no longer necessary: 1 change."
    )
