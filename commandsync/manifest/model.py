"""The keys of a manifest as pydantic models, and the JSON Schema that is generated from them.

Each key's type, default and description is defined once. Editors complete and check a manifest by
the schema; what it cannot express is in its description. An imported file has models, too.
"""

import json
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    FailFast,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import PydanticKnownError

from commandsync.manifest import fields
from commandsync.manifest.checks import CommandDefaults, UnfitError, value_error
from commandsync.manifest.discordobject import (
    DEFINITIONS,
    OBJECT_SCHEMA,
    DiscordObject,
    WrittenObject,
)
from commandsync.manifest.fields import Table
from commandsync.manifest.keys import CommandKeys, ImportKeys, ListingKeys, ManifestKeys
from commandsync.manifest.nodes import Node
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Schedule
from commandsync.records.texts import OF_MANIFEST, AnnouncementText, Resource, canonical


class CommandModel(Table):
    """A command as a manifest describes it."""

    name: fields.AnyText = Field(description="The command's name.", examples=["help"])
    description: fields.AnyText = Field(
        "",
        description="What the command does. Many lines go into a block: description: |",
        examples=["Shows the help menu."],
    )
    syntax: fields.Syntax = Field(
        "",
        description="How the command is used. {prefix} is replaced with the manifest's prefix; "
        "{{prefix}} stays literally {prefix}.",
        examples=["{prefix}help [command]"],
    )
    category: fields.Category = Field(
        None,
        description='The group it is shown in; "" for none, also where defaults has one.',
        examples=["General"],
    )
    formerly: fields.Texts = Field(
        (),
        description="Former names: the command is renamed, and keeps its id and uses.",
        examples=[["h"]],
    )
    id: fields.Id = ""
    own: fields.Flag = Field(
        default=False,
        description="With import: whether this is another command than the imported one of its "
        "name.",
    )
    discord: DiscordObject = Field(
        None, description="Discord's own object of the command, as its documents write it."
    )

    def value(self) -> CommandKeys:
        """Return the values of the command."""
        return CommandKeys(**dict(self))


class AnnouncementModel(Table):
    """An announcement as a manifest describes it."""

    title: fields.AnyText = Field(description="The announcement's title.", examples=["v2.0 is out"])
    description: fields.AnyText = Field(
        description="The announcement's text.", examples=["Slash commands everywhere."]
    )
    publish: fields.Time = Field(
        None,
        description="When it is posted, with a time zone: by the first apply from then on. If left "
        "out, by the next one.",
        examples=["2026-12-01T18:00Z"],
    )
    until: fields.Time = Field(
        None,
        description="When it ends, with a time zone: from then on it is not posted any more, and "
        "with announcements: mirror the next apply deletes it.",
        examples=["2026-12-24T00:00+01:00"],
    )
    id: fields.Id = ""
    formerly: ClassVar[tuple[str, ...]] = ()

    @property
    def schedule(self) -> Schedule | None:
        """When it is to be listed; None for always. `UnfitError` if it ends before it begins."""
        if self.publish and self.until and self.until <= self.publish:
            raise UnfitError("until", "until is not after publish", "correct one of the two times")
        scheduled = self.publish or self.until
        return Schedule(publish=self.publish, until=self.until) if scheduled else None

    def as_text(self, _: CommandDefaults) -> AnnouncementText:
        """Return the announcement as it is compared and sent."""
        return AnnouncementText(self.title, self.description)


class DefaultsModel(Table):
    """The values of every command that does not have its own."""

    category: fields.DefaultCategory = Field(
        "", description="The category of commands without one.", examples=["General"]
    )


class SyncModel(Table):
    """What a sync may do."""

    prune: fields.Flag = Field(
        default=True, description="Delete listed commands that the manifest does not have."
    )
    ignore: fields.Patterns = Field(
        (),
        description="Patterns (*, ?, [...]) of listed names and titles that are never touched; "
        "upper and lower case do not matter.",
        examples=[["beta-*"]],
    )
    max_deletes: fields.Limit = Field(
        None,
        description="How much one run may delete: a number, a percentage of the listed records, "
        "or all. If left out, it is 30%, and 3 are always allowed.",
        examples=["30%", 10, "all"],
    )
    announcements: fields.Policy = Field(
        "append", description="append adds missing ones; mirror also replaces and deletes."
    )


