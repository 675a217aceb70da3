"""`serve --as discord` over HTTP, with Discord's own libraries as witnesses.

discord.py is installed for the tests. discord.js is installed in a pinned version into a folder of
the test, which is skipped where that cannot be done. `make soak` gives both generated commands, in
pinned versions: what they send and read back is what commandsync sends and reads.
"""

import asyncio
import inspect
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import discord
import pytest
import requests
from discord import app_commands

from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import ApplicationCommand
from commandsync.services.discordobjects import entries_of, text_of
from commandsync.testing import SimulatedListing, serve_simulation
from tests.e2e.server.test_simulations import Served
from tests.support.discordcases import DiscordCase, Wanted
from tests.support.discordcommands import REPLACE, command, schema_problems
from tests.support.discordserver import (
    SERVER,
    without,
)
from tests.support.discordstory import KIND, DiscordStory
from tests.support.fence import fenced
from tests.support.home import Home
from tests.support.runs import EVERYTHING

PING = {"name": "ping", "description": "Says pong."}
ALL = {"with_localizations": "true"}


@pytest.mark.promise("serve-as")
def test_discord_is_served_with_a_token_and_an_application(home: Home) -> None:
    served = Served(home, "--as", "discord", "--bucket", "1/s", "--installs", "guild")
    caller = requests.Session()
    api = f"{served.url}/api/v10/applications"
    refused = caller.get(f"{api}/@me")
    caller.headers["Authorization"] = f"Bot {served.token}"
    application = caller.get(f"{api}/@me").json()
    commands = f"{api}/{application['id']}/commands"
    added = caller.post(commands, json=PING)
    limited = caller.post(commands, json=PING)
    wrong = caller.patch(f"{commands}/{added.json()['id']}", json={"name": "Ping"})
    of_server = caller.post(f"{api}/{application['id']}/guilds/{SERVER}/commands", json=PING)
    shown = caller.get(f"{served.url}/").json()
    deleted = caller.delete(f"{commands}/{added.json()['id']}")
    left = caller.get(commands, params=ALL).json()
    served.ended()

    assert served.lines.startswith("  export COMMANDSYNC_TOKEN_DISCORD=simulated-")
    assert served.manifest == f"listings:\n  - service: discord\n    base_url: {served.url}\n"
    assert refused.json() == {"message": "401: Unauthorized", "code": 0}
    assert application["integration_types_config"] == {"0": {}}
    assert [each.status_code for each in (added, limited, wrong, deleted)] == [201, 429, 400, 204]
    assert 0 < limited.json()["retry_after"] <= 1
    assert wrong.json()["errors"]["name"]["_errors"]
    assert shown["lists"] == {"default": [added.json()], SERVER: [of_server.json()]}
    assert left == []


@pytest.fixture
def simulated() -> Iterator[SimulatedListing]:
    with serve_simulation("discord", bucket="none") as running:
        yield running


def judge(simulated: SimulatedListing, *, guild: str = "", count: int) -> None:
    """Compare what a library sent with what is listed, in the form that a plan compares."""
    sent = [
        body
        for request in simulated.requests
        for body in (request.body if isinstance(request.body, list) else [])
    ][:count]
    listed = simulated.lists[guild or "default"]

    assert len(sent) == len(listed) == count
    assert [why for body in sent for why in schema_problems(body, REPLACE)] == []
    assert [text_of(body, installs=(0, 1), guild=guild) for body in sent] == [
        text_of(body, installs=(0, 1), guild=guild) for body in listed
    ]


