"""Git's answers are the same whatever the user, the repository and the environment set."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from commandsync.sync import earlier
from commandsync.sync.history import History, on_page, version_before
from commandsync.sync.settings import load_files
from tests.support.home import ROOT, GitRepo, fields, git_repo

SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n a\n -----END PGP SIGNATURE-----\n"
SETTINGS = {
    "color.diff": "always",
    "color.ui": "always",
    "core.quotePath": "true",
    "diff.algorithm": "patience",
    "diff.mnemonicPrefix": "true",
    "diff.noPrefix": "true",
    "diff.orderFile": "/nowhere/order",
    "diff.relative": "true",
    "diff.renameLimit": "1",
    "diff.renames": "copies",
    "format.pretty": "fuller",
    "log.abbrevCommit": "true",
    "log.decorate": "full",
    "log.diffMerges": "off",
    "log.follow": "true",
    "log.showRoot": "false",
    "log.showSignature": "true",
}
VARIABLES = {
    "GIT_DIFF_OPTS": "--unified=9",
    "GIT_GLOB_PATHSPECS": "1",
    "GIT_ICASE_PATHSPECS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NOGLOB_PATHSPECS": "1",
    "GIT_NAMESPACE": "other",
    "GIT_TRACE": "2",
}
PROGRAMS = ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "pager.log")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """Return a repository whose manifest was moved, was away, and has signed commits."""
    repo = git_repo(tmp_path / "repo")
    bot = '\nbot: "1"\n'
    repo.commit({"bot/old.yaml": fields(("first",)) + bot, "b.yaml": "1"}, tag="v1")
    repo.commit({"bot/old.yaml": fields(("second",)) + bot, "c.yaml": "1"})
    repo.git("rm", "--quiet", "bot/old.yaml")
    repo.commit({"bot/commands.yaml": fields(("second",)) + bot, "b.yaml": "2"})
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit({"bot/commands.yaml": fields(("third",)) + bot, "side.txt": "1"})
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
    repo.git("rm", "--quiet", "bot/commands.yaml")
    repo.commit({"b.yaml": "3"})
    repo.commit({"bot/commands.yaml": fields(("fourth",)) + bot})
    content = repo.git("cat-file", "commit", "HEAD")
    signed = content.replace("\n\n", f"\n{SIGNATURE}\n", 1) + "\n"
    commit = repo.git("hash-object", "-t", "commit", "-w", "--stdin", sent=signed.encode())
    repo.git("reset", "--quiet", "--hard", commit)
    (repo.path / ".gitattributes").write_text("*.yaml diff=foreign\n", encoding="utf-8")
    return repo


def read(repo: GitRepo) -> object:
    """Return all that is read from the history of the manifest."""
    (manifest,) = load_files([str(repo.path / "bot/commands.yaml")])
    history = History(manifest, on_page(manifest, "1", ""))
    versions = [[text.name for text in each.commands] for each in history]
    before = version_before("v1", manifest)
    names = [each.name for each in before.manifest.snapshot.commands] if before else []
    return versions, history.skipped, history.cut, names


def program(tmp_path: Path) -> tuple[str, Path]:
    """Return a program that leaves a trace when it is run, and the trace."""
    script, trace = tmp_path / "program.py", tmp_path / "trace"
    script.write_text(f"#!{sys.executable}\nopen({str(trace)!r}, 'w')\n", encoding="utf-8")
    script.chmod(0o755)
    return script.as_posix(), trace


def plain(repo: GitRepo) -> object:
    found = read(repo)

    assert found == (
        [["fourth"], ["fourth"], ["third"], ["second"], ["second"], ["first"]],
        [],
        [],
        ["first"],
    )
    return found


@pytest.mark.parametrize("name", SETTINGS)
def test_no_setting_of_git_changes_what_is_read(name: str, repo: GitRepo) -> None:
    expected = plain(repo)
    repo.git("config", name, SETTINGS[name])

    assert read(repo) == expected


@pytest.mark.parametrize("name", VARIABLES)
def test_no_variable_of_git_changes_what_is_read(
    name: str, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = plain(repo)
    monkeypatch.setenv(name, VARIABLES[name])

    assert read(repo) == expected


@pytest.mark.promise("git-settings")
@pytest.mark.skipif(os.name == "nt", reason="the program is a script")
def test_no_program_that_a_repository_names_is_run(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = plain(repo)
    path, trace = program(tmp_path)
    for name in (*PROGRAMS, "diff.foreign.command", "diff.foreign.textconv"):
        repo.git("config", name, path)
    repo.git("config", "log.showSignature", "true")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", path)
    monkeypatch.setenv("GIT_PAGER", path)

    assert read(repo) == expected
    assert not trace.exists()


@pytest.mark.skipif(os.name == "nt", reason="the program is a script")
def test_nothing_that_shows_a_difference_runs_a_program(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, trace = program(tmp_path)
    (repo.path / ".git/info/attributes").write_text("*.yaml diff=foreign\n", encoding="utf-8")
    for name in ("diff.external", "diff.foreign.command", "diff.foreign.textconv"):
        repo.git("config", name, path)
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", path)

    for command in ("log", "diff-tree"):
        earlier.git(str(repo.path), command, "-p", "HEAD")

    assert not trace.exists()


def test_the_user_s_trust_and_settings_of_the_command_line_stay(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text(f"[safe]\n\tdirectory = {json.dumps(repo.path.as_posix())}\n", "utf-8")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))

    plain(repo)


def test_git_is_started_in_one_place() -> None:
    sources = {
        path: path.read_text(encoding="utf-8") for path in (ROOT / "commandsync").rglob("*.py")
    }
    places = [
        path.name for path, text in sources.items() if re.search(r"""[\[(]["']git["'],""", text)
    ]

    assert places == ["earlier.py"]
