"""The forms of JavaScript and TypeScript: how bots declare commands with what is read.

A part is one file; its commands are exported in a list, are classes, or are calls. If they are
declared elsewhere (`part.base`), the file of the part only exports or extends what is there.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.support.repositories import SOURCE, Command, Form, Part, Where

_OPTIONS = frozenset({"names", "texts"})
_WITH_BASE = _OPTIONS | {"base"}


@dataclass
class Script:
    """The files of one part, while they are written."""

    part: Part
    start: str  # the imports of the framework
    typed: bool = False  # TypeScript with modules, else CommonJS
    files: dict[str, str] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)

    def stated(self, where: Where, key: str, text: str) -> str:
        """Return the expression for a text, whose definition is where it should be."""
        stem, name, known = self.part.stem, key.upper(), ""
        match where:
            case Where.HERE:
                return json.dumps(text)
            case Where.CONSTANT:
                self.constants.append(f"const {name} = {json.dumps(text)};\n")
                return name
            case Where.PACKAGE:
                path, source = f"{SOURCE}/texts_{stem}/index", f"../texts_{stem}"
            case Where.OUTSIDE:
                path, source = f"lib/{stem}_texts", f"../../lib/{stem}_texts"
            case Where.MISSING:
                path, source = "", f"../nowhere/{stem}_texts"
            case _:
                path, source = f"{SOURCE}/texts/{stem}_texts", f"../texts/{stem}_texts"
                known = "ITS_" * (where is Where.RENAMED)
        if path:
            start = "export const " if self.typed else "exports."
            path += self.suffix
            code = f"{start}{name} = {json.dumps(text)};\n"
            self.files[path] = self.files.get(path, "") + code
        self.imports.append(self.imported(name, known + name, source))
        return known + name

    @property
    def suffix(self) -> str:
        return ".ts" if self.typed else ".js"

    def imported(self, name: str, known: str, source: str) -> str:
        if self.typed:
            renamed = name if known == name else f"{name} as {known}"
            return f'import {{ {renamed} }} from "{source}";\n'
        renamed = name if known == name else f"{name}: {known}"
        return f'const {{ {renamed} }} = require("{source}");\n'

    def name_of(self, command: Command) -> str:
        return self.stated(self.part.names, f"{command.name}_name", command.name)

    def text_of(self, command: Command) -> str:
        return self.stated(self.part.texts, f"{command.name}_text", command.description)

    def whole(self, body: str, above: Callable[[str], str]) -> dict[str, str]:
        """Return the files of the part; `above` writes a file that has it from another one."""
        part = self.part
        leaf = f"{SOURCE}/{part.folder}/{part.stem}{self.suffix}"
        code = self.start + "".join([*dict.fromkeys(self.imports), *self.constants]) + body
        if part.base in {Where.HERE, Where.CONSTANT}:
            return {**self.files, leaf: code}
        files = dict(self.files)
        for level in range(part.above):
            module = f"{part.stem}_base{level}"
            match part.base:
                case Where.PACKAGE:
                    path, source = f"{SOURCE}/{module}/index{self.suffix}", f"../{module}"
                case Where.OUTSIDE if not level:
                    path, source = f"lib/{module}{self.suffix}", f"../../lib/{module}"
                case Where.MISSING if not level:
                    path, source = "", f"../nowhere/{module}"
                case _:
                    path, source = f"{SOURCE}/base/{module}{self.suffix}", f"../base/{module}"
            if path:
                files[path] = code
            code = above(source)
        return {**files, leaf: code}

    def exported(self, body: str) -> dict[str, str]:
        """Return the files of a part that exports its commands, or has them exported."""
        if self.typed:
            return self.whole(body, lambda source: f'export * from "{source}";\n')
        return self.whole(body, lambda source: f'module.exports = require("{source}");\n')


def _slash(_part: Part, command: Command) -> str:
    return " ".join([f"/{command.name}", *(f"<{option}>" for option in command.options)])


def _prefix(_part: Part, command: Command) -> str:
    return "{prefix}" + _slash(_part, command)[1:]


def _chain(command: Command, made: str, name: str, text: str, *, lists: bool = False) -> str:
    calls = [made, f".setName({name})", f".setDescription({text})"]
    for option in command.options:
        inner = f'(it) => it.setName("{option}").setDescription("It.").setRequired(true)'
        calls.append(f".addStringOptions([{inner}])" if lists else f".addStringOption({inner})")
    return "".join(calls)


def _braces(command: Command, name: str, text: str) -> str:
    options = ", ".join(
        f'{{ name: "{option}", description: "It.", type: 3, required: true }}'
        for option in command.options
    )
    return f"name: {name}, description: {text}, options: [{options}]"


def _owner(command: Command) -> str:
    return ", ownerOnly: true" if command.is_owner else ""


Item = Callable[[Script, Command], str]


def _list(item: Item, start: str) -> Callable[[Part], dict[str, str]]:
    """Return a writer of files that export a list of commands."""

    def write(part: Part) -> dict[str, str]:
        script = Script(part, start)
        items = [item(script, command) for command in part.commands]
        return script.exported("module.exports = [\n  " + ",\n  ".join(items) + "\n];\n")

    return write


def _builder(script: Script, command: Command) -> str:
    made = "new SlashCommandBuilder()"
    chain = _chain(command, made, script.name_of(command), script.text_of(command))
    return f"{{ data: {chain}{_owner(command)}, async execute(interaction) {{}} }}"


def _builder_15(script: Script, command: Command) -> str:
    made = "new ChatInputCommandBuilder()"
    chain = _chain(command, made, script.name_of(command), script.text_of(command), lists=True)
    return f"{{ data: {chain}{_owner(command)}, execute: async (interaction) => {{}} }}"


def _object(script: Script, command: Command) -> str:
    members = _braces(command, script.name_of(command), script.text_of(command))
    return f"{{ {members}{_owner(command)}, execute(it) {{}}, autocomplete(it) {{}} }}"


def _given(script: Script, command: Command) -> str:
    members = _braces(command, script.name_of(command), script.text_of(command))
    return f"new Command({{ {members}{_owner(command)}, execute(it) {{}} }})"


def _prefixed(script: Script, command: Command) -> str:
    usage = " ".join(f"<{option}>" for option in command.options)
    return (
        f"{{ name: {script.name_of(command)}, description: {script.text_of(command)}, "
        f'usage: "{usage}", aliases: []{_owner(command)}, run(it, words) {{}} }}'
    )


def _made(script: Script, command: Command) -> str:
    made = f"{script.part.stem}Slash"
    line = (
        f"class {made} extends SlashCommandBuilder {{ setRun(run) {{ this.run = run; "
        "return this; } }\n"
    )
    if line not in script.constants:
        script.constants.append(line)
    chain = _chain(command, f"new {made}()", script.name_of(command), script.text_of(command))
    return f"{chain}.setRun(() => 1)"


Class = Callable[[Script, Command, str], str]


def _classes(item: Class, start: str) -> Callable[[Part], dict[str, str]]:
    """Return a writer of TypeScript files that export a class for each command."""

    def write(part: Part) -> dict[str, str]:
        script = Script(part, start, typed=True)
        names = [f"{command.name.title()}Thing" for command in part.commands]
        pairs = zip(part.commands, names, strict=True)
        return script.exported("".join(item(script, command, name) for command, name in pairs))

    return write


def _sapphire(script: Script, command: Command, name: str) -> str:
    own = ', preconditions: ["OwnerOnly"]' * command.is_owner
    chain = _chain(command, "it", "this.name", "this.description")
    return (
        f"@ApplyOptions<Command.Options>({{ name: {script.name_of(command)}, "
        f"description: {script.text_of(command)}{own} }})\nexport class {name} extends Command {{\n"
        f"  public override registerApplicationCommands(registry) {{\n"
        f"    registry.registerChatInputCommand((it) => {chain});\n  }}\n}}\n"
    )


def _sapphire_message(script: Script, command: Command, name: str) -> str:
    own = ', preconditions: ["OwnerOnly"]' * command.is_owner
    return (
        f"export class {name} extends Command {{\n  constructor(context, options) {{\n"
        f"    super(context, {{ ...options, name: {script.name_of(command)}, "
        f"description: {script.text_of(command)}{own} }});\n  }}\n"
        f"  public async messageRun(message) {{}}\n}}\n"
    )


def _slash_create(script: Script, command: Command, name: str) -> str:
    members = _braces(command, script.name_of(command), script.text_of(command))
    return (
        f"export class {name} extends SlashCommand {{\n  constructor(creator) {{\n"
        f"    super(creator, {{ {members}{_owner(command)} }});\n  }}\n  async run(ctx) {{}}\n}}\n"
    )


def _seyfert_options(command: Command) -> str:
    inner = ", ".join(
        f'{option}: createStringOption({{ description: "It.", required: true }})'
        for option in command.options
    )
    return f"@Options({{ {inner} }})\n" if inner else ""


def _seyfert(script: Script, command: Command, name: str) -> str:
    return (
        f"@Declare({{ name: {script.name_of(command)}, description: {script.text_of(command)} }})\n"
        f"{_seyfert_options(command)}export class {name} extends Command {{\n"
        f"  async run(ctx) {{}}\n}}\n"
    )


def _seyfert_below(part: Part) -> dict[str, str]:
    """Return a command of Seyfert with the commands of a part below it."""
    script = Script(part, _SEYFERT, typed=True)
    classes = [f"{command.name.title()}Sub" for command in part.commands]
    code = "".join(
        f"@Declare({{ name: {script.name_of(command)}, description: {script.text_of(command)} }})\n"
        f"{_seyfert_options(command)}export class {name} extends SubCommand {{ run(ctx) {{}} }}\n"
        for command, name in zip(part.commands, classes, strict=True)
    )
    code += (
        f'@Declare({{ name: "{_group(part)}", description: "All." }})\n'
        f"@Options([{', '.join(classes)}])\nexport class Parent extends Command {{}}\n"
    )
    return script.exported(code)


def _group(part: Part) -> str:
    return part.commands[-1].name.rstrip("x") + "s"


def _below(part: Part, command: Command) -> str:
    return f"{_group(part)} {command.name}"


def _below_syntax(part: Part, command: Command) -> str:
    return f"/{_group(part)} " + _slash(part, command)[1:]


def _discordx(script: Script, command: Command, name: str) -> str:
    options = ", ".join(
        f'@SlashOption({{ name: "{option}", description: "It.", type: 3, required: true }}) '
        f"{option}: string"
        for option in command.options
    )
    guard = "  @Guard(IsOwner)\n" * command.is_owner
    return (
        f"@Discord()\nexport class {name} {{\n"
        f"  @Slash({{ name: {script.name_of(command)}, description: {script.text_of(command)} }})\n"
        f"{guard}  run({options}) {{}}\n}}\n"
    )


def _necord(script: Script, command: Command, name: str) -> str:
    fields = " ".join(
        f'@StringOption({{ name: "{option}", description: "It.", required: true }}) '
        f"{option}: string;"
        for option in command.options
    )
    return (
        f"class {name}Options {{ {fields} }}\nexport class {name} {{\n"
        f"  @SlashCommand({{ name: {script.name_of(command)}, "
        f"description: {script.text_of(command)} }})\n"
        f"  run(@Context() ctx, @Options() options: {name}Options) {{}}\n}}\n"
    )


def _nestjs(script: Script, command: Command, name: str) -> str:
    fields = " ".join(
        f'@Param({{ name: "{option}", description: "It.", required: true }}) {option}: string;'
        for option in command.options
    )
    return (
        f"class {name}Dto {{ {fields} }}\n"
        f"@Command({{ name: {script.name_of(command)}, description: {script.text_of(command)} }})\n"
        f"export class {name} {{\n  @Handler()\n  on(@InteractionEvent() dto: {name}Dto) {{}}\n}}\n"
    )


def _carbon(script: Script, command: Command, name: str) -> str:
    members = _braces(command, script.name_of(command), script.text_of(command))
    fields = members.replace("name: ", "name = ", 1)
    fields = fields.replace(", description: ", "; description = ", 1).replace(
        ", options: ", "; options = ", 1
    )
    return f"export class {name} extends Command {{ {fields}; async run(interaction) {{}} }}\n"


def _calls(item: Item, start: str, after: str = "") -> Callable[[Part], dict[str, str]]:
    """Return a writer of files in which a call declares each command."""

    def write(part: Part) -> dict[str, str]:
        script = Script(part, start)
        return script.exported("".join(item(script, each) for each in part.commands) + after)

    return write


def _oceanic(script: Script, command: Command) -> str:
    members = _braces(command, script.name_of(command), script.text_of(command))
    return f"client.application.createGlobalCommand({{ type: 1, {members} }});\n"


def _eris(script: Script, command: Command) -> str:
    usage = " ".join(f"<{option}>" for option in command.options)
    about = f'{{ description: {script.text_of(command)}, usage: "{usage}" }}'
    return f"bot.registerCommand({script.name_of(command)}, () => {{}}, {about});\n"


def _put(part: Part) -> dict[str, str]:
    script = Script(part, 'const { REST, Routes } = require("discord.js");\n')
    items = [
        f"{{ {_braces(command, script.name_of(command), script.text_of(command))} }}"
        for command in part.commands
    ]
    rest = "rest.put(Routes.applicationCommands(id), { body: commands });\n"
    listed = ",\n  ".join(items)
    return script.exported(f"const commands = [\n  {listed}\n];\n{rest}")


def _pushed(part: Part) -> dict[str, str]:
    script = Script(part, "")
    items = [
        "commands.push({ "
        f"{_braces(command, script.name_of(command), script.text_of(command))} }});\n"
        for command in part.commands
    ]
    code = "const commands = [];\n" + "".join(items)
    return script.exported(f"{code}InstallGlobalCommands(process.env.APP_ID, commands);\n")


def _menu(part: Part) -> dict[str, str]:
    script = Script(part, 'const { Composer } = require("grammy");\nconst own = new Composer();\n')
    code = "".join(
        f"own.command({script.name_of(command)}, {script.text_of(command)}, (ctx) => 1);\n"
        for command in part.commands
    )
    return script.exported(f"{code}module.exports = own;\n")


def _plugin(part: Part) -> dict[str, str]:
    """Return a part of CommandKit: a file of its own for each command."""
    files: dict[str, str] = {}
    for command in part.commands:
        script = Script(
            Part(
                command.name, (command,), part.folder, part.names, part.texts, part.base, part.above
            ),
            'import type { CommandData } from "commandkit";\n',
            typed=True,
        )
        members = _braces(command, script.name_of(command), script.text_of(command))
        guilds = 'export const metadata = { guilds: ["1"] };\n' * command.is_owner
        code = f"export const command: CommandData = {{ {members} }};\n{guilds}"
        files |= script.exported(f"{code}export const chatInput = async (it) => {{}};\n")
    return files


def _handler_class(part: Part) -> dict[str, str]:
    """Return a part whose classes extend the one of the bot's command handler."""
    script = Script(part, "")
    code, names = "", [f"{command.name.title()}Thing" for command in part.commands]
    for command, name in zip(part.commands, names, strict=True):
        members = _braces(command, script.name_of(command), script.text_of(command))
        code += (
            f"class {name} extends Base {{\n  constructor(client) {{\n"
            f"    super(client, {{ {members}{_owner(command)} }});\n"
            "  }\n  async run(it) {}\n}\n"
        )
    listed = ", ".join(names)
    base = "class Base { constructor(client, about) { Object.assign(this, about); } }\n"

    def above(source: str) -> str:
        head = "".join(script.imported(name, f"Its{name}", source) for name in names)
        classes = "".join(f"class {name} extends Its{name} {{}}\n" for name in names)
        return f"{head}{classes}module.exports = {{ {listed} }};\n"

    return script.whole(f"{base}{code}module.exports = {{ {listed} }};\n", above)