def tree_of(client: discord.Client) -> app_commands.CommandTree:
    """Return commands of every kind."""
    tree = app_commands.CommandTree(client)
    Choice = app_commands.Choice  # noqa: N806 - a class

    @tree.command(description="All options.", nsfw=True)
    @app_commands.choices(unit=[Choice(name="Celsius", value=0), Choice(name="Kelvin", value=1)])
    @app_commands.describe(text="A text.")
    async def options(  # noqa: PLR0917 - one of each kind
        _interaction: discord.Interaction,
        text: app_commands.Range[str, 2, 40],
        count: app_commands.Range[int, 0, 10],
        ratio: app_commands.Range[float, 0.5, 2.0],
        unit: int,
        user: discord.Member | None = None,
        where: discord.TextChannel | None = None,
        role: discord.Role | None = None,
        file: discord.Attachment | None = None,
        *,
        quiet: bool = False,
    ) -> None: ...

    group = app_commands.Group(
        name="config",
        description="Settings.",
        guild_only=True,
        default_permissions=discord.Permissions(manage_guild=True),
    )
    inner = app_commands.Group(name="log", description="Logs.", parent=group)

    @inner.command(description="Starts it.")
    async def start(_interaction: discord.Interaction, to: discord.TextChannel) -> None: ...

    @tree.context_menu(name="Report Message")
    async def report(_interaction: discord.Interaction, _message: discord.Message) -> None: ...

    @tree.command(description="Anywhere.")
    @app_commands.allowed_installs(guilds=True, users=True)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=True)
    async def anywhere(_interaction: discord.Interaction) -> None: ...

    tree.add_command(group)
    return tree


@pytest.mark.parametrize("guild", ["", SERVER])
def test_discord_py_syncs_a_tree_and_reads_it(
    simulated: SimulatedListing, monkeypatch: pytest.MonkeyPatch, guild: str
) -> None:
    monkeypatch.setattr(discord.http.Route, "BASE", f"{simulated.base_url}/api/v10")
    scope = discord.Object(int(guild)) if guild else None

    async def sync() -> list[app_commands.AppCommand]:
        async with discord.Client(intents=discord.Intents.none()) as client:
            await client.login(simulated.token)
            tree = tree_of(client)
            if scope:
                tree.copy_global_to(guild=scope)
            synced = await tree.sync(guild=scope)
            read = await tree.fetch_commands(guild=scope)
            assert [each.to_dict() for each in read] == [each.to_dict() for each in synced]
            return read

    first = asyncio.run(sync())
    listed = simulated.lists[guild or "default"]
    again = asyncio.run(sync())

    judge(simulated, guild=guild, count=4)
    assert [each.id for each in first] == [each.id for each in again]
    assert simulated.lists[guild or "default"] == listed  # the versions, too


DISCORD_JS = """\
const { REST, Routes, SlashCommandBuilder, ContextMenuCommandBuilder } = require("discord.js");
const [token, url, application, guild] = process.argv.slice(2);
const rest = new REST({ api: `${url}/api` }).setToken(token);
const text = (option) => option.setName("text").setDescription("A text.");
const commands = [
  new SlashCommandBuilder().setName("options").setDescription("All options.").setNSFW(true)
    .setNameLocalizations({ de: "optionen", "pt-BR": "opções" })
    .addStringOption((o) => text(o).setRequired(true).setMinLength(2).setMaxLength(40)
      .setDescriptionLocalization("fr", "Un texte."))
    .addIntegerOption((o) => o.setName("unit").setDescription("Unit.").addChoices(
      { name: "Celsius", value: 0, name_localizations: { de: "Grad" } },
      { name: "Kelvin", value: 1 }))
    .addNumberOption((o) => o.setName("ratio").setDescription("R.").setMinValue(0.5).setMaxValue(2))
    .addChannelOption((o) => o.setName("where").setDescription("Where.").addChannelTypes(5, 0))
    .addBooleanOption((o) => o.setName("quiet").setDescription("Quiet.")),
  new SlashCommandBuilder().setName("config").setDescription("Settings.")
    .setDefaultMemberPermissions("32")
    .addSubcommandGroup((g) => g.setName("log").setDescription("Logs.")
      .addSubcommand((s) => s.setName("find").setDescription("Finds.")
        .addStringOption((o) => text(o).setAutocomplete(true)))),
  new SlashCommandBuilder().setName("anywhere").setDescription("Anywhere.")
    .setContexts(2, 1, 0).setIntegrationTypes(1, 0),
  new ContextMenuCommandBuilder().setName("Report Message").setType(3),
].map((command) => command.toJSON());
const route = guild
  ? Routes.applicationGuildCommands(application, guild) : Routes.applicationCommands(application);
(async () => {
  const answers = [];
  for (const _ of "12") answers.push(await rest.put(route, { body: commands }));
  answers.push(await rest.get(route, { query: new URLSearchParams({ with_localizations: true }) }));
  console.log(JSON.stringify(answers));
})();
"""


