"""The recipe "A new kind of record" of CONTRIBUTING.md, carried out on a copy of the package.

The kind exists in no room but those that the recipe names, and goes from YAML to the page and back.
"""

import json
import os
import re
import shutil
import sys
from functools import partial
from pathlib import Path

import pytest
import requests

import commandsync
from tests.support.home import ROOT, Home, lines

_ROW = re.compile(r"^\| `(commandsync/[\w/]+\.py)` \|", re.MULTILINE)
_DATABASE = ("--database", "listing.db")
_BOT = "4711"
_RUNS = """
import io, json, sys
from contextlib import redirect_stdout
from commandsync.cli.program import run
outputs = []
for command in sys.argv[1:]:
    with redirect_stdout(io.StringIO()) as out:
        if code := run(command.split()):
            sys.exit(f"{command}: {int(code)}")
    outputs.append(out.getvalue())
print(json.dumps(outputs))
"""


def named(recipe: str) -> set[str]:
    """Return the files that a recipe names."""
    _, _, rest = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition(f"## {recipe}\n")
    return set(_ROW.findall(rest.partition("\n## ")[0]))


class Recipe:
    """Insertions into a copy of the package, which children of a home run, and the files of it."""

    def __init__(self, home: Home) -> None:
        package = Path(commandsync.__file__).parent
        for folder in (package, ROOT / ".ci", ROOT / "docs"):
            shutil.copytree(folder, home.path / folder.name)  # with its compiled files
        shutil.copy(ROOT / "pyproject.toml", home.path)
        home.variable("PYTHONPATH", str(home.path))
        for name in [name for name in os.environ if name.startswith("COVERAGE_")]:
            home.forget(name)  # nobody measures the branches of the copy
        self.home = home
        self.files: set[str] = set()

    def insert(self, path: str, text: str, *, before: str) -> None:
        """Insert a text before the first place of another one."""
        source = self.home.read(f"commandsync/{path}")
        assert before in source, f"{path} has no {before!r}"
        self.home.write(source.replace(before, text + before, 1), f"commandsync/{path}")
        self.files.add(f"commandsync/{path}")

    def python(self, *words: str) -> str:
        """Run Python with the copy of the package, and return what it prints."""
        ran = self.home.child_of([sys.executable], *words, exits=0)
        return ran.out

    def run(self, *commands: str) -> list[str]:
        """Run commands of the copy one after the other, and return the output of each."""
        outputs: list[str] = json.loads(self.python("-c", _RUNS, *commands))
        return outputs

    def serve(self, **records: list[dict[str, str]]) -> None:
        """Serve a new database, with a bot that has records."""
        seed = {"bots": [{"id": _BOT, "profile": {"username": "Lantern"}, **records}]}
        self.home.write(json.dumps(seed), "seed.json")
        child = self.home.started("serve", "--port", "0", *_DATABASE, "--seed", "seed.json")
        self.home.children[child].cancel()  # it serves more commands than LONGEST is meant for
        self.home.variable("COMMANDSYNC_BASE_URL", lines(child, 1)[0].split()[-1])
        (token,) = self.run(f"bots token {_BOT} {' '.join(_DATABASE)}")
        self.home.variable("COMMANDSYNC_TOKEN", token.strip())

    def page(self) -> str:
        """Return the bot's page."""
        url = self.home.variables["COMMANDSYNC_BASE_URL"]
        return requests.get(f"{url}/bot/{_BOT}", timeout=10).text


pytestmark = pytest.mark.thorough


