"""The manifest's history decides what an apply may take away, and comments decide nothing."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from commandsync.action.reporter import comment_body
from tests.support.bots import Bot, Service
from tests.support.home import fields
from tests.support.runner import (
    REPOSITORY,
    SHA,
    WORKFLOW,
    Answer,
    Event,
    Hub,
    Runner,
    Step,
    other,
    pull_request,
    push,
)

KEPT = [f"kept{n}" for n in range(9)]


def wanted(*names: str) -> str:
    return fields(*((name,) for name in (*names, *KEPT)))


@pytest.fixture
def bot(service: Service) -> Bot:
    return service.bot(["gone", *KEPT])


@pytest.fixture
def given(bot: Bot) -> dict[str, str]:
    return {"base_url": bot.url, "bot": bot.id, "token": bot.token}


def refused(step: Step, name: str) -> bool:
    error = step.annotations("error")[0].data
    reason = (step.code, step.outputs["failure-reason"])
    return reason == (5, "stale") and f": command '{name}'" in error


def run_of(commit: str, **fields: object) -> dict[str, object]:
    """A run of the workflow that GitHub knows."""
    url = f"https://github.com/{REPOSITORY}/actions/runs/9"
    known = {"id": 9, "path": WORKFLOW, "head_branch": "main", "event": "push", "html_url": url}
    return known | {"head_sha": commit, "status": "queued", "conclusion": None} | fields


def by_hand(bot: Bot) -> None:
    bot.post("commands", name="by-hand", description="Mine.", syntax="/mine")


@pytest.mark.promise("owned")
def test_what_the_manifest_had_is_deleted_whatever_the_way_it_came(
    runner: Runner, hub: Hub, bot: Bot, given: dict[str, str]
) -> None:
    """A direct push: no pull request, no comment, and none that GitHub knows."""
    runner.commit(wanted("gone"))
    runner.commit(wanted("help"))
    runner.run(push(), **given, ends="0 applied")

    assert set(bot.names()) == {"help", *KEPT}
    assert hub.comments == []


@pytest.mark.promise("comments-only-show")
@pytest.mark.parametrize("count", [30, 300])
def test_foreign_closed_pull_requests_and_forged_comments_change_nothing(
    runner: Runner, hub: Hub, bot: Bot, given: dict[str, str], count: int
) -> None:
    forged = comment_body("All is applied.", key="0" * 20, run_url="", applied=True)
    for number in range(10, 10 + count):
        hub.says(forged, on=number, login="mallory")
        hub.says(forged, on=number)
    hub.merged[SHA] = list(range(10, 10 + count))
    runner.commit(wanted("gone"))
    runner.commit(wanted("help"))
    by_hand(bot)
    before = bot.everything()
    step = runner.run(push(), **given)

    assert refused(step, "by-hand"), step.log
    assert bot.everything() == before
    assert {each["body"] for each in hub.comments} == {forged}


@pytest.mark.promise("superseded")
@pytest.mark.parametrize(
    "answer",
    [
        (502, b"<html>", {}),
        (403, {"message": "Resource not accessible by integration"}, {}),
        (429, {"message": "Slow down"}, {"Retry-After": "60"}),
        (200, {"object": None}, {}),
    ],
    ids=["502", "403", "429", "another form"],
)
def test_where_github_does_not_tell_the_head_nothing_is_applied(
    runner: Runner, hub: Hub, bot: Bot, given: dict[str, str], answer: Answer
) -> None:
    runner.commit(wanted("help"))
    hub.rule = lambda _: answer
    step = runner.run(push(), **given, ends="5")

    assert "newest commit" in step.annotations("error")[0].data
    assert bot.names() == ["gone", *KEPT]


@pytest.mark.promise("comments-only-show")
@pytest.mark.parametrize("path", ["graphql", "statuses", "comments"])
def test_what_only_shows_may_fail(
    runner: Runner, hub: Hub, given: dict[str, str], path: str
) -> None:
    runner.commit(wanted("x"))
    runner.run(pull_request(), prune="false", **given)
    hub.merged[SHA] = [7]
    hub.rule = lambda request: (403, {"message": "No"}, {}) if path in request else None
    step = runner.run(push(), prune="false", **given, ends="0 applied")

    assert "GitHub answers 403: No" in step.annotations("warning")[0].data


@pytest.mark.promise("owned")
def test_an_adoption_without_changes_protects_what_is_added_by_hand_after_it(
    runner: Runner, hub: Hub, bot: Bot, given: dict[str, str]
) -> None:
    runner.commit(wanted("gone"))
    runner.run(push(), **given, ends="0 no-changes")
    by_hand(bot)
    runner.commit(wanted("gone", "help"))
    planned = runner.run(pull_request(), **given | {"token": ""})
    applied = runner.run(push(), **given)
    runner.run(other("workflow_dispatch"), mode="apply", apply="current", **given, ends="0 applied")

    assert refused(planned, "by-hand"), planned.log
    (comment,) = hub.ours
    assert comment.index("by-hand") < comment.index("Plan: ")
    assert refused(applied, "by-hand"), applied.log
    assert "apply: current" in applied.log
    assert set(bot.names()) == {"gone", "help", *KEPT}


def test_an_unexplained_delete_comes_first(runner: Runner, bot: Bot, given: dict[str, str]) -> None:
    runner.commit(wanted("gone"))
    runner.commit(fields(("help",)))
    by_hand(bot)
    step = runner.run(push(), **given)

    assert refused(step, "by-hand"), step.log
    assert "'gone'" not in step.annotations("error")[0].data
    assert "would delete 11 of 11" in step.summary
    assert step.summary.index("by-hand") < step.summary.index("would delete 11 of 11")


def merged(runner: Runner, way: str) -> None:
    """Merge a branch that takes `gone` away, and that added and removed `by-hand`."""
    repo = runner.repo
    runner.commit(wanted("gone"))
    repo.git("switch", "--quiet", "--create", "feature")
    runner.commit(wanted("gone", "by-hand"))
    runner.commit(wanted("help"))
    repo.git("switch", "--quiet", "main")
    if way == "squash":
        repo.git("merge", "--quiet", "--squash", "feature")
        repo.commit({})
    elif way == "rebase":
        repo.git("rebase", "--quiet", "main", "feature")
        repo.git("switch", "--quiet", "main")
        repo.git("merge", "--quiet", "--ff-only", "feature")
    else:
        repo.git("merge", "--quiet", "--no-ff", "--message", "Merge", "feature")


@pytest.mark.promise("owned")
@pytest.mark.parametrize(
    ("way", "explains"), [("squash", False), ("merge", False), ("rebase", True)]
)
def test_only_what_was_on_the_branch_itself_explains(
    runner: Runner, bot: Bot, given: dict[str, str], way: str, *, explains: bool
) -> None:
    merged(runner, way)
    runner.run(push(), **given, ends="0 applied")
    bot.post("commands", name="by-hand", description="Does it.", syntax="/by-hand")
    second = runner.run(push(), **given)

    assert set(bot.names()) - {"by-hand"} == {"help", *KEPT}
    if explains:
        assert second.outputs["result"] == "applied"
    else:
        assert refused(second, "by-hand"), second.log


def test_two_merges_whose_first_run_was_replaced_are_applied_together(
    runner: Runner, hub: Hub, bot: Bot, given: dict[str, str]
) -> None:
    base = runner.commit(wanted("gone"))
    runner.run(push(), **given)
    plans = []
    for number, names in ((7, ("gone", "help")), (8, ("help",))):
        runner.write(wanted(*names))
        event = pull_request()
        request = event.payload["pull_request"] | {"number": number}
        plans.append(
            runner.run(replace(event, payload=event.payload | {"pull_request": request}), **given)
        )
        hub.merged[runner.commit()] = [number]
    hub.merged[base] = [6]
    hub.says(hub.comments[0]["body"], on=6)
    runner.run(push(), **given, ends="0 applied")

    assert [plan.outputs["comment-url"] != "" for plan in plans] == [True, True]
    by_request = {re.findall(r"/pull/(\d+)#", each["html_url"])[0]: each for each in hub.comments}
    assert "Apply: 2 done" in by_request["7"]["body"]
    assert "Apply: 2 done" in by_request["8"]["body"]
    assert "Apply:" not in by_request["6"]["body"]
    assert set(bot.names()) == {"help", *KEPT}


def test_a_refused_apply_is_told_and_a_later_push_tells_the_result(
    runner: Runner, hub: Hub, bot: Bot, given: dict[str, str]
) -> None:
    runner.commit(wanted("gone"))
    runner.write(wanted("help"))
    runner.run(pull_request(), **given)
    hub.merged[runner.commit()] = [7]
    by_hand(bot)
    failed = runner.run(push(), **given)
    (refusal,) = hub.ours
    runner.commit(wanted("help", "by-hand"))
    runner.run(push(), **given, ends="0 applied")
    (result,) = hub.ours
    runner.run(push(), **given, ends="0 no-changes")

    assert refused(failed, "by-hand"), failed.log
    assert "by-hand" in refusal
    assert "Apply: " in result
    assert hub.ours == [result]
    assert set(bot.names()) == {"help", "by-hand", *KEPT}


def test_an_apply_sets_a_status_for_its_listing_and_a_refused_one_does_not(
    runner: Runner, hub: Hub, bot: Bot, given: dict[str, str]
) -> None:
    commit = runner.commit(wanted("gone", "help"))
    by_hand(bot)
    runner.run(push(), **given)
    without = dict(hub.statuses)
    runner.run(push(), prune="false", label="lantern", **given)

    (status,) = hub.statuses[commit]
    assert without == {}
    assert status["state"] == "success"
    assert status["context"].startswith(f"commandsync/localhost:{bot.url.rpartition(':')[2]} ")
    assert status["description"] == "1 change applied, 10 unchanged"


def newer(runner: Runner, hub: Hub, **files: str) -> str:
    """Let the branch have a newer commit than the one that is checked out."""
    repo = runner.repo
    commit = repo.git("rev-parse", "HEAD")
    repo.write({name.replace("__", "/"): text for name, text in files.items()})
    hub.head = repo.commit({})
    repo.git("reset", "--quiet", "--hard", commit)
    return hub.head


def test_a_newer_head_with_the_same_manifest_does_not_supersede(
    runner: Runner, hub: Hub, bot: Bot, given: dict[str, str]
) -> None:
    """Its push was filtered by `paths`, so that no run is for it."""
    runner.commit(wanted("gone", "help"))
    newer(runner, hub, **{"README.md": "Hello."})
    runner.run(push(), **given, ends="0 applied")

    assert "help" in bot.names()


@pytest.mark.promise("superseded")
@pytest.mark.parametrize(
    "run",
    [
        {},
        {"status": "in_progress"},
        {"status": "completed", "conclusion": "success"},
        {"event": "workflow_dispatch", "path": f"{WORKFLOW}@refs/heads/main"},
    ],
    ids=["queued", "running", "done", "dispatched"],
)
def test_a_run_that_was_started_again_brings_no_old_list_back(
    runner: Runner, hub: Hub, bot: Bot, given: dict[str, str], run: dict[str, str]
) -> None:
    runner.commit(wanted("gone"))
    runner.write(wanted("help"))
    runner.run(pull_request(), **given)
    hub.merged[runner.commit()] = [7]
    head = newer(runner, hub, **{"commands.yaml": wanted("gone")})
    hub.runs.append(run_of(head, **run))
    before = bot.everything()
    step = runner.run(push(), **given, ends="0 superseded")

    assert bot.everything() == before
    assert "/actions/runs/9" in step.summary
    assert "**Superseded**" in hub.ours[0]
    assert hub.statuses == {}


@pytest.mark.promise("superseded")
@pytest.mark.parametrize(
    "runs",
    [
        [],
        [{"status": "completed", "conclusion": "cancelled"}],
        [{"status": "completed", "conclusion": "failure"}],
        [{"path": ".github/workflows/tests.yml"}],
        [{"event": "schedule"}],
        [{"id": 4211}],
        [{"head_branch": "feature"}],
    ],
    ids=["none", "cancelled", "failed", "another", "drift", "this one", "another branch"],
)
def test_a_newer_manifest_that_no_run_applies_fails(
    runner: Runner, hub: Hub, bot: Bot, given: dict[str, str], runs: list[dict[str, object]]
) -> None:
    runner.commit(wanted("help"))
    head = newer(runner, hub, **{"commands.yaml": wanted("gone")})
    hub.runs += [run_of(head, **run) for run in runs]
    step = runner.run(push(), **given, ends="5 stale")

    (error,) = step.annotations("error")
    assert head[:7] in error.data
    assert "by hand" in error.data
    assert bot.names() == ["gone", *KEPT]


@pytest.mark.parametrize("name", ["more/a.yaml", "commands.imported.yaml"])
def test_included_files_and_what_was_imported_belong_to_the_manifest(
    runner: Runner, hub: Hub, given: dict[str, str], name: str
) -> None:
    runner.write("commands: []\n", "more/a.yaml")
    runner.commit(wanted("gone") + "include: [more/*.yaml]\n")
    newer(runner, hub, **{name: "commands: []\n# Changed.\n"})
    runner.run(push(), **given, ends="5 stale")


@pytest.mark.parametrize(
    ("event", "code"), [(push(), 5), (other("release"), 0)], ids=["branch", "tag"]
)
def test_a_tag_has_no_newer_manifest(
    runner: Runner, hub: Hub, given: dict[str, str], event: Event, code: int
) -> None:
    if not code:
        event = replace(event, variables={"GITHUB_REF": "refs/tags/v1"})
    runner.commit(wanted("gone", "help"))
    newer(runner, hub, **{"commands.yaml": wanted()})
    step = runner.run(event, mode="apply", **given)

    assert step.code == code, step.log


def test_without_githubs_token_no_apply(runner: Runner, bot: Bot, given: dict[str, str]) -> None:
    runner.commit(wanted("help"))
    step = runner.run(push(), github_token="", **given, ends="5")

    assert "no github-token" in step.annotations("error")[0].data
    assert "gone" in bot.names()


def test_a_manifest_of_the_job_needs_a_current_plan(runner: Runner, given: dict[str, str]) -> None:
    runner.commit(wanted("help"))
    runner.repo.git("rm", "--quiet", "--cached", "commands.yaml")
    runner.write("commands.yaml\n", ".gitignore")
    reviewed = runner.run(push(), **given, ends="5")
    runner.run(push(), apply="current", **given, ends="0 applied")

    assert "in the commit" in reviewed.annotations("error")[0].data
    assert "apply: current" in reviewed.annotations("error")[0].data


def test_a_saved_plan_is_applied_as_it_is(runner: Runner, bot: Bot, given: dict[str, str]) -> None:
    runner.commit(wanted("help"))
    known = given | {"token": ""}
    path = runner.run(other("schedule"), **known).outputs["plan-file"]
    by_hand(bot)
    runner.run(push(), mode="apply", plan_file=path, **given, ends="0 applied")

    assert set(bot.names()) == {"help", "by-hand", *KEPT}


@pytest.mark.promise("superseded")
@pytest.mark.parametrize("is_running", [True, False])
def test_a_saved_plan_of_an_old_manifest_is_not_applied_again(
    runner: Runner, hub: Hub, bot: Bot, given: dict[str, str], *, is_running: bool
) -> None:
    runner.commit(wanted("gone"))
    runner.commit(wanted("help"))
    path = runner.run(other("schedule"), **given | {"token": ""}).outputs["plan-file"]
    head = newer(runner, hub, **{"commands.yaml": wanted("gone")})
    hub.runs += [run_of(head)] * is_running
    before = bot.everything()
    step = runner.run(push(), mode="apply", plan_file=path, **given)

    assert bot.everything() == before
    assert (step.code, step.outputs["result"]) == (
        (0, "superseded") if is_running else (5, "failed")
    )
    assert is_running or "which no run applies" in step.log


def test_a_saved_plan_of_a_manifest_that_is_made_in_the_job_is_applied(
    runner: Runner, bot: Bot, given: dict[str, str]
) -> None:
    runner.commit(wanted("gone"))
    runner.checks_out = False
    runner.write(wanted("help"), "made.yaml")
    made = given | {"token": "", "file": "made.yaml", "apply": "current"}
    path = runner.run(other("schedule"), **made).outputs["plan-file"]
    runner.run(push(), mode="apply", plan_file=path, **given, ends="0 applied")

    assert "help" in bot.names()


def test_a_saved_plan_decides_neither_limits_nor_host(runner: Runner, bot: Bot) -> None:
    runner.write(wanted("help"))
    path = runner.run(pull_request(), base_url=bot.url, bot=bot.id).outputs["plan-file"]
    (runner.workspace / "plan.json").write_bytes(Path(path).read_bytes())
    saved = {"mode": "apply", "token": bot.token, "plan_file": "plan.json"}
    nowhere = runner.run(push(), **saved)
    elsewhere = runner.run(push(), base_url="https://listing.example", **saved, ends="5 stale")
    limited = runner.run(push(), base_url=bot.url, max_deletes="all", **saved)
    unpruned = runner.run(push(), base_url=bot.url, prune="false", **saved)
    unapplied = runner.run(pull_request(), base_url=bot.url, **saved | {"mode": "auto"})

    failures = [nowhere, elsewhere, limited, unpruned, unapplied]
    assert [step.code for step in failures] == [2, 5, 2, 2, 2]
    assert "input base-url" in nowhere.log
    assert "input plan-file" in unapplied.log
    assert all("--" not in step.annotations("error")[0].data for step in failures)
    assert "gone" in bot.names()


def test_a_locked_pull_request_is_named(runner: Runner, hub: Hub, given: dict[str, str]) -> None:
    message = {"message": "Unable to create comment because issue is locked."}
    hub.rule = lambda request: (403, message, {}) if request.startswith("POST /repos") else None
    runner.commit(wanted("gone", "help"))
    step = runner.run(pull_request(), **given, ends="0")

    (warning,) = step.annotations("warning")
    assert "conversation is locked" in warning.data
    assert "permissions" not in warning.data
