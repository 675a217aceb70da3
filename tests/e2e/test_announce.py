"""`announce` brings a changelog, a release or a file into the manifest or to the page, once."""

import json
from typing import Any

import pytest

from tests.support.bots import Bot, Proxy, Service
from tests.support.home import Home, Ran, fields

MANIFEST = """\
# Written by hand.
version: 1
announcements:   # the newest last
  - title: 'v1.0 is out'
    description: News.   # short
"""
CHANGELOG = """\
# Changelog

## [Unreleased]

- Nothing yet.

## [1.2.0] - 2024-03-09

![banner](banner.png)

- Reminders, see [the guide][guide].
- A list of them.

## [1.1.0] - 2024-01-15

- Away.

[guide]: https://lantern.example/guide
"""
ADDED = """\
  - title: 'Version 1.2.0'
    description: |-
      - Reminders, see [the guide][guide].
      - A list of them.

      [guide]: https://lantern.example/guide
"""
LINK = "https://git.example/lantern/releases/tag/v1.2.0"
QUESTION = "Write these changes? [y/N]: "


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    home.write(MANIFEST)
    home.write(CHANGELOG, "CHANGELOG.md")
    return home.knows(service.bot([], ["v1.0 is out"]), url=proxy.url)


def release(home: Home, action: str = "published", **fields: object) -> None:
    """Write a release event as GitHub Actions does."""
    usual = {"tag_name": "v1.2.0", "name": "The big one", "body": "- Reminders\r\n- Away\r\n"}
    event = {"action": action, "release": usual | {"html_url": LINK} | fields}
    home.write(json.dumps(event), "event.json")
    home.variable("GITHUB_EVENT_PATH", str(home.path / "event.json"))


def added(home: Home) -> str:
    """Return what was added to the manifest."""
    text = home.read("commands.yaml")
    assert text.startswith(MANIFEST)
    return text.removeprefix(MANIFEST)


def announced(home: Home, *arguments: str, code: int = 0) -> Ran:
    return home.run("announce", "--yes", *arguments, exits=code)


@pytest.mark.usefixtures("bot")
def test_a_section_is_added_and_every_other_byte_stays(home: Home, proxy: Proxy) -> None:
    ran = announced(home, "--changelog", "CHANGELOG.md")

    assert added(home) == ADDED
    assert "\n     6 +   - title: 'Version 1.2.0'\n" in ran.out
    assert ran.out.endswith(" 1 to add.\n")
    assert ran.err.startswith("wrote commands.yaml\nnext: commandsync apply")
    assert proxy.requests == []


@pytest.mark.usefixtures("bot")
def test_the_same_text_again_does_nothing_and_another_one_is_reported(home: Home) -> None:
    announced(home, "--changelog", "CHANGELOG.md", "-q")

    again = announced(home, "--changelog", "CHANGELOG.md", "--version", "v1.2.0")
    home.write(CHANGELOG.replace("A list", "Two lists"), "CHANGELOG.md")
    other = announced(home, "--changelog", "CHANGELOG.md")

    assert again.said.endswith(" commands.yaml:6:5.\n")
    assert other.err.startswith("warning: commands.yaml:6:5: ")
    assert added(home) == ADDED
    assert [other.out, *other.err.splitlines()] == [
        "Nothing to announce.\n",
        (
            "warning: commands.yaml:6:5: the manifest has another text for 'Version 1.2.0': it "
            "stays, and nothing is announced"
        ),
        "  hint: edit it there, or give the announcement another title",
    ]


def test_an_announcement_is_posted_once_by_two_runs(home: Home, bot: Bot, proxy: Proxy) -> None:
    release(home)

    first = announced(home, "--event", "--post")
    second = announced(home, "--event", "--post")

    assert first.out.splitlines()[0].endswith("event.json")
    assert "Plan: 1 to add, 0 to edit, 0 to delete, 0 unchanged." in first.out
    assert "Apply: 1 done. Verified" in first.out
    assert "Plan: 0 to add, 0 to edit, 0 to delete, 1 unchanged." in second.out
    assert "not in" not in first.out
    assert len(proxy.writes) == 1
    assert [(each["title"], each["description"]) for each in bot.announcements()[1:]] == [
        ("The big one (1.2.0)", f"- Reminders\n- Away\n\nFull notes: {LINK}")
    ]
    assert home.read("commands.yaml") == MANIFEST


