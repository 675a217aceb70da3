"""Record a bot of each library that docs/record.md names, installed in its pinned version.

`python -m tests.benchmarks.recordings [NAME]...` installs each library with npm or pip into a
temporary folder, writes a bot for it with generated commands, and records one run of the bot. The
bot also prints what the library itself makes of the commands; what was recorded has each command
that was given, and equals what the library made of it. It is a part of `make soak`.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from commandsync.recording import Order, record
from commandsync.recording.outcome import Recording

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_JS = """const commands = JSON.parse(require('fs').readFileSync('commands.json'));
const made = (own) => console.log('MADE ' + JSON.stringify(own));
"""
_PY = """import json, os
commands = json.load(open("commands.json"))
def made(own):
    print("MADE", json.dumps(own), flush=True)
"""
_TOKEN = "process.env.DISCORD_TOKEN"
_ENV = "os.environ['DISCORD_TOKEN']"


class Library(NamedTuple):
    """A library, its packages in pinned versions, and a bot for it."""

    packages: tuple[str, ...]
    bot: str
    is_python: bool = False
    is_telegram: bool = False
    file: str = ""  # of a folder that the library reads, with a command in it

    @property
    def head(self) -> str:
        """What each bot begins with."""
        return _PY if self.is_python else _JS


def python(*packages: str, bot: str, is_telegram: bool = False) -> Library:
    """Return a library of Python."""
    return Library(packages, bot, is_python=True, is_telegram=is_telegram)


LIBRARIES = {
    "discord.js (deploy script)": Library(
        ("discord.js@14.28.1",),
        f"""const {{ REST, Routes, SlashCommandBuilder }} = require('discord.js');
const body = commands.map((given) => new SlashCommandBuilder().setName(given.name)
  .setDescription(given.description).addStringOption((option) => option.setName('text')
  .setDescription(given.options[0].description).setRequired(true)).toJSON());
made(body);
new REST().setToken({_TOKEN}).put(
  Routes.applicationCommands(process.env.CLIENT_ID), {{ body }});""",
    ),
    "discord.js (login)": Library(
        ("discord.js@14.28.1",),
        f"""const {{ Client, GatewayIntentBits }} = require('discord.js');
const client = new Client({{ intents: [GatewayIntentBits.Guilds] }});
client.once('clientReady', () => {{
  const {{ commands: manager }} = client.application;
  made(commands.map((given) => manager.constructor.transformCommand(given)));
  manager.set(commands);
}});
client.login({_TOKEN});""",
    ),
    "Sapphire": Library(
        ("@sapphire/framework@5.5.1", "discord.js@14.28.1"),
        f"""const {{ SapphireClient }} = require('@sapphire/framework');
new SapphireClient({{ intents: [], baseUserDirectory: __dirname }}).login({_TOKEN});""",
        file="""const { Command } = require('@sapphire/framework');
exports.All = class extends Command {
  constructor(context, options) { super(context, { ...options, name: 'all' }); }
  registerApplicationCommands(registry) {
    for (const given of commands) registry.registerChatInputCommand(given);
    made(registry.apiCalls.map((call) => call.builtData));
  }
  chatInputRun() {}
};""",
    ),
    "slash-create": Library(
        ("slash-create@7.0.0",),
        f"""const {{ SlashCreator, SlashCommand }} = require('slash-create');
const creator = new SlashCreator({{ applicationID: process.env.CLIENT_ID, token: {_TOKEN} }});
for (const given of commands) creator.registerCommand(class extends SlashCommand {{
  constructor(creator) {{ super(creator, given); }} async run() {{}} }});
made(creator.commands.map((command) => command.toCommandJSON()));
creator.syncCommands();""",
    ),
    "Oceanic": Library(
        ("oceanic.js@1.15.0",),
        f"""const {{ Client }} = require('oceanic.js');
