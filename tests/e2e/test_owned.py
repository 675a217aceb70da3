"""`apply --owned` takes away only what a version of the manifest had, by its history in git."""

import json
from pathlib import Path

import pytest
import yaml

from tests.support.bots import Bot, Service
from tests.support.home import GitRepo, Home, Ran, fields, git_repo

KEPT = [f"kept{n}" for n in range(9)]


def wanted(*names: str) -> str:
    return fields(*((name,) for name in (*names, *KEPT)))


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    return home.knows(service.bot(["gone", *KEPT]))


@pytest.fixture
def repo(home: Home) -> GitRepo:
    return git_repo(home.path)


def applied(home: Home, *options: str, exits: int | None = None) -> Ran:
    return home.run("apply", "--yes", "--owned", *options, exits=exits)


def explained(ran: Ran, bot: Bot) -> bool:
    """Whether the delete was made; if not, nothing was written."""
    if ran.code == 0:
        assert "gone" not in bot.names()
        return True
    assert ran.code == 5, ran.said
    assert "command 'gone'" in ran.err
    assert bot.names() == ["gone", *KEPT]
    return False


def test_what_no_version_had_is_refused(home: Home, bot: Bot, repo: GitRepo) -> None:
    repo.commit({"commands.yaml": wanted("new")})
    ran = applied(home)
    shown = home.run("apply", "--dry-run", "--owned")

    assert not explained(ran, bot)
    assert "records that no version of the manifest had: command 'gone'" in ran.err
    assert "add it to the manifest, or apply without --owned" in ran.err
    assert (shown.code, shown.err) == (5, ran.err)
    assert home.run("apply", "--yes").code == 0
    assert "gone" not in bot.names()


@pytest.mark.parametrize(
    ("head", "owns"),
    [
        ("", True),
        ('bot: "OURS"\nbase_url: URL/\n', True),
        ('bot: "1"\n', False),
        ("base_url: https://listing.example\n", False),
    ],
    ids=["none", "ours", "another bot", "another service"],
)
def test_only_versions_for_this_bot_and_service_explain(
    home: Home, bot: Bot, repo: GitRepo, head: str, *, owns: bool
) -> None:
    head = head.replace("OURS", bot.id).replace("URL", bot.url)
    version, lines = wanted("gone").split("\n", 1)
    repo.commit({"commands.yaml": f"{version}\n{head}{lines}"})
    repo.commit({"commands.yaml": wanted()})

    assert explained(applied(home), bot) == owns


def test_an_invalid_version_is_skipped_and_named(home: Home, bot: Bot, repo: GitRepo) -> None:
    repo.commit({"commands.yaml": wanted("gone")})
    broken = repo.commit({"commands.yaml": "version: 1\ncommands: [{name: gone}]\n"})
    repo.commit({"commands.yaml": wanted()})
    bot.post("commands", name="by-hand", description="Mine.", syntax="/mine")
    ran = applied(home, exits=5)

    assert f"skipped: {broken[:7]}" in ran.err
    assert "'by-hand'" in ran.err
    assert "'gone'" not in ran.err.partition("no version")[2]


def test_includes_are_those_of_each_version(home: Home, bot: Bot, repo: GitRepo) -> None:
    head = 'version: 1\nprefix: "/"\ninclude: ["%s/*.yaml"]\n'
    before, after = (
        text.replace("version: 1\n", "").replace('prefix: "/"', "")
        for text in (wanted("gone"), wanted())
    )
    repo.commit({"commands.yaml": head % "a", "a/one.yaml": before})
    repo.git("mv", "a", "b")
    repo.commit({"commands.yaml": head % "b"})
    repo.commit({"b/one.yaml": after})
    repo.commit({"elsewhere.txt": "Another file."})

    assert explained(applied(home), bot)


def test_a_link_to_the_manifest_has_its_versions(home: Home, bot: Bot, repo: GitRepo) -> None:
    (home.path / "commands.yaml").symlink_to("real.yaml")
    repo.commit({"real.yaml": wanted("gone")})
    repo.commit({"real.yaml": wanted()})

    assert explained(applied(home), bot)