def _in_folder(
    write_one: Callable[[Script, Command], str], start: str = ""
) -> Callable[[Part], dict[str, str]]:
    """Return a writer of files with one sub-command each: their folder is the command."""

    def write(part: Part) -> dict[str, str]:
        files: dict[str, str] = {}
        for command in part.commands:
            script = Script(part, start, typed=True)
            code = write_one(script, command)
            head = start + "".join([*dict.fromkeys(script.imports), *script.constants])
            path = f"{SOURCE}/{part.folder}/commands/{part.stem}/{command.name}.ts"
            for own, text in script.files.items():
                files[own] = files.get(own, "") + text
            files[path] = f"{head}{code}"
        return files

    return write


def _of_folder(part: Part, command: Command) -> str:
    return f"{part.stem} {command.name}"


def _sub_builder(script: Script, command: Command) -> str:
    made = "new SlashCommandSubcommandBuilder()"
    chain = _chain(command, made, script.name_of(command), script.text_of(command))
    return f"export const data = {chain};\nexport async function execute(interaction) {{}}\n"


def _sub_object(shape: str) -> Callable[[Script, Command], str]:
    """Return a writer of an object that says in some way that it is a sub-command."""

    def write(script: Script, command: Command) -> str:
        members = _braces(command, script.name_of(command), script.text_of(command))
        return shape.replace("MEMBERS", members)

    return write