const client = new Client({{ auth: 'Bot ' + {_TOKEN} }});
client.once('ready', async () => {{
  const listed = await client.application.bulkEditGlobalCommands(commands);
  made(listed.map((one) => one.toJSON()).map(({{ type, name, description, options }}) => (
    {{ type, name, description, options }})));
}});
client.connect();""",
    ),
    "grammY": Library(
        ("grammy@1.46.0",),
        """const { Bot } = require('grammy');
const bot = new Bot(process.env.BOT_TOKEN);
bot.api.setMyCommands(commands.map((given) => (
  { command: given.name, description: given.description })))
  .then(() => bot.api.getMyCommands()).then(made);
bot.start();""",
        is_telegram=True,
    ),
    "Telegraf": Library(
        ("telegraf@4.16.3",),
        """const { Telegraf } = require('telegraf');
const bot = new Telegraf(process.env.BOT_TOKEN);
bot.telegram.setMyCommands(commands.map((given) => (
  { command: given.name, description: given.description })))
  .then(() => bot.telegram.getMyCommands()).then(made);
bot.launch();""",
        is_telegram=True,
    ),
    "discord.py": python(
        "discord.py==2.7.1",
        bot=f"""import discord
from discord import app_commands
class Bot(discord.Client):
    async def setup_hook(self):
        made([command.to_dict(self.tree) for command in self.tree.get_commands()])
        await self.tree.sync()
bot = Bot(intents=discord.Intents.default())
bot.tree = app_commands.CommandTree(bot)
def add(given):
    async def run(interaction: discord.Interaction, text: str): ...
    run = app_commands.describe(text=given["options"][0]["description"])(run)
    bot.tree.command(name=given["name"], description=given["description"])(run)
for given in commands:
    add(given)
bot.run({_ENV})
""",
    ),
    "Pycord": python(
        "py-cord==2.8.1",
        bot=f"""import discord
bot = discord.Bot()
def add(given):
    async def run(ctx, text: discord.Option(str, given["options"][0]["description"])): ...
    bot.slash_command(name=given["name"], description=given["description"])(run)
for given in commands:
    add(given)
made([command.to_dict() for command in bot.pending_application_commands])
bot.run({_ENV})
""",
    ),
    "disnake": python(
        "disnake==2.12.2",
        bot=f"""import disnake
from disnake.ext import commands as ext
bot = ext.InteractionBot()
def add(given):
    async def run(inter, text: str = ext.Param(description=given["options"][0]["description"])): ...
    bot.slash_command(name=given["name"], description=given["description"])(run)
for given in commands:
    add(given)
made([command.body.to_dict() for command in bot.slash_commands])
bot.run({_ENV})
""",
    ),
    "hikari": python(
        "hikari==2.7.0",
        bot=f"""import hikari
bot = hikari.GatewayBot({_ENV}, banner=None)
@bot.listen()
async def started(event: hikari.StartedEvent):
    me = await bot.rest.fetch_application()
    builders = []
    for given in commands:
        builder = bot.rest.slash_command_builder(given["name"], given["description"])
        text = given["options"][0]["description"]
        kind = hikari.OptionType.STRING
        builder.add_option(hikari.CommandOption(
            type=kind, name="text", description=text, is_required=True))
        builders.append(builder)
    await bot.rest.set_application_commands(me.id, builders)
    made([builder.build(bot.entity_factory) for builder in builders])
bot.run()
""",
    ),
    "interactions.py": python(
        "discord-py-interactions==5.16.0",
        "setuptools<81",
        bot=f"""import interactions
bot = interactions.Client()
def add(given):
    text = given["options"][0]["description"]
    kind = interactions.OptionType.STRING
    async def run(ctx, text: str): ...
    run = interactions.slash_option(
        name="text", description=text, opt_type=kind, required=True)(run)
    bot.add_command(interactions.slash_command(
        name=given["name"], description=given["description"])(run))
for given in commands:
    add(given)
made([command.to_dict() for command in bot.application_commands])
bot.start({_ENV})
""",
    ),
    "python-telegram-bot": python(
        "python-telegram-bot==22.8",
        bot="""from telegram.ext import Application
