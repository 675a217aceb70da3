"""The list sent last where it cannot be read: by the command line, with its state file."""

import json
import os
import random
import re
import shutil
import signal
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from commandsync.errors import FileError
from commandsync.sync import files, statefile
from tests.support.bots import Instead
from tests.support.destination import LOST_AFTER, NAMES, Destination, result_of
from tests.support.home import GitRepo, Ran, git_repo
from tests.support.rawserver import Request

FORTY = [f"command{number}" for number in range(40)]


@dataclass
class Clone:
    """A clone with a manifest of one list, which is committed before each run."""

    place: Destination
    folder: Path
    options: list[str] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)

    @property
    def repo(self) -> GitRepo:
        return GitRepo(self.folder)

    @property
    def manifest(self) -> str:
        return str(self.folder / "commands.yaml")

    def commit(self, *names: str) -> str:
        self.commits.append(self.repo.commit({"commands.yaml": self.place.manifest(*names)}))
        return self.commits[-1]

    @property
    def names(self) -> list[str]:
        """The names in the manifest."""
        return re.findall('name: "(.*)"', Path(self.manifest).read_text(encoding="utf-8"))

    def goes_to(self, commit: str) -> None:
        """Move the branch to a commit, as a forced push does."""
        self.repo.git("reset", "--quiet", "--hard", commit)

    def run(self, command: str, *more: str, exits: int | None = None) -> Ran:
        form = ["--format", "json"] if "--format" not in more else []
        own = ["--yes"] if command == "apply" else []
        arguments = [command, "-f", self.manifest, *own, *form, *self.options, *more]
        return self.place.home.run(*arguments, exits=exits)

    def apply(self, *more: str, exits: int | None = None) -> Ran:
        return self.run("apply", *more, exits=exits)

    def refused(self, *more: str) -> str:
        """Apply, which has to be refused; return the message."""
        document = self.apply(*more, exits=5).document
        return str((document.get("results") or [document])[0]["error"]["message"])

    def warned(self) -> str:
        return json.dumps(result_of(self.run("plan"))["warnings"])


@pytest.fixture
def clone(unread: Destination) -> Clone:
    return Clone(unread, git_repo(unread.home.path / "clone").path)


@pytest.fixture
def topgg_clone(topgg: Destination) -> Clone:
    return Clone(topgg, git_repo(topgg.home.path / "clone").path)


def test_outside_a_repository_only_the_first_apply_is_unseen(unread: Destination) -> None:
    unread.home.write(unread.manifest("ping", "help"))
    assert not any((folder / ".git").exists() for folder in unread.home.path.parents)
    unread.home.run("apply", "--yes", exits=5)
    unread.home.run("apply", "--yes", "--unseen", exits=0)
    unread.home.write(unread.manifest("ping", "help", "new"))
    ran = unread.home.run("apply", "--yes", exits=0)

    assert "Plan: 1 to add, 0 to edit, 0 to delete, 2 unchanged." in ran.out
    assert "Accepted; the list cannot be read back." in ran.out


def state_of(clone: Clone) -> Path:
    return clone.folder / ".git" / "commandsync" / "state.json"


def test_a_plan_is_compared_with_what_was_sent_and_an_apply_sends_again(clone: Clone) -> None:
    clone.commit("ping", "ban")
    first = clone.run("plan").document
    clone.apply("--unseen", exits=0)
    again = clone.run("plan", "--detailed-exitcode", "--format", "text", exits=0)
    resent = clone.apply("--format", "text", exits=0)
    clone.commit("ping", "kick")
    plan = clone.run("plan", "--detailed-exitcode", exits=3).document

    assert (first["known"], plan["known"]) == (False, True)
    assert plan["compared_with"].startswith("the list sent on 20")
    assert (plan["summary"]["add"], plan["summary"]["delete"]) == (1, 1)
    assert "No changes since the list sent on 20" in again.out
    assert "apply sends the list again" in again.out
    assert "Accepted; the list cannot be read back" in resent.out
    assert len(clone.place.proxy.writes) == 2
    assert clone.place.secret not in state_of(clone).read_text(encoding="utf-8")
    assert os.name == "nt" or state_of(clone).stat().st_mode & 0o777 == 0o600


