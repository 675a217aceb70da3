"""The recipe "A new kind of record" of CONTRIBUTING.md, carried out on a copy of the package.

The kind exists in no room but those that the recipe names, and goes from YAML to the page and back.
"""

import json
from pathlib import Path

import pytest

from tests.support.recipe import Recipe, named

pytestmark = pytest.mark.thorough


def values(recipe: Recipe, *, edit: bool) -> None:
    """Add the kind to the rooms of values: its fields, what the service does, its keys in YAML."""
    recipe.insert(
        "records/texts.py",
        "class ReviewText(NamedTuple):\n"
        '    """The text of a review."""\n\n'
        '    heading: str\n    body: str\n    stars: str = ""\n    note: str = ""\n\n\n',
        before="Text = CommandText |",
    )
    recipe.insert("records/texts.py", "ReviewText | ", before="CommandText | AnnouncementText\n")
    row = '    REVIEW = "review", ReviewText, "", "stars"\n'
    recipe.insert("records/texts.py", row, before="\n    text: type[Text]")
    recipe.insert(
        "records/models.py",
        'class Review(_Listed):\n    """A review."""\n\n    id: Identifier = _IDENTIFIER\n'
        '    heading: str = Field(pattern=r"\\S")\n    body: OptionalText = ""\n'
        '    stars: OptionalText = ""\n    note: OptionalText = ""\n\n\n',
        before="class Profile(",
    )
    recipe.insert("records/models.py", "Review | ", before="Command | Announcement")
    recipe.insert(
        "records/models.py", "    Resource.REVIEW: Review,\n", before="}\n" + '"""The model'
    )
    recipe.insert(
        "services/abilities.py",
        f"        Resource.REVIEW: Ability(edit={edit}),\n",
        before="        Resource.ANNOUNCEMENT",
    )
    recipe.insert("__init__.py", "Review ", before="Voter VoterPage")


def manifest(recipe: Recipe, *, edit: bool) -> None:
    """Add the kind to the manifest; what cannot be edited has a policy."""
    recipe.insert(
        "manifest/model.py",
        "class ReviewModel(Table):\n"
        '    """A review as a manifest describes it."""\n\n'
        "    heading: fields.AnyText\n    body: fields.AnyText\n"
        '    stars: fields.DefaultCategory = ""\n    note: fields.DefaultCategory = ""\n'
        '    id: fields.Id = ""\n'
        "    formerly: fields.Texts = ()\n"
        "    schedule: ClassVar[Schedule | None] = None\n\n"
        "    def as_text(self, _: CommandDefaults) -> ReviewText:\n"
        '        """Return the review as it is compared and sent."""\n'
        "        stars, note = canonical(self.stars), canonical(self.note)\n"
        "        return ReviewText(self.heading, self.body, stars, note)\n\n\n",
        before="class DefaultsModel(",
    )
    recipe.insert("manifest/model.py", "ReviewText, ", before="Resource, canonical")
    field = "    reviews: Annotated[list[ReviewModel], FailFast()] = []\n"
    recipe.insert("manifest/model.py", field, before="\n\nclass ManifestModel(")
    recipe.insert("manifest/model.py", field, before="\n\nTABLES:")
    recipe.insert(
        "manifest/model.py", '    "reviews": ReviewModel,\n', before='}\n"""The models of'
    )
    if edit:
        return
    recipe.insert(
        "manifest/model.py",
        '    reviews: fields.Policy = "append"\n',
        before="\n\nclass ImportModel(",
    )
    recipe.insert(
        "plan/rules.py",
        '    reviews: Literal["append", "mirror"] = "append"\n',
        before="\n    def manages",
    )
    recipe.insert(
        "document/plan.py",
        '    reviews: Literal["append", "mirror"]\n',
        before="    ignore: tuple[str, ...]",
    )


def service(recipe: Recipe) -> None:
    """Add the kind to the embedded service."""
    recipe.insert(
        "server/bodies.py",
        "class ReviewRecord(Wire):\n"
        '    """A review as listed."""\n\n'
        "    id: str\n    heading: str\n    body: str\n    stars: str | None = None\n"
        "    note: str | None = None\n    created_at: Timestamp\n\n\n"
        "class ReviewBody(Body):\n"
        '    """A review to add, or, with `id`, to edit."""\n\n'
        "    id: str | None = None\n    heading: Name\n    body: Description\n"
        "    stars: Category | None = None\n    note: Category | None = None\n\n\n",
        before="SEEDED: dict",
    )
    recipe.insert(
        "server/bodies.py", "    Resource.REVIEW: ReviewBody,\n", before="}\n" + '"""What a seed'
    )
    recipe.insert(
        "server/routes.py",
        "_add_routes(Resource.REVIEW, bodies.ReviewRecord)\n\n\n"
        '@router.post("/bot/{bot}/reviews", **_ANSWER)\n'
        "def add_review(\n"
        "    bot: OwnBot, body: Annotated[bodies.ReviewBody, Body()],\n"
        "    database: Db, answer: Answers\n"
        ") -> Response:\n"
        '    """Add a review."""\n'
        "    with database.writing() as connection:\n"
        "        if body.id is not None:\n"
        "            storage.edit(connection, bot, Resource.REVIEW, body.id, body.columns())\n"
        "        else:\n"
        "            storage.add(connection, bot, Resource.REVIEW, body.columns())\n"
        '    return answer("The review was written.")\n',
        before="\n\n_PING =",
    )
    recipe.insert(
        "server/migrations.py", "LATEST = 1_000  # a later one\n", before='"""The newest version;'
    )


