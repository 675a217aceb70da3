"""`changes` tells what users notice since a revision of git, or since a file."""

import shutil

import pytest

from tests.support.home import GitRepo, Home, fields, git_repo

OLD = fields(("h", "Shows the help menu.", "/h"), ("ban", "Bans.", "/ban <user> [reason]"))
NEW = (
    OLD.replace('"h"', "help\n    formerly: [h]")
    .replace('"{prefix}h"', '"{prefix}help"')
    .replace("[reason]", "<reason>")
)
MARKDOWN = """\
- **Breaking**: `/h` is now called `/help`.
- **Breaking**: `/ban` needs `<reason>` now: `/ban <user> <reason>`.
"""
NOT_COMPARED = {
    "--since v9": "'v9' is neither a file nor a revision that git knows here",
    "--since ": "Invalid value for '--since': the path is empty",
    "--since - -f -": "standard input can be read only once",
    "--since v1 -f -": "'v1' is not a file, and standard input has no revisions",
    "--since none.yaml": "none.yaml does not manage commands: nothing is known about them",
    "--since old.yaml -f none.yaml": "none.yaml does not manage commands",
    "--since old.yaml -f a.yaml -f old.yaml": "changes takes one manifest, not several",
}


@pytest.fixture
def repo(home: Home) -> GitRepo:
    repo = git_repo(home.path)
    repo.commit(
        {"commands.yaml": OLD + "include: [more/*.yaml]\n", "more/a.yaml": "commands: []\n"},
        tag="v1",
    )
    return repo


def test_a_child_tells_the_changes_since_a_tag(home: Home, repo: GitRepo) -> None:
    extra = "commands: [{name: roll, description: Rolls., syntax: /roll}]\n"
    repo.write({"commands.yaml": NEW + "include: [more/*.yaml]\n", "more/b.yaml": extra})

    ran = home.child("changes", "--since", "v1", "--format", "markdown")

    assert (ran.code, ran.out, ran.err) == (0, f"{MARKDOWN}- New: `/roll`.\n", "")


def test_every_format_tells_the_same(home: Home, repo: GitRepo) -> None:
    repo.write({"commands.yaml": NEW})

    text = home.run("changes", "--since", "HEAD")
    document = home.run("changes", "--since", "HEAD", "--format", "json").document

    assert text.out.endswith(", 2 breaking.\n")
    assert text.out.splitlines()[0] == "Breaking:"
    assert (document["since"], document["manifest"]) == ("HEAD", ["commands.yaml"])
    assert (document["count"], document["breaking"], document["warnings"]) == (2, 2, [])
    assert [each["renamed"] for each in document["changed"]] == [True, False]
    assert [each["needs"] for each in document["changed"]] == [[], ["<reason>"]]


def test_a_file_needs_no_repository_and_one_side_may_be_standard_input(home: Home) -> None:
    home.write(OLD, "old.yaml")
    home.write(NEW)

    assert home.run("changes", "--since", "old.yaml", "--format", "markdown").out == MARKDOWN
    arguments = ("changes", "--format", "markdown")
    assert home.run(*arguments, "--since", "-", stdin=OLD.encode()).out == MARKDOWN
    piped = home.run(*arguments, "--since", "old.yaml", "-f", "-", stdin=NEW.encode())
    assert piped.out == MARKDOWN


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_no_change_is_said_and_is_no_failure(home: Home, form: str) -> None:
    home.write(OLD)

    ran = home.run("changes", "--since", "commands.yaml", "--format", form)

    assert (ran.code, ran.said) == (0, "No change that users notice.\n")


def test_a_likely_rename_is_a_warning_in_every_format(home: Home) -> None:
    home.write(OLD, "old.yaml")
    home.write(OLD.replace('"h"', "help"))

    text = home.run("changes", "--since", "old.yaml")
    document = home.run("changes", "--since", "old.yaml", "--format", "json").document

    assert "warning: commands.yaml:3:5: 'help' " in text.err
    assert document["warnings"][0]["location"] == {"path": "commands.yaml", "line": 3, "column": 5}
    assert home.run("changes", "--since", "old.yaml", "--strict").code == 4


@pytest.mark.usefixtures("repo")
def test_what_cannot_be_compared_is_an_error(home: Home) -> None:
    home.write("version: 1\nannouncements: []\n", "none.yaml")
    for name in ("a.yaml", "old.yaml"):
        home.write(OLD, name)

    ran = home.run("changes", "--since", "v1", "-f", "a.yaml", exits=4)
    assert "v1:a.yaml: error: the manifest is not in this revision" in ran.err
    for line, problem in NOT_COMPARED.items():
        ran = home.run("changes", *line.split(" "), stdin=OLD.encode(), exits=2)
        assert problem in ran.err


def test_without_git_the_error_is_one_for_programs_too(home: Home) -> None:
    home.write(OLD)
    home.variable("PATH", str(home.path))

    ran = home.run("changes", "--since", "v1", "--format", "json")

    assert shutil.which("git") is None
    assert (ran.code, ran.document["error"]["kind"]) == (1, "file")
