"""Manifests that cannot be meant: one clear message each, and the listing as it was."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.home import checked, failed, fields

if TYPE_CHECKING:
    from tests.support.bots import Bot, Service
    from tests.support.home import Home
    from tests.support.proxy import Proxy

GOOD = fields(("help",))

_BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)

BAD = {
    "not UTF-8": (GOOD.replace("Does", "Do\xe9s").encode("latin-1"), "is not UTF-8", "save it as"),
    "UTF-16": (GOOD.encode("utf-16"), "is UTF-16", "save it as UTF-8"),
    "a tab": (GOOD.replace("  - ", "\t- ").encode(), "a tab appears", "spaces only"),
    "empty": (b"", "the file is empty", "init writes a starter"),
    "two documents": (f"{GOOD}---\n{GOOD}".encode(), "a second document", "remove the ---"),
    "a list at top level": (b"- name: a\n", "must have keys at its top level", "under commands:"),
    "an unknown key": (
        f"{GOOD}comands: []\n".encode(),
        'no key "comands"',
        "did you mean commands",
    ),
    "a wrong type": (b"version: 1\ncommands: 7\n", "commands must be a list", ""),
    "a list where text is due": (
        GOOD.replace('"/help"', "[p]help").encode(),
        'YAML reads "[p]help" as a list',
        'quote it: "[p]help"',
    ),
    "a duplicate key": (
        f"{GOOD}commands: []\n".encode(),
        'duplicate key "commands" (first on line 2)',
        "",
    ),
    "an alias bomb": (_BOMB.encode(), "more than 250,000 values", "an alias counts"),
    "depth 200,000": (b"[" * 200_000, "nest deeper than 64 levels", ""),
    "a cycle": (b"version: 1\ncommands: &a\n  - *a\n", 'alias "*a" is inside', ""),
    "50 MB": (b"#" * 50_000_000, "larger than 10 MiB", "is this the right file?"),
    "another version": (b"version: 2\ncommands: []\n", "must be the number 1", ""),
    "null commands": (b"version: 1\ncommands:\n", "not null", "write [] for none"),
    "a category of null": (
        GOOD.replace("syntax", "category: null\n    syntax").encode(),
        "category must be a string, not null",
        'write "" for none',
    ),
    "a bot's name for its id": (
        f"{GOOD}bot: Harbor\n".encode(),
        "bot must look like 779641401482805289",
        "an id has a digit and no space: copy it from",
    ),
    "a merge conflict": (
        f"{GOOD}<<<<<<< HEAD\nprefix: '/'\n=======\nprefix: '!'\n>>>>>>> other\n".encode(),
        "a merge conflict that is not resolved",
        "keep one side",
    ),
    "a table in Markdown": (
        b"| Command | Does |\n|---|---|\n| help | Shows help |\n",
        "a table in Markdown",
        "write each row as an entry",
    ),
    "another program's JSON": (
        b'{\n\t"name": "bot",\n\t"version": "1.0.0",\n\t"scripts": {}\n}\n',
        "the JSON of another program",
        "init writes a starter",
    ),
    "typographic quotes": (
        GOOD.replace('"/help"', "\u201c/help\u201d").encode(),
        'the quotes around "\u201c/help\u201d" are typographic',
        'write straight ones, "/help"',
    ),
    "a tag": (
        b"version: 1\ncommands: !!python/name:os.system []\n",
        "tags are not allowed",
        "quote",
    ),
    "an include escape": (
        b"version: 1\ninclude: [../other.yaml]\n",
        "leads out of the manifest's folder",
        "move the file",
    ),
    "an absolute include": (b"version: 1\ninclude: [/etc/passwd]\n", "leads out of", "move"),
}


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    bot = service.bot(["help", "play"], ["v2"])
    home.knows(bot, url=proxy.url)
    return bot


@pytest.mark.parametrize("what", BAD)
def test_a_bad_manifest_is_named_and_nothing_is_sent(
    home: Home, bot: Bot, proxy: Proxy, what: str
) -> None:
    content, message, hint = BAD[what]
    home.write(content)
    before = bot.everything()

    ran = home.run("apply", "--yes")

    assert ran.code == 4
    assert ran.err.startswith("commands.yaml:")
    assert message in ran.err
    assert f"{hint}" in ran.err
    assert ran.err.endswith("error: the manifest has 1 problem\n")
    assert ran.out == ""
    assert proxy.requests == []
    assert bot.everything() == before


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("command", ["validate", "plan", "apply --yes", "apply --dry-run"])
@pytest.mark.parametrize("what", ["empty", "depth 200,000", "an unknown key"])
def test_programs_get_the_problems_as_one_document(home: Home, command: str, what: str) -> None:
    content, message, hint = BAD[what]
    home.write(content)

    ran = home.run(*command.split(), "--format", "json")

    assert ran.code == 4
    assert failed(ran, "invalid") == "the manifest has 1 problem"
    (problem,) = checked(ran, "plan")["problems"]
    assert problem["path"] == "commands.yaml"
    assert (problem["line"], problem["column"]) >= (1, 1)
    assert message in problem["message"]
    assert hint in problem["hint"]
    assert ran.err == ""


def test_all_problems_are_told_at_once_each_at_its_place(home: Home) -> None:
    home.write("version: 1\ncommands:\n  - name: a\n    description: ''\n    sintax: b\nx: 1\n")

    ran = home.run("validate")

    places = [line.split(": ")[0] for line in ran.err.splitlines() if ": error: " in line]
    assert ran.code == 4
    assert places == [
        "commands.yaml:3:5",
        "commands.yaml:4:18",
        "commands.yaml:5:5",
        "commands.yaml:6:1",
    ]


@given(st.lists(st.sampled_from(["well", "broken", "misspelt"]), min_size=1, max_size=8))
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_each_broken_entry_is_told_in_one_run_under_a_misspelt_key_too(
    home: Home, entries: list[str]
) -> None:
    values = {"well": '"[p]x"', "broken": "[p]x", "misspelt": '"[p]x"\n    titel: x'}
    lines = "".join(
        f"  - name: command {number}\n    description: d\n    syntax: {values[how]}\n"
        for number, how in enumerate(entries)
    )
    home.write(f"version: 1\ncomands:\n{lines}")

    ran = home.run("validate", "--format", "json")

    told = [
        "broken" if "as a list" in one["message"] else "misspelt"
        for one in ran.document["problems"]
    ]
    assert ran.code == 4
    assert told == ["misspelt", *(how for how in entries if how != "well")]


def test_a_missing_file_says_how_to_begin(home: Home, bot: Bot) -> None:
    before = bot.everything()

    ran = home.run("apply", "--yes")

    assert ran.code == 4
    assert "commands.yaml:1:1: error: there is no such file" in ran.err
    assert "commandsync init writes a starter" in ran.err
    assert bot.everything() == before


def test_a_folder_without_manifests_says_what_it_looked_for(home: Home) -> None:
    home.write("a: b\n", "bots/other.yaml")

    ran = home.run("plan", "-f", "bots")

    assert ran.code == 4
    assert "no *.yaml or *.yml file in this folder has a top-level version:" in ran.err


@pytest.mark.parametrize(
    "content",
    [b"\xef\xbb\xbf" + GOOD.encode(), GOOD.replace("\n", "\r\n").encode()],
    ids=["a BOM", "CRLF"],
)
def test_what_windows_editors_write_is_read_as_it_is_meant(
    home: Home, service: Service, content: bytes
) -> None:
    bot = service.bot(["help"])
    home.knows(bot)
    home.write(content)

    ran = home.run("plan", "--detailed-exitcode")

    assert ran.code == 0, ran.said


def test_files_that_include_each_other_are_refused(home: Home) -> None:
    home.write("version: 1\ninclude: [more.yaml]\n")
    home.write("include: [commands.yaml]\ncommands: []\n", "more.yaml")

    ran = home.run("validate")

    assert ran.code == 4
    assert 'more.yaml:1:1: error: an included file has no key "include"' in ran.err


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_an_include_through_a_link_out_of_the_folder_is_refused(home: Home) -> None:
    home.write("commands: []\n", "elsewhere/more.yaml")
    home.write("version: 1\ninclude: [more.yaml]\n", "bot/commands.yaml")
    (home.path / "bot" / "more.yaml").symlink_to(home.path / "elsewhere" / "more.yaml")

    ran = home.run("validate", "-f", "bot/commands.yaml")

    assert ran.code == 4
    assert "leads out of the manifest's folder" in ran.err


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
@pytest.mark.parametrize("command", ["validate", "plan", "plan --against", "apply --yes"])
def test_in_ci_a_link_out_of_the_workspace_shows_nothing_of_what_it_leads_to(
    home: Home, command: str
) -> None:
    secret = home.path.parent / "secret"
    secret.write_text("user: [p]hunter2\n", encoding="utf-8")
    home.write(GOOD)
    (home.path / "link.yaml").symlink_to(secret)
    option = () if command.endswith("--against") else ("-f",)
    shown = home.run(*command.split(), *option, "link.yaml")
    home.variable("CI", "true")

    ran = home.run(*command.split(), *option, "link.yaml")

    assert ran.code == shown.code == 4
    assert "link.yaml:1:1: error: this is a link out of the workspace, and is not read" in ran.err
    assert "hunter2" in shown.said
    assert "hunter2" not in ran.said


def test_untrusted_files_end_a_real_process_in_good_order(home: Home) -> None:
    home.write(b"[" * 200_000)
    home.write(_BOMB, "bomb.yaml")

    ran = home.child("validate", "-f", "commands.yaml", "-f", "bomb.yaml")

    assert ran.code == 4
    assert "error: the manifest has 2 problems" in ran.err
    assert "Traceback" not in ran.said


@given(name=st.from_regex(r"[a-z]{1,8}-[a-z]{1,8}", fullmatch=True), upper=st.integers(0, 7))
@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_an_ignored_record_is_never_added_again_under_another_name(
    home: Home, service: Service, name: str, upper: int
) -> None:
    bot = service.bot([name])
    home.knows(bot)
    pattern = f"{name.partition('-')[0]}-*"
    cased = name[:upper] + name[upper:].upper()
    rules = f'sync: {{ignore: ["{pattern}"]}}\n'
    home.write(fields((cased,)) + rules)
    refused = home.run("apply", "--yes")
    pinned = fields(("renamed",)) + f"    id: {bot.ids()[name]}\n" + rules
    home.write(pinned)
    runs = [home.run("apply", "--yes") for _ in range(2)]

    assert refused.code == 4
    assert f'sync.ignore matches "{cased}": it would be added again on every run' in refused.err
    assert [ran.code for ran in runs] == [0, 0]
    assert f"'renamed' is listed as '{name}', which sync.ignore matches" in runs[0].said
    assert bot.names() == [name]
