"""The state file: what a run keeps there, what another one reads, and what is said of damage."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import sleep

import pytest

from commandsync.errors import RefusedError, StalePlanError
from commandsync.sync.statefile import Delivery, End, Remembered, StateFile, default_state
from tests.support.home import ROOT, GitRepo, git_repo

NOW = datetime(2026, 6, 1, 9, 30, tzinfo=UTC)


def fine(_memory: Remembered) -> None:
    """Nothing speaks against sending."""


def new(*names: str, identity: str = "here", of: str = "one") -> Delivery:
    return Delivery(
        service="top.gg",
        identity=identity,
        token=of,
        digest=f"digest of {' '.join(names)}",
        names=names,
        size=len(names),
        commit="c" * 40,
        at=NOW,
    )


@pytest.fixture
def state(tmp_path: Path) -> StateFile:
    return StateFile(str(tmp_path / "folder" / "state.json"))


def send(state: StateFile, *names: str, end: End | None = End.ACCEPTED, of: str = "one") -> None:
    run = StateFile(state.path)  # without an end, its lock goes with it as with a killed process
    while run.is_busy("here"):
        sleep(0.01)
    begun = run.begin(new(*names, of=of), fine)
    if end:
        run.end(begun, end)


def shown(state: StateFile, of: str = "one") -> list[tuple[str, ...] | None]:
    return [each.names for each in StateFile(state.path).remembered("top.gg", "here", of).possible]


def test_without_a_file_nothing_is_known(state: StateFile) -> None:
    assert state.remembered("top.gg", "here", "one") == Remembered()


def test_what_was_sent_is_known_to_the_next_run_as_it_was(state: StateFile) -> None:
    send(state, "ping", "ban")
    (kept,) = StateFile(state.path).remembered("top.gg", "here", "one").possible

    assert (kept.names, kept.size, kept.is_sent) == (("ping", "ban"), 2, True)
    assert (kept.commit, kept.digest, kept.at) == ("c" * 40, "digest of ping ban", NOW)


def test_a_failure_takes_its_list_away_and_an_unknown_end_does_not(state: StateFile) -> None:
    send(state, "ping")
    send(state, "refused", end=End.UNCHANGED)
    send(state, "lost", end=End.UNKNOWN)

    assert shown(state) == [("lost",), ("ping",)]


def test_a_killed_run_counts_until_a_later_one_is_accepted(state: StateFile) -> None:
    send(state, "ping")
    send(state, "killed", end=None)
    between = shown(state)
    send(state, "new")

    assert between == [("killed",), ("ping",)]
    assert shown(state) == [("new",)]


def test_only_what_still_counts_is_kept(state: StateFile) -> None:
    for number in range(20):
        send(state, f"command{number}")
    send(state, "other", of="two")
    document = json.loads(Path(state.path).read_text(encoding="utf-8"))

    assert [each["names"] for each in document["sent"]] == [["command19"], ["other"]]


def test_another_token_has_a_memory_of_its_own(state: StateFile) -> None:
    send(state, "ping")
    send(state, "staging", of="two")
    third = state.remembered("top.gg", "here", "three")

    assert (shown(state), shown(state, "two")) == ([("ping",)], [("staging",)])
    assert (third.possible, third.other_token) == ((), NOW)


def test_a_run_that_may_not_send_any_more_keeps_nothing(state: StateFile) -> None:
    send(state, "ping")
    with pytest.raises(StalePlanError):
        state.begin(new("ban"), lambda memory: StalePlanError(str(memory.possible[0].names)))
    send(state, "kick")

    assert shown(state) == [("kick",)]


def test_a_second_program_waits_and_decides_by_what_the_first_one_sent(state: StateFile) -> None:
    seen: list[Remembered] = []
    first = state.begin(new("ping"), fine)
    second = StateFile(state.path)
    busy = second.is_busy("here")
    with pytest.raises(RefusedError, match="another apply sends a list to this listing"):
        second.begin(new("ban"), seen.append)
    state.end(first, End.ACCEPTED)
    free = not second.is_busy("here")
    second.end(second.begin(new("ban"), seen.append), End.ACCEPTED)

    assert (busy, free) == (True, True)
    assert [each.names for each in seen[0].possible] == [("ping",)]
    assert shown(state) == [("ban",)]


def test_a_lock_of_another_listing_is_not_waited_for(state: StateFile) -> None:
    begun = state.begin(new("ping"), fine)
    other = state.begin(new("ban", identity="there"), fine)
    state.end(other, End.ACCEPTED)
    state.end(begun, End.ACCEPTED)

    assert shown(state) == [("ping",)]


def test_many_processes_lose_nothing(state: StateFile) -> None:
    script = (
        "import sys; from tests.unit.sync.test_statefile import *; s = StateFile(sys.argv[1])\n"
        "for n in range(5): send(s, sys.argv[2], of=sys.argv[2])"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", script, state.path, f"token{number}"], cwd=ROOT)
        for number in range(3)
    ]
    codes = [run.wait(60) for run in runs]
    document = json.loads(Path(state.path).read_text(encoding="utf-8"))

    assert codes == [0, 0, 0]
    assert (document["counter"], len(document["sent"])) == (45, 3)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_its_user_may_read_it(state: StateFile) -> None:
    send(state, "ping")

    assert Path(state.path).stat().st_mode & 0o777 == 0o600


GOOD = {
    "number": 1,
    "service": "top.gg",
    "identity": "here",
    "token": "one",
    "state": "sent",
    "at": "2026-06-01T09:30:00+00:00",
    "commit": "",
    "request": "d",
    "ended": 2,
    "names": ["ping"],
}
DAMAGED = [
    "",
    "[]",
    "null",
    "{",
    "[" * 100_000,
    json.dumps({"version": 1, "counter": 2}),
    json.dumps({"version": 1, "counter": "2", "sent": []}),
    json.dumps({"version": 1, "counter": True, "sent": []}),
    json.dumps({"version": 1, "counter": 2, "sent": {"1": GOOD}}),
    *(
        json.dumps({"version": 1, "counter": 2, "sent": [GOOD | change]})
        for change in (
            {"number": "1"},
            {"names": None},
            {"names": [1]},
            {"names": "ping"},
            {"state": "failed"},
            {"at": "yesterday"},
            {"at": "2026-06-01T09:30:00"},
            {"ended": "2"},
            {"token": None},
        )
    ),
]


def test_the_form_of_the_file_is_the_documented_one(state: StateFile) -> None:
    Path(state.path).parent.mkdir()
    text = json.dumps({"version": 1, "counter": 2, "sent": [GOOD]})
    Path(state.path).write_text(text, encoding="utf-8")

    assert shown(state) == [("ping",)]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_file_is_said_and_never_replaced(state: StateFile, text: str) -> None:
    Path(state.path).parent.mkdir()
    Path(state.path).write_text(text, encoding="utf-8")
    with pytest.raises(RefusedError, match="damaged") as read:
        state.remembered("top.gg", "here", "one")
    with pytest.raises(RefusedError, match="damaged"):
        state.begin(new("ping"), fine)

    assert state.path in read.value.message
    assert "remove it" in str(read.value.hint)
    assert Path(state.path).read_text(encoding="utf-8") == text


def test_a_later_version_is_said(state: StateFile) -> None:
    Path(state.path).parent.mkdir()
    Path(state.path).write_text('{"version": 2}', encoding="utf-8")
    with pytest.raises(RefusedError, match="of version 2"):
        state.remembered("top.gg", "here", "one")


def test_a_file_that_cannot_be_read_or_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    below, folder = StateFile(str(tmp_path / "file" / "state.json")), StateFile(str(tmp_path))
    with pytest.raises(RefusedError, match="cannot be created"):
        below.begin(new("ping"), fine)
    with pytest.raises(RefusedError, match="cannot read"):
        folder.remembered("top.gg", "here", "one")


def test_worktrees_share_the_file_of_their_repository(tmp_path: Path) -> None:
    repo = git_repo(tmp_path / "repo")
    repo.commit({"bot/commands.yaml": ""})
    repo.git("worktree", "add", "--quiet", "../tree")
    here = default_state(str(repo.path / "bot"))

    assert here == str(repo.path.resolve() / ".git" / "commandsync" / "state.json")
    assert default_state(str(tmp_path / "tree")) == here


def test_outside_a_repository_it_is_in_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    path = Path(default_state(str(tmp_path)))
    assert path.name == "state.json"
    assert sys.platform != "linux" or path == tmp_path / "state" / "commandsync" / "state.json"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return git_repo(tmp_path / "repo")


def test_a_repository_of_another_user_is_said(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(RefusedError, match="dubious") as raised:
        default_state(str(repo.path))

    assert "safe.directory" in str(raised.value.hint)


def test_without_git_a_repository_is_said_and_another_folder_is_not(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.raises(RefusedError, match="git is not installed") as raised:
        default_state(str(repo.path))

    assert "name a file" in str(raised.value.hint)
    assert default_state(str(tmp_path)).endswith("state.json")
