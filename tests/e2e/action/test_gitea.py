"""Gitea and Forgejo run the same workflows: what they have is used, and what they lack is named."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from commandsync.testing import serve_simulation
from tests.e2e.action.test_listings import TEN, Lists
from tests.e2e.action.test_modes import knows
from tests.e2e.action.test_owned import newer
from tests.support.bots import Service
from tests.support.gitea import Gitea, gitea
from tests.support.home import fields
from tests.support.runner import Runner, other, pull_request, push

__all__ = ["gitea"]


@pytest.fixture
def job(runner: Runner, gitea: Gitea) -> Runner:
    """A runner of the server."""
    runner.variables |= gitea.variables
    gitea.checkout = runner.workspace
    return runner


@pytest.fixture
def lists(job: Runner, gitea: Gitea) -> Iterator[Lists]:
    """A repository whose manifest has one listing, which cannot be read."""
    with ExitStack() as opened:
        yield Lists(job, gitea, {"top.gg": opened.enter_context(serve_simulation("top.gg"))})


@pytest.mark.parametrize("lists_user", [True, False])
def test_each_push_edits_one_comment(
    job: Runner, gitea: Gitea, service: Service, *, lists_user: bool
) -> None:
    gitea.lists_user = lists_user
    gitea.says("<!-- commandsync: not ours", login="mallory")
    inputs = knows(job, service.bot(["help", "gone"]))
    job.run(pull_request(), **inputs, ends="0 changes")
    job.write(fields(("help", "Shows the help."), ("ping",), ("pong",)))
    step = job.run(pull_request(), **inputs, ends="0 changes")

    (comment,) = gitea.ours
    assert "2 to add, 1 to edit, 1 to delete" in comment
    assert f"[run]({gitea.url}/octo/bots/actions/runs/12)" in comment
    assert f"{gitea.url}/octo/bots/src/commit/{'a' * 40}/commands.yaml" in comment
    assert step.outputs["comment-url"] == gitea.comments[1]["html_url"]
    assert len(gitea.comments) == 2
    assert "is not written" not in step.log


def test_a_push_tells_the_requests_that_were_merged_since_the_last_apply(
    job: Runner, gitea: Gitea, service: Service
) -> None:
    bot = service.bot([])
    inputs = knows(job, bot) | {"token": bot.token}
    job.run(pull_request(), **inputs, ends="0 changes")
    (plan,) = gitea.ours
    for number in (8, 9):
        gitea.says(plan, login=gitea.account, on=number)
    gitea.merged[job.commit()] = [7]
    job.write("Hello.", "README.md")
    gitea.merged[head := job.commit()] = [8]
    first = job.run(push(), **inputs, ends="0 applied")
    told = list(gitea.ours)
    job.write("Hello again.", "README.md")
    gitea.merged[job.commit()] = [9]
    gitea.requests.clear()
    job.run(push(), **inputs, ends="0 no-changes")

    assert ["Apply: 2 done" in body for body in told] == [True, True, False]
    assert gitea.ours[:2] == told[:2]
    assert ["Verified" in body for body in (told[2], gitea.ours[2])] == [False, True]
    assert [each["state"] for each in gitea.statuses[head]] == ["success"]
    assert first.annotations("warning") == []
    read = {
        request.path.split("/commits/")[1]
        for request in gitea.requests
        if "/commits/" in request.path
    }
    assert read == {
        f"{job.commit()}/status",
        f"{job.commit()}/pull",
        f"{head}/status",
        f"{head}/pull",
    }


@pytest.mark.parametrize("files", [1, 1000])
def test_a_newer_head_with_the_same_manifest_is_applied(
    job: Runner, gitea: Gitea, service: Service, files: int
) -> None:
    gitea.files = files
    bot = service.bot([])
    inputs = knows(job, bot)
    job.commit()
    newer(job, gitea, **{"README.md": "Hello.", "src__a.js": "", "src__b.js": ""})
    job.run(push(), token=bot.token, **inputs, ends="0 applied")

    assert bot.names() == ["help", "ping"]


@pytest.mark.promise("superseded")
def test_an_older_manifest_is_not_applied(job: Runner, gitea: Gitea, service: Service) -> None:
    bot = service.bot([])
    inputs = knows(job, bot)
    job.commit()
    head = newer(job, gitea, **{"commands.yaml": fields(("gone",))})
    step = job.run(push(), token=bot.token, **inputs, ends="5 stale")

    (error,) = step.annotations("error")
    assert f"main has a newer manifest, that of {head[:7]}: this run applies nothing" in error.data
    assert "the run of that commit applies it" in error.data
    assert bot.names() == []


@pytest.mark.promise("superseded")
def test_a_head_that_cannot_be_read_is_refused_without_githubs_permissions(
    job: Runner, gitea: Gitea, service: Service
) -> None:
    bot = service.bot([])
    inputs = knows(job, bot)
    gitea.rule = lambda request: (403, {"message": "No."}, {}) if "branches" in request else None
    step = job.run(push(), token=bot.token, **inputs, ends="5")

    (error,) = step.annotations("error")
    assert f"cannot be read: {gitea.kind} answers 403: No." in error.data
    assert "the input github-token takes another one" in error.data
    assert "permissions:" not in step.log
    assert bot.names() == []


def test_a_job_that_may_not_write_says_so(job: Runner, gitea: Gitea, service: Service) -> None:
    gitea.read_only = True
    step = job.run(pull_request(), **knows(job, service.bot(["help"])), ends="0 changes")

    (warning,) = step.annotations("warning")
    assert f"the comment is not written: {gitea.kind} answers 403" in warning.data
    assert "the input github-token takes another one" in warning.data


def test_one_issue_tells_the_drift(job: Runner, gitea: Gitea, service: Service) -> None:
    bot = service.bot(["help"])
    inputs = knows(job, bot) | {"fail_on": "error"}
    gitea.opens(title="Of somebody else", body="<!-- commandsync-drift:", login="mallory")
    for _ in range(2):
        job.run(other("schedule"), **inputs, ends="0 changes")
    job.run(push(), token=bot.token, **inputs, ends="0 applied")
    job.run(other("schedule"), **inputs, ends="0 no-changes")

    assert [issue["state"] for issue in gitea.issues] == ["open", "closed"]


def test_a_list_that_cannot_be_read_needs_a_file(
    lists: Lists, gitea: Gitea, tmp_path: Path
) -> None:
    lists.write(*TEN)
    refused = lists.merge(ends="5")
    lists.runner.variables["COMMANDSYNC_STATE"] = str(tmp_path / "state.json")
    lists.merge(apply="current", ends="0 applied")

    (error,) = refused.annotations("error")
    assert f"{gitea.kind} answers 404" in error.data
    assert "this server has no deployments: set COMMANDSYNC_STATE" in error.data
    assert "deployments: write" not in refused.log
    assert lists.names == [TEN]
