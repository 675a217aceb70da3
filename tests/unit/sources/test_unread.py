"""An import loses nothing silently: each declared command is read, not read, or left out."""

import json
import re
from pathlib import Path

import pytest

from commandsync.sources import javascript
from commandsync.sources.entry import SourceReading, Trait
from commandsync.sources.reading import read
from tests.support.objects import objects_in


def forms(text: str) -> dict[str, tuple[str, str]]:
    """Return forms by their names: the path and the code of a file that declares one, NAME."""
    found = re.findall(r"^## (.+): (.+)\n((?:(?!## ).*\n)+)", text, re.MULTILINE)
    return {name: (path, code.removesuffix("\n")) for name, path, code in found}


BUILDER = "new SlashCommandBuilder().setName('{0}').setDescription('D.')"
FORMS = forms("""
## builder: src/NAME.js
module.exports = { data: new SlashCommandBuilder().setName('NAME').setDescription('Does it.'),
  execute(i) {} };
## object: src/commands/NAME.js
module.exports = { name: 'NAME', description: 'Does it.', options: [], execute(it) {} };
## prefix: src/NAME.js
module.exports = { name: 'NAME', aliases: ['xNAME'], run(client, message, args) {} };
## class: src/NAME.ts
class A extends Command { constructor() { super({ name: 'NAME', description: 'D.', usage: '' }); }
  run(message, args) {} }
## slash-create: src/NAME.js
const { SlashCommand } = require('slash-create');
class A extends SlashCommand { constructor(c) { super(c, { name: 'NAME', description: 'D.' }); }
  async run(ctx) {} }
## a class of a builder: src/NAME.js
class A extends SlashCommandBuilder { constructor() { super(); this.setName('NAME'); } }
## discordx: src/NAME.ts
import { Slash } from 'discordx';
class A { @Slash({ name: 'NAME', description: 'D.' }) on() {} }
## necord: src/NAME.ts
import { SlashCommand } from 'necord';
class A { @SlashCommand({ name: 'NAME', description: 'D.' }) on() {} }
## nestjs: src/NAME.ts
import { Command, Handler } from '@discord-nestjs/core';
@Command({ name: 'NAME', description: 'D.' })
class A { @Handler() on() {} }
## Seyfert: src/NAME.ts
import { Command, Declare } from 'seyfert';
@Declare({ name: 'NAME', description: 'D.' }) export default class A extends Command { run() {} }
## a call of eris: src/NAME.js
const Eris = require('eris');
bot.registerCommand('NAME', () => {}, { description: 'D.' });
## a subclass of a builder: src/NAME.js
const { SlashCommandBuilder } = require('discord.js');
class Slash extends SlashCommandBuilder { setRun(run) { this.run = run; return this; } }
module.exports = new Slash().setName('NAME').setDescription('D.').setRun(() => 1);
## Sapphire: src/commands/NAME.ts
import { Command } from '@sapphire/framework';
export class A extends Command {
  registerApplicationCommands(registry) {
    registry.registerChatInputCommand((b) => b.setName(this.name).setDescription('D.')); } }
""")
TELEGRAM = forms("""
## telegraf: src/NAME.js
const { T } = require('telegraf');
bot.command('NAME', () => 1);
## grammY: src/NAME.ts
import { Composer } from 'grammy';
export const c = new Composer();
if (process.env.A) { c.chatType('private').command('NAME', async (ctx) => {}); }
## grammY in a function: src/NAME.js
const { Bot } = require('grammy');
module.exports = (bot) => { bot.command(['NAME'], run); };
## the plug-in of grammY: src/NAME.ts
import { Command } from '@grammyjs/commands';
export const c = new Command('NAME', 'Does it.', async (ctx) => {});
## a text that begins with a slash: src/NAME.js
const { Bot } = require('grammy');
new Bot(token).hears('/NAME', (ctx) => 1);
## a pattern of node-telegram-bot-api: src/NAME.js
const Bot = require('node-telegram-bot-api');
new Bot(token).onText(/^\\/NAME (.+)/, (it) => 1);
""")
UNREAD = forms("""
## a computed name: src/NAME.js
exports.data = new SlashCommandBuilder().setName(n());
## a factory: src/commands/NAME.js
define(() => deep({ name: 'NAME', description: 'D.', execute(i) {} }));
## another builder: src/NAME.js
add(new Maker().setName('NAME').setDescription('D.'));
## an export of a file: src/commands/NAME.js
module.exports = wrap(meta, { execute(i) {} });
## a class of commands: src/commands/NAME.js
export default class extends Other { static text = 'D.'; run() {} }
## a name that may be that of the file: src/commands/NAME.js
export default class extends Command { static description = 'D.'; run() {} }
## no description: src/commands/NAME.js
module.exports = { name: 'NAME', run(it) {} };
## a key for its parent: src/NAME.js
module.exports = { parent: 'x', name: 'NAME', description: 'D.', options: [], run(it) {} };
## a folder of sub-commands: src/subcommands/NAME.js
module.exports = { name: 'NAME', description: 'D.', options: [], run(it) {} };
## a sub-command of Seyfert: src/NAME.ts
import { SubCommand, Declare } from 'seyfert';
@Declare({ name: 'NAME', description: 'D.' }) export default class A extends SubCommand { run() {} }
## a builder of a sub-command: src/NAME.js
const { SlashCommandSubcommandBuilder } = require('discord.js');
exports.data = new SlashCommandSubcommandBuilder().setName('NAME').setDescription('D.');
## a decorator: src/NAME.ts
class A { @CustomCommand('NAME') on() {} }
## a sub-command of a class that is renamed on import: src/commands/NAME.js
const { SubCommand: Part } = require('../lib/part');
class A extends Part { name = 'NAME'; description = 'D.'; options = []; run(it) {} }
module.exports = A;
## a command of Robo, which has the name of its file: src/commands/admin/NAME.ts
import type { CommandConfig } from 'robo.js';
export const config: CommandConfig = { description: 'D.' };
export default (interaction) => 'Done.';
## neither kind: src/NAME.js
module.exports = { name: 'NAME', description: 'D.', run(context) {} };
""")


