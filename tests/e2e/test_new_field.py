"""The recipe "A new field of a command" of CONTRIBUTING.md, carried out on a copy of the package.

The field exists in no file but those that the recipe names, and goes from YAML to the page and
back.
"""

import json
import re
from functools import partial

import pytest

from tests.support.home import Home
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
from commandsync import Client, Command
assert Command(name="old", description="d", syntax="s").cooldown == ""  # a service may leave it out
with Client(os.environ["COMMANDSYNC_TOKEN"], os.environ["COMMANDSYNC_BASE_URL"]) as client:
    client.add_command("pong", "Pings.", "/pong", cooldown="9 s")
    (command,) = (each for each in client.get_commands() if each.name == "pong")
    client.edit_command(command.id, "pong", "Pings.", "/pong", cooldown=command.cooldown + " more")
"""


@pytest.fixture
def recipe(home: Home) -> Recipe:
    """Carry the recipe out on a copy."""
    made, field = Recipe(home), '    cooldown: str = ""\n'
    made.insert("records/texts.py", field, before="\n\nclass LoadedCommand(")
    made.insert("records/models.py", '    cooldown: OptionalText = ""\n', before="    uses: Annot")
    made.insert("manifest/fields.py", '"cooldown", ', before='"name", "description", "syntax"')
    key = '    cooldown: fields.DefaultCategory = ""\n'
    made.insert("manifest/model.py", key, before="    formerly: fields.Texts = Field(")
    made.insert("manifest/model.py", ", canonical(self.cooldown)", before=")\n\n\nclass Announce")
    record, body = (f"    cooldown: {kind} | None = None\n" for kind in ("str", "Category"))
    made.insert("server/bodies.py", record, before="    uses: Count = Field(examples")
    made.insert("server/bodies.py", body, before="\n\nclass CommandEdit(")
    made.insert("server/tables.py", 'SCHEMA = "1000"\n', before='"""The stamp of a database')
    library = partial(made.insert, "client/asynclibrary.py")
    for result in ("Command | None", "None"):
        signature = f'category: str | None = None\n    ) -> {result}:\n        """'
        library('cooldown: str = "", ', before=signature)
    for call in ("operation = operations.add_record", "await self.call(operations.edit"):
        text = "text = text._replace(cooldown=cooldown)\n        "
        library(text, before=f"{call}(self.bot, Resource.COMMAND")
    made.python(".ci/clients.py")
    return made


def test_a_new_field_needs_the_files_of_the_recipe_and_goes_from_yaml_to_the_listing_and_back(
    home: Home, recipe: Recipe
) -> None:
    assert recipe.files == named("A new field of a command")

    home.write(MANIFEST)
    home.write(
        f"{MANIFEST}listings:\n- {{service: telegram, lossy: [cooldown]}}\n", "telegram.yaml"
    )
    recipe.serve(commands=[{**COMMAND, "cooldown": "4 s"}])
    assert re.search('cooldown: +"4 s" → "5 s"', recipe.run("plan"))
    assert "| Cooldown |" in recipe.run("plan", "--format", "markdown")
    assert json.loads(recipe.run("apply", "--yes", "--format", "json"))["verified"] is True
    assert "0 to add" in recipe.run("plan", "--detailed-exitcode")

    home.write(MANIFEST.replace("5 s", "6 s").replace("1 h", "2 h"))
    plan = json.loads(recipe.run("plan", "--format", "json", "--out", "saved.json"))
    assert [[*change["fields"]] for change in plan["changes"]] == [["cooldown"]] * 2
    recipe.run("apply", "--plan", "saved.json", "--yes")

    pulled = recipe.run("pull")
    assert 'cooldown: "6 s"' in pulled
    home.write(pulled, "pulled.yaml")
    assert "0 to add" in recipe.run("plan", "-f", "pulled.yaml", "--detailed-exitcode")
    assert "<p>2 h</p>" in recipe.page()

    recipe.python("-c", ADD)
    listed = json.loads(recipe.run("pull", "--format", "json"))["commands"]
    assert [command["cooldown"] for command in listed] == ["6 s", "2 h", "9 s more"]
    assert re.findall("shows the cooldown +([a-z]+)", recipe.run("listings")) == ["yes"]
    assert "cooldown" in recipe.run("schema")
    assert "no problems" in recipe.run("validate", "-f", "telegram.yaml")
