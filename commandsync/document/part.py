"""The parts of the JSON documents: a model for each value of the core."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from itertools import filterfalse
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    SerializationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticSerializationError, to_json

from commandsync.diagnostics import LIBRARY, Location, Notice, Words, in_words
from commandsync.document.change import ChangeView
from commandsync.plan.changes import (
    Add,
    Change,
    Delete,
    Edit,
    PartChange,
    Replace,
    field_changes,
)
from commandsync.records.texts import CommandText, Resource, Text, compact, object_of
from commandsync.services.abilities import DISCORD_ABILITIES, PAGE_ABILITIES

Document = dict[str, Any]

ABILITIES = {**PAGE_ABILITIES, **DISCORD_ABILITIES}
"""The abilities of the services that plans are saved for; each has kinds of its own."""


class Model(BaseModel):
    """The base of documents and their parts: no unknown key, no conversion of types."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, defer_build=True, serialize_by_alias=True
    )

    @classmethod
    def of(cls, value: object = None, **others: object) -> Self:
        """Build from a valid value, and the fields that it does not have; they are not checked."""
        values = {name: getattr(value, name) for name in cls.model_fields.keys() - others.keys()}
        return super().model_construct(None, **values, **others)


def json_of(document: Document) -> str:
    """Return a document as JSON; pydantic is ten times as fast as the standard library."""
    try:
        return to_json(document, indent=2).decode()
    except PydanticSerializationError:  # a file's name may contain half of a surrogate pair
        return json.dumps(document, indent=2, ensure_ascii=False)


class Place(Model):
    """A place in a manifest; line and column count from 1."""

    path: str
    line: int = Field(ge=1)
    column: int = Field(ge=1)


class Difference(Model):
    """One field with two different texts, or one part of an object with two different values."""

    old: Any = Field(description="A text, or the value of the part; null for a new part.")
    new: Any = Field(description="A text, or the value of the part; null for a removed part.")


def _read_as(value: type[Location | Notice], model: type[Model]) -> PlainValidator:
    """Read a part of a document as a value of the core."""
    return PlainValidator(
        lambda data: value(**dict(model.model_validate(data))), json_schema_input_type=model
    )


def _edited(kind: Resource) -> bool:
    """Whether records of a kind are edited; else they are replaced."""
    return kind not in ABILITIES or ABILITIES[kind].edit


def text_schema(resource: Resource) -> Document:
    """Return the JSON Schema of the text of a kind of record."""
    return {
        "type": "object",
        "title": f"Fields of a record of this kind: {resource}",
        "properties": {
            name: {"type": "object" if resource.exact and name == "object" else "string"}
            for name in resource.fields
        },
        "required": list(resource.fields),
        "additionalProperties": False,
    }


def one_of(resources: Iterable[Resource]) -> WithJsonSchema:
    """Return an annotation that limits a field to some kinds of records in the JSON Schema."""
    return WithJsonSchema({"type": "string", "enum": [resource.value for resource in resources]})


def optional(description: str, default: object = None, *, strict: bool | None = None) -> Any:  # noqa: ANN401 - a field
    """Return a field that is absent from a document where it has its default."""
    return Field(
        default=default,
        exclude_if=lambda value: value == default,
        description=description,
        strict=strict,
    )


Count = Annotated[int, Field(ge=0)]
UsesField = Annotated[
    Count | None,
    Field(
        default=None,
        description="How often the record was used, which is lost with it; null if not known.",
    ),
]
TimeField = Annotated[AwareDatetime, Field(strict=False)]
EndField = Annotated[
    TimeField | None,
    optional("When the record ends, or ended, by the manifest; absent for no end."),
]
Identifier = Annotated[str, Field(pattern=r"[^.]|\.\.\.")]  # not "", "." or ".."
ResourceField = Annotated[Resource, Field(strict=False), one_of(Resource)]


def text_document(text: Text) -> Document:
    """Return the text of a record as documents have it, where an object is JSON and not a text."""
    node = object_of(text)
    return text._asdict() | ({} if node is None else {"object": node})


def _read_text(data: object) -> Text:
    """Read the text of a record; its keys tell its kind."""
    values = data if isinstance(data, dict) else {}
    for kind in Resource:
        if values.keys() == set(kind.fields):
            texts = dict(values)
            if kind.exact:
                node = values["object"]
                texts["object"] = compact(node) if isinstance(node, dict) else None
            if all(isinstance(value, str) for value in texts.values()):
                return kind.text(**texts)
    raise ValueError("its fields are not the fields of a record")


_as_dict = PlainSerializer(text_document)
TextField = Annotated[
    Text,
    PlainValidator(_read_text),
    _as_dict,
    WithJsonSchema({"anyOf": [text_schema(resource) for resource in Resource]}),
]
CommandField = Annotated[CommandText, _as_dict, WithJsonSchema(text_schema(Resource.COMMAND))]


def place_document(at: Location | None) -> Document | None:
    """Return a place as documents have it."""
    return None if at is None else {key: getattr(at, key) for key in Place.model_fields}


def _hint_text(hint: object, info: SerializationInfo[Words | None]) -> str:
    return in_words(hint, info.context or LIBRARY)