def written(folder: Path, form: tuple[str, str], name: str, *, after: str = "") -> None:
    path = folder / form[0].replace("NAME", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(form[1].replace("NAME", name) + f"\n{after}\n", encoding="utf-8")


def counted(reading: SourceReading) -> int:
    return len(reading.entries) + len(reading.unread) + len(reading.excluded)


# Of each further form: its files, and the syntaxes that are read.
RUNS = "run(interaction) { interaction.deferReply(); }"
FURTHER: dict[str, tuple[dict[str, str], list[str]]] = {
    "a builder's base class in another file": (
        {
            "base.js": "class Base extends SlashCommandBuilder { constructor(n, d) { super(); "
            "this.setName(n).setDescription(d); } } module.exports = { Base };",
            "go.js": "const { Base } = require('./base'); class Go extends Base { constructor() { "
            "super('go', 'Goes.'); this.addStringOption((o) => o.setName('to')"
            ".setDescription('To.').setRequired(true)); } } module.exports = new Go();",
        },
        ["/go <to>"],
    ),
    "SlashCommand: {run}": (
        {
            "go.js": "module.exports = { name: 'go', description: 'Goes.', SlashCommand: { "
            "options: [{ name: 'to', description: 'To.', type: 3 }], run: async (client, "
            "interaction) => {} } };",
        },
        ["/go [to]"],
    ),
    "SlashGroup": (
        {
            "go.ts": "import { Discord, Slash, SlashGroup } from 'discordx';\n"
            "@Discord() @SlashGroup({ name: 'go', description: 'G.' }) @SlashGroup('go')\n"
            "class Go { @Slash({ name: 'up', description: 'Up.' }) up() {} "
            "@Slash({ name: 'on', description: 'On.' }) on() {} }",
        },
        ["/go up", "/go on"],
    ),
    "groups of necord": (
        {
            "group.ts": "import { createCommandGroupDecorator } from 'necord';\n"
            "export const Go = createCommandGroupDecorator({ name: 'go', description: 'G.' });\n",
            "up.ts": "import { Subcommand } from 'necord'; import { Go } from './group';\n"
            "@Go() class A { @Subcommand({ name: 'up', description: 'Up.' }) up() {} }\n"
            "@Go({ name: 'far', description: 'F.' }) class B {\n"
            "  @Subcommand({ name: 'on', description: 'On.' }) on() {} }",
        },
        ["/go up", "/go far on"],
    ),
    "include of discord-nestjs": (
        {
            "go.ts": "import { Command, Param, SubCommand, UseGroup } from "
            "'@discord-nestjs/core';\n"
            "class To { @Param({ description: 'To.', required: true }) to: string; }\n"
            "@SubCommand({ name: 'up', description: 'Up.' })\n"
            "class Up { @Handler() on(to: To) {} }\n"
            "@SubCommand({ name: 'on', description: 'On.' }) class On { @Handler() on() {} }\n"
            "@Command({ name: 'go', description: 'Goes.', include: [\n"
            "  UseGroup({ name: 'far', description: 'F.' }, Up), On] }) class Go {}",
        },
        ["/go far up <to>", "/go on"],
    ),
    "setOptions(command)": (
        {
            "go.js": "module.exports = class Go extends Command { name = 'go'; description = 'G.'; "
            "setOptions(command) { command.addStringOption((o) => o.setName('to')"
            f".setDescription('To.')); }} {RUNS} }};",
        },
        ["/go [to]"],
    ),
    "command_group in __init__": (
        {
            "go.py": "import discord\nclass Go:\n    def __init__(self, bot):\n"
            "        group = bot.command_group('go', 'Goes.')\n"
            "        @group.command(description='Up.')\n        async def up(ctx): ...\n",
        },
        ["/go up"],
    ),
}


@pytest.mark.parametrize(("files", "syntaxes"), FURTHER.values(), ids=FURTHER)
def test_each_further_form_is_read(
    files: dict[str, str], syntaxes: list[str], tmp_path: Path
) -> None:
    for name, code in files.items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    reading = read(str(tmp_path))

    assert [entry.syntax for entry in reading.entries] == syntaxes
    assert reading.unread == ()


def test_the_parts_of_a_command_in_several_classes_are_one_object(tmp_path: Path) -> None:
    for name, code in FURTHER["groups of necord"][0].items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    (whole,) = objects_in(read(str(tmp_path)))
    up = {"type": 1, "name": "up", "description": "Up."}
    on = {"type": 1, "name": "on", "description": "On."}
    far = {"type": 2, "name": "far", "description": "F.", "options": [on]}

    assert whole == {"type": 1, "name": "go", "description": "G.", "options": [up, far]}


@pytest.mark.parametrize(
    ("guard", "traits"),
    [
        ("IsOwner", {Trait.OWNER_ONLY}),
        ("RateLimit(9), guards.OwnerOnly()", {Trait.OWNER_ONLY}),
        ("new DevGuard()", {Trait.OWNER_ONLY}),
        ("GuildOwner", set()),
        ("RateLimit(9, { message: 'owner' })", set()),
    ],
)
@pytest.mark.parametrize(
    "code",
    [
        (
            "import {{ Discord, Guard, Slash }} from 'discordx';\n@Discord() class A {{\n"
            "  @Slash({{ name: 'a', description: 'A.' }})\n  @Guard({0})\n  a() {{}} }}"
        ),
        (
            "import {{ SlashCommand }} from 'necord';\n"
            "import {{ UseGuards }} from '@nestjs/common';\n"
            "@UseGuards({0}) class A {{\n"
            "  @SlashCommand({{ name: 'a', description: 'A.' }}) a() {{}} }}"
        ),
        (
            "import {{ Guard, Slash, SlashGroup }} from 'discordx';\n@SlashGroup('go') class A {{\n"
            "  @Guard({0}) @Slash({{ name: 'a', description: 'A.' }}) a() {{}} }}"
        ),
    ],
    ids=["discordx", "necord", "a sub-command"],
)
def test_a_guard_for_the_owner_leaves_a_command_out(
    code: str, guard: str, traits: set[Trait], tmp_path: Path
) -> None:
    (tmp_path / "a.ts").write_text(code.format(guard), encoding="utf-8")
    (entry,) = read(str(tmp_path)).entries

    assert entry.traits == traits


@pytest.mark.parametrize("form", (FORMS | TELEGRAM).values(), ids=FORMS | TELEGRAM)
def test_each_form_is_read(form: tuple[str, str], tmp_path: Path) -> None:
    written(tmp_path, form, "ping")
    reading = read(str(tmp_path))

    assert [entry.name for entry in reading.entries] == ["ping"]
    assert reading.unread == ()


@pytest.mark.parametrize("form", UNREAD.values(), ids=UNREAD)
def test_each_candidate_that_is_not_read_is_counted(form: tuple[str, str], tmp_path: Path) -> None:
    written(tmp_path, form, "ping")
    reading = read(str(tmp_path))

    assert reading.entries == ()
    assert len(reading.unread) == 1
    assert {part.place for part in reading.partly} == {reading.unread[0].place}


def files(folder: Path, contents: dict[str, str]) -> SourceReading:
    for name, code in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(code, encoding="utf-8")
    return read(str(folder))


SEYFERT = "import {{ AutoLoad, Command, Declare, SubCommand }} from 'seyfert';\n{}"
DECLARED = (
    "@Declare({{ name: '{0}', description: 'D.' }}) {1} export default class {0} extends {2} {{}}"
)


def test_seyfert_loads_the_sub_commands_of_a_folder(tmp_path: Path) -> None:
    go = SEYFERT.format(DECLARED.format("go", "@AutoLoad()", "Command"))
    up = SEYFERT.format(DECLARED.format("up", "", "SubCommand"))
    reading = files(tmp_path, {"go/parent.ts": go, "go/up.ts": up})

    assert [entry.syntax for entry in reading.entries] == ["/go up"]
    assert reading.unread == ()


@pytest.mark.parametrize(
    "code",
    [
        "import { Slash } from './x'; class A { @Slash({ name: 'a', description: 'A.' }) a() {} }",
        "import { CommandBuilder as B } from './x'; new B().setName('a').setDescription('A.');",
        f"const {{ SlashCommandBuilder }} = require('other'); a({BUILDER.format('a')});",
    ],
)
def test_a_name_of_a_framework_is_its_own_only_by_its_import(code: str, tmp_path: Path) -> None:
    reading = files(tmp_path, {"a.ts": code})

    assert reading.entries == ()
    assert [part.name for part in reading.unread] == ["a"]


@pytest.mark.parametrize("form", ["slash", "prefix"])
def test_an_open_kind_is_the_given_form(form: str, tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text(
        "module.exports = { name: 'a', description: 'A.', run(it) {} };", encoding="utf-8"
    )
    (entry,) = javascript.read(str(tmp_path), form=form).entries

    assert entry.kind == form


def test_a_key_of_a_table_of_texts_is_not_a_text(tmp_path: Path) -> None:
    code = "exports.data = { name: 'a', description: 'commands.a.text', type: 1 };"
    (tmp_path / "a.js").write_text(code, encoding="utf-8")
    without, found = read(str(tmp_path)), read(str(tmp_path), texts={"commands.a.text": "Is a."})

    assert ([entry.description for entry in without.entries], without.text_keys) == (
        ["…"],
        ("commands.a.text",),
    )
    assert [entry.description for entry in found.entries] == ["Is a."]


PARTLY = {
    "a base class": "const B = require('./b'); module.exports = class extends B { name = 'a';"
    " description = 'A.'; options = []; run() {} }",
    "a decorator": "import { D } from './d'; @D() export class A { name = 'a'; description = 'A.';"
    " options = []; run() {} }",
    "a function around it": "module.exports = wrap({ name: 'a', description: 'A.', type: 1 });",
    "a spread": "module.exports = { ...b, name: 'a', description: 'A.', type: 1 };",
    "a later change": "const d = { name: 'a', description: 'A.', type: 1, options: [] };\n"
    "if (x) d.options.push(y);\nmodule.exports = d;",
    "a list that grows": "const all = [{ name: 'a', description: 'A.' }];\n"
    "for (const x of y) all.push(x);\nclient.application.commands.set(all);",
    "an import that is not found": "module.exports = [...require('./b'), { name: 'a',"
    " description: 'A.', type: 1 }];",
}


@pytest.mark.parametrize("code", PARTLY.values(), ids=PARTLY)
def test_what_is_not_followed_is_named(code: str, tmp_path: Path) -> None:
    reading = files(tmp_path, {"commands/a.ts": code})

    assert [entry.name for entry in reading.entries] == ["a"]
    assert {part.place.path for part in reading.partly} == {f"{tmp_path}/commands/a.ts"}


EXACT = {
    "a class that others may extend": "export default class { name; async execute() {} }",
    "a helper": "exports.show = async function execute(interaction) {};",
    "a tool of a model": "export const tool = { name: 'a', description: 'A.', parameters: {},"
    " execute() {} };",
    "a listener": "import { Listener } from './l'; export class A extends Listener { name = 'a';"
    " description = 'A.'; run() {} }",
    "an option": "exports.to = { name: 'to', description: 'To.', type: 3 };",
    "a command line": "const { program } = require('commander'); require('telegraf');"
    " program.command('a', 'A.', () => 1);",
    "a function for options": "const { SlashCommandBuilder } = require('discord.js');\n"
    "const to = (it) => it.setName('to').setDescription('To.');\n"
    "exports.data = new SlashCommandBuilder().setName('a').setDescription('A.').addUserOption(to);",
}


@pytest.mark.parametrize("code", EXACT.values(), ids=EXACT)
def test_only_places_that_declare_a_command_are_counted(code: str, tmp_path: Path) -> None:
    reading = files(tmp_path, {"commands/b.ts": code})

    assert reading.unread == ()


NO_COMMANDS = {
    "an activity": "client.user.setPresence({ activities: [{ name: 'x', type: 'PLAYING' }] });",
    "an event": "module.exports = { name: 'ready', type: 'on', execute(client) {} };",
    "an event once": "module.exports = { name: 'ready', once: true, execute(client) {} };",
    "an option": "exports.user = { name: 'user', description: 'Who.', type: 6, required: true };",
    "a module": "class A extends Module { constructor() { super({ name: 'a' }); } run() {} }",
    "a base class": "class A extends Command { constructor(o) { super(o); } run() {} } "
    "class B extends A { constructor() { super({ name: 'b', description: 'B', options: [] }); } "
    "run(i) {} }",
}


@pytest.mark.parametrize("code", NO_COMMANDS.values(), ids=NO_COMMANDS)
def test_other_objects_are_never_commands(code: str, tmp_path: Path) -> None:
    (tmp_path / "bot.js").write_text(f"{code}\n// command description", encoding="utf-8")
    reading = read(str(tmp_path / "bot.js"))

    assert counted(reading) == ("extends A" in code)


OBJECT = (
    "src/commands/NAME.js",
    "module.exports = {{ name: '{0}', description: '{1}', options: [], run(it) {{}} }};",
)


def named(folder: Path, path: str, name: str, text: str) -> None:
    written(folder, (f"src/commands/{path}", OBJECT[1].format(name, text)), "")


def test_different_commands_of_one_name_in_several_folders_are_not_read(tmp_path: Path) -> None:
    named(tmp_path, "role/create.js", "create", "Creates a role.")
    named(tmp_path, "channel/create.js", "create", "Creates a channel.")
    named(tmp_path, "fun/ping.js", "ping", "Pings.")
    reading = read(str(tmp_path))

    assert [entry.name for entry in reading.entries] == ["ping"]
    assert [part.name for part in reading.unread] == ["create", "create"]


@pytest.mark.parametrize("parent", ["tags.js", "tags/index.js"])
def test_a_command_may_be_a_sub_command_of_the_one_of_its_folder(
    parent: str, tmp_path: Path
) -> None:
    named(tmp_path, parent, "tags", "Tags.")
    named(tmp_path, "tags/get.js", "get", "Gets one.")
    reading = read(str(tmp_path))

    assert [entry.name for entry in reading.entries] == ["tags"]
    assert ["sub-command of 'tags'" in part.reason for part in reading.unread] == [True]


def test_flags_with_defaults_in_a_base_class_are_evaluated(tmp_path: Path) -> None:
    base = (
        "class Base { constructor(o) { this.name = o.name; this.ownerOnly = o.owner ?? false; } }"
    )
    commands = (
        "class {0} extends Base {{ constructor() {{ super({{ name: '{0}', description: 'D'{1}, "
        "options: [] }}) }} run(interaction) {{}} }}"
    )
    code = [base, commands.format("a", ""), commands.format("b", ", owner: true")]
    (tmp_path / "bot.js").write_text("\n".join(code), encoding="utf-8")
    reading = read(str(tmp_path / "bot.js"))

    traits = {entry.name: entry.traits for entry in reading.entries}
    assert traits == {"a": frozenset(), "b": {Trait.OWNER_ONLY}}
    assert reading.notes == ()


@pytest.mark.parametrize(
    ("flag", "trait"),
    [
        ("permissions: { dev: true }", Trait.OWNER_ONLY),
        ("adminOnly: true", Trait.ADMIN_ONLY),
        ("devOnly: true", Trait.OWNER_ONLY),
    ],
)
def test_commands_of_owners_are_left_out(flag: str, trait: Trait, tmp_path: Path) -> None:
    code = (
        f"module.exports = {{ name: 'a', description: 'A.', {flag}, options: [], run(it) {{}} }};"
    )
    (tmp_path / "bot.js").write_text(code, encoding="utf-8")
    (entry,) = read(str(tmp_path / "bot.js")).entries

    assert entry.traits == {trait}


def test_texts_are_looked_up_by_literal_keys(tmp_path: Path) -> None:
    calls = ("t('a.b')", "i18n.__('a.b')", "getMessage(null, 'a.b')", "t('none')")
    for number, call in enumerate(calls):
        code = f"exports.data = {BUILDER.format(f'c{number}')}.setDescription({call});"
        (tmp_path / f"{number}.js").write_text(code, encoding="utf-8")
    reading = read(str(tmp_path), texts={"a.b": "Found."})
    without = read(str(tmp_path))

    assert [entry.description for entry in reading.entries] == ["Found."] * 3
    assert [(part.name, part.reason) for part in reading.unread] == [
        ("c3", "the texts have no t('none')")
    ]
    assert [entry.description for entry in without.entries] == ["…"] * 4


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("tsconfig.json", '{"compilerOptions": {"paths": {"@/*": ["./src/lib/*"]}} /* x */, }'),
        ("package.json", '{"imports": {"@/*": "./src/lib/*"}}'),
        ("package.json", '{"_moduleAliases": {"@": "src/lib"}}'),
    ],
)
def test_aliases_of_paths_are_followed(file: str, content: str, tmp_path: Path) -> None:
    (tmp_path / "src/lib").mkdir(parents=True)
    (tmp_path / file).write_text(content, encoding="utf-8")
    (tmp_path / "src/lib/names.js").write_text("export const NAME = 'ping';", encoding="utf-8")
    code = "import { NAME } from '@/names';\nexport class A extends Command { name = NAME;"
    code += " description = 'D.'; options = []; run(interaction) {} }"
    (tmp_path / "src/a.js").write_text(code, encoding="utf-8")

    assert [entry.name for entry in read(str(tmp_path / "src")).entries] == ["ping"]


def test_a_chain_of_any_length_is_followed_once(tmp_path: Path) -> None:
    chain = "z" + ".string()" * 30
    code = f"const s = {chain};\nexports.data = {BUILDER.format('ping')};"
    (tmp_path / "bot.js").write_text(code, encoding="utf-8")
    reading = read(str(tmp_path / "bot.js"))

    assert [entry.name for entry in reading.entries] == ["ping"]
    assert reading.notes == ()


@pytest.mark.parametrize("name", ["package.json", "app.json", "tsconfig.build.json", "biome.json"])
def test_foreign_json_in_a_folder_is_skipped(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"name": "a", "description": "A."}))
    (tmp_path / name).write_text(json.dumps({"name": "bot", "version": 1}))
    (tmp_path / "schema.json").write_text('{"$schema": "http://json-schema.org/x", "type": "a"}')

    assert [entry.name for entry in read(str(tmp_path)).entries] == ["a"]