def _sub_class(base: str, decorator: str = "", method: str = "") -> Item:
    """Return a writer of a class that is a sub-command by its base class, or by a decorator."""

    def write(script: Script, command: Command) -> str:
        members = _braces(command, script.name_of(command), script.text_of(command))
        fields = members.replace("name: ", "name = ", 1)
        fields = fields.replace(", description: ", "; description = ", 1)
        body = method or fields.replace(", options: ", "; options = ", 1) + "; async run(it) {}"
        about = decorator.replace("NAME", script.name_of(command))
        about = about.replace("TEXT", script.text_of(command))
        line = about + "\n" if about else ""
        return f"{line}export class {command.name.title()}{base} {{ {body} }}\n"

    return write


def _sub_made(script: Script, command: Command) -> str:
    chain = _chain(command, "this", script.name_of(command), script.text_of(command))
    return (
        f"export class {command.name.title()} extends SlashCommandSubcommandBuilder {{\n"
        f"  constructor() {{ super(); {chain}; }}\n  async run(it) {{}}\n}}\n"
    )


def _sub_necord(script: Script, command: Command) -> str:
    about = f"name: {script.name_of(command)}, description: {script.text_of(command)}"
    return f"export class {command.name.title()} {{ @Subcommand({{ {about} }}) run(it) {{}} }}\n"


