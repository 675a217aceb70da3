"""The keys of `listings:` as pydantic models.

`ADAPTER` checks a list of entries. Each entry is a service that lists the bot: a known one by its
name, or one that `replace:` declares, with the request that replaces its list and the one that
reads it back. `listings.py` reports the problems that only show beside other keys.
"""

from typing import Annotated, Literal, cast, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    FailFast,
    Field,
    PlainValidator,
    TypeAdapter,
    WithJsonSchema,
)
from pydantic.config import JsonDict

from commandsync.manifest import checks
from commandsync.manifest import fields as types
from commandsync.manifest.checks import as_written
from commandsync.manifest.fields import AnyText, keyed
from commandsync.manifest.keys import (
    FieldName,
    Limited,
    ListingKeys,
    Loss,
    Method,
    ReplaceKeys,
    Scope,
)
from commandsync.services.catalogue import LISTS, DeclaredRead


def _without_null(schema: JsonDict) -> None:
    """Let a key that may be left out not be null, which its default is."""
    reference, _ = cast("list[JsonDict]", schema.pop("anyOf"))
    schema.update(reference)


_Key = Annotated[AnyText, AfterValidator(checks.without_token)]
_Url = Annotated[AnyText, AfterValidator(checks.url)]
_Fields = Annotated[
    dict[_Key, Annotated[FieldName, BeforeValidator(as_written)]],
    AfterValidator(checks.with_name),
    keyed(types.TEXT, {"enum": list(get_args(FieldName))}),
]
_Limits = Annotated[
    dict[Limited, Annotated[int | str, PlainValidator(checks.limit_of_listing)]],
    AfterValidator(checks.limits),
    keyed(
        {"enum": list(get_args(Limited))},
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": checks.GREATEST},
                {"type": "string", "pattern": f"^{checks.CHARACTERS}$"},
            ]
        },
    ),
]
_Service = Annotated[
    AnyText,
    AfterValidator(checks.service),
    WithJsonSchema({"type": ["string", "number", "boolean"], "pattern": f"^{checks.SERVICE}$"}),
]
_Guild = Annotated[
    AnyText,
    AfterValidator(checks.guild),
    WithJsonSchema({"type": ["string", "number"], "pattern": f"^{checks.GUILD}$"}),
]
_Lossy = Annotated[types.Words[Loss], types.one_or_more(list(get_args(Loss)))]
_Scopes = Annotated[types.Words[Scope], types.one_or_more(list(get_args(Scope)))]
_Languages = Annotated[
    dict[Annotated[AnyText, AfterValidator(checks.language)], AnyText],
    keyed({"pattern": f"^{checks.LANGUAGE}$"}, types.TEXT),
]


class ReadModel(types.Table):
    """The request that reads the list of a service back, as data."""

    url: _Url = Field(
        description="The URL, with the scheme and host of the one in replace.",
        examples=["https://list.example/api/bots/{bot}"],
    )
    list: Annotated[_Key, Field(description="The key of the list; dots lead into objects.")] = ""
    keep: types.Texts = Field(
        (), description="The keys of a command that are sent back as they are listed."
    )
    absent: Annotated[Literal["error", "empty"], BeforeValidator(as_written)] = Field(
        "error", description="Whether a list that is missing or null is an empty one."
    )


class ReplaceModel(types.Table):
    """The request that replaces the whole list of a service, as data."""

    method: Annotated[Method, BeforeValidator(as_written)] = Field(description="The HTTP method.")
    url: _Url = Field(
        description="The URL; {bot} is replaced with the bot's id.", examples=[checks.EXAMPLE]
    )
    authorization: Annotated[AnyText, AfterValidator(checks.authorization)] = Field(
        "",
        description="The Authorization header, if any; {token} is replaced with the token.",
        examples=["Bearer {token}", "{token}"],
    )
    wrap: _Key = Field(
        "", description="The key of the JSON object with the array; if left out, it is bare."
    )
    fields: _Fields = Field(
        {},
        description="The field of the command for each key of an object. If left out, the objects "
        "are as Discord has them.",
        examples=[{"name": "name", "description": "description", "usage": "syntax"}],
    )
    limits: _Limits = Field(
        {},
        description="The maximum length of each field, the maximum number of commands, and the "
        "characters of names.",
    )
    read: ReadModel | None = Field(
        None,
        json_schema_extra=_without_null,
        description="The request that reads the list back, which is then verified.",
    )

    def value(self) -> ReplaceKeys:
        """Return the values of the request."""
        read = self.read and DeclaredRead(**dict(self.read))
        return ReplaceKeys(**dict(self) | {"read": read})


class ListingModel(types.Table):
    """A service that lists the bot."""

    service: _Service = Field(
        description="The name of the service; an unknown one needs replace.",
        examples=["discord", *LISTS],
    )
    bot: types.Bot = Field("", description="The bot's id on this service, if it is another one.")
    guild: _Guild = Field(
        "", description="Discord only: the server of the commands; by default, the global ones."
    )
    base_url: Annotated[AnyText, AfterValidator(checks.origin)] = Field(
        "", description="The scheme and host in place of the service's own."
    )
    token_env: types.TokenEnv = Field(
        "", description="The environment variable with the token for this service."
    )
    lossy: _Lossy = Field((), description="The parts that the service may lack without a warning.")
    prefix_commands: Annotated[Literal["omit", "send"], BeforeValidator(as_written)] = Field(
        "omit",
        description="Whether commands that are called with a prefix other than / are sent to a "
        "service that shows names with a /.",
    )
    replace: ReplaceModel | None = Field(
        None,
        json_schema_extra=_without_null,
        description="The request that replaces the list, for an unknown service.",
    )
    scopes: _Scopes = Field(
        (),
        description="The scopes of Telegram, each with a list of its own; default if left out.",
        examples=[["default", "all_private_chats"]],
    )
    languages: _Languages = Field(
        {},
        description="The languages of Telegram, each with a list of its own, and its file, with "
        "lines of name: description; none deletes the list.",
        examples=[{"de": "commands.de.yaml"}],
    )
    limits: _Limits = Field(
        {}, description="Lower limits for this listing, of any service.", examples=[{"name": 20}]
    )

    def value(self) -> ListingKeys:
        """Return the values of the listing."""
        return ListingKeys(**dict(self) | {"replace": self.replace and self.replace.value()})


TABLES: dict[str, type[BaseModel]] = {
    "listings": ListingModel,
    "replace": ReplaceModel,
    "read": ReadModel,
}
"""The models of the keys that hold keys and values, as `model.TABLES` has the others."""

ADAPTER: TypeAdapter[list[ListingModel]] = TypeAdapter(
    Annotated[
        list[ListingModel],
        FailFast(),
        Field(
            description="More services that list the bot. Without base_url, there is no page "
            "beside them."
        ),
    ]
)
"""Checks `listings:`."""
