"""The keys of `listings:` as pydantic models.

`ADAPTER` checks a list of entries. Each entry is a service that lists the bot, too: a known one by
its name, or one that `replace:` declares, with the request that replaces its list and the one that
reads it back. URLs are normalised here, once. Problems that only show beside other keys are those
of `listings.py`.
"""

import re
from contextlib import suppress
from typing import Annotated, Literal, cast, get_args
from urllib.parse import quote

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
from commandsync.manifest.checks import address, as_written, shown, value_error
from commandsync.manifest.fields import AnyText, FieldName, keyed, matching
from commandsync.manifest.nodes import Node, Scalar
from commandsync.records.losses import NAMES, limit_of_characters
from commandsync.services.catalogue import LISTS

Loss = Literal[FieldName, "options", "translations", "commands", "sync"]
"""What a service may lack without a warning."""

Scope = Literal["default", "all_private_chats", "all_group_chats", "all_chat_administrators"]
"""The scopes of Telegram that need no chat."""

NONE = "none"
"""In place of a language's file: the list of that language is deleted."""

_LANGUAGE = "[a-z]{2}"
_Limited = Literal[FieldName, "commands", "names"]
_MOST = 999_999_999
_CHARACTERS = r"[!-~]*[!-,.-~]-[!-,.-~][!-~]*"  # with a range
_SERVICE = r"\s*[A-Za-z0-9][A-Za-z0-9._-]{0,99}\s*"
_URL = r"(https?://(?:[\w.-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?)(/(?:%[0-9A-Fa-f]{2}|[!\"$&-\[\]-z|~]|\{bot\})*)"
_UNQUOTED = re.compile("%([0-9A-Fa-f]{2})")
_UNCHANGED = "%{}/?:@!$&'()*+,;=-._~"  # what a client sends as it is written
_EXAMPLE = "https://list.example/api/bots/{bot}/commands"


def _with_name(keys: dict[str, FieldName]) -> dict[str, FieldName]:
    if "name" not in keys.values():
        raise value_error("fields has no key for the name", "write name: name")
    return keys


def _normal(origin: str, target: str) -> str:
    """Return a URL in its one spelling, as it is sent: a path has no empty parts and no dots."""
    path, query, parameters = target.partition("?")
    path, parameters = (
        quote(_UNQUOTED.sub(_unquoted, text), safe=_UNCHANGED) for text in (path, parameters)
    )
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    end = "/" if parts and path.endswith(("/", "/.", "/..")) else ""
    return f"{address(origin)}/{'/'.join(parts)}{end}{query if parameters else ''}{parameters}"


def _unquoted(match: re.Match[str]) -> str:
    """Return a letter, digit or mark that needs no quoting; else the quoted one in capitals."""
    character = chr(int(match[1], 16))
    plain = character.isascii() and (character.isalnum() or character in "-._~")
    return character if plain else match[0].upper()


def _limit(value: Node) -> int | str:
    if isinstance(value, Scalar) and value.plain and re.fullmatch("0{0,9}[1-9][0-9]{0,8}", value):
        return int(value)
    if isinstance(value, Scalar) and re.fullmatch(_CHARACTERS, value):
        with suppress(ValueError):
            limit_of_characters(value)
            return str(value)
    raise value_error(f"a limit must be a number from 1 to {_MOST:,}, not {shown(value)}")


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
    AfterValidator(address),
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
    AfterValidator(lambda url: re.sub(_URL, lambda part: _normal(part[1], part[2]), url)),
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
    dict[_Key, Annotated[FieldName, BeforeValidator(as_written)]],
    AfterValidator(_with_name),
    keyed(types.TEXT, {"enum": list(get_args(FieldName))}),
]


def _checked(limits: dict[str, int | str]) -> dict[str, int | str]:
    for name, limit in limits.items():
        if isinstance(limit, str) != (name == NAMES):
            what = "characters, such as a-z0-9_" if name == NAMES else "a number"
            raise value_error(f"the limit {name} must be {what}")
    return limits


_Limits = Annotated[
    dict[_Limited, Annotated[int | str, PlainValidator(_limit)]],
    AfterValidator(_checked),
    keyed(
        {"enum": list(get_args(_Limited))},
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": _MOST},
                {"type": "string", "pattern": f"^{_CHARACTERS}$"},
            ]
        },
    ),
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
_Lossy = Annotated[types.Words[Loss], types.one_or_more(list(get_args(Loss)))]
_Guild = Annotated[
    AnyText,
    matching(
        r"\s*[0-9]{1,20}\s*",
        "guild must look like 613425648685547541",
        "it is the id of a server: copy it in Discord, with the developer mode",
    ),
    WithJsonSchema({"type": ["string", "number"], "pattern": r"^\s*[0-9]{1,20}\s*$"}),
]
_PrefixCommands = Annotated[Literal["omit", "send"], BeforeValidator(as_written)]
_Scopes = Annotated[types.Words[Scope], types.one_or_more(list(get_args(Scope)))]
_Languages = Annotated[
    dict[
        Annotated[
            AnyText,
            matching(_LANGUAGE, "a language must look like de", "it has two letters (ISO 639-1)"),
        ],
        AnyText,
    ],
    keyed({"pattern": f"^{_LANGUAGE}$"}, types.TEXT),
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

    method: Annotated[Literal["POST", "PUT", "PATCH"], BeforeValidator(as_written)] = Field(
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
        {},
        description="The maximum length of each field, the maximum number of commands, and the "
        "characters of names.",
    )
    read: ReadModel | None = Field(
        None,
        json_schema_extra=_without_null,
        description="The request that reads the list back, which is then verified.",
    )


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
    base_url: _Origin = Field("", description="The scheme and host in place of the service's own.")
    token_env: types.TokenEnv = Field(
        "", description="The environment variable with the token for this service."
    )
    lossy: _Lossy = Field((), description="The parts that the service may lack without a warning.")
    prefix_commands: _PrefixCommands = Field(
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


TABLES: dict[str, type[BaseModel]] = {
    "listings": ListingModel,
    "replace": ReplaceModel,
    "read": ReadModel,
}
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