def test_another_text_is_reported_and_not_posted(home: Home, bot: Bot, proxy: Proxy) -> None:
    bot.post("announcements", title="Lantern 1.2.0", description="Reminders.")
    release(home, action="edited")

    ran = announced(home, "--event", "--post")

    assert "warning: an announcement titled 'The big one (1.2.0)'" in ran.out
    assert "Plan: 0 to add, 0 to edit, 0 to delete, 0 unchanged." in ran.out
    assert proxy.writes == []
    titled = announced(home, "--event", "--post", "--title", "1.2.0: reminders", "-q")
    assert titled.out.startswith("Apply: 1 done. ")
    assert bot.announcements()[-1]["title"] == "1.2.0: reminders"
    release(home, tag_name="v1", name="First")  # one number does not name a version
    assert announced(home, "--event", "--post", "-q").out.startswith("Apply: 1 done. ")
    assert bot.announcements()[-1]["title"] == "First"


@pytest.mark.usefixtures("bot")
def test_the_manifest_counts_when_an_announcement_is_posted(home: Home, proxy: Proxy) -> None:
    home.write(MANIFEST + "  - {title: v1.2.0, description: Other.}\n")
    assert "another text" in announced(home, "--changelog", "CHANGELOG.md", "--post").err

    home.write(MANIFEST.replace("version: 1", "version: 1\nsync: {announcements: mirror}"))
    ran = announced(home, "--changelog", "CHANGELOG.md", "--post", code=2)

    assert proxy.requests == []
    assert ran.err.splitlines() == [
        "error: the next apply of commands.yaml would delete it: announcements are mirrored",
        "  hint: without --post it is added to the manifest, and posted by the next apply",
    ]


def test_posting_needs_no_manifest(home: Home, bot: Bot) -> None:
    (home.path / "commands.yaml").unlink()
    home.write("Reminders\n=========\n\nThey are here.\n", "news.md")

    announced(home, "--notes-file", "news.md", "--post")

    assert [each["title"] for each in bot.announcements()] == ["v1.0 is out", "Reminders"]
    assert not (home.path / "commands.yaml").exists()
    assert announced(home, "--notes-file", "news.md", code=4).err.startswith("commands.yaml: ")


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    ("event", "reason", "hint"),
    [
        ({"draft": True}, "'1.2.0' is a draft", "--draft announces it"),
        ({"prerelease": True}, "'1.2.0' is a prerelease", "--prerelease announces it"),
        ({"tag_name": "v1.2.0-rc.1"}, "'1.2.0-rc.1' is a prerelease", "--prerelease announces it"),
        ({"action": "deleted"}, "'1.2.0' was deleted", ""),
        ({"action": "unpublished"}, "'1.2.0' was unpublished", ""),
    ],
)
def test_a_release_that_is_not_for_everybody_is_passed_over(
    home: Home, event: dict[str, Any], reason: str, hint: str
) -> None:
    release(home, **event)

    ran = announced(home, "--event")

    assert ran.out == "Nothing to announce.\n"
    assert added(home) == ""
    warning, *hints = ran.err.splitlines()
    assert warning == f"warning: the release {reason}: nothing is announced"
    assert hints == ([f"  hint: {hint}"] if hint else [])


@pytest.mark.usefixtures("bot")
def test_prereleases_and_drafts_are_announced_on_request(home: Home) -> None:
    release(home, prerelease=True, draft=True)

    announced(home, "--event", "event.json", "--prerelease", "--draft")

    assert added(home).startswith("  - title: 'The big one (1.2.0)'\n")


@pytest.mark.usefixtures("bot")
def test_untrusted_text_of_a_release_stays_text(home: Home) -> None:
    release(
        home,
        name="::error::\u202e\x1b[31m 1.2.0\nsecond line",
        body="::add-mask::x\r\n##[error]y\0\r\n- *a: &b\r\n<!-- hidden -->\r\n\u202e![x](y)\ud800",
    )

    ran = announced(home, "--event")

    lines = ran.said.splitlines()
    assert not [line for line in lines if line.lstrip().startswith("::") or "##[" in line]
    assert "\u202e" not in ran.said
    assert "\x1b" not in ran.said
    listed = home.run("plan", "--format", "json").document
    after = [change["after"] for change in listed["changes"]]
    assert after == [
        {
            "title": "::error::[31m 1.2.0 second line",
            "description": f"::add-mask::x\n##[error]y\n- *a: &b\n\ufffd\n\nFull notes: {LINK}",
        }
    ]


