"""Manifests that cannot be meant: one clear message each, and the listing as it was."""

import os
from collections.abc import Callable

import pytest

from tests.support.bots import Bot, Proxy, Service
from tests.support.home import Home, checked, failed, fields

GOOD = fields(("help",))

_BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)

BAD = {
    "a tab": GOOD.replace("  - ", "\t- ").encode(),
    "empty": b"",
    "an unknown key": f"{GOOD}comands: []\n".encode(),
    "an alias bomb": _BOMB.encode(),
    "depth 200,000": b"[" * 200_000,
    "50 MB": b"#" * 50_000_000,
    "a tag": b"version: 1\ncommands: !!python/name:os.system []\n",
    "an include escape": b"version: 1\ninclude: [../other.yaml]\n",
    "a pasted token for a service": (
        f"{GOOD}listings:\n  - service: our-list\n    token_env: COMMANDSYNC_TOKEN_OUR_LIST\n"
        "    replace:\n      method: POST\n      url: https://list.example/{bot}?key={token}\n"
        "      authorization: Bearer abcdef\n"
    ).encode(),
}


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    return home.knows(service.bot(["help", "play"], ["v2"]), url=proxy.url)


@pytest.mark.promise("yaml-tags")
@pytest.mark.parametrize("what", BAD)
def test_a_bad_manifest_is_named_and_nothing_is_sent(
    home: Home, bot: Bot, proxy: Proxy, what: str, golden: Callable[[str, str], None]
) -> None:
    home.write(BAD[what])
    before = bot.everything()

    ran = home.run("apply", "--yes", exits=4)

    golden(ran.err, f"bad/{what.replace(' ', '-')}")
    assert ran.out == ""
    assert proxy.requests == []
    assert bot.everything() == before


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("command", ["validate", "plan", "apply --yes", "apply --dry-run"])
@pytest.mark.parametrize("what", ["empty", "depth 200,000", "an unknown key"])
def test_programs_get_the_problems_as_one_document(home: Home, command: str, what: str) -> None:
    home.write(BAD[what])

    ran = home.run(*command.split(), "--format", "json", exits=4)

    assert failed(ran, "invalid") == "the manifest has 1 problem"
    (problem,) = checked(ran, "plan")["problems"]
    assert problem["path"] == "commands.yaml"
    assert (problem["line"], problem["column"]) >= (1, 1)
    shown = home.run(*command.split()).err
    assert problem["message"] in shown
    assert problem["hint"] in shown
    assert ran.err == ""


def test_a_missing_file_says_how_to_begin(home: Home, bot: Bot) -> None:
    before = bot.everything()

    ran = home.run("apply", "--yes", exits=4)

    assert ran.err.startswith("commands.yaml: error: ")
    assert "commandsync init" in ran.err
    assert bot.everything() == before


def test_a_folder_without_manifests_says_what_it_looked_for(home: Home) -> None:
    home.write("a: b\n", "bots/other.yaml")

    ran = home.run("plan", "-f", "bots", exits=4)

    assert "version:" in ran.err


@pytest.mark.promise("ci-files")
@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
@pytest.mark.parametrize("command", ["validate", "plan", "plan --against", "apply --yes"])
def test_in_ci_a_link_out_of_the_workspace_shows_nothing(home: Home, command: str) -> None:
    secret = home.path.parent / "secret"
    secret.write_text("user: [p]hunter2\n", encoding="utf-8")
    home.write(GOOD)
    (home.path / "link.yaml").symlink_to(secret)
    option = () if command.endswith("--against") else ("-f",)
    shown = home.run(*command.split(), *option, "link.yaml")
    home.variable("CI", "true")

    ran = home.run(*command.split(), *option, "link.yaml")

    assert ran.code == shown.code == 4
    assert "of the workspace" in ran.err
    assert "hunter2" in shown.said
    assert "hunter2" not in ran.said


@pytest.mark.parametrize("ci", ["", "1"])
@pytest.mark.parametrize(
    "command",
    [
        *("validate -f loop.yaml", "validate -f loop.yaml/a.yaml", "plan -f loop.yaml"),
        *("plan -f good.yaml --against loop.yaml", "plan -f good.yaml --token-file loop.yaml"),
        *("apply --yes --plan loop.yaml", "import -f good.yaml loop.yaml"),
        *("import -f sources.yaml", "announce --title News --notes-file loop.yaml"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_link_to_itself_is_a_file_that_cannot_be_read(home: Home, command: str, ci: str) -> None:
    (home.path / "loop.yaml").symlink_to("loop.yaml")
    (home.path / "loop.json").symlink_to("loop.json")
    head = 'version: 1\nbot: "1"\nbase_url: http://127.0.0.1:9\ncommands: []\n'
    home.write(f"{head}announcements: []\n", "good.yaml")
    home.write(f"{head}import: {{from: loop.json}}\n", "sources.yaml")
    home.variable("CI", ci)

    ran = home.run(*command.split())

    assert ran.code in {1, 4}, ran.said
    assert "too many levels of symbolic links" in ran.err.lower()
    assert "defect" not in ran.err
    assert ":1:1" not in ran.err
