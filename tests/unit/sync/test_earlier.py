"""A manifest at a revision of git, with the files of then, and its versions before."""

from pathlib import Path

import pytest

from commandsync.errors import FileError, ManifestError, RefusedError, UsageError
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.sync import history
from commandsync.sync.earlier import version_at
from commandsync.sync.history import History, committed, on_page, versions_after
from commandsync.sync.settings import load_files
from tests.support.home import GitRepo, fields, git_repo

HEAD = 'version: 1\nprefix: "/"\n'
MAIN = f"{HEAD}include: [commands/*.yaml]\n"
LINK = "120000"


def listed(name: str) -> str:
    return f"commands:\n- {{name: {name}, description: Does it., syntax: '{{prefix}}{name}'}}\n"


def names_at(revision: str, path: Path) -> list[str]:
    version = version_at(revision, str(path))
    assert version
    return [command.name for command in version.manifest.snapshot.commands]


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return git_repo(tmp_path / "repo")


def test_the_patterns_match_the_files_of_the_revision(repo: GitRepo) -> None:
    repo.commit(
        {"bot/commands.yaml": MAIN, "bot/commands/a.yaml": listed("a"), "other.txt": ""}, tag="v1"
    )
    repo.commit({"bot/commands/b.yaml": listed("b"), "bot/commands/a.yaml": listed("c")})
    (repo.path / "bot/commands/a.yaml").unlink()
    manifest = repo.path / "bot/commands.yaml"

    assert names_at("v1", manifest) == ["a"]
    assert names_at("main", manifest) == ["c", "b"]


def test_a_link_is_followed_within_the_folder_only(repo: GitRepo) -> None:
    repo.commit({"bot/commands.yaml": MAIN, "bot/a.yaml": listed("a"), "out.yaml": listed("b")})
    for name, target in (("in", "../a.yaml"), ("out", "../../out.yaml")):
        target_id = repo.git("hash-object", "-w", "--stdin", sent=target.encode())
        path = f"bot/commands/{name}.yaml"
        repo.git("update-index", "--add", "--cacheinfo", f"{LINK},{target_id},{path}")
    repo.git("commit", "--quiet", "--message", "Links")

    assert names_at("HEAD", repo.path / "bot/commands.yaml") == ["a"]


