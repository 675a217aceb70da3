"""What a plan must look like as a JSON document: the models that a saved one is read through.

`documents` writes these shapes as plain dicts; `schemas` describes them to editors and programs.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from commandsync.api.address import parse_address
from commandsync.errors import CommandsyncError
from commandsync.plan.rules import parse_delete_limit


def _usable(identifier: str) -> str:
    if identifier in {"", ".", ".."}:
        raise ValueError("no record can be addressed by this id")
    return identifier


def _one_spelling(base_url: str) -> str:
    try:
        address = parse_address(base_url, insecure_http=True)  # sending asks again, with the flag
    except CommandsyncError as error:
        raise ValueError(error.message) from error
    if str(address) != base_url:
        raise ValueError(f"a plan writes it as {address}")
    return base_url


def _limit(text: str) -> str:
    parse_delete_limit(text)
    return text


Identifier = Annotated[
    str, AfterValidator(_usable), Field(json_schema_extra={"not": {"enum": ["", ".", ".."]}})
]
BaseUrl = Annotated[str, AfterValidator(_one_spelling)]
Limit = Annotated[str, AfterValidator(_limit)]
Count = Annotated[int, Field(ge=0)]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Kind = Literal["command", "announcement"]
Collection = Literal["commands", "announcements"]


class Shape(BaseModel):
    """What all shapes share: nothing unknown, nothing converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Place(Shape):
    """Where the manifest says it; line and column count from 1."""

    path: str
    line: int = Field(ge=1)
    column: int = Field(ge=1)


class CommandFields(Shape):
    """What a command says; no category is an empty text."""

    name: str
    description: str
    syntax: str
    category: str


class AnnouncementFields(Shape):
    """What an announcement says."""

    title: str
    description: str


Fields = CommandFields | AnnouncementFields


class FieldDifference(Shape):
    """One field with two different texts."""

    old: str
    new: str


class ChangeShape(Shape):
    """What all changes share."""

    resource: Kind
    name: str = Field(description="The name or title, as it will be; of a delete, as it is.")
    fields: dict[str, FieldDifference] = Field(description="What differs, by field.")
    location: Place | None

    @model_validator(mode="after")
    def _whole(self) -> ChangeShape:
        before, after = getattr(self, "before", None), getattr(self, "after", None)
        expected = CommandFields if self.resource == "command" else AnnouncementFields
        if any(text is not None and not isinstance(text, expected) for text in (before, after)):
            raise ValueError(f"its fields are not those of a {self.resource}")
        if after is not None and not self.name.strip():
            raise ValueError("nothing is written without a name")
        return self


class AddShape(ChangeShape):
    """A record that the manifest has and the listing has not."""

    action: Literal["add"]
    id: None
    before: None
    after: Fields
    fields: dict[str, FieldDifference] = Field(max_length=0)
    listed: Count = Field(description="How many equal records were listed already.")
    alike: Count = Field(
        description="How many others of its name, exactly, folded or cut, were listed already."
    )


class EditShape(ChangeShape):
    """A listed command whose text changes; its id and uses stay."""

    action: Literal["edit"]
    resource: Literal["command"]
    id: Identifier
    before: CommandFields
    after: CommandFields
    renamed_from: str | None = Field(description="The old name, if the name changes.")


class ReplaceShape(ChangeShape):
    """A listed announcement whose text changes: the new one is added, the old one deleted."""

    action: Literal["replace"]
    resource: Literal["announcement"]
    id: Identifier
    before: AnnouncementFields
    after: AnnouncementFields
    listed: Count = Field(description="How many records equal to the new one were listed already.")
    alike: Count = Field(
        description="How many others of its title, exactly, folded or cut, were listed already."
    )


class DeleteShape(ChangeShape):
    """A listed record that the manifest has not."""

    action: Literal["delete"]
    id: Identifier
    before: Fields
    after: None
    fields: dict[str, FieldDifference] = Field(max_length=0)
    location: None


AnyChange = Annotated[
    AddShape | EditShape | ReplaceShape | DeleteShape, Field(discriminator="action")
]


class Summary(Shape):
    """How many changes there are of each action; a rename is an edit."""

    add: Count
    edit: Count
    delete: Count
    replace: Count
    unchanged: Count


class Limits(Shape):
    """What the sync may do."""

    prune: bool
    max_deletes: Limit | None = Field(
        description='A number, a percentage or "all"; null for the default.'
    )
    announcements: Literal["append", "mirror"]
    ignore: tuple[str, ...] = Field(strict=False)


class Refused(Shape):
    """Why apply refuses the plan, and what allows it."""

    message: str
    hint: str


class Warned(Shape):
    """Something the user should know that changes nothing of what is done."""

    message: str
    hint: str
    location: Place | None


class Kept(Shape):
    """A listed record that stays as it is."""

    resource: Kind
    id: str
    name: str
    text: Fields

    @model_validator(mode="after")
    def _fits(self) -> Kept:
        if isinstance(self.text, CommandFields) is not (self.resource == "command"):
            raise ValueError(f"its fields are not those of a {self.resource}")
        return self


class Head(Shape):
    """What a plan and a result begin with."""

    version: Literal[1]
    bot: str
    base_url: str
    manifest: list[str] = Field(description="The files it was made from.")
    scope: list[Collection] = Field(description="The collections that are managed.")
    summary: Summary
    listed: dict[Collection, Count] = Field(
        description="How many records were listed, without the ignored ones."
    )
    limits: Limits
    refused: Refused | None
    kept: list[Kept] = Field(description="What the manifest does not have and what may stay.")
    stuck: list[Kept] = Field(
        description="What should change or go and cannot, for want of a usable id."
    )
    warnings: list[Warned]
    fingerprint: Digest = Field(
        description="Over bot, base URL and changes: equal for plans that do the same.",
    )


class PlanShape(Head):
    """What apply would change."""

    changes: list[AnyChange]
    digest: Digest = Field(
        description="Over the whole document but this: tells that a saved plan was edited."
    )


class SavedPlan(PlanShape):
    """A plan that can be applied: it says to which bot and where."""

    bot: str = Field(min_length=1)
    base_url: BaseUrl

    @model_validator(mode="after")
    def _within_scope(self) -> SavedPlan:
        if self.scope != sorted(set(self.scope), key=["commands", "announcements"].index):
            raise ValueError("its scope names a collection twice or out of order")
        if set(self.listed) != set(self.scope):
            raise ValueError("it counts other collections than its scope names")
        if any(
            f"{one.resource}s" not in self.scope for one in (*self.changes, *self.kept, *self.stuck)
        ):
            raise ValueError("it touches a collection outside its scope")
        ids = [(change.resource, change.id) for change in self.changes if change.id is not None]
        if len(set(ids)) < len(ids):
            raise ValueError("it changes one record twice")
        return self


class ShapeError(Exception):
    """A document does not have the shape it should have; says where and why."""


def checked_plan(data: object) -> SavedPlan:
    """Hold parsed JSON against the shape of a plan.

    Raises:
        ShapeError: It is none.
    """
    try:
        return SavedPlan.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise ShapeError(f"{place}: {message}" if place else message) from error