_OTHER: Mapping[str, str] = {
    f"{SOURCE}/other.js": "const { SlashCommandBuilder } = require('discord.js');\n"
    "exports.data = new SlashCommandBuilder().setName('other').setDescription('Shows it.');\n"
}
_BUILDS_FOLDERS: Mapping[str, str] = {
    f"{SOURCE}/deploy.js": """\
const { SlashCommandBuilder } = require("discord.js");
for (const folder of fs.readdirSync("./commands")) {
  const above = new SlashCommandBuilder().setName(folder).setDescription(folder);
  for (const file of fs.readdirSync(`./commands/${folder}`)) {
    const own = require(`./commands/${folder}/${file}`).default;
    above.addSubcommand((sub) => sub.setName(own.name).setDescription(own.description));
  }
}
"""
}
_PUSHES_FOLDERS: Mapping[str, str] = {
    f"{SOURCE}/deploy.js": """\
const commands = [];
for (const folder of fs.readdirSync("./commands")) {
  const options = [];
  for (const file of fs.readdirSync(`./commands/${folder}`)) {
    const own = require(`./commands/${folder}/${file}`).default;
    options.push({ type: 1, name: own.name, description: own.description });
  }
  commands.push({ name: folder, description: folder, options });
}
client.application.commands.set(commands);
"""
}


