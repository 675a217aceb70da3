"""An answer of GitHub with a value of a wrong type is one that cannot be read, never a defect."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.action.branch import merged_requests, newer_run
from commandsync.action.deployments import Deployments
from commandsync.action.reporter import keep_issue, write_comment
from commandsync.action.rest import GitHub, GitHubError, known_part, part
from commandsync.action.step import GitHubEvent
from commandsync.errors import CommandsyncError
from commandsync.sync.history import Committed
from commandsync.sync.statefile import Delivery, End, Remembered
from tests.support.runner import REPOSITORY, SHA, Hub

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OTHER = "e" * 40
BLOB = "f" * 40
WORKFLOW = ".github/workflows/commands.yml"
EVENT = GitHubEvent(
    "push",
    REPOSITORY,
    SHA,
    7,
    run_url="https://github.com/run/1",
    branch="main",
    workflow=WORKFLOW,
    run_id="1",
)
RUN = {
    "id": 2,
    "path": f"{WORKFLOW}@main",
    "head_branch": "main",
    "event": "push",
    "conclusion": None,
    "html_url": "https://github.com/run/2",
}
ANSWERS = {
    "/git/ref/": {"object": {"type": "commit", "sha": OTHER}},
    "/git/trees/": {
        "truncated": False,
        "tree": [{"path": "commands.yaml", "mode": "100644", "type": "blob", "sha": BLOB}],
    },
    "/actions/runs": {"total_count": 1, "workflow_runs": [RUN]},
}


def github_of(hub: Hub) -> GitHub:
    return GitHub(hub.url, "job-token", f"{hub.url}/graphql")


def reads_newer(hub: Hub) -> object:
    files = {"commands.yaml": ("100644", "d" * 40)}
    return newer_run([Committed(SHA, "commands.yaml", (), files)], github_of(hub), EVENT)


def reads_merged(hub: Hub) -> object:
    return merged_requests(github_of(hub), EVENT, [SHA, OTHER], [])


def reads_deployments(hub: Hub) -> Remembered:
    return Deployments(github_of(hub), REPOSITORY).remembered("top.gg", "here", "one")


def writes_comment(hub: Hub) -> object:
    return write_comment("Two to add.\n", github_of(hub), EVENT, key="lantern", creates=True)


def writes_issue(hub: Hub, *, drifted: bool = True) -> object:
    words = {"key": "lantern", "title": "It differs"}
    return keep_issue("Two to add.\n", github_of(hub), EVENT, drifted=drifted, **words)


def closes_issue(hub: Hub) -> object:
    return writes_issue(hub, drifted=False)


READERS = (
    *(reads_newer, reads_merged, reads_deployments),
    *(writes_comment, writes_issue, closes_issue),
)
WRONG = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 10**30)
    | st.floats()
    | st.sampled_from(["", "x", "\ud800", "a\nb", OTHER, "success", "SUCCESS", "main", "blob"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["status", "sha", "login", "number", "x"]), inner)
    ),
    max_leaves=4,
)


def ready(hub: Hub) -> None:
    """Let the hub have one of everything."""
    hub.merged = {SHA: [7], OTHER: [8]}
    status = {"state": "success", "context": "commandsync/page", "description": None}
    hub.statuses = {SHA: [status], OTHER: [{**status, "description": "sent 3 commands"}]}
    store = Deployments(github_of(hub), REPOSITORY, SHA)
    for digest in ("old", "new"):
        sent = Delivery(
            service="top.gg",
            identity="here",
            token="one",
            digest=digest,
            names=("ping",),
            size=1,
            at=NOW,
        )
        begun = store.begin(sent, lambda _known: None)
        store.end(begun, End.ACCEPTED)
    writes_comment(hub)
    writes_issue(hub)
    hub.says("<!-- commandsync:lantern -->\nAn older plan.")

    def rule(request: str) -> tuple[int, Any, dict[str, str]] | None:
        found = (content for part_of, content in ANSWERS.items() if part_of in request)
        return next(((200, content, {}) for content in found), None)

    hub.rule = rule


def places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    yield path
    keys = (
        content
        if isinstance(content, dict)
        else range(len(content))
        if isinstance(content, list)
        else ()
    )
    for key in keys:
        yield from places(content[key], (*path, key))


def replaced(content: Any, path: tuple[Any, ...], value: object) -> Any:  # noqa: ANN401 - JSON
    if not path:
        return value
    key, *rest = path
    copy = content.copy()
    copy[key] = replaced(content[key], tuple(rest), value)
    return copy


@pytest.mark.promise("github-answers")
@pytest.mark.parametrize("reads", READERS, ids=lambda reads: reads.__name__)
@given(number=st.integers(0, 3), seed=st.integers(0, 10_000), wrong=WRONG)
def test_an_answer_of_a_wrong_type_is_an_error_of_github(
    reads: Callable[[Hub], object], number: int, seed: int, wrong: object
) -> None:
    send, count = GitHub._send_once, iter(range(1_000))  # noqa: SLF001 - where answers arrive

    def changed(github: GitHub, *asked: Any) -> tuple[Any, str]:  # noqa: ANN401 - its own
        content, links = send(github, *asked)
        if next(count) == number:
            content = replaced(content, Random(seed).choice([*places(content)]), wrong)  # noqa: S311 - not a secret
        return content, links

    with Hub() as hub:
        ready(hub)
        with (
            patch.object(GitHub, "_send_once", changed),
            suppress(GitHubError, CommandsyncError),
        ):
            reads(hub)


def test_the_answers_of_these_tests_can_be_read() -> None:
    with Hub() as hub:
        ready(hub)

        assert reads_newer(hub) == (OTHER, "https://github.com/run/2")
        assert reads_merged(hub) == [7]  # at the other commit, everything was applied
        assert [each.digest for each in reads_deployments(hub).possible] == ["new"]
        assert str(writes_comment(hub)).endswith("#issuecomment-1")
        assert str(closes_issue(hub)).endswith("/issues/1")


def test_a_part_has_the_type_that_is_asked_for() -> None:
    content = {"a": {"b": 1, "c": None}, "d": True, "e": "\ud800"}

    assert part(content, "a", "b", kind=int) == 1
    assert known_part(content, "a", "c", kind=str) == ""
    assert known_part(content, "x", "y", kind=list) == []
    for path, kind in (("a", str), ("d", int), ("a c", str), ("e", str), ("x", int)):
        with pytest.raises(GitHubError, match="has another type"):
            part(content, *path.split(), kind=kind)
    for path in ("a b c", "d e"):
        with pytest.raises(GitHubError, match="has another type"):
            known_part(content, *path.split(), kind=str)
