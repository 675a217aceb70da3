"""`--env-file` takes the variables of tokens from a file, and nothing else."""

import os
import threading
from pathlib import Path

import pytest

from tests.e2e.test_light import loaded
from tests.e2e.test_prompt import bot
from tests.support.bots import Bot, Proxy
from tests.support.home import Home, failed

__all__ = ["bot"]

MARKED = "marked-token-7f3a9c1e"
OF_A_LIST = """\
version: 1
bot: "42"
listings:
  - {service: our-list, token_env: COMMANDSYNC_TOKEN_OURS, replace: {method: POST,
     url: "%s/list", authorization: "{token}"}}
commands:
  - {name: ping, description: Says pong., syntax: /ping}
"""
BAD = {
    "missing": (None, "no such file or directory"),
    "a folder": (Path, "cannot read the file"),
    "not UTF-8": (b"COMMANDSYNC_TOKEN=\xff\xfe", "the file is not UTF-8"),
    "no value": (b'# tokens\nCOMMANDSYNC_TOKEN="open\n', "line 2 of the file is not NAME=VALUE"),
    "too large": (b"#" * (1 << 20) + b"\n", "larger than 1,048,576 bytes"),
}


def sent(proxy: Proxy) -> set[str | None]:
    """Return the tokens of the requests."""
    return {request.headers.get("authorization") for request in proxy.requests}


@pytest.mark.promise("token-source")
@pytest.mark.parametrize("own", ["", "   "])
def test_a_token_that_is_not_set_comes_from_the_file(
    home: Home, bot: Bot, proxy: Proxy, own: str
) -> None:
    home.variable("COMMANDSYNC_TOKEN", own)
    home.write(
        "\ufeff# the bot's\r\nCOMMANDSYNC_BASE_URL=http://127.0.0.1:9\r\nCOMMANDSYNC_BOT=43\r\n"
        f'export COMMANDSYNC_TOKEN="{bot.token}" # of the page\r\nnot a variable\r\n',
        "tokens/.env",
    )

    ran = home.run("apply", "--yes", "--env-file", "tokens/.env", exits=0)

    assert "Verified" in ran.out
    assert sent(proxy) == {f"Bot {bot.token}"}


@pytest.mark.promise("token-source")
def test_a_token_that_is_set_wins(home: Home, bot: Bot, proxy: Proxy) -> None:
    home.write("COMMANDSYNC_TOKEN=another-token\n", ".env")

    home.run("plan", "--env-file", ".env", exits=0)

    assert sent(proxy) == {f"Bot {bot.token}"}


@pytest.mark.promise("token-source")
@pytest.mark.parametrize("line", ["", "export ", "  "])
def test_without_the_option_a_file_is_only_named(
    home: Home, bot: Bot, proxy: Proxy, line: str
) -> None:
    home.forget("COMMANDSYNC_TOKEN")
    home.write(f"OTHER=1\n{line}COMMANDSYNC_TOKEN = {bot.token}\n", ".env")

    home.run("plan", exits=0)
    ran = home.run("apply", "--yes", exits=2)

    assert "hint: .env has COMMANDSYNC_TOKEN: give --env-file .env\n" in ran.err
    assert sent(proxy) == {None}


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("text", ["COMMANDSYNC_TOKEN=\n", "COMMANDSYNC_TOKEN= # none\n", "A=1\n"])
def test_a_file_without_the_token_is_not_named(home: Home, text: str) -> None:
    home.forget("COMMANDSYNC_TOKEN")
    home.write(text, ".env")

    ran = home.run("apply", "--yes", exits=2)

    assert "hint: set COMMANDSYNC_TOKEN, or give --token-file\n" in ran.err


def test_the_token_of_a_listing_comes_from_the_file(home: Home, proxy: Proxy) -> None:
    home.write(OF_A_LIST % proxy.url)
    home.write(f"COMMANDSYNC_TOKEN_OURS={MARKED}\n", ".env")

    without = home.run("apply", "--yes", "--unseen", exits=2)
    home.run("apply", "--yes", "--unseen", "--env-file", ".env")

    assert "hint: .env has COMMANDSYNC_TOKEN_OURS: give --env-file .env\n" in without.err
    assert sent(proxy) == {MARKED}


def test_a_variable_and_one_of_the_file_must_not_differ(home: Home) -> None:
    home.write('version: 1\nbot: "42"\nlistings: [{service: top.gg}]\ncommands: []\n')
    home.variable("COMMANDSYNC_TOKEN_TOPGG", MARKED)
    home.write("TOPGG_TOKEN=another-token\n", ".env")

    ran = home.run("plan", "--env-file", ".env", exits=2)

    assert "COMMANDSYNC_TOKEN_TOPGG and TOPGG_TOKEN are set, and differ" in ran.err