@pytest.mark.promise("sent-lists")
def test_a_list_whose_answer_was_lost_counts_beside_the_one_before(topgg_clone: Clone) -> None:
    clone = topgg_clone
    clone.commit(*FORTY[:3])
    clone.apply("--unseen", exits=0)
    clone.commit(*FORTY)
    clone.place.fail(lambda _: LOST_AFTER)
    clone.apply("--retries", "0", exits=6)
    clone.place.proxy.rule = lambda _: None
    clone.commit(*FORTY[:3])
    warned, refused = clone.warned(), clone.refused()
    plan = clone.run("plan", "--format", "text")

    assert "the service may show the list sent on" in warned
    assert "(40 commands) or the list sent on" in warned
    assert "(3 commands)" in warned
    assert "would delete 37 of 40 listed commands" in refused
    assert "No changes" not in plan.out
    clone.apply("--max-deletes", "all", exits=0)
    assert "may show" not in clone.warned()


def _refused_by_service() -> Instead:
    return Instead(400, {"message": "no"})


@pytest.mark.promise("sent-with-another-token")
def test_another_token_is_another_list(clone: Clone) -> None:
    other = "another-token-of-lantern"
    clone.commit(*NAMES)
    clone.apply("--unseen", exits=0)
    own = clone.place.home.variables[clone.place.listing.variable]
    clone.place.home.variable(clone.place.listing.variable, other)
    clone.commit(NAMES[0])
    plan = clone.run("plan").document
    refused = clone.apply("--format", "text", exits=5)
    allowed = clone.run("plan", "--unseen", "--format", "text")
    clone.place.home.variable(clone.place.listing.variable, own)
    back = clone.refused()

    assert plan["known"] is False
    assert "whose content is not known" in refused.out
    assert "the token differs from that of 20" in refused.out
    assert "Nothing is known of that list: the token differs" in allowed.out
    assert "--unseen" in refused.out
    assert "would delete 9 of 10" in back


def test_a_plan_without_a_token_is_compared_with_what_was_sent(clone: Clone) -> None:
    clone.commit("ping")
    clone.apply("--unseen", exits=0)
    clone.place.home.forget(clone.place.listing.variable)
    clone.commit("ping", "ban")

    assert clone.run("plan").document["summary"]["add"] == 1


def test_what_another_machine_may_have_sent_counts(topgg_clone: Clone) -> None:
    clone = topgg_clone
    clone.commit(*FORTY[:2])
    clone.apply("--unseen", exits=0)
    other = Clone(clone.place, clone.place.home.path / "other")
    clone.repo.git("clone", "--quiet", ".", str(other.folder))
    other.commit(*FORTY)
    other.apply("--unseen", exits=0)
    clone.repo.git("pull", "--quiet", str(other.folder), "main")
    clone.commit(*FORTY[:2])
    refused = clone.refused()
    other.repo.git("pull", "--quiet", str(clone.folder), "main")
    there = other.refused()

    assert "would delete 38 of 40 listed commands" in refused
    assert "which another machine may have sent" in refused
    assert "would delete 38 of 40 listed commands" in there


def test_a_commit_that_the_repository_does_not_have_makes_the_list_unknown(
    topgg_clone: Clone,
) -> None:
    clone = topgg_clone
    clone.commit("ping")
    clone.options = ["--state", str(clone.place.home.path / "state.json")]
    clone.apply("--unseen", exits=0)
    shutil.rmtree(clone.folder)
    git_repo(clone.folder)
    clone.commit("ping", "ban")
    plan = clone.run("plan", "--format", "text")

    assert "is not in this repository" in plan.out
    assert "the commit" in plan.out
    clone.apply(exits=5)
    clone.apply("--unseen", exits=0)
    clone.apply(exits=0)


def test_an_earlier_version_comes_before_what_was_sent(unread: Destination) -> None:
    unread.sent("ping")
    unread.write("ping", "ban")
    unread.apply()
    ran = unread.home.run("plan", "--since", "sent.yaml", "--format", "json").document

    assert ran["compared_with"] == "sent.yaml"
    assert ran["summary"]["add"] == 1