def test_at_most_two_hundred_versions_are_read(home: Home, bot: Bot, repo: GitRepo) -> None:
    repo.commit({"commands.yaml": wanted("gone")})
    repo.commit_many("commands.yaml", [wanted(f"new{n}") for n in range(199)])
    bot.post("commands", name="by-hand", description="Mine.", syntax="/mine")
    known = applied(home)
    repo.commit({"commands.yaml": wanted()})
    forgotten = applied(home)

    assert "'by-hand'" in known.err
    assert "'gone'" not in known.err.partition("no version")[2]
    assert "'gone'" in forgotten.err.partition("no version")[2]


@pytest.mark.promise("owned-without-git")
def test_a_shallow_clone_explains_less(home: Home, bot: Bot, repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({"commands.yaml": wanted("gone")})
    repo.commit({"commands.yaml": wanted("new")})
    repo.commit({"commands.yaml": wanted()})
    for depth in (1, 3):
        url = f"file://{repo.path}"
        repo.git("clone", "--quiet", f"--depth={depth}", url, f"{tmp_path}/clone{depth}")
    shallow = applied(home, "-f", f"{tmp_path}/clone1/commands.yaml", exits=5)
    enough = applied(home, "-f", f"{tmp_path}/clone3/commands.yaml")

    assert "fetch-depth: 0" in shallow.err
    assert explained(enough, bot)


def test_a_manifest_that_is_not_committed_is_refused(home: Home, bot: Bot, repo: GitRepo) -> None:
    head = repo.commit({"README.md": "Hello."})
    home.write(wanted())
    ran = applied(home, exits=5)

    assert f"commands.yaml is not in the commit {head[:7]}" in ran.err
    assert "commit the manifest" in ran.err
    assert "gone" in bot.names()


@pytest.mark.promise("owned-without-git")
def test_without_git_none_is_deleted(home: Home, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write(wanted())
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(home.path.parent))
    home.variable("GIT_CEILING_DIRECTORIES", str(home.path.parent))
    outside = applied(home)
    home.variable("PATH", str(home.path))
    without = applied(home)

    assert (outside.code, without.code) == (5, 5), outside.said + without.said
    assert "commands.yaml is not in a git repository" in outside.err
    assert "cannot be read: git is not installed" in without.err
    assert "gone" in bot.names()


def test_a_saved_plan_needs_no_history(home: Home, bot: Bot) -> None:
    home.write(wanted())
    home.run("plan", "--out", "plan.json")
    both = home.run("apply", "--yes", "--owned", "--plan", "plan.json", exits=2)
    home.run("apply", "--yes", "--plan", "plan.json", exits=0)

    assert "--owned" in both.err
    assert "gone" not in bot.names()


OTHER = 'bot: "4242"\n'


@pytest.mark.parametrize("names_bot", [True, False])
def test_a_moved_manifest_goes_on(home: Home, bot: Bot, repo: GitRepo, *, names_bot: bool) -> None:
    head = f'bot: "{bot.id}"\n' if names_bot else ""
    repo.commit({"old.yaml": f"{head}{wanted('gone')}"})
    (repo.path / "old.yaml").unlink()
    rewritten = json.dumps(yaml.safe_load(f"{head}{wanted('other')}"))
    added = repo.commit({"commands.yaml": rewritten})
    ran = applied(home)

    if names_bot:
        assert explained(ran, bot)
    else:
        assert not explained(ran, bot)
        assert f"the history before {added[:7]} is not known" in ran.err
        assert "no version of the manifest had" not in ran.err


def test_a_manifest_that_was_away_for_a_while_goes_on(home: Home, bot: Bot, repo: GitRepo) -> None:
    repo.commit({"commands.yaml": wanted("gone")})
    (repo.path / "commands.yaml").unlink()
    repo.commit({"README.md": "Away."})
    repo.commit({"commands.yaml": wanted("other")})

    assert explained(applied(home), bot)


def test_another_bots_manifest_is_no_version(home: Home, bot: Bot, repo: GitRepo) -> None:
    repo.commit({"old.yaml": f"{OTHER}{wanted('gone')}"})
    (repo.path / "old.yaml").unlink()
    repo.commit({"commands.yaml": f'bot: "{bot.id}"\n{wanted("other")}'})
    ran = applied(home)

    assert not explained(ran, bot)
    assert "records that no version of the manifest had" in ran.err