HintField = Annotated[str, PlainSerializer(_hint_text)]
"""A hint, in the words that are the context of the serialization; by default the library's."""

LocationField = Annotated[Location, _read_as(Location, Place), PlainSerializer(place_document)]
DifferencesField = Annotated[
    tuple[PartChange, ...],
    PlainValidator(lambda _: (), json_schema_input_type=dict[str, Difference]),  # made again
    PlainSerializer(
        lambda parts: {part.field: {"old": part.old, "new": part.new} for part in parts}
    ),
]
NoDifferencesField = Annotated[DifferencesField, Field(json_schema_extra={"maxProperties": 0})]


class Warned(Model):
    """A warning; it does not affect the changes."""

    message: str
    hint: HintField
    location: LocationField | None


def notice_document(notice: Notice, words: Words) -> Document:
    """Return a warning as documents have it, with its hint in these words."""
    at = place_document(notice.location)
    return {"message": notice.message, "hint": in_words(notice.hint, words), "location": at}


def _notice_part(notice: Notice, info: SerializationInfo[Words | None]) -> Document:
    return notice_document(notice, info.context or LIBRARY)


NoticeField = Annotated[Notice, _read_as(Notice, Warned), PlainSerializer(_notice_part)]


class PlannedChange(Model):
    """A change of one record."""

    action: str
    resource: ResourceField
    id: Identifier | None
    name: str = Field(description="The name or title after the change; of a delete, as listed.")
    before: TextField | None
    after: TextField | None
    fields: DifferencesField = Field(
        description="The fields that differ; of objects the parts, by the keys and names that lead "
        'there, such as "options/region/choices/eu" ("~1" is a "/" of a name, "~0" a "~").'
    )
    location: LocationField | None

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_texts(self.resource, self.before, self.after)
        if self.after is not None and not self.name.strip():
            raise ValueError("the name of a record to write is empty")
        if self.action in {"edit", "replace"} and _edited(self.resource) != (self.action == "edit"):
            raise ValueError(f"{self.action} is not a valid action for this kind: {self.resource}")
        return self

    def change(self) -> Change:
        """Return the change; the fields that differ are compared again."""
        kind = _CHANGES[self.action]
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(kind)}
        if self.before is not None and self.after is not None:
            values["fields"] = field_changes(self.before, self.after)
        return kind(**values)


class _PlannedText(PlannedChange):
    after: TextField
    same_text: Count = Field(
        alias="listed", description="How many records equal to the new one were listed already."
    )
    same_name: Count = Field(
        alias="alike",
        description="How many others with its name, exactly, folded or cut, were listed already.",
    )
    until: EndField


class PlannedAdd(_PlannedText):
    """A record that is in the manifest and not in the listing."""

    action: Literal["add"]
    id: None
    before: None
    fields: NoDifferencesField


class PlannedEdit(PlannedChange):
    """A listed record whose text changes; its id stays."""

    action: Literal["edit"]
    resource: Annotated[ResourceField, one_of(filter(_edited, Resource))]
    id: Identifier
    before: TextField
    after: TextField
    renamed_from: str | None = Field(description="The old name, if the name changes.")


class PlannedReplace(_PlannedText):
    """A listed record that cannot be edited: the new one is added, the old one deleted."""

    action: Literal["replace"]
    resource: Annotated[ResourceField, one_of(filterfalse(_edited, Resource))]
    id: Identifier
    before: TextField
    uses: UsesField


class PlannedDelete(PlannedChange):
    """A record that is in the listing and not in the manifest, or not any more."""

    action: Literal["delete"]
    id: Identifier
    before: TextField
    after: None
    fields: NoDifferencesField
    location: None
    uses: UsesField
    until: EndField
    exact_copy: bool = optional(
        "Whether it is an exact copy, to which no limit on deletes applies; absent for no.",
        default=False,
    )
    first: Literal["", "name", "full"] = optional(
        "Why it is made before adds and edits: another record gets its name, or the list is full; "
        "absent for a delete that is made last.",
        default="",
    )


AnyChange = Annotated[
    PlannedAdd | PlannedEdit | PlannedReplace | PlannedDelete, Field(discriminator="action")
]
PLANNED: Mapping[str, type[PlannedChange]] = {
    "add": PlannedAdd,
    "edit": PlannedEdit,
    "delete": PlannedDelete,
    "replace": PlannedReplace,
}
_CHANGES: Mapping[str, type[Change]] = {kind.action: kind for kind in (Add, Edit, Replace, Delete)}


def change_part(
    view: ChangeView, models: Mapping[str, type[PlannedChange]] = PLANNED, **ending: object
) -> PlannedChange:
    """Return the part for a change; `ending` has the other fields of its model."""
    change = view.change
    model = models[change.action]
    values = {name: getattr(change, name, None) for name in model.model_fields}
    values["fields"] = view.parts
    if view.verb == "rename":
        values["renamed_from"] = view.old_name
    return model.of(**values | ending)


def check_texts(resource: Resource, *texts: Text | None) -> None:
    """Refuse texts that are not of a kind."""
    if any(text is not None and text._fields != resource.fields for text in texts):
        raise ValueError(f"its fields are not the fields of a record of this kind: {resource}")
