"""The list that was sent last from a clone: plan, apply and plan agree without any option."""

import json
import os
from pathlib import Path

from tests.support.destination import LOST_AFTER, Destination, result_of
from tests.support.home import GitRepo, git_repo


def records(repo: GitRepo) -> list[Path]:
    return sorted((repo.path / ".git" / "commandsync").glob("*.json"))


def test_a_plan_is_compared_with_the_list_last_sent_from_this_clone(unread: Destination) -> None:
    repo = git_repo(unread.home.path)
    unread.write("ping", "ban")
    first = unread.home.run("plan", "--format", "json").document
    unread.apply("--unseen")
    (kept,) = records(repo)
    unread.write("ping", "kick")
    plan = unread.home.run("plan", "--format", "json").document
    shown = unread.home.run("plan")
    unread.apply(exits=0)
    again = unread.home.run("plan", "--detailed-exitcode", exits=0)

    assert (first["known"], plan["known"]) == (False, True)
    assert (plan["summary"]["add"], plan["summary"]["delete"]) == (1, 1)
    assert "compared with the list last sent from this clone (20" in shown.out
    assert unread.names == ["ping", "kick"]
    assert "No changes" in again.out
    assert os.name == "nt" or kept.stat().st_mode & 0o777 == 0o600
    assert unread.secret not in kept.read_text(encoding="utf-8")


def test_worktrees_share_what_was_sent_and_other_manifests_do_not(unread: Destination) -> None:
    repo = git_repo(unread.home.path)
    unread.write("ping")
    repo.commit({})
    unread.apply("--unseen")
    repo.git("worktree", "add", "--quiet", "tree")
    unread.write("ping", name="other.yaml")

    inside = unread.home.run("plan", "-f", "tree/commands.yaml")
    other = unread.home.run("plan", "-f", "other.yaml")

    assert "No changes" in inside.out
    assert "not compared" in other.out


def test_an_option_comes_before_what_was_sent(unread: Destination) -> None:
    git_repo(unread.home.path)
    unread.sent("ping")
    unread.write("ping", "ban")
    unread.apply()
    ran = unread.home.run("plan", "--since", "sent.yaml", "--format", "json").document

    assert ran["compared_with"] == "sent.yaml"
    assert ran["summary"]["add"] == 1


def test_a_list_that_may_have_been_replaced_is_sent_again(unread: Destination) -> None:
    git_repo(unread.home.path)
    unread.write("ping")
    unread.apply("--unseen")
    unread.write("ping", "ban")
    unread.fail(lambda _: LOST_AFTER)
    lost = unread.apply("--retries", "0")
    unread.proxy.rule = lambda _: None
    unread.write("ping")
    plan = unread.home.run("plan")
    back = unread.apply()

    assert (lost.code, back.code) == (6, 0), lost.said + back.said
    assert "No changes" not in plan.out
    assert unread.names == ["ping"]


def test_a_record_that_is_damaged_or_cannot_be_kept_is_none(unread: Destination) -> None:
    repo = git_repo(unread.home.path)
    unread.write("ping")
    unread.apply("--unseen")
    (kept,) = records(repo)
    kept.write_text(json.dumps({"version": 2}), encoding="utf-8")
    unread.apply(exits=5)
    kept.unlink()
    kept.parent.rmdir()
    kept.parent.write_text("a file", encoding="utf-8")
    ran = unread.apply("--unseen", exits=0)

    assert "is not kept for the next plan" in str(result_of(ran)["notices"]) + ran.err