def test_discord_is_read_with_the_token_of_the_file(home: Home, proxy: Proxy) -> None:
    home.variable("DISCORD_BASE_URL", proxy.url)
    home.write(f"DISCORD_TOKEN={MARKED}\n", ".env")

    without = home.run("import", "discord", exits=2)
    home.run("import", "discord", "--env-file", ".env")

    assert "hint: .env has DISCORD_TOKEN: give --env-file .env\n" in without.err
    assert sent(proxy) == {f"Bot {MARKED}"}


@pytest.mark.parametrize(
    ("service", "variable", "is_read"),
    [
        ("discord", "DISCORD_TOKEN", True),
        ("telegram", "TELEGRAM_BOT_TOKEN", True),
        ("top.gg", "TOPGG_TOKEN", False),  # returns its list to nobody
    ],
)
def test_a_plan_names_the_file_that_has_the_token(
    home: Home, service: str, variable: str, *, is_read: bool
) -> None:
    home.write(f'version: 1\nbot: "42"\nlistings: [{{service: {service}}}]\ncommands: []\n')
    without = home.run("plan", "--unseen").out
    home.write(f"{variable}={MARKED}\n", ".env")
    beside = home.run("plan", "--unseen").out

    assert "not read" not in without
    assert (f"{service} is not read: no token was given" in beside) is is_read
    assert (f".env has {variable}: give --env-file .env" in beside) is is_read


@pytest.mark.promise("token-source")
def test_in_ci_the_usual_file_is_not_opened(home: Home) -> None:
    home.write('version: 1\nbot: "42"\nlistings: [{service: discord}]\ncommands: []\n')
    home.write(f"DISCORD_TOKEN={MARKED}\n", ".env")
    home.variable("CI", "true")
    planned = home.run("plan").out
    refused = home.run("apply", "--yes", exits=2).err

    assert "not read" not in planned
    assert "no token was given for discord" in refused
    assert ".env" not in planned + refused


@pytest.mark.promise("token-in-input", "token-in-text")
@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("name", ["DISCORD_TOKEN", "DBL_TOKEN", "COMMANDSYNC_TOKEN_ANY"])
def test_a_token_of_the_file_is_hidden_and_never_written(
    home: Home, proxy: Proxy, name: str
) -> None:
    home.write(f"{name}={MARKED}\n", ".env")
    home.write(home.read("commands.yaml").replace("Reworded.", f"Has {MARKED}."))

    wrong = home.run("plan", "--max-deletes", MARKED, "--env-file", ".env", exits=2)
    planned = home.run("plan", "--env-file=.env", exits=0)
    saved = home.run("plan", "--out", "plan.json", "--env-file", ".env", exits=5)
    applied = home.run("apply", "--yes", "--env-file", ".env", exits=5)

    assert "Has <hidden>." in planned.out
    assert "contains a token" in applied.err
    assert MARKED not in wrong.said + planned.said + saved.said + applied.said
    assert not (home.path / "plan.json").exists()
    assert proxy.writes == []


@pytest.mark.promise("token-file")
@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_file_that_cannot_be_read_is_reported(
    home: Home, proxy: Proxy, case: str, form: str
) -> None:
    content, message = BAD[case]
    if isinstance(content, bytes):
        home.write(content, MARKED)
    elif content:
        (home.path / MARKED).mkdir()

    ran = home.run("plan", "--env-file", MARKED, "--format", form, exits=2)

    assert message in ran.said
    assert "Traceback" not in ran.err
    assert MARKED not in ran.said
    assert proxy.requests == []
    if form == "json":
        assert failed(ran, "usage")


@pytest.mark.skipif(os.name == "nt", reason="there is no such pipe")
def test_a_pipe_is_read_once(home: Home, bot: Bot, proxy: Proxy) -> None:
    home.forget("COMMANDSYNC_TOKEN")
    pipe = home.path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=[f"COMMANDSYNC_TOKEN={bot.token}"])
    writer.start()

    home.run("apply", "--yes", "--env-file", "pipe", exits=0)

    writer.join()
    assert sent(proxy) == {f"Bot {bot.token}"}


def test_only_a_run_with_a_file_loads_its_library(home: Home) -> None:
    home.write('version: 1\nbot: "42"\nbase_url: http://127.0.0.1:9\n')
    home.write("A=1\n", ".env")
    words = ("plan", "--against", "commands.yaml")

    assert "dotenv" not in loaded(home, *words, "--help")
    assert "dotenv" not in loaded(home, *words)
    assert "dotenv" in loaded(home, *words, "--env-file", ".env")


@pytest.mark.parametrize("name", ["TOPGG_TOKEN", "COMMANDSYNC_TOKEN_TOPGG"])
def test_init_uses_a_file_that_has_the_token(home: Home, name: str) -> None:
    home.write('{"dependencies": {"discord.js": "14"}}', "package.json")
    home.write(
        'module.exports = {data: {name: "ping", description: "d", type: 1}, execute() {}}',
        "src/ping.js",
    )
    home.write(f"{name}={MARKED}\n", ".env")

    ran = home.run("init", "--listing", "top.gg", "--from", "src", "--yes", exits=0)

    assert "commandsync plan --env-file .env\n" in ran.err
    assert "export" not in ran.err