@pytest.mark.promise("large-release")
@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    ("options", "code", "message", "hint"),
    [
        ("", 2, "announce takes one source", "give --changelog, --event, --notes-file or --since"),
        (
            "--event e --notes-file n",
            2,
            "announce takes one source",
            "give --changelog, --event, --notes-file or --since",
        ),
        ("--event", 2, "--event has no path, and GITHUB_EVENT_PATH is not set", "name the file"),
        (
            "--event missing.json",
            1,
            "cannot read missing.json: no such file or directory",
            "check the path",
        ),
        (
            "--event commands.yaml",
            1,
            "commands.yaml is not valid JSON",
            "it must be the payload of a release event",
        ),
        (
            "--event event.json --version 1.2.0",
            2,
            "a release event has its own version",
            "leave out the version",
        ),
        (
            "--changelog CHANGELOG.md --version=",
            2,
            "Invalid value for '--version': the version is empty",
            "see commandsync announce --help",
        ),
        (
            "--changelog CHANGELOG.md --version 1.3",
            1,
            "CHANGELOG.md has no heading for the version 1.3",
            "it has 1.2.0, 1.1.0",
        ),
        ("--changelog latin.md", 1, "latin.md is not UTF-8", "save it as UTF-8"),
        (
            "--notes-file text.md",
            2,
            "the announcement has no title",
            "give a title or a version, or begin the file with a heading",
        ),
        (
            "--notes-file empty.md --title T",
            1,
            "the announcement has no text",
            "write some",
        ),
        (
            "--notes-file long.md --title T",
            1,
            "long.md is longer than 125,000 characters",
            "is it the right file?",
        ),
        (
            "--changelog huge.md",
            1,
            "huge.md is larger than 4,194,304 bytes",
            "is it the right file?",
        ),
        (
            "--changelog CHANGELOG.md -f -",
            2,
            "announce edits the manifest in place",
            "name its file with -f",
        ),
        (
            "--notes-file text.md --title beta-7",
            4,
            (
                'with the announcement: sync.ignore matches "beta-7": '
                "it would be added again on every run"
            ),
            "change the pattern, or remove the entry",
        ),
    ],
)
def test_what_cannot_be_announced_is_named_and_nothing_is_written(
    home: Home, options: str, code: int, message: str, hint: str
) -> None:
    home.forget("GITHUB_EVENT_PATH")
    home.write(MANIFEST.replace("version: 1", "version: 1\nsync: {ignore: [beta-*]}"))
    home.write("Text.\n\n# Later\n", "text.md")
    home.write("\n", "empty.md")
    home.write("x" * 125_001, "long.md")
    if "huge.md" in options:
        home.write("x" * 4_194_305, "huge.md")
    home.write(b"## 1.2.0\n\n\xe4\n", "latin.md")
    before = {path: path.read_bytes() for path in home.path.iterdir()}

    ran = announced(home, *options.split(), code=code)

    assert {path: path.read_bytes() for path in home.path.iterdir()} == before
    assert f"error: {message}\n  hint: {hint}\n" in ran.err


@pytest.mark.usefixtures("bot")
def test_a_manifest_without_announcements_manages_them_from_now_on(home: Home) -> None:
    home.write("version: 1\ncommands: []\n")

    ran = announced(home, "--changelog", "CHANGELOG.md", "-f", "commands.yaml")

    assert "\nannouncements:\n  - title: Version 1.2.0\n" in home.read("commands.yaml")
    assert ran.err.splitlines() == [
        "warning: the manifest manages announcements from now on",
        "  hint: commandsync pull --merge adds what is listed already",
        "wrote commands.yaml",
        "next: commandsync apply -f commands.yaml posts it",
    ]


@pytest.mark.usefixtures("bot")
def test_the_changes_of_the_commands_are_announced(home: Home) -> None:
    home.write(fields(("help",), ("afk",)), "old.yaml")
    home.write(fields(("help",), ("remind",)))

    ran = announced(home, "--since", "old.yaml", "--version", "v2.0")

    assert home.read("commands.yaml").endswith(
        "announcements:\n  - title: Version 2.0\n    description: |-\n"
        "      - **Breaking**: Gone: `/afk`.\n      - New: `/remind`.\n"
    )
    assert "warning: commands.yaml:6:5: 'remind' " in ran.err
    none = announced(home, "--since", "commands.yaml", "--title", "News")
    assert none.said.startswith("Nothing to announce.\nwarning: No change")


@pytest.mark.usefixtures("bot")
def test_off_a_terminal_an_announcement_wants_yes(home: Home) -> None:
    ran = home.run("announce", "--changelog", "CHANGELOG.md", exits=2)

    assert "hint: --yes " in ran.err


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    ("section", "shown"),
    [
        ("  * one\n  * two\n    * deeper\n  * three\n", "* one\n* two\n  * deeper\n* three"),
        ("  * one\n  * two\n\nThanks.\n\n  1. a\n", "* one\n* two\n\nThanks.\n\n  1. a"),
        (" - one\n\n   ```\n     code\n   ```\n - two\n", "- one\n\n  ```\n    code\n  ```\n- two"),
        ("- one\n  - nested\n", "- one\n  - nested"),
    ],
)
def test_an_indented_lists_items_stay_on_one_level(home: Home, section: str, shown: str) -> None:
    home.write(f"## 1.2.0\n\n{section}", "CHANGELOG.md")

    announced(home, "--changelog", "CHANGELOG.md")

    written = added(home).partition("description: |-\n")[2].splitlines()
    assert "\n".join(line.removeprefix("      ") for line in written) == shown
