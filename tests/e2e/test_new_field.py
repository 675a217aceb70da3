"""The recipe "A new field of a command" of CONTRIBUTING.md, carried out on a copy of the package.

The field exists in no file but those that the recipe names, and goes from YAML to the page and
back.
"""

import json
import re
from pathlib import Path

import pytest

from tests.support.recipe import Recipe, named

pytestmark = pytest.mark.thorough

COMMAND = {"name": "help", "description": "Helps.", "syntax": "/help"}
MANIFEST = """\
version: 1
sync: {max_deletes: all}
commands:
- {name: help, description: Helps., syntax: "/help", cooldown: 5 s}
- {name: ping, description: Pongs., syntax: "/ping", cooldown: 1 h}
"""
ADD = """
import os
from commandsync import Client
with Client(os.environ["COMMANDSYNC_TOKEN"], os.environ["COMMANDSYNC_BASE_URL"]) as client:
    client.add_command("pong", "Pings.", "/pong", cooldown="9 s")
    (command,) = (each for each in client.get_commands() if each.name == "pong")
    client.edit_command(command.id, "pong", "Pings.", "/pong", cooldown=command.cooldown + " more")
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """Carry the recipe out on a copy."""
    made, field = Recipe(tmp_path), '    cooldown: str = ""\n'
    made.insert("records/texts.py", field, before="\n\nclass LoadedCommand(")
    made.insert("records/models.py", '    cooldown: OptionalText = ""\n', before="    uses: Annot")
    made.insert("manifest/fields.py", '"cooldown", ', before='"name", "description", "syntax"')
    key = '    cooldown: fields.DefaultCategory = ""\n'
    made.insert("manifest/model.py", key, before="    formerly: fields.Texts = Field(")
    made.insert("manifest/model.py", ", canonical(self.cooldown)", before=")\n\n\nclass Announce")
    listed = "    cooldown: str | None = None\n"
    made.insert("server/bodies.py", listed, before="    uses: Count = Field(examples")
    written = "    cooldown: Category | None = None\n"
    made.insert("server/bodies.py", written, before="\n\nclass CommandEdit(")
    step = (
        "    if 0 < version:\n"
        '        new = Column("cooldown", String, nullable=False, server_default="")\n'
        '        op.add_column("commands", new)\n'
    )
    made.insert("server/migrations.py", step, before="    metadata.create_all(")
    made.insert("server/migrations.py", "LATEST = 1_000\n", before='"""The newest version;')
    library = "client/asynclibrary.py"
    for result in ("Command | None", "None"):
        signature = f'category: str | None = None\n    ) -> {result}:\n        """'
        made.insert(library, 'cooldown: str = "", ', before=signature)
    add = "operation = operations.add_record(self.bot, Resource.COMMAND"
    for call in (add, "await self.call(operations.edit(self.bot, Resource.COMMAND"):
        made.insert(library, "text = text._replace(cooldown=cooldown)\n        ", before=call)
    made.python(".ci/clients.py")
    return made


def test_a_new_field_needs_the_files_of_the_recipe_and_no_other(recipe: Recipe) -> None:
    assert recipe.files == named("A new field of a command")


def test_a_new_field_goes_from_yaml_to_the_listing_and_back(recipe: Recipe) -> None:
    root = recipe.root
    (root / "commands.yaml").write_text(MANIFEST, encoding="utf-8")
    lossy = "listings:\n- {service: telegram, lossy: [cooldown]}\n"
    (root / "telegram.yaml").write_text(MANIFEST + lossy, encoding="utf-8")

    with recipe.served(commands=[{**COMMAND, "cooldown": "4 s"}]) as call:
        assert re.search('cooldown: +"4 s" → "5 s"', call("plan"))
        assert "| Cooldown |" in call("plan", "--format", "markdown")
        assert json.loads(call("apply", "--yes", "--format", "json"))["verified"] is True
        assert "0 to add" in call("plan", "--detailed-exitcode")

        later = MANIFEST.replace("5 s", "6 s").replace("1 h", "2 h")
        (root / "commands.yaml").write_text(later, encoding="utf-8")
        plan = json.loads(call("plan", "--format", "json", "--out", "saved.json"))
        assert [[*change["fields"]] for change in plan["changes"]] == [["cooldown"]] * 2
        call("apply", "--plan", "saved.json", "--yes")

        pulled = call("pull")
        assert 'cooldown: "6 s"' in pulled
        (root / "pulled.yaml").write_text(pulled, encoding="utf-8")
        assert "0 to add" in call("plan", "-f", "pulled.yaml", "--detailed-exitcode")
        assert "<p>2 h</p>" in call.page()

        call.script(ADD)
        call("commands", "add", "--name=x", "--description=y", "--syntax=z", "--cooldown=2 d")
        rows = call("commands", "list").splitlines()
        assert "COOLDOWN" in rows[0].split()
        assert [row.split("  ")[-1].strip() for row in rows[1:]] == [
            "6 s",
            "2 h",
            "9 s more",
            "2 d",
        ]
        (fact,) = re.findall("shows the cooldown +([a-z]+)", call("listings"))
        assert fact == "yes"
        assert "cooldown" in call("schema")
        assert "no problems" in call("validate", "-f", "telegram.yaml")
