"""The keys of an entry of `listings:` as pydantic models: a service that lists the bot, too."""

import re
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

from commandsync.manifest import fields as types
from commandsync.manifest.fields import AnyText, FieldName, keyed, matching, refusal
from commandsync.manifest.nodes import Node, Scalar
from commandsync.services.catalogue import LISTS

Loss = Literal[FieldName, "options", "translations", "commands", "sync"]
"""What a service may lack without a warning."""

_Limited = Literal[FieldName, "commands"]
_MOST = 999_999_999
_SERVICE = r"\s*[A-Za-z0-9][A-Za-z0-9._-]{0,99}\s*"
_URL = r"(https?://(?:[\w.-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?)(/(?:[!\"$-\[\]-z|~]|\{bot\})*)"
_EXAMPLE = "https://list.example/api/bots/{bot}/commands"


def _with_name(keys: dict[str, FieldName]) -> dict[str, FieldName]:
    if "name" not in keys.values():
        raise refusal("fields has no key for the name", "write name: name")
    return keys


def _count(value: Node) -> int:
    if isinstance(value, Scalar) and value.plain and re.fullmatch("0{0,9}[1-9][0-9]{0,8}", value):
        return int(value)
    raise refusal(f"a limit must be a number from 1 to {_MOST:,}, not {types.shown(value)}")


def _without_null(schema: JsonDict) -> None:
    """Let a key that may be left out not be null, which its default is."""
    reference, _ = cast("list[JsonDict]", schema.pop("anyOf"))
    schema.update(reference)


_Key = Annotated[
    AnyText,
    matching(
        r"(?s)(?!.*\{token\}).*",
        "{token} is allowed in authorization only",
        "the token is sent in that header",
    ),
]
_Origin = Annotated[
    AnyText,
    AfterValidator(types.address),
    matching(
        "https?://[^/]+",
        "base_url of a listing must not have a path",
        "it replaces the service's own scheme and host, such as http://127.0.0.1:8081",
    ),
]
_Url = Annotated[
    _Key,
    matching(
        _URL,
        f"url must look like {_EXAMPLE}",
        "it has a host and a path of ASCII characters, and only {bot} in braces",
    ),
    AfterValidator(lambda url: re.sub(_URL, lambda part: types.address(part[1]) + part[2], url)),
]
_Authorization = Annotated[
    AnyText,
    matching(
        r"[ !-z|~]*\{token\}[ !-z|~]*",
        "authorization must contain {token} once, and otherwise ASCII characters",
        'write "Bearer {token}" or "{token}"; never write the token itself here',
    ),
]
_Fields = Annotated[
    dict[_Key, Annotated[FieldName, BeforeValidator(types.as_written)]],
    AfterValidator(_with_name),
    keyed(types.TEXT, {"enum": list(get_args(FieldName))}),
]
_Limits = Annotated[
    dict[_Limited, Annotated[int, PlainValidator(_count)]],
    keyed({"enum": list(get_args(_Limited))}, {"type": "integer", "minimum": 1, "maximum": _MOST}),
]
_Service = Annotated[
    AnyText,
    matching(
        _SERVICE,
        "service must look like top.gg or our-list",
        "a name has at most 100 letters, digits, dots, hyphens and underscores",
    ),
    WithJsonSchema({"type": ["string", "number", "boolean"], "pattern": f"^{_SERVICE}$"}),
]
_Lossy = Annotated[
    tuple[Annotated[Loss, BeforeValidator(types.as_written)], ...],
    BeforeValidator(types.listed),
    types.one_or_more(list(get_args(Loss))),
]


class ReplaceModel(types.Table):
    """The request that replaces the whole list of a service, as data."""

    method: Annotated[Literal["POST", "PUT", "PATCH"], BeforeValidator(types.as_written)] = Field(
        description="The HTTP method."
    )
    url: _Url = Field(
        description="The URL; {bot} is replaced with the bot's id.", examples=[_EXAMPLE]
    )
    authorization: _Authorization = Field(
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
        {}, description="The maximum length of each field, and the maximum number of commands."
    )


class ListingModel(types.Table):
    """A service that lists the bot, and takes its whole list of commands in one request."""

    service: _Service = Field(
        description="The name of the service; one that is not known needs replace.",
        examples=list(LISTS),
    )
    bot: types.Bot = Field("", description="The bot's id on this service, if it is another one.")
    base_url: _Origin = Field("", description="The scheme and host in place of the service's own.")
    token_env: types.TokenEnv = Field(
        "", description="The environment variable with the token for this service."
    )
    lossy: _Lossy = Field((), description="What the service may lack without a warning.")
    replace: ReplaceModel | None = Field(
        None,
        json_schema_extra=_without_null,
        description="The request that replaces the list, for a service that is not known.",
    )
    limits: _Limits = Field(
        {}, description="Lower limits for this listing, of any service.", examples=[{"name": 20}]
    )


TABLES: dict[str, type[BaseModel]] = {"listings": ListingModel, "replace": ReplaceModel}
"""As those of the rest of a manifest."""

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
