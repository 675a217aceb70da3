"""How soon the code of a large bot is read, against bare parsing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.benchmarks.budgets import (
    COMMANDSYNC,
    PYTHON,
    Row,
    best,
    peak_memory,
    printed_seconds,
    ratio,
)

if TYPE_CHECKING:
    from pathlib import Path

READ = """
import sys, time
begun = time.process_time()
from commandsync.sources.python import read
assert len(read(sys.argv[1]).entries) == 6_000
print(time.process_time() - begun)
"""
SCRIPTS = """
import sys, time
begun = time.process_time()
from commandsync.sources.javascript import read
assert len(read(sys.argv[1]).entries) == 2_000
print(time.process_time() - begun)
"""
PARSE_SCRIPTS = """
import sys, time
from pathlib import Path
begun = time.process_time()
from tree_sitter import Language, Parser
from tree_sitter_javascript import language
javascript = Language(language())
for path in Path(sys.argv[1]).rglob("*.js"):
    Parser(javascript).parse(path.read_bytes())
print(time.process_time() - begun)
"""
PARSE = """
import ast, sys, time
from pathlib import Path
begun = time.process_time()
for path in Path(sys.argv[1]).rglob("*.py"):
    ast.parse(path.read_bytes())
print(time.process_time() - begun)
"""
"""What any program pays that reads the syntax trees of the files."""

_FILES = 2_000
_ROUNDS = 3
_COMMAND = '''
    @commands.hybrid_command(name="{name}")
    @commands.guild_only()
    @app_commands.describe(member="Who", mode="How")
    async def {name}(
        self,
        ctx: commands.Context,
        member: discord.Member,
        reason: Optional[str] = None,
        *,
        mode: Literal["on", "off"] = "on",
    ):
        """Does the thing that is called {name}.

        And says so.
        """
{body}
'''
_BODY = """
        row = await self.bot.database.fetch("select * from things where id = $1", member.id)
        if row is not None and row["count"] > {number}:
            embed = discord.Embed(title=f"Thing {{row['id']}}", description=str(reason))
            await ctx.send(embed=embed)
"""
_SCRIPT = """const { SlashCommandBuilder, PermissionFlagsBits } = require('discord.js');

module.exports = {
  cooldown: 5,
  data: new SlashCommandBuilder()
    .setName('command-NUMBER')
    .setDescription('Does the thing number NUMBER.')
    .addUserOption((option) => option.setName('member').setRequired(true))
    .addStringOption((option) => option.setName('why').addChoices({ name: 'Spam', value: 'a' }))
    .setDefaultMemberPermissions(PermissionFlagsBits.BanMembers),
  async execute(interaction) {
    const member = interaction.options.getUser('member');
STEPS
    if (!member) return interaction.reply({ content: 'Nobody' });
    await interaction.reply(`Done for ${member}`);
  },
};
"""
_STEP = """
    const rowSTEP = await client.database.fetch('select * from things where id = $1', member.id);
    if (rowSTEP !== null && rowSTEP.count > STEP) {
      const embed = new EmbedBuilder().setTitle(`Thing ${rowSTEP.id}`).setColor(0xff0000);
      await interaction.followUp({ embeds: [embed], ephemeral: true });
    }
    for (const role of interaction.guild.roles.cache.values()) {
      if (!role.editable) continue;
      try { await member.roles.add(role); } catch (error) { console.error('failed', error); }
    }
    const found = [...interaction.guild.channels.cache.values()].map((channel) => channel.id);
    await interaction.editReply({ content: `Done for ${member} in ${found.join(', ')}` });
"""


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    code, scripts = _write_bot(folder / "bot"), _write_scripts(folder / "commands")
    found = best(
        {
            "read": printed_seconds(PYTHON, "-c", READ, code),
            "parse": printed_seconds(PYTHON, "-c", PARSE, code),
            "scripts": printed_seconds(PYTHON, "-c", SCRIPTS, scripts),
            "trees": printed_seconds(PYTHON, "-c", PARSE_SCRIPTS, scripts),
        },
        rounds=_ROUNDS,
    )
    manifest = str(folder / "imported" / "commands.yaml")
    (folder / "imported").mkdir()
    memory = peak_memory(*COMMANDSYNC, "import", code, "--file", manifest)
    return [
        ratio(
            "reading 2,000 Python files / `ast.parse` of them", found["read"], found["parse"], 2.5
        ),
        Row("reading 2,000 Python files", found["read"], 10, "s"),
        ratio(
            "reading 2,000 JavaScript files / tree-sitter's parsing of them",
            found["scripts"],
            found["trees"],
            2.5,
        ),
        Row("reading 2,000 JavaScript files", found["scripts"], 10, "s"),
        Row("the memory of importing 2,000 Python files", memory, 600, "MB"),
    ]


def _write_bot(folder: Path) -> str:
    """Write 2,000 files of about 100 lines, each a cog of three commands."""
    for number in range(_FILES):
        package = folder / f"package{number % 40}"
        package.mkdir(parents=True, exist_ok=True)
        (package / f"cog{number}.py").write_text(_cog(number), encoding="utf-8")
    return str(folder)


def _write_scripts(folder: Path) -> str:
    """Write 2,000 files of about 100 lines, each with a command."""
    steps = "".join(_STEP.replace("STEP", str(step)) for step in range(6))
    for number in range(_FILES):
        package = folder / f"package{number % 40}"
        package.mkdir(parents=True, exist_ok=True)
        script = _SCRIPT.replace("NUMBER", str(number)).replace("STEPS", steps)
        (package / f"command{number}.js").write_text(script, encoding="utf-8")
    return str(folder)


def _cog(number: int) -> str:
    body = "".join(_BODY.format(number=step) for step in range(4))
    methods = "".join(
        _COMMAND.format(name=f"command{number}_{method}", body=body) for method in range(3)
    )
    return (
        "import discord\nfrom typing import Literal, Optional\n"
        "from discord import app_commands\nfrom discord.ext import commands\n\n\n"
        f'class Cog{number}(commands.Cog):\n    """A cog."""\n{methods}\n\n'
        f"async def setup(bot):\n    await bot.add_cog(Cog{number}(bot))\n"
    )
