"""A fork's plan, which its own job may not write as a comment: another workflow does."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.bots import Service
from tests.support.home import fields
from tests.support.runner import (
    BASH,
    COMMENT,
    REPOSITORY,
    SHA,
    SYNC,
    Answer,
    Hub,
    Runner,
    Step,
    definition,
    pull_request,
    script,
)

pytestmark = pytest.mark.skipif(
    os.name == "nt" or not (shutil.which("curl") and shutil.which("jq")),
    reason="the workflow runs on Ubuntu, with curl and jq",
)
ARTIFACT = "commandsync-comment-"
FORK = pull_request(head="stranger/bots")


def bash(runner: Runner, text: str, **variables: str) -> str:
    ended = subprocess.run(
        [*BASH, "-c", text],
        cwd=runner.workspace,
        env={"PATH": os.environ["PATH"], "RUNNER_TEMP": str(runner.temp), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def keep(runner: Runner, step: Step) -> Path:
    """Keep the comment as the first workflow does, where the second one has its artifact."""
    bash(
        runner,
        script(SYNC, "Keep the comment of a fork"),
        FILE=step.outputs["comment-file"],
        NUMBER=step.outputs["pull-request"],
        CHANGED=step.outputs["changed"],
    )
    folder = runner.workspace / "plans" / ARTIFACT
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(exist_ok=True)
    (runner.temp / "comment").rename(folder)
    return folder


def comment(runner: Runner, hub: Hub, *, head: str = SHA) -> str:
    """Run the second workflow's script; the pull request's last commit is `head`."""

    def pull(request: str) -> Answer | None:
        asked = request == f"GET /repos/{REPOSITORY}/pulls/7"
        return (200, {"head": {"sha": head}}, {}) if asked else None

    hub.rule = pull
    return bash(
        runner,
        script(COMMENT, "Write the comments"),
        GH_TOKEN="marked-job-token",
        GITHUB_API_URL=hub.url,
        GITHUB_REPOSITORY=REPOSITORY,
        HEAD_SHA=SHA,
        MOST="10",
    )


def test_a_forks_plan_is_one_comment(runner: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot(["help"])
    inputs = {"base_url": bot.url, "bot": bot.id}
    runner.write(fields(("help",)))
    keep(runner, runner.run(FORK, **inputs))
    comment(runner, hub)
    unchanged = len(hub.comments)
    runner.write(fields(("help", "Old @everyone."), ("ping",)))
    keep(runner, runner.run(FORK, **inputs))
    comment(runner, hub, head="f" * 40)
    outdated = len(hub.comments)
    comment(runner, hub)
    hub.comments[:0] = [{**hub.comments[0], "id": 9, "user": {"login": "mallory"}}]
    runner.write(fields(("help", "New.")))
    keep(runner, runner.run(FORK, **inputs))
    comment(runner, hub)
    (body,) = hub.ours
    first, note, _, *rest = body.splitlines()

    assert (unchanged, outdated, len(hub.comments)) == (0, 0, 2)
    assert first == f"<!-- commandsync, a fork's plan: {ARTIFACT} -->"
    assert note.startswith("*A workflow of the fork made this plan.")
    assert rest[0] == "    ## commandsync"
    assert {line[:4] for line in rest} == {"    "}
    assert "New." in body
    assert "everyone" not in body
    assert [each.target for each in hub.requests if b"marked-job-token" in each.body] == []


def test_an_untrusted_artifact_is_checked(runner: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot()
    runner.write(fields(("help",)))
    folder = keep(runner, runner.run(FORK, base_url=bot.url, bot=bot.id))
    for number in ('"7/../8"', "-7", "null", '"$(id)"'):
        about = {"changed": True, "number": 0}
        text = json.dumps(about).replace("0", number)
        (folder / "about.json").write_text(text, encoding="utf-8")
        comment(runner, hub)
    (folder / "about.json").write_text('{"number": 7, "changed": true}', encoding="utf-8")
    folder.rename(folder.with_name(f"{ARTIFACT}--><b>"))
    comment(runner, hub)

    assert hub.comments == []


def test_a_forks_text_is_only_text(runner: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot()
    runner.write(fields(("help",)))
    folder = keep(runner, runner.run(FORK, base_url=bot.url, bot=bot.id))
    for name in ("a-bad", "b-large", "c-linked"):
        shutil.copytree(folder, folder.with_name(f"{ARTIFACT}{name}"))
    (folder.with_name(f"{ARTIFACT}a-bad") / "about.json").write_text("{", encoding="utf-8")
    (folder.with_name(f"{ARTIFACT}b-large") / "comment.md").write_bytes(b"x" * 80_000)
    linked = folder.with_name(f"{ARTIFACT}c-linked") / "comment.md"
    linked.unlink()
    linked.symlink_to("/etc/hostname")
    text = "@dependabot merge\r![x](https://x.example/x.png)\n</details>\r\n@everyone [a](b)\n"
    folder.rename(last := folder.with_name(f"{ARTIFACT}z"))
    (last / "comment.md").write_bytes(text.encode())
    log = comment(runner, hub)

    (body,) = hub.ours
    assert log.count("::warning::") == 3
    assert "\r" not in body
    assert [line for line in body.splitlines()[3:] if not line.startswith("    ")] == []
    assert body.count("@") == 2


def test_a_forks_comments_are_limited(runner: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot()
    runner.write(fields(("help",)))
    folder = keep(runner, runner.run(FORK, base_url=bot.url, bot=bot.id))
    logs = []
    for run in "ba":  # a run's artifacts come before those of the run before
        for number in range(12):
            shutil.copytree(folder, folder.with_name(f"{ARTIFACT}-{run}{number:02}"))
        logs.append(comment(runner, hub))

    assert len(hub.comments) == 10
    assert [log.count("no more are created") for log in logs] == [0, 10]


def test_only_a_fork_leaves_its_comment_to_a_workflow(runner: Runner, service: Service) -> None:
    bot = service.bot()
    inputs = {"base_url": bot.url, "bot": bot.id}
    runner.write(fields(("help",)))
    steps = [
        runner.run(pull_request(), **inputs),
        runner.run(FORK, comment="never", **inputs),
        runner.run(FORK, mode="validate", **inputs),
    ]

    assert [step.outputs["comment-file"] for step in steps] == ["", "", ""]


def test_the_second_workflow_has_no_secret_no_checkout_and_only_forks() -> None:
    (job,) = definition(COMMENT)["jobs"].values()
    text = COMMENT.read_text(encoding="utf-8")

    assert job["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert "secrets." not in text
    assert "actions/checkout" not in text
    assert "${{" not in script(COMMENT, "Write the comments")
    assert "head_repository.full_name != github.repository" in job["if"]


def test_a_comment_that_cannot_be_kept_is_a_warning(runner: Runner, service: Service) -> None:
    bot = service.bot()
    runner.write(fields(("help",)))
    runner.variables["RUNNER_TEMP"] = str(runner.workspace / "missing")
    step = runner.run(FORK, base_url=bot.url, bot=bot.id)

    assert (step.code, step.outputs["comment-file"]) == (0, ""), step.log
    assert "comment's file" in step.annotations("warning")[-1].data