async def start(app):
    await app.bot.set_my_commands([(given["name"], given["description"]) for given in commands])
    made([command.to_dict() for command in await app.bot.get_my_commands()])
app = Application.builder().token(os.environ["BOT_TOKEN"]).post_init(start).build()
app.run_polling()
""",
        is_telegram=True,
    ),
    "aiogram": python(
        "aiogram==3.31.0",
        bot="""import asyncio
from aiogram import Bot, Dispatcher
from aiogram.types import BotCommand
async def main():
    bot = Bot(os.environ["BOT_TOKEN"])
    menu = [BotCommand(command=given["name"], description=given["description"])
            for given in commands]
    made([command.model_dump() for command in menu])
    await bot.set_my_commands(menu)
    await Dispatcher().start_polling(bot)
asyncio.run(main())
""",
        is_telegram=True,
    ),
    "telebot": python(
        "pyTelegramBotAPI==4.37.1",
        bot="""import telebot
bot = telebot.TeleBot(os.environ["BOT_TOKEN"])
menu = [telebot.types.BotCommand(given["name"], given["description"]) for given in commands]
made([command.to_dict() for command in menu])
bot.set_my_commands(menu)
bot.infinity_polling()
""",
        is_telegram=True,
    ),
    "discord.js 13": Library(
        ("discord.js@13.17.1",),
        f"""const {{ Client, Intents }} = require('discord.js');
const client = new Client({{ intents: [Intents.FLAGS.GUILDS] }});
client.once('ready', () => {{
  const {{ commands: manager }} = client.application;
  made(commands.map((given) => manager.constructor.transformCommand(given)));
  manager.set(commands.map((given) => (
    {{ ...given, type: 'CHAT_INPUT', options: given.options.map(
      (option) => ({{ ...option, type: 'STRING' }})) }})));
}});
client.login({_TOKEN});""",
    ),
    "Eris": Library(
        ("eris@0.18.0",),
        f"""const Eris = require('eris');
const client = new Eris('Bot ' + {_TOKEN}, {{ intents: ['guilds'] }});
client.once('ready', async () => {{
  await client.bulkEditCommands(commands);
  const listed = await client.getCommands();
  made(listed.map(({{ type, name, description, options }}) => (
    {{ type, name, description, options }})));
}});
client.connect();""",
    ),
    "node-telegram-bot-api": Library(
        ("node-telegram-bot-api@0.66.0",),
        """const TelegramBot = require('node-telegram-bot-api');
const bot = new TelegramBot(process.env.BOT_TOKEN, { polling: true });
bot.setMyCommands(commands.map((given) => (
  { command: given.name, description: given.description })))
  .then(() => bot.getMyCommands()).then(made);""",
        is_telegram=True,
    ),
    "nextcord": python(
        "nextcord==2.6.0",
        bot=f"""import nextcord
from nextcord.ext import commands as ext
bot = ext.Bot()
def add(given):
    async def run(interaction, text: str = nextcord.SlashOption(
            description=given["options"][0]["description"])): ...
    return bot.slash_command(name=given["name"], description=given["description"])(run)
made([command.get_payload(None) for command in map(add, commands)])
bot.run({_ENV})
""",
    ),
    "lightbulb": python(
        "hikari-lightbulb==3.2.6",
        bot=f"""import hikari, lightbulb
bot = hikari.GatewayBot({_ENV}, banner=None)
client = lightbulb.client_from_app(bot)
def add(given):
    class Given(lightbulb.SlashCommand, name=given["name"], description=given["description"]):
        text = lightbulb.string("text", given["options"][0]["description"])
        @lightbulb.invoke
        async def invoke(self, ctx): ...
    client.register(Given)
for given in commands:
    add(given)
