"""What git has of a manifest: the commit of today, and the versions before it."""

from pathlib import Path

import pytest

from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.sync.history import History, committed
from commandsync.sync.settings import load_files
from tests.support.gitrepo import git_repo
from tests.support.home import fields


def names(versions: list[Snapshot]) -> list[list[str]]:
    return [[entry.name for entry in each.collections[Resource.COMMAND]] for each in versions]


def test_a_history_that_was_read_to_the_end_is_not_read_again(tmp_path: Path) -> None:
    repo = git_repo(tmp_path)
    for name in ("first", "second"):
        repo.commit({"commands.yaml": fields((name,))})
    (manifest,) = load_files([str(tmp_path / "commands.yaml")])
    history = History(manifest, bot="1", base_url="https://listing.example")
    first = names([*history])
    (tmp_path / ".git").rename(tmp_path / "moved")

    assert first == [["second"], ["second"], ["first"]]
    assert names([*history]) == first


@pytest.mark.parametrize("folder", ["-d", "--name-only", ":bot", "*"])
def test_a_folder_may_have_any_name(folder: str, tmp_path: Path) -> None:
    repo = git_repo(tmp_path)
    path = tmp_path / folder / "commands.yaml"
    commit = repo.commit({f"{folder}/commands.yaml": fields(("ping",)), "other.yaml": ""})
    (manifest,) = load_files([str(path)])
    found = committed(manifest)

    assert (found.commit, found.path) == (commit, f"{folder}/commands.yaml")
    assert [*found.files] == ["commands.yaml"]