@pytest.fixture(scope="module")
def discord_js(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with discord.js; skips the test if it cannot be installed."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not there")
    folder = tmp_path_factory.mktemp("discord.js")
    (folder / "package.json").write_text("{}", encoding="utf-8")
    (folder / "program.js").write_text(DISCORD_JS, encoding="utf-8")
    words = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "discord.js@14.25.1"]
    try:
        subprocess.run(words, cwd=folder, check=True, timeout=120, capture_output=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("discord.js cannot be installed: the registry is not reached")
    return folder


@pytest.mark.parametrize("guild", ["", SERVER])
def test_discord_js_registers_commands_and_reads_them(
    simulated: SimulatedListing, discord_js: Path, guild: str
) -> None:
    words = ["node", "program.js", simulated.token, simulated.base_url, simulated.bot, guild]
    ran = subprocess.run(words, cwd=discord_js, check=True, timeout=60, capture_output=True)
    first, second, read = json.loads(ran.stdout)

    judge(simulated, guild=guild, count=4)
    assert first == second == read == simulated.lists[guild or "default"]


SYNCING = f"""\
import asyncio, os
import discord
from discord import app_commands

discord.http.Route.BASE = os.environ.get("API", "https://discord.com") + "/api/v10"


{inspect.getsource(tree_of)}

async def main():
    async with discord.Client(intents=discord.Intents.none()) as client:
        await client.login(os.environ["DISCORD_TOKEN"])
        await tree_of(client).sync()


asyncio.run(main())
"""
DEPLOYING = """\
const { API = "https://discord.com", DISCORD_TOKEN, CLIENT_ID } = process.env;
process.argv.splice(2, 4, DISCORD_TOKEN, API, CLIENT_ID);
require("%s");
"""


@fenced
@pytest.mark.parametrize("library", ["discord.py", "discord.js"])
def test_the_first_plan_after_a_recording_has_no_changes(
    home: Home, simulated: SimulatedListing, library: str, request: pytest.FixtureRequest
) -> None:
    program = [sys.executable, "bot.py"]
    home.write(SYNCING, "bot.py")
    if library == "discord.js":
        path = request.getfixturevalue("discord_js") / "program.js"
        home.write(DEPLOYING % path, "deploy.js")
        program = ["node", "deploy.js"]
    there = {"API": simulated.base_url, "CLIENT_ID": simulated.bot}
    registered = home.child_into(program, {"DISCORD_TOKEN": simulated.token, **there})
    recorded = home.run("import", "--", *program)
    listing = f"listings:\n  - service: discord\n    base_url: {simulated.base_url}\n"
    home.write(home.read("commands.yaml") + listing)
    home.variable("COMMANDSYNC_TOKEN_DISCORD", simulated.token)

    planned = home.run("plan", "--listing", "discord", "--detailed-exitcode")

    assert registered.code == recorded.code == 0, registered.said + recorded.said
    assert "Recorded 4 commands" in recorded.err
    assert (planned.code, "4 unchanged" in planned.out) == (0, True), planned.said


TREES = 30  # lists of six generated commands, so that they are fewer than those of one day
BUILDING = """\
const { ApplicationCommandManager, Client, ClientApplication, ContextMenuCommandBuilder, Routes,
  SlashCommandBuilder } = require("discord.js");
const [token, url, application] = process.argv.slice(2);
const client = new Client({ intents: [], rest: { api: `${url}/api` } });
client.rest.setToken(token);
client.application = new ClientApplication(client, { id: application });
const KINDS = { 3: "String", 4: "Integer", 5: "Boolean", 6: "User", 7: "Channel", 8: "Role",
  9: "Mentionable", 10: "Number", 11: "Attachment" };
const BOUNDS = { min_length: "setMinLength", max_length: "setMaxLength", min_value: "setMinValue",
  max_value: "setMaxValue" };
function named(builder, node) {
  builder.setName(node.name);
  if (node.name_localizations !== undefined) builder.setNameLocalizations(node.name_localizations);
  return builder;
}
function described(builder, node) {
  named(builder, node).setDescription(node.description);
  const languages = node.description_localizations;
  if (languages !== undefined) builder.setDescriptionLocalizations(languages);
  return builder;
}
function filled(builder, node) {
  for (const option of node.options ?? []) {
    if (option.type === 1) builder.addSubcommand((each) => filled(described(each, option), option));
    else if (option.type === 2)
      builder.addSubcommandGroup((each) => filled(described(each, option), option));
    else builder[`add${KINDS[option.type]}Option`](
      (each) => valued(described(each, option), option));
  }
  return builder;
}
function valued(builder, option) {
  if (option.required !== undefined) builder.setRequired(option.required);
  for (const [key, name] of Object.entries(BOUNDS))
    if (option[key] !== undefined) builder[name](option[key]);
  if (option.choices?.length) builder.addChoices(...option.choices);
  if (option.autocomplete !== undefined) builder.setAutocomplete(option.autocomplete);
  if (option.channel_types?.length) builder.addChannelTypes(...option.channel_types);
  return builder;
}
function built(node) {
  const isMenu = node.type > 1;
  const builder = isMenu
    ? named(new ContextMenuCommandBuilder(), node).setType(node.type)
    : filled(described(new SlashCommandBuilder(), node), node);
  const permissions = node.default_member_permissions;
  if (permissions !== undefined) builder.setDefaultMemberPermissions(permissions);
  if (node.contexts) builder.setContexts(...node.contexts);
  if (node.integration_types) builder.setIntegrationTypes(...node.integration_types);
  if (node.nsfw !== undefined && !isMenu) builder.setNSFW(node.nsfw);
  return builder.toJSON();
}
(async () => {
  const route = Routes.applicationCommands(application);
  const all = { query: new URLSearchParams({ with_localizations: true }) };
  const manager = client.application.commands;
  for await (const line of require("readline").createInterface({ input: process.stdin })) {
    const sent = JSON.parse(line).map(built);
    await client.rest.put(route, { body: sent });
    const read = await client.rest.get(route, all);
    const known = await manager.fetch({ withLocalizations: true, cache: false });
    // Copies: it takes a command itself for a builder, as it has a toJSON.
    const back = known.map((each) => ApplicationCommandManager.transformCommand({ ...each }));
    await client.rest.put(route, { body: back });
    console.log(JSON.stringify([sent, read, back, await client.rest.get(route, all)]));
  }
  client.destroy();
})();
"""


def plain(node: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a command that the builders of discord.js make.

    They take neither `'` in names nor choices of an empty text, and do not write `dm_permission`,
    nor `nsfw` of commands in menus.
    """
    if isinstance(node, list):
        choices = (each for each in node if not isinstance(each, dict) or each.get("value") != "")
        return [plain(each) for each in choices]
    if not isinstance(node, dict):
        return node
    left_out = {"dm_permission", "nsfw"} if node.get("type") in {2, 3} else {"dm_permission"}
    kept = {key: plain(value) for key, value in node.items() if key not in left_out}
    if "description" in node or "type" in node:  # else it is a choice, or a language
        languages = node.get("name_localizations") or {}
        kept["name"] = node["name"].replace("'", "-")
        kept["name_localizations"] = {
            locale: name.replace("'", "-") for locale, name in languages.items()
        }
    return kept


def generated(change: Callable[[Any], Any] = lambda node: node) -> list[list[dict[str, Any]]]:
    """Return lists of generated commands, each with another name."""
    lists = []
    for seed in range(TREES):
        numbers = Random(seed)  # noqa: S311 - a command is not a secret
        bodies = [{**command(numbers), "name": f"command-{n}"} for n in range(6)]
        lists.append([change(body) for body in bodies])
    return lists


def answered(words: list[str], trees: list[Any], **options: Any) -> list[Any]:  # noqa: ANN401
    """Return the line of JSON that a program prints for each list of commands."""
    ran = subprocess.run(
        words,
        input="".join(f"{json.dumps(tree)}\n" for tree in trees),
        check=False,
        timeout=300,
        capture_output=True,
        encoding="utf-8",
        **options,
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def unchanged(tree: list[dict[str, Any]], read: list[dict[str, Any]]) -> bool:
    """Whether commandsync has nothing to change where a library has registered a tree."""
    case = DiscordCase(
        rules=EVERYTHING, before=(), wants=tuple(Wanted({"type": 1, **body}) for body in tree)
    )
    job = DiscordStory(case).job()
    return job.plan(Snapshot({KIND: entries_of(read, installs=(0, 1))})).changes == ()


@pytest.mark.soak
def test_generated_commands_are_the_same_to_discord_js(
    simulated: SimulatedListing, discord_js: Path
) -> None:
    (discord_js / "building.js").write_text(BUILDING, encoding="utf-8")
    trees = [tree for tree in generated(plain) if all(map(is_possible, tree))]
    words = ["node", "building.js", simulated.token, simulated.base_url, simulated.bot]
    answers = answered(words, trees, cwd=discord_js)

    assert len(trees) > TREES / 2
    for tree, (sent, read, back, again) in zip(trees, answers, strict=True):
        assert texts(sent) == texts(tree)
        assert texts(read) == texts(sent)
        assert texts(back) == texts(read)
        assert again == read
        assert unchanged(tree, read)


FETCHING = """\
import asyncio, json, sys
import discord
from discord import app_commands

token, url = sys.argv[1:]
discord.http.Route.BASE = f"{url}/api/v10"


async def main():
    async with discord.Client(intents=discord.Intents.none()) as client:
        await client.login(token)
        http, application = client.http, client.application_id
        tree = app_commands.CommandTree(client)
        path = f"/applications/{application}/commands?with_localizations=true"
        route = discord.http.Route("GET", path)
        for line in sys.stdin:
            await http.bulk_upsert_global_commands(application, payload=json.loads(line))
            read = await http.request(route)
            short = await http.get_global_commands(application)
            fetched = await tree.fetch_commands()
            print(json.dumps([read, short, [each.to_dict() for each in fetched]]))


asyncio.run(main())
"""


@pytest.fixture(scope="module")
def discord_py(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with discord.py in a pinned version; skips the test if it cannot be installed."""
    folder = tmp_path_factory.mktemp("discord.py")
    words = ["-m", "pip", "install", "--quiet", "--target", str(folder), "discord.py==2.6.4"]
    ran = subprocess.run([sys.executable, *words], check=False, timeout=300, capture_output=True)
    if ran.returncode:
        pytest.skip("discord.py cannot be installed: the index is not reached")
    return folder


@pytest.mark.soak
def test_generated_commands_are_the_same_to_discord_py(
    simulated: SimulatedListing, discord_py: Path
) -> None:
    trees = generated()
    words = [sys.executable, "-W", "ignore", "-c", FETCHING, simulated.token, simulated.base_url]
    answers = answered(words, trees, env={**os.environ, "PYTHONPATH": str(discord_py)})

    for tree, (read, short, fetched) in zip(trees, answers, strict=True):
        assert texts(read) == texts(tree)
        # Its class does not have every key of a command, reads no languages, and reads these two
        # lists as bits of a number.
        known = without("contexts", "integration_types")(fetched)
        both = [{**mine, **theirs} for mine, theirs in zip(short, known, strict=True)]
        assert texts(both) == texts(short)
        assert unchanged(tree, read)


def texts(bodies: list[dict[str, Any]]) -> list[ApplicationCommand]:
    """Return commands in the form that a plan compares."""
    return [text_of(body, installs=(0, 1)) for body in bodies]


def is_possible(body: dict[str, Any]) -> bool:
    """Whether the options of a command have different names without a `'`."""
    names = [option["name"] for option in body.get("options") or ()]
    inner = all(map(is_possible, body.get("options") or ()))
    return inner and len({*names}) == len(names)