def values(recipe: Recipe, *, edit: bool) -> None:
    """Add the kind to the rooms of values: its fields, and what the service does with it."""
    texts, models = (partial(recipe.insert, f"records/{name}.py") for name in ("texts", "models"))
    texts(
        "class ReviewText(NamedTuple):\n"
        '    heading: str\n    body: str\n    stars: str = ""\n    note: str = ""\n\n\n',
        before="Text = CommandText |",
    )
    texts("ReviewText | ", before="CommandText | AnnouncementText |")
    texts('    REVIEW = "review", ReviewText, "", "stars"\n', before="\n    text: type[Text]")
    models(
        "class Review(_Listed):\n    id: Identifier = _IDENTIFIER\n"
        '    heading: str = Field(pattern=r"\\S")\n    body: OptionalText = ""\n'
        '    stars: OptionalText = ""\n    note: OptionalText = ""\n\n\n',
        before="class Profile(",
    )
    models("Review | ", before="Command | Announcement")
    models("    Resource.REVIEW: Review,\n", before='}\n"""The model')
    able = f"        Resource.REVIEW: Ability(edit={edit}),\n"
    recipe.insert("services/abilities.py", able, before="        Resource.ANNOUNCEMENT")
    recipe.insert("__init__.py", "Review ", before="Voter VoterPage")


def manifest(recipe: Recipe, *, edit: bool) -> None:
    """Add the kind to the manifest; what cannot be edited has a policy."""
    model = partial(recipe.insert, "manifest/model.py")
    model(
        "class ReviewModel(Table):\n"
        "    heading: fields.AnyText\n    body: fields.AnyText\n"
        '    stars: fields.DefaultCategory = ""\n    note: fields.DefaultCategory = ""\n'
        '    id: fields.Id = ""\n    formerly: fields.Texts = ()\n'
        "    schedule: ClassVar[Schedule | None] = None\n\n"
        "    def as_text(self, _: CommandDefaults) -> ReviewText:\n"
        "        stars, note = canonical(self.stars), canonical(self.note)\n"
        "        return ReviewText(self.heading, self.body, stars, note)\n\n\n",
        before="class DefaultsModel(",
    )
    model("ReviewText, ", before="AnnouncementText, Resource")
    for end in ("\n\ndef _listings(", "\n\n_MAY_BE_EMPTY ="):
        model("    reviews: Annotated[list[ReviewModel], FailFast()] = []\n", before=end)
    model('    "reviews": ReviewModel,\n', before='}\n"""The models of')
    if not edit:
        model('    reviews: fields.Policy = "append"\n', before="\n\nclass ImportModel(")
        policy = '    reviews: Literal["append", "mirror"] = "append"\n'
        recipe.insert("plan/rules.py", policy, before="\n    def manages")
        limit = '    reviews: Literal["append", "mirror"]\n'
        recipe.insert("document/plan.py", limit, before="    ignore: tuple[str, ...]")


def service(recipe: Recipe) -> None:
    """Add the kind to the embedded service."""
    recipe.insert(
        "server/bodies.py",
        "class ReviewRecord(Wire):\n"
        "    id: str\n    heading: str\n    body: str\n    stars: str | None = None\n"
        "    note: str | None = None\n    created_at: Timestamp\n\n\n"
        "class ReviewBody(Body):\n"
        "    id: str | None = None\n    heading: Name\n    body: Description\n"
        "    stars: Category | None = None\n    note: Category | None = None\n\n\n",
        before="SEEDED: dict",
    )
    seed = "    Resource.REVIEW: ReviewBody,\n"
    recipe.insert("server/bodies.py", seed, before='}\n"""The form of')
    recipe.insert(
        "server/routes.py",
        "_add_routes(Resource.REVIEW, bodies.ReviewRecord)\n\n\n"
        '@router.post("/bot/{bot}/reviews", **_ANSWER)\n'
        "def add_review(\n"
        "    bot: OwnBot, body: Annotated[bodies.ReviewBody, Body()],\n"
        "    database: Db, answer: Answers\n"
        ") -> Response:\n"
        "    with database.writing() as connection:\n"
        "        if body.id is not None:\n"
        "            storage.edit(connection, bot, Resource.REVIEW, body.id, body.columns())\n"
        "        else:\n"
        "            storage.add(connection, bot, Resource.REVIEW, body.columns())\n"
        '    return answer("The review was written.")\n',
        before='\n\n@router.post(\n    "/bot/{bot}/commands"',
    )
    recipe.insert("server/tables.py", 'SCHEMA = "1000"\n', before='"""The stamp of a database')