def test_a_damaged_file_is_said_and_nothing_is_sent(clone: Clone) -> None:
    clone.commit("ping")
    clone.apply("--unseen", exits=0)
    state_of(clone).write_text("damaged", encoding="utf-8")
    plan = clone.run("plan", "--format", "text", exits=0)
    clone.place.proxy.requests.clear()
    ran = clone.apply("--unseen", "--format", "text", exits=5)

    for said in (plan.out, ran.out):
        assert f"{state_of(clone)} is damaged" in said
        assert "remove it" in said
    assert clone.place.proxy.requests == []


@pytest.mark.skipif(os.name == "nt", reason="git checks no owners there")
def test_a_repository_of_another_user_is_said(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.commit("ping")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    plan = clone.run("plan", "--format", "text", exits=0)
    ran = clone.apply("--unseen", "--format", "text", exits=5)
    state = str(clone.place.home.path / "state.json")
    clone.apply("--unseen", "--state", state, exits=0)
    clone.place.home.variable("COMMANDSYNC_STATE", state)
    known = clone.run("plan").document["known"]
    healthy = clone.place.home.run("doctor", "-f", clone.manifest)
    clone.place.home.forget("COMMANDSYNC_STATE")
    doctor = clone.place.home.run("doctor", "-f", clone.manifest, exits=5)

    assert f"are remembered in {state}" in healthy.out
    assert "the list sent last is not known" in doctor.out
    for said in (plan.out, ran.out):
        assert "the list sent last is not known" in said
        assert "safe.directory" in said
    assert known


def test_a_success_that_cannot_be_recorded_is_incomplete_and_counts_as_unclear(
    topgg_clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = topgg_clone
    clone.commit(FORTY[0])
    clone.apply("--unseen", exits=0)
    clone.commit(*FORTY)
    written = files.write_file
    left = iter(range(1))

    def write(*arguments: object, **options: object) -> None:
        if next(left, None) is None:
            monkeypatch.setattr(statefile, "write_file", written)
            raise FileError("the disk is full")
        written(*arguments, **options)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(statefile, "write_file", write)
    ran = clone.apply("--format", "text", exits=6)
    clone.commit(FORTY[0])
    refused = clone.refused()

    assert "the disk is full" in ran.out
    assert "The sent list is not recorded" in ran.out
    assert clone.place.names == FORTY
    assert "would delete 39 of 40" in refused


def test_what_cannot_be_recorded_is_not_sent(topgg_clone: Clone) -> None:
    clone = topgg_clone
    clone.commit("ping")
    state_of(clone).parent.write_text("a file", encoding="utf-8")
    ran = clone.apply("--unseen", "--format", "text", exits=5)

    assert "cannot be created" in ran.out
    assert clone.place.proxy.writes == []


@pytest.mark.parametrize("options", [("--since", "HEAD"), ("--unseen",)])
def test_options_about_unread_lists_need_one(
    telegram: Destination, options: tuple[str, ...]
) -> None:
    telegram.write("ping")
    git_repo(telegram.home.path).commit({})
    plan = telegram.home.run("plan", *options, exits=2)
    ran = telegram.home.run("apply", "--yes", "--format", "json", *options, exits=2)
    telegram.home.forget(telegram.listing.variable)

    assert f"{options[0]} is about lists that cannot be read" in plan.err
    assert f"{options[0]} is about lists" in ran.document["error"]["message"]
    assert telegram.proxy.requests == []
    telegram.home.run("plan", *options, exits=0)


@pytest.mark.promise("sent-lists")
def test_of_two_applies_at_once_the_second_one_counts_the_list_of_the_first_and_waits(
    topgg_clone: Clone,
) -> None:
    clone = topgg_clone
    clone.commit(*FORTY[:10])
    clone.apply("--unseen", exits=0)
    clone.commit(*FORTY)
    arrived, released = threading.Event(), threading.Event()

    def hold(request: Request) -> None:
        if request.writes:
            arrived.set()
            released.wait(20)

    clone.place.proxy.rule = hold
    first = clone.place.home.started("apply", "-f", clone.manifest, "--yes")
    assert arrived.wait(20)
    clone.commit(*FORTY[:10])
    refused = clone.refused()
    clone.commit(*FORTY, "new")
    second = clone.place.home.started("apply", "-f", clone.manifest, "--yes")
    assert second.stderr is not None
    assert any(b"waiting for the apply" in line for line in iter(second.stderr.readline, b""))
    released.set()
    said = second.communicate(timeout=60)[0].decode()
    first.communicate(timeout=60)

    assert "would delete 30 of 40 listed commands" in refused
    assert (first.returncode, second.returncode) == (0, 0), said
    assert clone.place.names == [*FORTY, "new"]


def test_an_apply_that_waits_for_another_one_can_be_interrupted(clone: Clone) -> None:
    clone.commit(*FORTY[:10])
    clone.apply("--unseen", exits=0)
    other = statefile.StateFile(str(state_of(clone)))
    identity = json.loads(state_of(clone).read_bytes())["sent"][0]["identity"]
    assert not other.is_busy(identity)  # from now on this program has the lock
    waiting = clone.place.home.started("apply", "-f", clone.manifest, "--yes")
    assert waiting.stderr is not None
    assert any(b"waiting for the apply" in line for line in iter(waiting.stderr.readline, b""))
    waiting.send_signal(signal.SIGINT)
    said = waiting.communicate(timeout=20)[0].decode()

    assert waiting.returncode == 130
    assert "The listing was not changed" in said
    assert [each["state"] for each in json.loads(state_of(clone).read_bytes())["sent"]] == ["sent"]


@pytest.mark.parametrize("shares", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_twenty_sequences_through_the_command_line(
    topgg: Destination, seed: int, *, shares: bool
) -> None:
    """Two clones push and apply in turn: what is said and done is true of the shown list."""
    draws = random.Random(seed)  # noqa: S311 - no secret
    home, own = topgg.home, topgg.home.variables[topgg.listing.variable]
    state = ["--state", str(home.path / "state.json")] if shares else []
    first = Clone(topgg, git_repo(home.path / "first").path, state)
    first.commit(*FORTY[:8])
    first.apply("--unseen", exits=0)
    second = Clone(topgg, home.path / "second", state)
    first.repo.git("clone", "--quiet", ".", str(second.folder))
    for _ in range(6):
        clone, other = draws.choice([(first, second), (second, first)])
        event = draws.choice(["push", "push", "back", "token", "lost", "refused"])
        if event == "back":
            clone.goes_to(draws.choice(clone.repo.git("rev-list", "HEAD").split()))
        else:
            clone.repo.git(
                "pull", "--quiet", "--no-rebase", "-X", "ours", str(other.folder), "main"
            )
            clone.commit(*sorted(draws.sample(FORTY[:12], draws.randint(4, 12))))
        wanted = clone.names
        if event == "token":
            home.variable(topgg.listing.variable, "another-token-of-lantern")
        if event in {"lost", "refused"}:
            clone.place.fail(
                lambda _: LOST_AFTER if event == "lost" else _refused_by_service()  # noqa: B023 - used before it changes
            )
        shown = topgg.names
        plan = clone.run("plan", exits=0).document
        limit = ["--max-deletes", "all"] if draws.random() < 0.4 else []
        ran = clone.apply("--retries", "0", *limit)
        clone.place.proxy.rule = lambda _: None
        home.variable(topgg.listing.variable, own)

        gone = len({*shown} - {*topgg.names})
        certain = plan["known"] and not plan["warnings"]
        if event == "token":
            assert (plan["known"], topgg.names) == (False, shown)
        elif certain and not plan["changes"] and shares:
            assert shown == wanted
        if ran.code == 0:
            assert topgg.names == wanted
        if gone and not limit:
            assert gone <= 3 or gone <= 0.3 * len(shown)
        assert ran.code in ({1, 5} if event == "token" else {0, 1, 5, 6})