class ImportModel(Table):
    """Where commands are imported from, and which."""

    sources: fields.Texts = Field(
        (),
        alias="from",
        description="The sources, in the order in which they count: files, folders and patterns of "
        "files relative to this file's folder, or discord for the registered commands.",
        examples=[["bot/"], ["commands/*.json", "src/**/*.py"]],
    )
    exclude: fields.Patterns = Field(
        (),
        description="Patterns (*, ?, [...]) of names that are not imported; upper and lower case "
        "do not matter. One with a / is compared with the end of a path.",
        examples=[["debug*", "owner/*"]],
    )
    categories: fields.Categories = Field(
        {},
        description="Patterns of names, or of cogs, folders and groups, and the category of each. "
        "The first match counts.",
        examples=[{"config *": "Settings", "MusicCog": "Music"}],
    )
    traits: fields.Traits = Field(
        (),
        description="Traits that commands may have, which are otherwise left out.",
        examples=[["nsfw"]],
    )
    columns: fields.Columns = Field(
        {},
        description="For a list of your own, the column or key of each field that is not named "
        "like the field.",
        examples=[{"description": "help", "syntax": "usage"}],
    )
    order: fields.Texts = Field(
        (),
        description="Names of commands that come first, in this order: imported ones, and others.",
        examples=[["start", "help"]],
    )
    locale: fields.AnyText = Field(
        "", description="The language of Discord's texts, such as de.", examples=["de"]
    )
    texts: fields.AnyText = Field(
        "",
        description="The file with the bot's texts by their keys, as JSON or YAML, relative to "
        "this file's folder.",
        examples=["locales/en.json"],
    )
    form: fields.CommandForm | None = Field(
        None,
        description="How users call the commands of a bot whose class is not in the sources; "
        "without it, as they call the others.",
        examples=["slash"],
    )
    program: fields.AnyText = Field(
        "",
        description="The program that was recorded last, for the reader: commandsync never runs "
        "it by itself.",
        examples=["node deploy-commands.js"],
    )
    unread: fields.Patterns = Field(
        (),
        description="Patterns of names, files and paths that cannot be read: a check of the import "
        "does not fail for them.",
        examples=[["setup", "owner/*"]],
    )


Commands = Annotated[
    list[CommandModel],
    FailFast(),
    Field(
        description="The bot's commands, in the order to be shown. If left out, commands are not "
        "managed; an empty list means none. With import:, an entry wins over the imported command "
        "of its name, and the others follow the imported ones."
    ),
]
Announcements = Annotated[
    list[AnnouncementModel],
    FailFast(),
    Field(
        description="The bot's announcements. If left out, announcements are not managed; an empty "
        "list means none."
    ),
]


class _Entries(Table):
    """A file with entries."""

    def entries(self) -> dict[Resource, tuple[Any, ...]]:
        """Return the values of the entries by their kinds, of the kinds that the file has."""
        return {
            kind: tuple(entry.value() for entry in getattr(self, kind.collection))
            for kind in OF_MANIFEST
            if kind.collection in self.model_fields_set
        }


class IncludedModel(_Entries):
    """A file that a manifest includes."""

    version: fields.Version = "1"
    commands: Commands = Field([])
    announcements: Announcements = Field([])

    def value(self) -> ManifestKeys:
        """Return the values of the file."""
        return ManifestKeys(entries=self.entries())


def _listings(value: Node, info: ValidationInfo) -> tuple[ListingKeys, ...]:
    from commandsync.manifest.listingmodel import ADAPTER  # noqa: PLC0415 - seldom needed

    try:
        models = ADAPTER.validate_python(value, context=info.context)
    except ValidationError:  # the problems of its entries are found entry by entry
        raise PydanticKnownError("list_type") from None
    return tuple(model.value() for model in models)


class ManifestModel(_Entries):
    """A whole manifest."""

    version: fields.Version = Field(description="The version of this grammar: 1.")
    name: fields.AnyText = Field(
        "",
        description="The bot's name: the heading of the page that `docs` writes.",
        examples=["Lantern"],
    )
    bot: fields.Bot = Field(
        "",
        description="The bot's id. Optional: a run can take it from COMMANDSYNC_BOT or from "
        "the token, too.",
        examples=["779641401482805289"],
    )
    base_url: fields.BaseUrl = Field(
        "",
        description="Where the listing service is, without /v1. Optional: a run can "
        "take it from COMMANDSYNC_BASE_URL, too.",
        examples=["https://listing.example"],
    )
    token_env: fields.TokenEnv = Field(
        "",
        description="The environment variable with this bot's token; never the token itself.",
        examples=["COMMANDSYNC_TOKEN_MYBOT"],
    )
    prefix: fields.Prefix = Field(
        None,
        description="The text that replaces {prefix} in a syntax, unchanged.",
        examples=["/", "!"],
    )
    defaults: DefaultsModel = Field(default_factory=DefaultsModel)
    include: fields.Texts = Field(
        (),
        description="More files with a commands: or announcements: list, as patterns relative to "
        "this file's folder; they must stay inside it.",
        examples=[["commands/*.yaml"]],
    )
    sync: SyncModel = Field(default_factory=SyncModel)
    imports: ImportModel = Field(default_factory=ImportModel, alias="import")
    listings: Annotated[tuple[Any, ...], PlainValidator(_listings)] = ()  # of `ListingKeys`
    commands: Commands = Field([])
    announcements: Announcements = Field([])

    def value(self) -> ManifestKeys:
        """Return the values of the manifest."""
        same = ("name", "bot", "base_url", "token_env", "prefix", "include", "listings")
        return ManifestKeys(
            **{key: getattr(self, key) for key in same},
            category=canonical(self.defaults.category),
            sync=SyncRules(**dict(self.sync)),
            imports=ImportKeys(**dict(self.imports)),
            has_import="imports" in self.model_fields_set,
            entries=self.entries(),
        )