def _folder_form(name: str, write: Item, start: str = "", extra: Mapping[str, str] = {}) -> Form:
    return Form(
        f"sub-commands of a folder: {name}",
        _in_folder(write, start),
        _slash,
        full_name=_of_folder,
        varies=_OPTIONS,
        has_owner=False,
        extra={**_OTHER, **extra},
        beside=frozenset({"other"}),
        is_read=False,
    )


_RUNS = "export default { MEMBERS, async execute(interaction) {} };\n"

_DISCORD = "const { SlashCommandBuilder, ChatInputCommandBuilder } = require('discord.js');\n"
_SAPPHIRE = (
    'import { ApplyOptions } from "@sapphire/decorators";\n'
    'import { Command } from "@sapphire/framework";\n'
)
_SEYFERT = 'import { Command, SubCommand, Declare, Options, createStringOption } from "seyfert";\n'
_DISCORDX = (
    'import { Discord, Guard, Slash, SlashOption } from "discordx";\n'
    'import { IsOwner } from "@discordx/utilities";\n'
)
_NECORD = 'import { Context, Options, SlashCommand, StringOption } from "necord";\n'
_NESTJS = 'import { Command, Handler, InteractionEvent, Param } from "@discord-nestjs/core";\n'

FORMS: Sequence[Form] = (
    Form("builders", _list(_builder, _DISCORD), _slash, varies=_WITH_BASE),
    Form("builders of discord.js 15", _list(_builder_15, _DISCORD), _slash, varies=_WITH_BASE),
    Form(
        "a subclass of a builder",
        _list(_made, _DISCORD),
        _slash,
        varies=_WITH_BASE,
        has_owner=False,
    ),
    Form("objects of a handler", _list(_object, ""), _slash, varies=_WITH_BASE),
    Form(
        "objects given to a class",
        _list(_given, 'const { Command } = require("../../lib/c");\n'),
        _slash,
        varies=_WITH_BASE,
    ),
    Form("prefix commands of a handler", _list(_prefixed, ""), _prefix, varies=_WITH_BASE),
    Form("classes of a handler", _handler_class, _slash, varies=_WITH_BASE),
    Form("Sapphire", _classes(_sapphire, _SAPPHIRE), _slash, varies=_WITH_BASE),
    Form(
        "Sapphire, prefix",
        _classes(_sapphire_message, _SAPPHIRE),
        _prefix,
        varies=_WITH_BASE,
        has_options=False,
    ),
    Form(
        "slash-create",
        _classes(_slash_create, 'import { SlashCommand } from "slash-create";\n'),
        _slash,
        varies=_WITH_BASE,
    ),
    Form("Seyfert", _classes(_seyfert, _SEYFERT), _slash, varies=_WITH_BASE, has_owner=False),
    Form(
        "Seyfert, sub-commands",
        _seyfert_below,
        _below_syntax,
        full_name=_below,
        varies=_WITH_BASE,
        has_owner=False,
    ),
    Form("discordx", _classes(_discordx, _DISCORDX), _slash, varies=_WITH_BASE),
    Form("necord", _classes(_necord, _NECORD), _slash, varies=_WITH_BASE, has_owner=False),
    Form("discord-nestjs", _classes(_nestjs, _NESTJS), _slash, varies=_WITH_BASE, has_owner=False),
    Form(
        "Carbon",
        _classes(_carbon, 'import { Command } from "@buape/carbon";\n'),
        _slash,
        varies=_WITH_BASE,
        has_owner=False,
    ),
    Form("CommandKit", _plugin, _slash, varies=_WITH_BASE),
    Form(
        "oceanic.js",
        _calls(_oceanic, 'const { Client } = require("oceanic.js");\n'),
        _slash,
        varies=_WITH_BASE,
        has_owner=False,
    ),
    Form(
        "eris",
        _calls(_eris, 'const Eris = require("eris");\n'),
        _prefix,
        varies=_WITH_BASE,
        has_owner=False,
    ),
    Form("a list that is put", _put, _slash, varies=_WITH_BASE, has_owner=False),
    Form("a list given to a function", _pushed, _slash, varies=_WITH_BASE, has_owner=False),
    Form(
        "grammY",
        _menu,
        lambda _, command: f"/{command.name}",
        varies=_WITH_BASE,
        has_options=False,
        has_owner=False,
    ),
    _folder_form(
        *("builders", _sub_builder),
        'import { SlashCommandSubcommandBuilder } from "discord.js";\n',
    ),
    _folder_form(
        *("objects with a type", _sub_object(_RUNS.replace("MEMBERS", "type: KIND, MEMBERS"))),
        'import { ApplicationCommandOptionType } from "discord.js";\n'
        "const KIND = ApplicationCommandOptionType.Subcommand;\n",
    ),
    _folder_form(
        "typed objects",
        _sub_object(
            "export const data: Sub = { MEMBERS };\nexport const run = async (it) => {};\n"
        ),
        'import type { ApplicationCommandSubCommandData as Sub } from "discord.js";\n',
    ),
    _folder_form(
        "objects with a key", _sub_object(_RUNS.replace("async", "isSubCommand: true, async"))
    ),
    _folder_form("objects of a builder", _sub_object(_RUNS), extra=_BUILDS_FOLDERS),
    _folder_form("objects of a list", _sub_object(_RUNS), extra=_PUSHES_FOLDERS),
    _folder_form(
        *("a class", _sub_class(" extends SubCommand")),
        'import { SubCommand } from "../../../../lib/handler";\n',
    ),
    _folder_form(
        *("a builder's class", _sub_made),
        'import { SlashCommandSubcommandBuilder } from "discord.js";\n',
    ),
    _folder_form(
        "Seyfert",
        _sub_class(
            " extends SubCommand", "@Declare({ name: NAME, description: TEXT })", "run(it) {}"
        ),
        'import { Declare, SubCommand } from "seyfert";\n',
    ),
    _folder_form(
        "discord-nestjs",
        _sub_class("", "@SubCommand({ name: NAME, description: TEXT })", "@Handler() run(it) {}"),
        'import { Handler, SubCommand } from "@discord-nestjs/core";\n',
    ),
    _folder_form("necord", _sub_necord, 'import { Subcommand } from "necord";\n'),
)
"""Each form that is read."""
