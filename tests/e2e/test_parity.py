"""`commandsync parity`: the names of the code, of Discord, of the manifest and of each listing."""

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from commandsync.testing import SimulatedListing, serve_simulation
from tests.e2e.test_doctor import checks
from tests.support.bots import Bot, Service
from tests.support.home import Home, Ran
from tests.support.rawserver import RawServer, answering

CODE = """\
from discord import app_commands
from discord.ext import commands
bot = commands.Bot("!")

@bot.tree.command(description="Bans.")
async def ban(interaction): ...

@bot.tree.command(description="Is new.")
async def fresh(interaction): ...

@bot.command(help="Plays.")
async def play(ctx): ...

@bot.command(hidden=True, help="Reloads.")
async def reload(ctx): ...
"""
MANIFEST = """\
version: 1
prefix: "!"
import: {from: [bot.py]}
sync: {ignore: ["beta-*"]}
commands:
  - {name: ban, description: Bans., syntax: /ban}
  - {name: old, description: Was there., syntax: /old}
  - {name: play, description: Plays., syntax: "{prefix}play"}
  - {name: Größe, description: Measures., syntax: "!Größe"}
"""
DISCORD_TOKEN = "a-token-for-discord-7f3a"


@pytest.fixture
def simulations() -> Iterator[dict[str, SimulatedListing]]:
    with ExitStack() as stack:
        names = ("top.gg", "telegram")
        running = {name: stack.enter_context(serve_simulation(name)) for name in names}
        yield running


@pytest.fixture
def bot(home: Home, service: Service, simulations: dict[str, SimulatedListing]) -> Bot:
    """A bot whose code, manifest, page and lists differ."""
    bot = service.bot(["/Ban", "old", "gone", "beta-x", "GRÖSSE"])
    home.variable("COMMANDSYNC_TOKEN", bot.token)
    for each in simulations.values():
        home.variable(each.variable, each.token)
    entries = "".join(each.manifest.removeprefix("listings:\n") for each in simulations.values())
    page = f'bot: "{bot.id}"\nbase_url: {bot.url}\n'
    home.write(f"{MANIFEST}{page}listings:\n{entries}")
    home.write(CODE, "bot.py")
    assert home.run("apply", "--yes", "--unseen", "--listing", "telegram").code == 0
    return bot


def cells(ran: Ran) -> dict[str, tuple[list[str], list[str]]]:
    """Return the differences and the cells of each command."""
    (result,) = ran.document["results"]
    return {each["name"]: (each["differences"], each["cells"]) for each in result["commands"]}


@pytest.mark.usefixtures("bot")
def test_each_name_is_compared_wherever_it_can_be_read(
    home: Home, simulations: dict[str, SimulatedListing]
) -> None:
    home.variable("DISCORD_TOKEN", DISCORD_TOKEN)
    registered = [{"name": name, "description": "Does it."} for name in ("ban", "stray")]
    with RawServer() as discord:
        home.variable("DISCORD_BASE_URL", discord.url)
        discord.then(answering({"id": "42"}), answering(registered))
        ran = home.run("parity", "--format", "json")

    assert (ran.code, ran.err) == (3, "")
    unread = "cannot be read"
    assert cells(ran) == {
        # code, Discord, manifest, page, top.gg, Telegram
        "ban": ([], ["yes", "yes", "yes", "yes", unread, "yes"]),
        "old": (["not-served"], ["no", "no", "yes", "yes", unread, "yes"]),
        "play": (["not-listed"], ["yes", "not meant", "yes", "no", unread, "yes"]),
        "Größe": (["not-served"], ["no", "not meant", "yes", "yes", unread, "not meant"]),
        "fresh": (["not-served", "not-listed"], ["yes", "no", "no", "no", unread, "no"]),
        "stray": (["not-served", "not-listed"], ["no", "yes", "no", "no", unread, "no"]),
        "gone": (["gone"], ["no", "no", "no", "yes", unread, "no"]),
    }
    assert simulations["top.gg"].requests == []
    assert all(token not in ran.said for token in (DISCORD_TOKEN, simulations["telegram"].token))


@pytest.mark.usefixtures("bot")
def test_what_was_not_read_is_named_in_each_format_and_never_missing(
    home: Home, simulations: dict[str, SimulatedListing]
) -> None:
    home.forget("COMMANDSYNC_TOKEN_TELEGRAM")
    text, markdown = home.run("parity"), home.run("parity", "--format", "markdown")
    quiet = home.run("parity", "-q").out
    unchecked = checks(home.run("doctor", "--format", "json"))
    home.variable("COMMANDSYNC_TOKEN_TELEGRAM", simulations["telegram"].token)
    checked = checks(home.run("doctor", "--format", "json"))

    assert (text.code, markdown.code) == (3, 3)
    assert "not read: discord: DISCORD_TOKEN is not set\n" in text.out
    assert "cannot be read: top.gg: the service does not return its list\n" in text.out
    assert "not read: telegram: COMMANDSYNC_TOKEN_TELEGRAM is not set\n" in text.out
    assert "| `fresh` | not listed | yes | not read | no | no | cannot be read |" in markdown.out
    assert text.out.endswith(quiet)
    assert quiet.startswith("Parity of commands.yaml: 5 of 6 commands differ: 2 advertised and")
    assert "1 listed and gone (gone)." in quiet
    assert "parity" not in unchecked  # the token for Telegram is a check that failed before
    assert checked["parity"][0] == "warning"
    assert checked["parity"][1].startswith("5 of 6 commands differ: 2 advertised and not served (")


def test_names_that_are_the_same_exit_with_0_and_are_a_check_of_doctor(
    home: Home, bot: Bot
) -> None:
    listed = f'version: 1\nimport: {{from: list.json}}\nbot: "{bot.id}"\nbase_url: {bot.url}\n'
    names = ["ban", "old", "gone", "größe", "beta-x"]
    commands = [{"name": name, "description": "A.", "syntax": f"/{name}"} for name in names]
    home.write(f"{listed}commands: {json.dumps(commands)}\n")
    home.write(json.dumps(commands), "list.json")
    same, doctor = home.run("parity"), checks(home.run("doctor", "--format", "json"))
    home.write("[{}]", "list.json")
    broken = home.run("parity")
    home.write(MANIFEST.replace("import: {from: [bot.py]}", ""))
    alone = home.run("parity")

    assert (same.code, broken.code, alone.code) == (0, 1, 0)
    assert same.out.endswith("5 commands, without a difference in what was read.\n")
    assert doctor["parity"] == ("ok", "5 commands, without a difference in what was read")
    assert "cannot be read: code: list.json" in broken.out
    assert "not read: page: the base URL is not known\n" in alone.out
    assert "not read: code: import: of the manifest names no code\n" in alone.out
