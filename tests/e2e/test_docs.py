"""`docs` writes the command list into files, and `docs --check` tells whether it is current."""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

from tests.support.home import Home, checked, failed, fields

README = """\
# Bot\r
\r
<!-- commandsync:commands category=Fun format=list columns=name,description -->\r
<!-- /commandsync:commands -->\r
\r
Kept as it is"""
HELP = ("help", "Shows the help menu.", "/help [command]", "General")
FACTS = ("facts", "Says a fact.", "/facts", "Fun")


@pytest.fixture(autouse=True)
def _manifest(home: Home) -> None:
    home.write(fields(HELP, FACTS))


def reword(home: Home) -> None:
    home.write(fields(HELP, (FACTS[0], "Tells a fact.", *FACTS[2:])))


def test_without_a_file_the_way_to_one_is_shown(home: Home) -> None:
    ran = home.run("docs", "--check", exits=2)

    assert ran.err.splitlines() == [
        "error: neither README.md nor COMMANDS.md has the marker <!-- commandsync:commands -->",
        "  hint: name a file: commandsync docs COMMANDS.md creates it",
    ]


def test_a_check_names_what_is_out_of_date_and_the_command_that_mends_it(home: Home) -> None:
    home.write(README, "docs/a page.md")
    paths = ("COMMANDS.md", "docs/a page.md")
    assert home.run("docs", "-f", "commands.yaml", *paths, "--check").out.splitlines() == [
        "COMMANDS.md:3:1: out of date",
        "docs/a page.md:3:1: out of date",
        "",
        (
            "Not up to date: 2 of 2 lists. Run  "
            "commandsync docs -f commands.yaml COMMANDS.md 'docs/a page.md'"
        ),
    ]
    assert not (home.path / "COMMANDS.md").exists()

    home.run("docs", *paths)
    ran = home.run("docs", *paths, paths[0], "--check")

    assert (ran.code, ran.said) == (0, "Up to date: 2 lists.\n")
    reword(home)
    assert home.run("docs", "--check", "--diff").code == 3


def test_an_edit_by_hand_is_told_from_an_old_list_and_kept(home: Home) -> None:
    home.run("docs", "COMMANDS.md", "b.md")
    reword(home)
    edited = home.read("COMMANDS.md").replace("Says a fact", "Says two facts")
    home.write(edited, "COMMANDS.md")
    ran = home.run("docs", "COMMANDS.md", "b.md", "--check", exits=3)

    refused = home.run("docs", "COMMANDS.md", "b.md", exits=5)

    assert [*ran.out.splitlines(), *refused.err.splitlines()] == [
        "COMMANDS.md:3:1: edited by hand",
        "b.md:3:1: out of date",
        "",
        "Not up to date: 2 of 2 lists. Run  commandsync docs --force COMMANDS.md b.md",
        "error: COMMANDS.md:3:1: the list was edited by hand",
        (
            "  hint: move the edit into the manifest, or in Markdown out of the markers; "
            "--force replaces it"
        ),
    ]
    assert home.read("COMMANDS.md") == edited
    assert "Says a fact" in home.read("b.md")  # nothing is written when something is refused
    assert home.run("docs", "--force").code == 0
    assert "| Tells a fact. |" in home.read("COMMANDS.md")


def test_a_difference_is_shown_and_nothing_is_written(home: Home) -> None:
    home.write(README, "README.md")

    ran = home.run("docs", "--diff", exits=0)

    assert ran.out.splitlines() == [
        "README.md",
        "     2 │",
        "     3 │ <!-- commandsync:commands category=Fun format=list columns=name,description -->",
        "     4 - <!-- /commandsync:commands -->",
        "     4 +",
        "     5 + - `facts`: Says a fact.",
        "     6 +",
        "     7 + <!-- /commandsync:commands sha256:0b8246d9973015ed -->",
        "     8 │",
        "     9 │ Kept as it is",
    ]
    assert home.read("README.md") == README
    coloured = home.run("docs", "--diff", "--check", "--color", "always", exits=3)
    assert "\x1b[32m     5 + - `facts`: Says a fact.\x1b[0m" in coloured.out
    home.run("docs")
    assert home.run("docs", "--diff").said == ""


