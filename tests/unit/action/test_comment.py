from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from commandsync.action.reporter import comment_body, write_comment
from commandsync.action.rest import GitHub, GitHubError
from commandsync.action.step import GitHubEvent, Inputs
from tests.support.runner import REPOSITORY, SHA, Hub

ON_PULL_REQUEST = GitHubEvent(
    "pull_request", REPOSITORY, SHA, 7, run_url="https://github.com/run/1"
)
KEY = Inputs(label="lantern").key


def way(hub: Hub) -> GitHub:
    return GitHub(hub.url, "job-token", f"{hub.url}/graphql")


def write(hub: Hub, *, markdown: str = "Two to add.\n", key: str = KEY) -> str:
    return write_comment(markdown, way(hub), ON_PULL_REQUEST, key=key, creates=True)


def test_an_equal_comment_is_left_alone(hub: Hub) -> None:
    write(hub)
    hub.comments[0]["body"] = hub.comments[0]["body"].rstrip().replace("\n", "\r\n")
    write(hub)

    assert len(hub.writes) == 1


def test_the_comment_is_found_on_a_later_page(hub: Hub) -> None:
    hub.page = 2
    for number in range(4):
        hub.says(f"Hello {number}", login="mona")
    urls = {write(hub), write(hub, markdown="Nothing.\n")}

    assert len(hub.comments) == 5
    assert urls == {hub.comments[4]["html_url"]}
    assert [body.partition("\n")[2] for body in hub.ours] == ["Nothing.\n"]


@pytest.mark.parametrize("tells_login", [True, False])
def test_what_others_begin_with_our_marker_is_not_touched(hub: Hub, *, tells_login: bool) -> None:
    hub.tells_login = tells_login
    forged = hub.says(comment_body("Approved", key=KEY, run_url=""), login="mallory")
    before = dict(forged)
    write(hub)
    write(hub, markdown="Nothing.\n")

    assert forged == before
    assert len(hub.comments) == 2
    assert "Nothing." in hub.ours[0]


def test_runs_of_several_bots_keep_a_comment_each(hub: Hub) -> None:
    harbor = ("bots/harbor.yaml",)
    runs = (
        Inputs(label="lantern"),
        Inputs(files=harbor),
        Inputs(files=harbor, base_url="https://staging.example"),
        Inputs(files=harbor, bot="1"),
    )
    for key in [inputs.key for inputs in runs] * 2:
        write(hub, key=key, markdown=key)

    assert len(hub.ours) == len(hub.writes) == 4


def test_runs_at_the_same_time_end_with_one_comment(hub: Hub) -> None:
    both = Barrier(2)
    read: list[str] = []

    def rule(request: str) -> None:
        if request.startswith("GET") and len(read) < 2:
            read.append(request)
            both.wait(10)  # both have seen that there is no comment

    hub.rule = rule
    with ThreadPoolExecutor() as pool:
        urls = list(pool.map(lambda _: write(hub), range(2)))

    assert len(hub.comments) == 1
    assert urls == [hub.comments[0]["html_url"]] * 2


def test_comments_that_a_killed_run_left_are_removed_but_the_oldest(hub: Hub) -> None:
    body = comment_body("Old.\n", key=KEY, run_url="")
    for _ in range(3):
        hub.says(body)
    url = hub.comments[0]["html_url"]

    assert write(hub) == url
    assert [record["id"] for record in hub.comments] == [1]
    assert "Two to add." in hub.ours[0]


def test_a_comment_that_cannot_be_removed_is_an_error(hub: Hub) -> None:
    hub.says(comment_body("Old.\n", key=KEY, run_url=""))
    hub.says(comment_body("Old.\n", key=KEY, run_url=""))
    hub.read_only = True
    with pytest.raises(GitHubError, match="GitHub answers 403: Resource not accessible"):
        write(hub)


def test_the_token_is_in_no_repr() -> None:
    assert "secret" not in repr(GitHub("https://x", "secret"))
    assert "secret" not in repr(Inputs(token="secret", github_token="secret"))


@pytest.mark.parametrize("record", ["text", {"body": None}, {"user": "mona"}, {"user": None}])
def test_comments_of_odd_shapes_are_passed_over(hub: Hub, record: object) -> None:
    marked = {"body": comment_body("", key=KEY, run_url="").partition("\n")[0]}
    odd = marked | record if isinstance(record, dict) else record
    hub.rule = lambda request: (200, [odd], {}) if request.startswith("GET") else None

    assert write(hub) == ""
    assert len(hub.comments) == 1


def test_a_comment_without_an_id_cannot_be_edited(hub: Hub) -> None:
    ours = {
        "body": comment_body("", key=KEY, run_url="").partition("\n")[0],
        "user": {"login": "github-actions[bot]"},
    }
    hub.rule = lambda request: (200, [ours], {}) if request.startswith("GET") else None
    with pytest.raises(GitHubError, match="cannot be read: id has another type"):
        write(hub)


def test_a_result_is_written_until_the_plan_is_applied(hub: Hub) -> None:
    def result(markdown: str, *, applied: bool, number: int = 7) -> str:
        event = replace(ON_PULL_REQUEST, pull_request=number)
        return write_comment(markdown, way(hub), event, key=KEY, applied=applied)

    write(hub)
    none = result("Done.\n", applied=True, number=8)
    urls = [
        result(markdown, applied=markdown == "Done.\n")
        for markdown in ("Failed.\n", "Done.\n", "Later.\n")
    ]

    assert none == ""
    assert urls == [hub.comments[0]["html_url"]] * 2 + [""]
    assert [body.partition("\n")[2] for body in hub.ours] == ["Done.\n"]