_MAY_BE_EMPTY = Field("")


class ImportedCommandModel(Table):
    """A command of an imported file."""

    name: fields.AnyText
    description: fields.AnyText
    syntax: fields.AnyText
    category: fields.AnyText = _MAY_BE_EMPTY
    source: fields.AnyText = Field("", alias="from")
    formerly: fields.Texts = ()
    left_out: fields.AnyText = _MAY_BE_EMPTY
    kept: fields.Flag = False
    recorded: fields.Flag = False
    digest: fields.AnyText = Field("", alias="source")
    discord: WrittenObject = None


class ImportedPlaceModel(Table):
    """A place of the code that an import did not read."""

    source: fields.AnyText = Field(alias="from")
    name: fields.AnyText = _MAY_BE_EMPTY
    reason: fields.AnyText


def _one(value: Node) -> Node:
    if value != "1":
        raise value_error("it is written by another version of commandsync")
    return value


class ImportedFileModel(Table):
    """An imported file."""

    imported: Annotated[Literal["1"], BeforeValidator(_one)]
    commands: list[ImportedCommandModel]
    unread: list[ImportedPlaceModel] = Field([])
    gone: fields.Texts = ()
    digest: fields.AnyText = _MAY_BE_EMPTY


TABLES: dict[str, type[BaseModel]] = {
    "defaults": DefaultsModel,
    "sync": SyncModel,
    "import": ImportModel,
    "commands": CommandModel,
    "announcements": AnnouncementModel,
}
"""The models of the keys that hold keys and values, or a list of them."""


def keys_of(model: type[BaseModel]) -> list[str]:
    """Return the keys of a table as a manifest spells them: two are words of Python."""
    return [field.alias or name for name, field in model.model_fields.items()]


_ABOUT = """\
A bot's public command list for commandsync. Text is text: a value such as off, 247 or ~ counts as \
it is spelled, so text fields accept what YAML calls strings, numbers, booleans and null here. \
This schema cannot express the following, which `commandsync validate` checks: a value left empty \
is not a string, nor is one in typographic quotes; keys are unique; commands equal in all fields; \
formerly naming a live command; an id pinned twice; options or choices of one name; names that \
sync.ignore matches; {prefix} without prefix:; the form of base_url; days that a month does not \
have; that until is after publish; services of listings; two listings of one bot on one service; \
listings without commands; their URLs; that authorization contains {token}; that one of \
replace.fields is the name; token_env beside replace; numbers in plain decimal digits; tags, \
merges and the limits on size. An included file holds only commands: and announcements:, and needs \
no version:, which this schema requires."""


def json_schema() -> dict[str, Any]:
    """Return the manifest's JSON Schema: draft 07, which means the same in draft 2020-12."""
    from commandsync.manifest.listingmodel import ADAPTER  # noqa: PLC0415 - seldom needed

    schema, listings = ManifestModel.model_json_schema(), ADAPTER.json_schema()
    models = schema.pop("$defs") | listings.pop("$defs")
    schema["properties"]["listings"] = listings | schema["properties"]["listings"]
    inlined: dict[str, Any] = _inlined(schema, models)
    inlined["properties"]["commands"]["items"]["properties"]["discord"] |= OBJECT_SCHEMA
    # Without import: nothing else completes an entry.
    complete = {"commands": {"items": {"required": list(Resource.COMMAND.required)}}}
    inlined |= {"if": {"not": {"required": ["import"]}}, "then": {"properties": complete}}
    head = "http://json-schema.org/draft-07/schema#"
    about = {"title": "commandsync manifest", "description": _ABOUT, "definitions": DEFINITIONS}
    return {"$schema": head, **inlined, **about}


def schema_text() -> str:
    """Return the schema as `schemas/commands.schema.json` has it."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _inlined(schema: Any, models: dict[str, Any]) -> Any:  # noqa: ANN401 - any part of a schema
    """Put each model where it is used, as editors show it best, and leave empty defaults out."""
    if isinstance(schema, list):
        return [_inlined(part, models) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        table = models[reference.rpartition("/")[2]]
        schema = {key: part for key, part in table.items() if key != "title"} | schema
        del schema["$ref"]
    return {
        key: _inlined(part, models)
        for key, part in schema.items()
        if key != "default" or part not in ("", None, [], {})
    }
