"""Commands as bots in JavaScript write them, in every form; and what discord.js makes of them.

`python -m tests.support.jsforms FOLDER` records that, if discord.js is installed in the folder.
"""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

RECORDED = Path(__file__).parents[1] / "fixtures" / "javascript" / "builders.json"
FORMS = ("chain", "statements", "instances", "object", "constants")
FILES = {
    "default.mjs": "export default {{ data: {0}, async execute(interaction) {{}} }};",
    "named.mjs": "export const data = {0};\nexport async function execute(interaction) {{}}",
    "exports.cjs": "module.exports = {{ cooldown: 5, data: {0}, execute: async (i) => {{}} }};",
    "member.cjs": "exports.data = {0};\nexports.run = async (client, interaction) => {{}};",
    "function.cjs": "const make = (name) => ({0});\nmodule.exports = {{ data: make('a') }};",
    "typed.ts": "export default {{ data: {0} as any, run: (i: any) => {{}} }} satisfies object;",
}
_TYPES = ("String", "Integer", "Boolean", "User", "Channel", "Role", "Mentionable", "Number")
_TEXTS = (
    "Plays a song",
    'It\'s "loud"',
    "`a` ${b}",
    "zwei\nZeilen",
    "C:\\new",
    "🎲 dé",
    "{prefix}x",
)
_QUOTED = "\"'`+"
_NODE = """
const read = async (file) => {
  const module = await import('file://' + file);
  return JSON.parse(JSON.stringify(module.data ?? module.default.data));
};
Promise.all(process.argv.slice(1).map(read)).then((all) => console.log(JSON.stringify(all)));
"""


@dataclass
class Writer:
    """Writes a document in one of the forms."""

    random: Random
    form: str
    constants: list[str] = field(default_factory=list)

    def text(self, value: str) -> str:
        inner = json.dumps(value)[1:-1]
        quote = self.random.choice(_QUOTED)
        if self.form == "constants":
            self.constants.append(f"const t{len(self.constants)} = {json.dumps(value)};")
            return f"t{len(self.constants) - 1}"
        if quote == "+":
            return f"{json.dumps(value[:3])} + {json.dumps(value[3:])}"
        plain = inner.replace('\\"', '"').replace(quote, f"\\{quote}")
        return quote + (plain.replace("${", "\\${") if quote == "`" else plain) + quote

    def calls(self, node: dict[str, Any]) -> list[str]:
        calls = [f"setName({self.text(node['name'])})"]
        if "description" in node:
            calls.append(f"setDescription({self.text(node['description'])})")
        for key, call in (("required", "setRequired"), ("nsfw", "setNSFW")):
            calls += [f"{call}({str(node[key]).lower()})"] if key in node else []
        if "name_localizations" in node:
            calls.append(f"setNameLocalizations({self.braces(node['name_localizations'])})")
        if "default_member_permissions" in node:
            bits = node["default_member_permissions"]
            flag = "PermissionFlagsBits.Administrator" if bits == "8" else f"{bits}n"
            calls.append(f"setDefaultMemberPermissions({flag})")
        if "choices" in node:
            written = [self.braces(choice) for choice in node["choices"]]
            calls.append(f"addChoices({', '.join(written)})")
        return [*calls, *(self.option(option) for option in node.get("options", ()))]

    def option(self, node: dict[str, Any]) -> str:
        number = node["type"]
        what = {1: "Subcommand", 2: "SubcommandGroup"}.get(number) or f"{_TYPES[number - 3]}Option"
        calls = self.calls(node)
        chain = "".join(f".{call}" for call in calls)
        if self.form == "instances":
            return f"add{what}(new SlashCommand{what}{'' if number > 2 else 'Builder'}(){chain})"
        lines = "".join(f" o.{call};" for call in calls)
        block = f"(o) => {{{lines} return o; }}"
        function = f"function (option) {{ return option{chain}; }}"
        return f"add{what}({self.random.choice((f'(o) => o{chain}', block, function))})"

    def braces(self, node: dict[str, Any]) -> str:
        members = [
            f"{self.random.choice((key, repr(key)))}: {self.value(key, value)}"
            for key, value in node.items()
        ]
        if self.form == "constants":
            self.constants.append(f"const o{len(self.constants)} = {{ {', '.join(members)} }};")
            return f"{{ ...o{len(self.constants) - 1} }}"
        return f"{{ {', '.join(members)} }}"

    def value(self, key: str, value: object) -> str:
        if isinstance(value, dict):
            return self.braces(value)
        if isinstance(value, list):
            return f"[{', '.join(self.braces(each) for each in value)}]"
        if (
            key == "type"
            and isinstance(value, int)
            and 3 <= value <= 10
            and self.form == "constants"
        ):
            return f"ApplicationCommandOptionType.{_TYPES[value - 3]}"
        return self.text(value) if isinstance(value, str) else json.dumps(value)

    def source(self, document: dict[str, Any], frame: str) -> str:
        calls = self.calls(document) if self.form != "object" else []
        made = "new SlashCommandBuilder()"
        if self.form == "object" or (self.form == "constants" and self.random.random() < 0.5):
            made = self.braces(document)
        elif self.form == "statements":
            self.constants += [f"const b = {made};", *(f"b.{call};" for call in calls)]
            made = "b"
        else:
            made += "".join(f"\n  .{call}" for call in calls)
        return "\n".join((*self.constants, frame.format(made)))