made(commands)
bot.subscribe(hikari.StartingEvent, client.start)
bot.run()
""",
    ),
}


def generated(seed: int) -> list[dict[str, Any]]:
    """Return drawn commands, each with an option."""
    draw = random.Random(seed)  # noqa: S311 - not a secret
    names = {"".join(draw.choices(_ALPHABET, k=draw.randrange(3, 20))) for _ in range(12)}
    texts = ("".join(draw.choices(f"{_ALPHABET} éß漢🎵", k=30)).strip() for _ in iter(int, 1))
    return [
        {
            "type": 1,
            "name": name,
            "description": f"A{next(texts)}",
            "options": [
                {"type": 3, "name": "text", "description": f"B{next(texts)}", "required": True}
            ],
        }
        for name in sorted(names)
    ]


def install(library: Library, folder: Path) -> None:
    """Install the packages of a library into a folder."""
    if library.is_python:
        words = [sys.executable, "-m", "pip", "install", "--quiet", "--target", "site"]
        (folder / "requirements.txt").write_text("\n".join(library.packages), encoding="utf-8")
    else:
        words = ["npm", "install", "--silent", "--no-audit", "--no-fund"]
        (folder / "package.json").write_text('{"main": "bot.js"}', encoding="utf-8")
    subprocess.run([*words, *library.packages], cwd=folder, check=True, timeout=300)


def recorded(
    library: Library, folder: Path, commands: list[dict[str, Any]]
) -> tuple[Recording, list[dict[str, Any]]]:
    """Record one run of a bot, and return the JSON that its library made of the commands, too."""
    project = folder / "bot"
    (project / "commands.json").write_text(json.dumps(commands), encoding="utf-8")
    name = "bot.py" if library.is_python else "bot.js"
    begin = "import sys\nsys.path.insert(0, 'site')\n" if library.is_python else ""
    (project / name).write_text(begin + library.head + library.bot, encoding="utf-8")
    if library.file:
        (project / "commands").mkdir(exist_ok=True)
        (project / "commands" / "all.js").write_text(library.head + library.file, encoding="utf-8")
    program = [sys.executable if library.is_python else "node", name]
    lines: list[str] = []
    order = Order(program=program, cwd=project, folder=project)
    recording = asyncio.run(record(order, on_line=lines.append))
    made = [line.removeprefix("MADE ") for line in lines if line.startswith("MADE ")]
    return recording, json.loads(made[-1]) if made else []


def difference(
    library: Library,
    recording: Recording,
    commands: list[dict[str, Any]],
    own: list[dict[str, Any]],
) -> list[object]:
    """Return the commands that are not recorded as given, or as the library has them."""
    if library.is_telegram:
        name = "command"
        listed: Sequence[Mapping[str, Any]] = recording.telegram.get(("default", ""), ())
        commands = [
            {"command": part["name"], "description": part["description"]} for part in commands
        ]
    else:
        name = "name"
        listed = recording.discord.get("", ())
    found = {part[name]: part for part in listed}
    written = {part[name]: part for part in own}
    return [
        part
        for part in commands
        if not _has(found.get(part[name]), part)
        or part[name] not in written
        or not _has(found[part[name]], written[part[name]])
    ]


def _has(found: object, expected: object) -> bool:
    """Return whether an object of JSON has each value of another that is not empty."""
    if isinstance(expected, Mapping):
        return isinstance(found, Mapping) and all(
            _has(found.get(key), value) for key, value in expected.items() if value
        )
    if isinstance(expected, list):
        return (
            isinstance(found, Sequence)
            and len(found) == len(expected)
            and all(map(_has, found, expected))
        )
    return found == expected


def main(names: list[str]) -> int:
    """Record each library, or those that are named, and print one line for each."""
    failed = 0
    for number, (name, library) in enumerate(LIBRARIES.items()):
        if names and name not in names:
            continue
        commands = generated(number)
        with TemporaryDirectory(prefix="commandsync-recordings-") as folder:
            (Path(folder) / "bot").mkdir()
            install(library, Path(folder) / "bot")
            recording, own = recorded(library, Path(folder), commands)
        lost = difference(library, recording, commands, own)
        failed += bool(lost)
        count = len(commands) - len(lost)
        print(f"{name} ({', '.join(library.packages)}): {count} of {len(commands)}", flush=True)
        for line in recording.tail if lost else ():
            print(f"    {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