def test_a_json_file_is_written_whole_and_no_other_is_replaced(home: Home) -> None:
    home.write('{"version": 2}', "package.json")

    assert home.run("docs", "commands.json", "--check").code == 3
    assert home.run("docs", "commands.json").code == 0

    assert home.read("commands.json") == checked_list(home)
    home.write(home.read("commands.json").replace("\n", "\r\n"), "commands.json")
    assert home.run("docs", "commands.json", "--check").code == 0
    reword(home)
    assert home.run("docs", "commands.json").code == 0
    assert home.read("commands.json") == checked_list(home)
    for other in ('{"version": 2}', "[1", '["version", "commands"]'):
        home.write(other, "package.json")
        refused = home.run("docs", "package.json")
        assert (refused.code, "package.json:1:1: " in refused.err) == (5, True)
        assert home.read("package.json") == other


def checked_list(home: Home) -> str:
    """Return the list that is printed, which is as its schema says."""
    ran = home.run("docs", "--format", "json")
    document = checked(ran, "docs")
    assert [list(command) for command in document["commands"]] == [
        ["name", "description", "syntax", "category"]
    ] * 2
    return ran.out


@pytest.mark.parametrize("option", ["--check", "--diff", "COMMANDS.md"])
def test_what_is_printed_is_not_written_too(home: Home, option: str) -> None:
    ran = home.run("docs", "--format", "json", option, exits=2)

    assert "--format" in failed(ran, "usage")


def test_a_file_that_cannot_be_read_or_written_is_named(home: Home) -> None:
    home.write(b"\xff", "page.md")

    read, written = home.run("docs", "page.md"), home.run("docs", "no/such/folder.md")

    assert (read.code, written.code) == (1, 1)
    assert read.err.splitlines() == [
        "error: page.md is not UTF-8",
        "  hint: save it as UTF-8",
    ]
    assert written.err.splitlines() == [
        "error: cannot write no/such/folder.md: its folder does not exist",
        "  hint: create it",
    ]


@pytest.mark.parametrize("path", ["page.htm", "-", "commands.yaml"])
def test_a_file_of_another_kind_is_refused(home: Home, path: str) -> None:
    home.write(README, "page.htm")

    ran = home.run("docs", path)

    assert (ran.code, ".html" in ran.err) == (2, True)
    assert home.read("page.htm") == README


def test_an_html_page_is_written_whole_checked_and_printed(home: Home) -> None:
    named = home.read("commands.yaml").replace("version: 1\n", "version: 1\nname: Lantern\n")
    home.write(named)
    assert home.run("docs", "site.html").err == "wrote site.html\n"
    assert "<h1><bdi>Lantern</bdi></h1>" in home.read("site.html")
    assert home.run("docs", "--format", "html").out == home.read("site.html")
    assert home.run("docs", "site.html", "--check").out == "Up to date: 1 list.\n"
    reword(home)

    stale = home.run("docs", "site.html", "--check", "--diff")

    assert (stale.code, "Tells a fact." in stale.out) == (3, True)
    assert "site.html:1:1: out of date\n" in stale.out
    assert home.run("docs", "site.html").code == 0
    assert "Tells a fact." in home.read("site.html")


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (
            "<!doctype html>\n<title>Mine</title>\n",
            "the file is not a list that docs wrote",
            "name another file",
        ),
        (
            "",
            "the list was edited by hand",
            "move the edit into the manifest, or in Markdown out of the markers",
        ),
    ],
    ids=["another", "edited"],
)
def test_force_replaces_a_users_page(home: Home, content: str, message: str, hint: str) -> None:
    home.run("docs", "site.html")
    mine = content or home.read("site.html").replace("<title>", "<title>My ")
    home.write(mine.encode(), "site.html")

    ran = home.run("docs", "site.html", exits=5)

    assert home.read("site.html") == mine
    assert ran.err.splitlines() == [
        f"error: site.html:1:1: {message}",
        f"  hint: {hint}; --force replaces it",
    ]
    assert home.run("docs", "site.html", "--force").code == 0
    assert home.run("docs", "site.html", "--check").code == 0


