"""`doctor` compares the names of the code, of Discord, of the manifest and of each listing."""

import json
from collections.abc import Iterator

import pytest

from commandsync.testing import SimulatedListing, serve_simulation
from tests.e2e.test_doctor import checks
from tests.support.bots import Service
from tests.support.home import Home
from tests.support.rawserver import RawServer, answering

CODE = """\
from discord import app_commands
from discord.ext import commands
@app_commands.command(description="Bans.")
async def ban(interaction): ...
@app_commands.command(description="Is new.")
async def fresh(interaction): ...
@commands.command(help="Plays.")
async def play(ctx): ...
@commands.command(hidden=True, help="Reloads.")
async def reload(ctx): ...
"""
MANIFEST = """\
version: 1
prefix: "!"
sync: {ignore: ["beta-*"]}
commands:
  - {name: ban, description: Bans., syntax: /ban}
  - {name: old, description: Was there., syntax: /old}
  - {name: play, description: Plays., syntax: "{prefix}play"}
  - {name: Größe, description: Measures., syntax: "!Größe"}
"""


@pytest.fixture
def telegram(home: Home, service: Service) -> Iterator[SimulatedListing]:
    """A bot whose code, manifest, page and lists differ."""
    bot = service.bot(["/Ban", "old", "gone", "beta-x", "GRÖSSE"])
    home.variable("COMMANDSYNC_TOKEN", bot.token)
    home.write(CODE, "bot.py")
    with serve_simulation("telegram") as running:
        page = f'import: {{from: bot.py}}\nbot: "{bot.id}"\nbase_url: {bot.url}\n'
        home.write(f"{MANIFEST}{page}{running.manifest}  - service: top.gg\n")
        home.variable(running.variable, running.token)
        assert home.run("apply", "--yes", "--listing", "telegram").code == 0
        yield running


@pytest.mark.promise("discord-host")
def test_each_name_is_compared_wherever_it_can_be_read(
    home: Home, telegram: SimulatedListing
) -> None:
    home.variable("DISCORD_TOKEN", "a-token-for-discord")
    registered = [{"name": name, "description": "Does it."} for name in ("ban", "stray", "reload")]
    with RawServer() as discord:
        home.variable("DISCORD_BASE_URL", discord.url)
        discord.then(answering({"id": "42"}), answering(registered))
        ran = home.run("doctor", "--format", "json")

    (result,) = ran.document["names"]
    unread = "cannot be read"
    assert (ran.code, ran.err) == (1, "")  # there is no token for top.gg
    assert {each["name"]: [each["differences"], *each["cells"]] for each in result["commands"]} == {
        # differences, code, Discord, manifest, page, Telegram, top.gg
        "ban": [[], "yes", "yes", "yes", "yes", "yes", unread],
        "old": [["not served"], "no", "no", "yes", "yes", "yes", unread],
        "play": [["not listed"], "yes", "not meant", "yes", "no", "yes", unread],
        "Größe": [["not served"], "no", "not meant", "yes", "yes", "not meant", unread],
        "fresh": [["not served", "not listed"], "yes", "no", "no", "no", "no", unread],
        "stray": [["not served", "not listed"], "no", "yes", "no", "no", "no", unread],
        "gone": [["gone"], "no", "no", "no", "yes", "no", unread],
    }
    assert "a-token-for-discord" not in ran.said
    assert telegram.token not in ran.said


@pytest.mark.promise("doctor-names")
def test_what_was_not_read_is_named_in_each_format_and_never_missing(
    home: Home, telegram: SimulatedListing
) -> None:
    home.write(home.read("commands.yaml").replace("  - service: top.gg\n", ""))
    text, markdown, github = (
        home.run("doctor", "--format", form) for form in ("text", "markdown", "github")
    )
    found = checks(home.run("doctor", "--format", "json"))["parity"]
    home.forget(telegram.variable)
    unread = home.run("doctor")

    assert (text.code, markdown.code, github.code, unread.code) == (3, 3, 3, 1)
    assert "not read: discord: DISCORD_TOKEN is not set\n" in text.out
    assert text.out.endswith("\nNo check failed: plan and apply can work.\n")
    row = "| `fresh` | not listed | yes | not read | no | no | no |\n"
    assert row in markdown.out
    assert "::warning title=Check::parity: 5 of 6 commands differ: " in github.out
    assert found[0] == "warning"
    assert found[1].startswith("5 of 6 commands differ: 2 not served (old, Größe), ")
    assert f"Parity of commands.yaml: {found[1]}.\n" in text.out
    assert "not read: telegram: COMMANDSYNC_TOKEN_TELEGRAM is not set\n" in unread.out


def test_only_names_that_are_the_same_and_were_read_exit_with_0(
    home: Home, service: Service
) -> None:
    bot = service.bot(["ban", "old"])
    commands = [
        {"name": name, "description": "A.", "syntax": f"/{name}"} for name in ("ban", "old")
    ]
    home.write(json.dumps(commands), "list.json")
    own = f"version: 1\nimport: {{from: list.json}}\ncommands: {json.dumps(commands)}\n"
    home.write(own)
    alone = home.run("doctor")
    home.variable("COMMANDSYNC_TOKEN", bot.token)
    home.write(f'{own}bot: "{bot.id}"\nbase_url: {bot.url}\n')
    same = home.run("doctor")
    home.write("[{}]", "list.json")
    broken = home.run("doctor")

    assert (alone.code, same.code, broken.code) == (1, 0, 1)
    assert "not read: page: " in alone.out
    assert "0 of 2 commands differ in what was read.\n" in same.out
    assert "cannot be read: code: list.json" in broken.out