def doors(recipe: Recipe) -> None:
    """Add the kind to the client and to the command line."""
    group = '    "reviews": "List, add and delete reviews.",\n'
    recipe.insert("cli/program.py", group, before='    "completion":')
    recipe.insert(
        "client/asynclibrary.py",
        "    async def get_reviews(self) -> tuple[Review, ...]:\n"
        "        return await self.call(operations.list_records(self.bot, Resource.REVIEW))\n\n",
        before="    async def set_uses(",
    )
    recipe.python(".ci/clients.py")


@pytest.fixture(params=["edit", "replace"])
def action(request: pytest.FixtureRequest) -> str:
    """What a plan does with a changed record, as the service can edit those of the kind or not."""
    return str(request.param)


@pytest.fixture
def recipe(home: Home, action: str) -> Recipe:
    """Carry the recipe out on a copy."""
    made, edit = Recipe(home), action == "edit"
    values(made, edit=edit)
    manifest(made, edit=edit)
    service(made)
    doors(made)
    return made


MANIFEST = """\
version: 1
prefix: "/"
sync: {max_deletes: all%s}
reviews:
- {heading: Good, body: It works., stars: "5"}
- {heading: Fair, body: It works at times., stars: "3"}
"""
READ = """
import os
from commandsync import (Client, Review)
with Client(os.environ["COMMANDSYNC_TOKEN"], os.environ["COMMANDSYNC_BASE_URL"]) as client:
    reviews: tuple[Review, ...] = client.get_reviews()
    print(*(review.heading for review in reviews))
"""


def test_a_new_kind_goes_from_yaml_to_the_page(home: Home, recipe: Recipe, action: str) -> None:
    edit = action == "edit"
    policy = {"commandsync/plan/rules.py", "commandsync/document/plan.py"} if edit else set()
    assert recipe.files == named("A new kind of record") - policy

    text = MANIFEST % ("" if edit else ", reviews: mirror")
    home.write(text)
    recipe.serve(reviews=[{"heading": "Old", "body": "Gone soon."}])
    plan, shown, applied, again = recipe.run(
        "plan", "plan --format markdown", "apply --yes --format json", "plan --detailed-exitcode"
    )
    assert "Plan: 2 to add, 0 to edit, 1 to delete" in plan
    assert "Good" in shown
    first = json.loads(applied)
    assert first["verified"] is True
    assert {change["outcome"] for change in first["changes"]} == {"done"}
    assert "0 to add" in again

    home.write(text.replace("It works.", "It works well.").replace("heading: Fair", "heading: Ok"))
    saved, _, again, pulled, listed, schema = recipe.run(
        *("plan --format json --out saved.json", "apply --plan saved.json --yes"),
        *("plan --detailed-exitcode", "pull", "pull --format json", "schema"),
    )
    changes = json.loads(saved)
    assert {change["action"] for change in changes["changes"]} == {action, "add", "delete"}
    assert len(changes["changes"]) == 3
    assert changes["limits"].get("reviews") == (None if edit else "mirror")
    assert any("looks like" in warning["message"] for warning in changes["warnings"]) is edit
    assert "0 to add" in again

    assert "reviews:" in pulled
    assert "note" not in pulled  # it is optional, and empty
    home.write(pulled, "pulled.yaml")
    assert "0 to add" in recipe.run("plan -f pulled.yaml --detailed-exitcode")[0]
    headings = [row["heading"] for row in json.loads(listed)["reviews"]]
    assert headings == ["Good", "Ok"] if edit else ["Ok", "Good"]
    assert recipe.python("-c", READ).split() == headings
    assert "reviews" in json.loads(schema)["properties"]
    assert "<p>It works well.</p>" in recipe.page()
