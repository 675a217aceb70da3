import pytest

from commandsync.action import rest
from commandsync.action.rest import GitHub, GitHubError
from tests.support.runner import REPOSITORY, Answer, Hub

COMMENTS = f"/repos/{REPOSITORY}/issues/7/comments"


def way(hub: Hub) -> GitHub:
    return GitHub(hub.url, "job-token", f"{hub.url}/graphql")


def test_a_list_without_end_is_read_no_further_than_any_pull_request_goes(hub: Hub) -> None:
    hub.rule = lambda _: (200, [{}], {"Link": f'<{hub.url}/more>; rel="next"'})

    assert len(list(way(hub).pages(COMMENTS))) == len(hub.requests) == 50


def test_a_next_page_elsewhere_is_not_asked_for(hub: Hub) -> None:
    hub.rule = lambda _: (200, [{}], {"Link": '<http://127.0.0.1:9/more>; rel="next"'})

    assert len(list(way(hub).pages(COMMENTS))) == 1


def test_a_redirect_is_not_followed(hub: Hub) -> None:
    hub.rule = lambda _: (307, {}, {"Location": f"{hub.url}/elsewhere"})
    with pytest.raises(GitHubError, match="GitHub answers 307"):
        way(hub).get("/repos")

    assert len(hub.requests) == 1


def test_an_answer_that_is_not_a_list_is_an_error(hub: Hub) -> None:
    hub.rule = lambda _: (200, {"message": "hello"}, {})
    with pytest.raises(GitHubError, match="not answer with a list"):
        list(way(hub).pages(COMMENTS))


@pytest.mark.parametrize("content", [b"<html>", b"[" * 100_000, b'{"a": '])
def test_what_cannot_be_read_is_an_error(hub: Hub, content: bytes) -> None:
    hub.rule = lambda _: (200, content, {})
    with pytest.raises(GitHubError, match="GitHub's answer cannot be read"):
        way(hub).get("/repos")

    assert len(hub.requests) == 1


@pytest.mark.parametrize("content", [{"data": None}, {"errors": []}, [], b"null"])
def test_a_login_that_is_not_told_is_empty(hub: Hub, content: object) -> None:
    hub.rule = lambda _: (200, content, {})

    assert way(hub).login() == GitHub(hub.url, "token").login() == ""


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_what_passes_by_itself_is_sent_again(hub: Hub, waits: list[float], status: int) -> None:
    refusals: list[Answer] = [(status, {"message": "later"}, {})] * 2
    hub.rule = lambda _: refusals.pop() if refusals else None
    way(hub).post(COMMENTS, {"body": "Hello"})

    assert (hub.ours, waits) == (["Hello"], [1.0, 4.0])


@pytest.mark.parametrize("status", [403, 429, 503])
def test_github_is_waited_for_as_long_as_it_asks(hub: Hub, waits: list[float], status: int) -> None:
    refusals = [(status, {"message": "secondary rate limit"}, {"Retry-After": "12"})]
    hub.rule = lambda _: refusals.pop() if refusals else None

    assert way(hub).get(COMMENTS) == []
    assert waits == [12.0]


def test_github_is_not_waited_for_too_long(hub: Hub, waits: list[float]) -> None:
    hub.rule = lambda _: (429, {"message": "Slow down"}, {"Retry-After": "60"})
    with pytest.raises(GitHubError, match=r"^GitHub answers 429: Slow down \(wait 60 seconds\)$"):
        way(hub).get(COMMENTS)

    assert waits == []


def test_what_does_not_pass_is_an_error_after_three_calls(hub: Hub, waits: list[float]) -> None:
    hub.rule = lambda _: (502, b"<html>", {"Retry-After": "soon"})
    with pytest.raises(GitHubError, match=r"^GitHub answers 502$"):
        way(hub).get(COMMENTS)

    assert (len(hub.requests), len(waits)) == (3, 2)


@pytest.mark.parametrize(
    ("url", "message", "again"),
    [
        ("http://127.0.0.1:9", "no answer from GitHub", 2),
        ("ftp://github.example", "not a URL", 0),
        ("", "not a URL", 0),
    ],
)
def test_a_connection_that_fails_is_tried_again(
    waits: list[float], url: str, message: str, again: int
) -> None:
    with pytest.raises(GitHubError, match=message):
        GitHub(url, "job-token").get("/repos")

    assert len(waits) == again


def test_a_time_out_is_not_tried_again(
    hub: Hub, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(_: str) -> None:
        hub.released.wait(10)

    monkeypatch.setattr(rest, "_SECONDS", 0.05)
    hub.rule = silent
    with pytest.raises(GitHubError, match="no answer from GitHub: timed out"):
        way(hub).get("/repos")

    assert waits == []


@pytest.mark.parametrize(
    ("status", "path", "content", "message", "hint"),
    [
        (
            403,
            COMMENTS,
            {"message": "Must have admin\n::error::x"},
            r"403: Must have admin\n::error::x",
            "pull-requests: write",
        ),
        (
            403,
            COMMENTS,
            {"message": "API rate limit exceeded for installation"},
            "403: API rate limit exceeded for installation",
            "",
        ),
        (404, f"/repos/{REPOSITORY}/git/ref/heads/main", {}, "404", "contents: read"),
        (403, f"/repos/{REPOSITORY}/commits/a/pulls", [], "403", "pull-requests: read"),
        (403, f"/repos/{REPOSITORY}/issues", b"<html>", "403", "issues: write"),
        (401, COMMENTS, {"message": "Bad credentials"}, "401: Bad credentials", "github-token"),
        (422, COMMENTS, {"message": "Validation Failed" * 99}, "422: Validation Failed", ""),
        (403, "/rate_limit", {"message": None}, "403", ""),
    ],
)
def test_github_is_quoted_and_the_missing_permission_is_named(
    hub: Hub, status: int, path: str, content: object, message: str, hint: str
) -> None:
    hub.rule = lambda _: (status, content, {})
    with pytest.raises(GitHubError) as caught:
        way(hub).get(path)

    assert caught.value.message.startswith(f"GitHub answers {message}")
    assert len(caught.value.message) < 350
    assert hint in str(caught.value.hint)
    assert bool(hint) == bool(caught.value.hint)


def test_what_is_gone_need_not_be_removed(hub: Hub) -> None:
    way(hub).delete(f"/repos/{REPOSITORY}/issues/comments/7")

    assert len(hub.writes) == 1
