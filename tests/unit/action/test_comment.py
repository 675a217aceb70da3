from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from commandsync.action.comment import key_of, write_comment
from commandsync.action.event import GitHubEvent
from commandsync.action.inputs import Inputs
from commandsync.action.rest import GitHub, GitHubError
from commandsync.report import github
from tests.support.runner import REPOSITORY, SHA

if TYPE_CHECKING:
    from tests.support.hub import Hub

ON_PULL_REQUEST = GitHubEvent(
    "pull_request", REPOSITORY, SHA, 7, run_url="https://github.com/run/1"
)


def way(hub: Hub) -> GitHub:
    return GitHub(hub.url, "job-token", f"{hub.url}/graphql")


def write(
    github: GitHub,
    event: GitHubEvent,
    *,
    markdown: str = "Two to add.\n",
    key: str = "lantern",
    creates: bool = True,
) -> str:
    return write_comment(markdown, github, event, key=key, creates=creates)


def test_a_comment_is_edited_in_place(hub: Hub) -> None:
    first = write(way(hub), ON_PULL_REQUEST)
    second = write(way(hub), ON_PULL_REQUEST, markdown="Nothing.\n")

    assert first == second == hub.comments[0]["html_url"]
    assert [body.partition("\n")[2] for body in hub.ours] == ["Nothing.\n"]


def test_an_equal_comment_is_left_alone(hub: Hub) -> None:
    write(way(hub), ON_PULL_REQUEST)
    hub.comments[0]["body"] = hub.comments[0]["body"].replace("\n", "\r\n")
    write(way(hub), replace(ON_PULL_REQUEST, run_url="https://github.com/run/2"))

    assert len(hub.writes) == 1


def test_the_comment_is_found_on_a_later_page(hub: Hub) -> None:
    hub.page = 2
    for number in range(4):
        hub.says(f"Hello {number}", login="mona")
    write(way(hub), ON_PULL_REQUEST)
    write(way(hub), ON_PULL_REQUEST, markdown="Nothing.\n")

    assert len(hub.comments) == 5
    assert "Nothing." in hub.ours[0]


@pytest.mark.parametrize("tells_login", [True, False])
def test_what_others_begin_with_our_marker_is_not_touched(hub: Hub, *, tells_login: bool) -> None:
    hub.tells_login = tells_login
    forged = hub.says(github.comment_body("Approved", key="lantern", pointer=""), login="mallory")
    before = dict(forged)
    write(way(hub), ON_PULL_REQUEST)
    write(way(hub), ON_PULL_REQUEST, markdown="Nothing.\n")

    assert forged == before
    assert len(hub.comments) == 2
    assert "Nothing." in hub.ours[0]


def test_runs_of_several_bots_keep_a_comment_each(hub: Hub) -> None:
    keys = [key_of(Inputs(label="lantern")), key_of(Inputs(files=("bots/harbor.yaml",)))]
    for key in keys * 2:
        write(way(hub), ON_PULL_REQUEST, key=key, markdown=key)

    assert len(hub.ours) == len(hub.writes) == 2


def test_without_changes_no_comment_is_created(hub: Hub) -> None:
    assert write(way(hub), ON_PULL_REQUEST, creates=False) == ""
    assert hub.comments == []


def test_a_push_finds_the_merged_pull_request(hub: Hub) -> None:
    event = replace(ON_PULL_REQUEST, name="push", pull_request=0)
    assert write(way(hub), event) == ""
    hub.merged[SHA] = [{"number": 3, "merged_at": None}, {"number": 7, "merged_at": "2026"}]
    assert write(way(hub), event) == hub.comments[0]["html_url"]


def test_a_long_comment_is_cut_and_points_to_the_summary(hub: Hub) -> None:
    rows = "".join(f"- row {number} 🎲\n" for number in range(20_000))
    write(way(hub), ON_PULL_REQUEST, markdown=f"```diff\n{rows}```\n")

    (body,) = hub.ours
    assert len(body.encode()) < 65_536
    assert body.count("\n```\n") == 1
    assert "https://github.com/run/1" in body


def test_a_refusal_names_the_missing_permission(hub: Hub) -> None:
    hub.read_only = True
    with pytest.raises(GitHubError, match="403") as caught:
        write(way(hub), ON_PULL_REQUEST)

    assert "pull-requests: write" in caught.value.hint


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "ftp://github.example", ""])
def test_no_way_to_github_is_an_error(url: str) -> None:
    with pytest.raises(GitHubError, match=r"no answer from GitHub|not a URL"):
        write(GitHub(url, "token"), ON_PULL_REQUEST)


def test_the_token_is_in_no_repr() -> None:
    assert "secret" not in repr(GitHub("https://x", "secret"))
    assert "secret" not in repr(Inputs(token="secret", github_token="secret"))


def test_only_a_push_is_looked_for_among_merged_pull_requests(hub: Hub) -> None:
    hub.merged[SHA] = [{"number": 7, "merged_at": "2026"}]
    event = replace(ON_PULL_REQUEST, name="schedule", pull_request=0)

    assert write(way(hub), event) == ""
    assert write(way(hub), replace(event, name="push", sha="")) == ""
    assert hub.requests == []


@pytest.mark.parametrize("record", ["text", {"body": None}, {"user": "mona"}, {"user": None}])
def test_comments_of_odd_shapes_are_passed_over(hub: Hub, record: object) -> None:
    marked = {"body": github.comment_marker("lantern")}
    odd = marked | record if isinstance(record, dict) else record
    hub.rule = lambda request: (200, [odd], {}) if request.startswith("GET") else None
    write(way(hub), ON_PULL_REQUEST)

    assert len(hub.comments) == 1


def test_a_comment_without_an_id_cannot_be_edited(hub: Hub) -> None:
    ours = {"body": github.comment_marker("lantern"), "user": {"login": "github-actions[bot]"}}
    hub.rule = lambda request: (200, [ours], {}) if request.startswith("GET") else None
    with pytest.raises(GitHubError, match="without an id"):
        write(way(hub), ON_PULL_REQUEST)


def test_a_comment_that_is_written_and_not_shown_has_no_url(hub: Hub) -> None:
    hub.rule = lambda request: (201, None, {}) if request.startswith("POST") else None

    assert write(way(hub), ON_PULL_REQUEST) == ""