def doors(recipe: Recipe, *, edit: bool) -> None:
    """Add the kind to the client and to the command line."""
    recipe.insert(
        "cli/program.py",
        '    "reviews": "List, add and delete reviews.",\n',
        before='    "completion":',
    )
    edits = (
        "    async def edit_review(\n"
        "        self, id: Id, heading: str, body: str, stars: str = ''\n"
        "    ) -> None:\n"
        '        """Edit a review."""\n'
        "        text = ReviewText(heading, body, stars)\n"
        "        await self.call(operations.edit(self.bot, Resource.REVIEW, id, text))\n\n"
    )
    recipe.insert(
        "client/asynclibrary.py",
        "    async def get_reviews(self) -> tuple[Review, ...]:\n"
        '        """Return the reviews."""\n'
        "        return await self.call(operations.list_records(self.bot, Resource.REVIEW))\n\n"
        + edits
        * edit
        + "    async def delete_review(self, id: Id) -> None:\n"
        '        """Delete a review."""\n'
        "        await self.call(operations.delete(self.bot, Resource.REVIEW, id))\n\n",
        before="    async def set_uses(",
    )
    recipe.insert("client/asynclibrary.py", "ReviewText, ", before="Resource\n")


@pytest.fixture(params=[True, False], ids=["editable", "posted"])
def edit(request: pytest.FixtureRequest) -> bool:
    """Whether the service can edit records of the new kind."""
    return bool(request.param)


@pytest.fixture
def recipe(tmp_path: Path, edit: bool) -> Recipe:  # noqa: FBT001 - a fixture
    """Carry the recipe out on a copy."""
    made = Recipe(tmp_path)
    service(made)
    for step in (values, manifest, doors):
        step(made, edit=edit)
    made.python(".ci/clients.py")
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
from commandsync import Client, Review
with Client(os.environ["COMMANDSYNC_TOKEN"], os.environ["COMMANDSYNC_BASE_URL"]) as client:
    reviews: tuple[Review, ...] = client.get_reviews()
    print(*(review.heading for review in reviews))
"""


def test_a_new_kind_needs_the_files_of_the_recipe_and_no_other(
    recipe: Recipe,
    edit: bool,  # noqa: FBT001 - a fixture
) -> None:
    policy = {"commandsync/plan/rules.py", "commandsync/document/plan.py"} if edit else set()

    assert recipe.files == named("A new kind of record") - policy


def test_a_new_kind_goes_from_yaml_to_the_listing_and_back(
    recipe: Recipe,
    edit: bool,  # noqa: FBT001 - a fixture
) -> None:
    root, action = recipe.root, "edit" if edit else "replace"
    policy = "" if edit else ", reviews: mirror"
    (root / "commands.yaml").write_text(MANIFEST % policy, encoding="utf-8")

    with recipe.served(reviews=[{"heading": "Old", "body": "Gone soon."}]) as call:
        assert "Plan: 2 to add, 0 to edit, 1 to delete" in call("plan")
        assert "Good" in call("plan", "--format", "markdown")
        first = json.loads(call("apply", "--yes", "--format", "json"))
        assert first["verified"] is True
        assert {change["outcome"] for change in first["changes"]} == {"done"}
        assert "0 to add" in call("plan", "--detailed-exitcode")

        text = (root / "commands.yaml").read_text(encoding="utf-8")
        renamed = text.replace("It works.", "It works well.").replace(
            "heading: Fair", "heading: Ok"
        )
        (root / "commands.yaml").write_text(renamed, encoding="utf-8")
        plan = json.loads(call("plan", "--format", "json", "--out", "saved.json"))
        actions = sorted(change["action"] for change in plan["changes"])
        assert actions == sorted([action, "add", "delete"])
        assert plan["limits"].get("reviews") == (None if edit else "mirror")
        assert any("looks like" in warning["message"] for warning in plan["warnings"]) is edit
        call("apply", "--plan", "saved.json", "--yes")
        assert "0 to add" in call("plan", "--detailed-exitcode")

        pulled = call("pull")
        assert "reviews:" in pulled
        assert "note" not in pulled  # it is optional, and empty
        (root / "pulled.yaml").write_text(pulled, encoding="utf-8")
        assert "0 to add" in call("plan", "-f", "pulled.yaml", "--detailed-exitcode")
        rows = call("reviews", "list").splitlines()
        assert rows[0].split() == ["HEADING", "STARS", "ID", "BODY", "NOTE"]
        assert [row.split()[0] for row in rows[1:]] == ["Good", "Ok"] if edit else ["Ok", "Good"]
        assert call.script(READ).split() == [row.split()[0] for row in rows[1:]]
        schema = json.loads(call("schema"))
        assert "reviews" in schema["properties"]
        call("preview", "--html", "page")
        for page in ((root / "page" / "index.html").read_text(encoding="utf-8"), call.page()):
            assert "<p>It works well.</p>" in page
