"""The whole way of a bot's commands: from its code to its page, and on after a change."""

import shutil

from tests.support.bots import Service
from tests.support.home import ROOT, Home

COMMANDS = [
    *("roll", "flip", "ask", "ping", "help", "avatar", "Report message", "mod timeout"),
    *("mod notes add", "mod notes list", "slowmode", "slowmode off"),
]


def test_commands_come_from_the_code_and_keep_their_uses_when_they_are_renamed(
    home: Home, service: Service
) -> None:
    bot = service.bot()
    home.knows(bot)
    home.write('version: 1\nprefix: "!"\nimport: {from: bot}\ncommands: []\n')
    shutil.copytree(ROOT / "examples" / "bot", home.path / "bot")

    imported = home.run("import", "--yes", "-v")
    assert imported.code == 0
    assert "left out: reload  (bot/cogs/owner.py:14:5): it is hidden and owner-only" in imported.err
    assert home.run("validate").out == "commands.yaml: 12 commands, no problems\n"
    assert "Plan: 12 to add, 0 to edit, 0 to delete, 0 unchanged." in home.run("plan").out
    applied = home.run("apply", "--yes")
    assert applied.code == 0, applied.said
    assert bot.names() == COMMANDS
    listed = {command["name"]: command for command in bot.commands()}
    assert listed["flip"]["syntax"] == "/flip <side>"
    assert listed["ask"]["syntax"] == "!ask <question>"
    assert home.run("docs", "COMMANDS.md").code == 0
    assert "/flip" in home.read("COMMANDS.md")
    assert home.run("commands", "set-uses", listed["flip"]["id"], "7").code == 0

    code = home.read("bot/cogs/fun.py")
    home.write(code.replace('name="flip"', 'name="coin"'), "bot/cogs/fun.py")
    assert home.run("import", "--check").code == 3
    again = home.run("import", "--yes")
    assert (
        "Import: 0 to add, 1 to edit, 0 to remove, 0 to review, 11 unchanged, 1 left out."
        in again.out
    )
    assert "  - name: coin\n" in home.read("commands.yaml")
    assert "    formerly: [flip]\n" in home.read("commands.yaml")
    assert home.run("docs", "--check").code == 3
    assert home.run("import", "--check").code == 0
    plan = home.run("plan", "--format", "json").document
    (change,) = plan["changes"]
    assert (change["action"], change["renamed_from"], change["name"]) == ("edit", "flip", "coin")

    assert home.run("apply", "--yes").code == 0
    renamed = {command["name"]: command for command in bot.commands()}
    assert renamed["coin"]["id"] == listed["flip"]["id"]
    assert renamed["coin"]["uses"] == 7
    assert len(renamed) == len(COMMANDS)