@pytest.fixture
def seen(home: Home) -> Callable[[], tuple[Path, str]]:
    """Return the file that the user's browser was started with, and its environment."""
    script = 'env > seen.env\nprintf %s "$1" > seen.address\n'
    home.write(f"#!/bin/sh\ncd {home.path}\n{script}", "browser")
    (home.path / "browser").chmod(0o755)
    home.monkeypatch.setenv("BROWSER", f"{home.path}/browser %s")

    def read() -> tuple[Path, str]:
        path = url2pathname(urlsplit(home.read("seen.address")).path)
        return Path(path), home.read("seen.env")

    return read


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="BROWSER is a shell script")


@on_linux
@pytest.mark.promise("opened-page")
def test_a_page_is_opened_by_a_browser_that_gets_no_token(
    home: Home, seen: Callable[[], tuple[Path, str]]
) -> None:
    secrets = {
        "COMMANDSYNC_TOKEN": "s3cr3t-one",
        "TOPGG_TOKEN": "s3cr3t-two",
        "X_API_KEY": "s3cr3t",
    }
    ran = home.child("docs", "--format", "html", "--open", exits=0, **secrets, SHOWN="yes")
    shown, environment = seen()

    assert (ran.out, ran.err) == ("", f"wrote {shown}\n")
    assert shown.parent.parent == Path(tempfile.gettempdir())
    assert shown.read_text(encoding="utf-8") == home.run("docs", "--format", "html").out
    assert "SHOWN=yes" in environment
    assert "s3cr3t" not in environment
    home.run("docs", "site.html", "COMMANDS.md", "--open", exits=0)
    assert seen()[0] == home.path / "site.html"


def test_without_a_display_the_page_is_written_and_its_path_named(home: Home) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        home.monkeypatch.delenv(name, raising=False)
    home.monkeypatch.setattr(sys, "platform", "linux")

    ran = home.run("docs", "site.html", "--open", exits=0)

    assert ran.err.splitlines() == [
        "wrote site.html",
        "warning: no browser can be started here",
        "  hint: open site.html yourself",
    ]


@on_linux
def test_a_browser_that_does_not_start_is_a_warning(home: Home) -> None:
    home.monkeypatch.setenv("BROWSER", f"{home.path}/none %s")

    ran = home.run("docs", "site.html", "--open", exits=0)

    assert "warning: no browser can be started here" in ran.err


@pytest.mark.parametrize(
    "words", ["", "COMMANDS.md", "a.html b.html", "a.html --check", "--format json"]
)
def test_one_page_is_opened(home: Home, words: str) -> None:
    ran = home.run("docs", *words.split(), "--open", exits=2)

    assert "--open shows one page" in ran.said
    assert [each.name for each in home.path.iterdir()] == ["commands.yaml"]


def test_a_token_in_an_option_is_not_written(home: Home) -> None:
    option = {"type": 3, "name": "key", "description": "Is s3cr3t-token."}
    command = {"id": "1", "type": 1, "name": "facts", "description": "x", "options": [option]}
    entry = {"name": "facts", "description": "x", "syntax": "/facts", "discord": command}
    home.write(json.dumps({"version": 1, "commands": [entry]}))
    home.monkeypatch.setenv("COMMANDSYNC_TOKEN", "s3cr3t-token")

    refused = home.run("docs", "site.html", exits=5)
    printed = home.run("docs", "--format", "html", exits=0)

    assert "a token of this run would be in it" in refused.err
    assert not (home.path / "site.html").exists()
    assert "s3cr3t" not in refused.said + printed.said
    assert '<code dir="auto">key</code>' in printed.out


def test_the_manifest_is_shown_with_v_and_its_warnings_fail_with_strict(home: Home) -> None:
    home.write(fields(HELP, (HELP[0].upper(), *HELP[1:])))

    ran = home.run("docs", "-v", "COMMANDS.md")

    assert (ran.code, "commands.yaml: 2 commands" in ran.err) == (0, True)
    assert home.run("docs", "--strict", "COMMANDS.md").code == 4


def test_one_manifest_is_taken_and_an_invalid_one_refused(home: Home) -> None:
    home.write(fields(HELP) + "bot: '2'\n", "other.yaml")
    several = home.run("docs", "-f", "commands.yaml", "-f", "other.yaml", "COMMANDS.md")
    assert (several.code, "one manifest" in several.err) == (2, True)
    home.write("version: 1\ncommands:\n  - name: a\n")

    ran = home.run("docs", "--format", "json", exits=4)

    assert json.loads(ran.out)["error"]["kind"] == "invalid"
