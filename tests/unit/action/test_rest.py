from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commandsync.action.rest import GitHub, GitHubError
from tests.support.runner import REPOSITORY

if TYPE_CHECKING:
    from tests.support.hub import Hub

COMMENTS = f"/repos/{REPOSITORY}/issues/7/comments"


def way(hub: Hub) -> GitHub:
    return GitHub(hub.url, "job-token", f"{hub.url}/graphql")


def test_pages_are_counted_where_none_names_the_next(hub: Hub) -> None:
    hub.links = False
    for number in range(230):
        hub.says(f"{number}", login="mona")

    assert len(list(way(hub).pages(COMMENTS))) == 230


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
    with pytest.raises(GitHubError, match="no answer from GitHub"):
        way(hub).get("/repos")


@pytest.mark.parametrize("content", [{"data": None}, {"errors": []}, [], b"null"])
def test_a_login_that_is_not_told_is_empty(hub: Hub, content: object) -> None:
    hub.rule = lambda _: (200, content, {})

    assert way(hub).login() == GitHub(hub.url, "token").login() == ""