def document(random: Random) -> dict[str, Any]:
    """Draw a command as Discord has it."""
    node = _node(random)
    kinds = random.choice(([], [1], [1, 2], [3, 4, 5, 6], [3, 7, 8, 9, 10]))
    node["options"] = [_option(random, kind) for kind in kinds]
    if random.random() < 0.3:
        node["nsfw"] = random.random() < 0.5
    if random.random() < 0.3:
        node["default_member_permissions"] = random.choice(("8", "4", "0"))
    return node


def _node(random: Random) -> dict[str, Any]:
    name = "".join(random.choices("abcxyz-", k=6)) + str(random.randrange(1000))
    node = {"name": f"n{name}", "description": random.choice(_TEXTS)}
    extra = {"name_localizations": {"de": f"d{name}"}} if random.random() < 0.3 else {}
    return {**node, **extra}


def _option(random: Random, kind: int) -> dict[str, Any]:
    node = {"type": kind, **_node(random)}
    if kind < 3:
        node["options"] = [_option(random, random.choice((3, 4, 6)) if kind == 1 else 1)]
        return node
    node["required"] = random.random() < 0.5
    if kind == 3 and random.random() < 0.7:
        names = random.sample(("on", "off", "It's", "a|b", "auto"), random.randrange(1, 4))
        node["choices"] = [{"name": name, "value": name} for name in names]
    return node


def drawn(seed: int) -> tuple[str, str, dict[str, Any]]:
    """Return the name of a file, its code, and the command that it declares."""
    random = Random(seed)  # noqa: S311 - which draws the same again
    command, name = document(random), random.choice(list(FILES))
    head = "SlashCommandBuilder, PermissionFlagsBits, ApplicationCommandOptionType"
    classes = (f"SlashCommand{each}Option" for each in _TYPES)
    parts = ", ".join(
        (head, *classes, "SlashCommandSubcommandBuilder", "SlashCommandSubcommandGroupBuilder")
    )
    imported = f"const {{ {parts} }} = require('discord.js');"
    if not name.endswith("cjs"):
        imported = f"import {{ {parts} }} from 'discord.js';"
    return (
        name,
        f"{imported}\n{Writer(random, random.choice(FORMS)).source(command, FILES[name])}\n",
        command,
    )


def made_by_discord_js(folder: Path, seeds: range) -> list[dict[str, Any]]:
    """Return what discord.js makes of drawn code; of code with types, without them."""
    files = []
    for seed in seeds:
        name, code, _ = drawn(seed)
        plain = code.replace(" as any", "").replace(": any", "").replace(" satisfies object", "")
        file = folder / f"{seed}-{name}".replace(".ts", ".mjs")
        file.write_text(plain, encoding="utf-8")
        files.append(str(file))
    command = (shutil.which("node") or "node", "-e", _NODE, *files)
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    made: list[dict[str, Any]] = json.loads(ended.stdout)
    return made


if __name__ == "__main__":
    everything = made_by_discord_js(Path(sys.argv[1]).resolve(), range(60))
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text(
        json.dumps(everything, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