def test_what_no_checkout_could_contain_is_left_out_and_written_nowhere(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    files = {"commands.yaml": f'{HEAD}include: ["**/*.yaml"]\n', "a.yaml": listed("a")}
    commit = repo.commit(files)
    manifest, included = (repo.git("rev-parse", f"HEAD:{name}") for name in files)
    outside = repo.git("mktree", sent=f"100644 blob {included}\tb.yaml\n".encode())
    tree = repo.git(
        "mktree",
        "--missing",
        sent=(
            f"100644 blob {manifest}\tcommands.yaml\n"
            f"100644 blob {included}\ta.yaml\n"
            f"160000 commit {commit}\tmodule.yaml\n"
            f"040000 tree {outside}\t..\n"
        ).encode(),
    )
    odd = repo.git("commit-tree", tree, "-m", "Odd")

    assert names_at(odd, repo.path / "commands.yaml") == ["a"]
    assert not list(temporary.iterdir())


def test_a_name_that_cannot_be_written_is_an_error(repo: GitRepo) -> None:
    repo.commit({"commands.yaml": MAIN})
    manifest = repo.git("rev-parse", "HEAD:commands.yaml")
    folder = repo.git("mktree", sent=f"100644 blob {manifest}\t{'x' * 300}.yaml\n".encode())
    lines = f"100644 blob {manifest}\tcommands.yaml\n040000 tree {folder}\tcommands\n"
    odd = repo.git("commit-tree", repo.git("mktree", sent=lines.encode()), "-m", "Odd")

    with pytest.raises(FileError, match=r"cannot be written into a folder: file name too long"):
        version_at(odd, str(repo.path / "commands.yaml"))


def test_only_what_a_pattern_may_match_is_read(repo: GitRepo) -> None:
    """The content of another file is missing, as in a clone without all contents."""
    repo.commit({"bot/commands.yaml": MAIN, "bot/commands/a.yaml": listed("a"), "bot/b.yaml": "b"})
    missing = repo.git("rev-parse", "HEAD:bot/b.yaml")
    (repo.path / ".git/objects" / missing[:2] / missing[2:]).unlink()

    assert names_at("HEAD", repo.path / "bot/commands.yaml") == ["a"]


@pytest.mark.parametrize(
    ("pattern", "name"),
    [("[!A]*.yml", "a.yml"), ("more/*", "more/größe x")],
    ids=["letters that it must not have", "any name"],
)
def test_an_included_file_matches_its_pattern(repo: GitRepo, pattern: str, name: str) -> None:
    head = f'{HEAD}include: ["{pattern}"]\n'
    repo.commit({"commands.yaml": head, name: listed("a")})

    assert names_at("HEAD", repo.path / "commands.yaml") == ["a"]


def test_a_content_that_git_does_not_have_is_an_error(repo: GitRepo) -> None:
    repo.commit({"commands.yaml": MAIN, "commands/a.yaml": listed("a")})
    missing = repo.git("rev-parse", "HEAD:commands/a.yaml")
    (repo.path / ".git/objects" / missing[:2] / missing[2:]).unlink()

    with pytest.raises(UsageError, match="does not have every file") as raised:
        version_at("HEAD", str(repo.path / "commands.yaml"))

    assert "git fetch --refetch" in str(raised.value.hint)


def test_problems_are_placed_in_the_revision(repo: GitRepo) -> None:
    broken = {"commands.yaml": MAIN, "commands/a.yaml": "commands:\n- {name: a}\n"}
    repo.commit(broken, tag="v1")

    with pytest.raises(ManifestError) as raised:
        version_at("v1", str(repo.path / "commands.yaml"))

    assert {problem.location.path for problem in raised.value.problems} == {"v1:commands/a.yaml"}


@pytest.mark.parametrize("revision", ["v9", "-x", "--exec=x", "v1:commands.yaml", "v1^{tree}"])
def test_a_revision_that_is_not_a_commit_is_refused(repo: GitRepo, revision: str) -> None:
    repo.commit({"commands.yaml": MAIN}, tag="v1")

    with pytest.raises(UsageError, match="neither a file nor a revision") as raised:
        version_at(revision, str(repo.path / "commands.yaml"))

    assert "git fetch --tags" in str(raised.value.hint)


@pytest.mark.parametrize("length", [40, 64])
def test_zeros_stand_for_no_commit(repo: GitRepo, length: int) -> None:
    repo.commit({"commands.yaml": MAIN}, tag="v1")

    with pytest.raises(UsageError, match="is not a commit"):
        version_at("0" * length, str(repo.path / "commands.yaml"))


def test_a_shallow_clone_says_how_to_get_the_rest(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({"commands.yaml": MAIN}, tag="v1")
    repo.commit({"commands/a.yaml": listed("a")})
    repo.git("clone", "--quiet", "--depth=1", "--no-tags", f"file://{repo.path}", f"{tmp_path}/one")

    assert names_at("HEAD", tmp_path / "one/commands.yaml") == ["a"]
    with pytest.raises(UsageError) as raised:
        version_at("v1", str(tmp_path / "one/commands.yaml"))
    assert "fetch-depth: 0" in str(raised.value.hint)


def test_without_a_repository_a_file_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    with pytest.raises(UsageError, match="not a git repository") as raised:
        version_at("v1", str(tmp_path / "commands.yaml"))

    assert "earlier manifest" in str(raised.value.hint)


def test_the_folder_decides_which_repository_it_is_also_in_a_hook(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit({"commands.yaml": HEAD + listed("a")}, tag="v1")
    other = git_repo(tmp_path / "other")
    other.commit({"commands.yaml": HEAD + listed("b")}, tag="v1")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))

    assert names_at("v1", repo.path / "commands.yaml") == ["a"]


def names(versions: list[Snapshot]) -> list[list[str]]:
    return [[entry.name for entry in each.collections[Resource.COMMAND]] for each in versions]


def test_a_history_that_was_read_to_the_end_is_not_read_again(tmp_path: Path) -> None:
    repo = git_repo(tmp_path)
    for name in ("first", "second"):
        repo.commit({"commands.yaml": fields((name,))})
    (manifest,) = load_files([str(tmp_path / "commands.yaml")])
    history = History(manifest, on_page(manifest, "1", "https://listing.example"))
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


def named(*names: str) -> str:
    return fields(*((name,) for name in names))


def since(repo: GitRepo, commit: str, name: str = "commands.yaml") -> list[list[str]]:
    versions = versions_after(str(repo.path / name), commit)
    return [[each.name for each in version.manifest.snapshot.commands] for version in versions]


def test_the_versions_since_a_commit_are_those_after_it(repo: GitRepo) -> None:
    repo.commit({"commands.yaml": named("a")})
    sent = repo.commit({"commands.yaml": named("a", "b")})
    nothing = since(repo, sent)
    repo.commit({"other.txt": "no version"})
    repo.commit({"commands.yaml": named("c")})
    repo.commit({"commands.yaml": "invalid"})
    repo.commit({"commands.yaml": named("d")})

    assert nothing == []
    assert since(repo, sent) == [["d"], ["c"], ["a", "b"]]


def test_a_manifest_that_is_not_committed_yet_has_no_versions_since_the_commit(
    repo: GitRepo,
) -> None:
    sent = repo.commit({"bot.js": "no manifest"})
    repo.path.joinpath("commands.yaml").write_text(named("a"), "utf-8")

    assert since(repo, sent) == []
    repo.commit({"bot.js": "with the manifest"})
    assert since(repo, sent) == [["a"]]


def test_the_versions_since_a_commit_of_another_branch_begin_where_the_two_parted(
    repo: GitRepo,
) -> None:
    repo.commit({"commands.yaml": named("a")})
    repo.git("checkout", "--quiet", "-b", "hotfix")
    sent = repo.commit({"commands.yaml": named("hotfix")})
    repo.git("checkout", "--quiet", "main")
    repo.commit({"commands.yaml": named("b")})
    parted = since(repo, sent)
    repo.git("merge", "--quiet", "--strategy", "ours", "--message", "Merge", "hotfix")
    repo.commit({"commands.yaml": named("c")})

    assert parted == [["b"]]
    assert since(repo, sent) == [["c"], ["b"]]


def test_the_versions_since_a_commit_that_a_forced_push_dropped_are_all_after_it(
    repo: GitRepo,
) -> None:
    first = repo.commit({"commands.yaml": named("a")})
    sent = repo.commit({"commands.yaml": named("b")})
    repo.git("reset", "--quiet", "--hard", first)
    repo.commit({"commands.yaml": named("c")})

    assert since(repo, sent) == [["c"]]
    assert since(repo, first) == [["c"]]


def test_a_renamed_manifest_has_its_versions_before(repo: GitRepo) -> None:
    sent = repo.commit({"commands.yaml": named("a")})
    repo.commit({"commands.yaml": named("a", "b")})
    repo.git("mv", "commands.yaml", "bot.yaml")
    repo.commit({})
    repo.commit({"bot.yaml": named("c")})

    assert since(repo, sent, "bot.yaml") == [["c"], ["a", "b"], ["a", "b"]]


def test_a_commit_that_is_not_in_the_repository_is_said(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({"commands.yaml": named("a")})
    repo.commit({"commands.yaml": named("b")})
    sent = repo.git("rev-parse", "HEAD~1")
    shallow = tmp_path / "shallow"
    repo.git("clone", "--quiet", "--depth", "1", f"file://{repo.path}", str(shallow))
    with pytest.raises(RefusedError, match="the commit fffffff is not in") as unknown:
        since(repo, "f" * 40)
    with pytest.raises(RefusedError, match=f"the commit {sent[:7]} is not in") as cut:
        since(GitRepo(shallow), sent)

    assert unknown.value.hint == ""
    assert "git fetch --unshallow" in str(cut.value.hint)


def test_too_many_versions_since_a_commit_are_said(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = repo.commit({"commands.yaml": named("a")})
    for number in range(5):
        repo.commit({"commands.yaml": named(f"b{number}")})
    monkeypatch.setattr(history, "MOST_VERSIONS", 4)
    with pytest.raises(RefusedError, match="has 4 versions"):
        since(repo, sent)
