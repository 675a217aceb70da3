"""The listings of a manifest: their keys as pydantic models, and the services that they name.

An entry of `listings:` is a service that lists the bot, too. `ADAPTER` checks its keys; then
`read_listings` makes values of them, and reports the problems that only show beside other keys.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import Annotated, Literal, cast, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    PlainValidator,
    TypeAdapter,
    WithJsonSchema,
)
from pydantic.config import JsonDict

from commandsync.api.arguments import service_of
from commandsync.diagnostics import Location, Problem
from commandsync.manifest import fields as types
from commandsync.manifest import nodes
from commandsync.manifest.fields import AnyText, FieldName, keyed, matching, refusal
from commandsync.manifest.nodes import Node, Scalar
from commandsync.manifest.source import FileProblems, did_you_mean, quoted
from commandsync.records.losses import COMMANDS, NAMES, limit_of_characters, with_characters
from commandsync.records.snapshot import Audience, Snapshot
from commandsync.records.texts import Resource
from commandsync.services.abilities import Source
from commandsync.services.catalogue import LISTS, SERVICES, DeclaredRead, declared
from commandsync.services.service import ListService

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
_URL = r"(https?://(?:[\w.-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?)(/(?:[!\"$-\[\]-z|~]|\{bot\})*)"
_UNQUOTED = re.compile("%([0-9A-Fa-f]{2})")
_EXAMPLE = "https://list.example/api/bots/{bot}/commands"


def _with_name(keys: dict[str, FieldName]) -> dict[str, FieldName]:
    if "name" not in keys.values():
        raise refusal("fields has no key for the name", "write name: name")
    return keys


def _normal(origin: str, target: str) -> str:
    """Return a URL in its one spelling, as it is sent: a path has no empty parts and no dots."""
    path, query, parameters = target.partition("?")
    path, parameters = (_UNQUOTED.sub(_unquoted, text) for text in (path, parameters))
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    end = "/" if parts and path.endswith(("/", "/.", "/..")) else ""
    return f"{types.address(origin)}/{'/'.join(parts)}{end}{query}{parameters}"


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
    dict[_Key, Annotated[FieldName, BeforeValidator(types.as_written)]],
    AfterValidator(_with_name),
    keyed(types.TEXT, {"enum": list(get_args(FieldName))}),
]


def _checked(limits: dict[str, int | str]) -> dict[str, int | str]:
    for name, limit in limits.items():
        if isinstance(limit, str) != (name == NAMES):
            what = "characters, such as a-z0-9_" if name == NAMES else "a number"
            raise refusal(f"the limit {name} must be {what}")
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
_Lossy = Annotated[
    tuple[Annotated[Loss, BeforeValidator(types.as_written)], ...],
    BeforeValidator(types.items_of),
    types.one_or_more(list(get_args(Loss))),
]
_PrefixCommands = Annotated[Literal["omit", "send"], BeforeValidator(types.as_written)]


_Scopes = Annotated[
    tuple[Annotated[Scope, BeforeValidator(types.as_written)], ...],
    BeforeValidator(types.items_of),
    types.one_or_more(list(get_args(Scope))),
]
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
    absent: Annotated[Literal["error", "empty"], BeforeValidator(types.as_written)] = Field(
        "error", description="Whether a list that is missing or null is an empty one."
    )


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
    prefix_commands: _PrefixCommands = Field(
        "omit",
        description="Whether commands that are called with a prefix other than / are sent to a "
        "service that shows names with a /.",
    )
    replace: ReplaceModel | None = Field(
        None,
        json_schema_extra=_without_null,
        description="The request that replaces the list, for a service that is not known.",
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


_MANIFESTS_BOT = "the manifest's"  # not a valid id
_NO_BOT = "0"  # in place of an id that is not known
_NOTHING = Snapshot({Resource.COMMAND: ()})


def _declared(name: str, own: ReplaceModel) -> ListService:
    values = dict(own)
    values["read"] = own.read and DeclaredRead(**dict(own.read))
    return declared(name, **values)


class Listing(ListingModel):
    """A service that lists the bot, at its place in the manifest."""

    model_config = ConfigDict(defer_build=True)  # it is made of a model that is checked

    location: Location
    audience: Audience | None = None  # for whom the list is, of a service with several lists
    first: bool = True  # whether it is the first list of its entry
    # The descriptions in its language by the names of commands; None for a list to delete.
    texts: Mapping[str, str] | None = MappingProxyType({})

    @property
    def list_service(self) -> ListService:
        """The service, at the address and with the limits of this listing."""
        own = self.replace
        service = LISTS[self.service] if own is None else _declared(self.service, own)
        if self.audience and service.for_audience:
            service = service.for_audience(self.audience)
        facts, says = service.facts, Source("the manifest").says
        limits, most_records = dict(facts.limits), facts.most_records
        for name, most in self.limits.items():
            if isinstance(most, str):
                limits["name"] = says(with_characters(facts.limit("name"), most))
            elif name == COMMANDS:
                most_records = says(min(most, most_records.number or most))
            else:
                limit = facts.limit(name)
                limits[name] = says(limit._replace(most=min(most, limit.most or most)))
        facts = replace(facts, limits=MappingProxyType(limits), most_records=most_records)
        prefixed = self.prefix_commands == "send"
        origin = self.base_url or service.origin
        return replace(service, facts=facts, origin=origin, prefixed=prefixed)

    def bot_of(self, manifests_bot: str) -> str:
        """Return the bot's id on the service, empty for the one of the token."""
        return self.bot or ("" if self.list_service.own_bots else manifests_bot)

    def address(self, manifests_bot: str) -> str:
        """Return where the request goes, the same for every spelling of it."""
        service, bot = self.list_service, self.bot_of(manifests_bot)
        path = service.replace(bot or _NO_BOT, _NOTHING).path
        return service_of(service.origin) + path

    def identity(self, manifests_bot: str) -> str:
        """Return the identity of the list: its address, and the token where that decides the bot.

        All variables of a known service are for one token, which the first of them stands for.
        """
        service = self.list_service
        address = self.address(manifests_bot)
        if service.names_bot:
            return address
        first, own = next(iter(service.variables), ""), self.token_env
        identity = f"{address} {first if own in {'', *service.variables} else own}"
        return identity_for(identity, self.audience)

    def targets(self, manifests_bot: str) -> Iterator[tuple[str, ...]]:
        """Yield what no other listing may have: its identity, and its name for one bot."""
        service, bot = self.list_service, self.bot_of(manifests_bot)
        if bot or not service.names_bot:
            yield (self.identity(manifests_bot),)
        if bot and (self.replace or service.own_bots):
            yield self.service.casefold(), bot, *(self.audience or ())


def identity_for(default: str, audience: Audience | None) -> str:
    """Return the identity of a list, of that of the default one of its service."""
    is_default = audience is None or audience == Audience("default")
    return default if is_default else f"{default} {'/'.join(audience or ())}"


def read_listings(
    report: FileProblems,
    root: nodes.Mapping,
    models: Sequence[ListingModel],
    *,
    bot: str,
    texts_of: Callable[[Scalar], Mapping[str, str]],
) -> tuple[Listing, ...]:
    """Return the listings of a manifest without errors in its keys; report other problems.

    An entry with scopes and languages becomes one listing for each pair. `texts_of` reads the file
    of a language.
    """
    listings: list[Listing] = []
    starts: dict[Location, int] = {}
    entries = cast("list[nodes.Mapping]", root.get("listings", []))
    for node, model in zip(entries, models, strict=True):
        if wrong := list(_problems(node, model)):
            for each in wrong:
                report.error(*each)
            continue
        location = report.source.location(node.at)
        listings += _lists(node, model, location, texts_of)
        starts[location] = node.at
    for problem in same_listing_problems([(listings, bot or _MANIFESTS_BOT)]):
        report.error(starts[problem.location], problem.message, problem.hint)
    return tuple(listings)


def _lists(
    node: nodes.Mapping,
    model: ListingModel,
    location: Location,
    texts_of: Callable[[Scalar], Mapping[str, str]],
) -> Iterator[Listing]:
    """Yield the listings of an entry: one for each scope and language."""
    files = cast("nodes.Mapping", node.get("languages", {}))
    texts: dict[str, Mapping[str, str] | None] = {"": {}}
    for language in model.languages:
        file = cast("Scalar", files[language])
        texts[language] = None if file == NONE else texts_of(file)
    scopes = dict.fromkeys(model.scopes or ("default",))
    for number, (scope, language) in enumerate(product(scopes, texts)):
        yield Listing.model_construct(
            **dict(model),
            location=location,
            audience=Audience(scope, language) if _has_audiences(model.service) else None,
            first=number == 0,
            texts=texts[language],
        )


def same_listing_problems(listings: Iterable[tuple[Iterable[Listing], str]]) -> tuple[Problem, ...]:
    """Refuse two listings of one bot on one service: each would replace the other's commands.

    The listings of each manifest come with its bot, empty where that is not known.
    """
    first: dict[tuple[str, ...], Listing] = {}
    problems = {}
    named = ((listing, bot) for managed, bot in listings for listing in managed)
    for listing, target in ((each, target) for each, bot in named for target in each.targets(bot)):
        other = first.setdefault(target, listing)
        if other is not listing:
            message = f"duplicate listing {quoted(listing.service)} (first at {other.location})"
            key = "bot" if listing.list_service.names_bot else "token_env"
            hint = f"remove one; for another bot, write the {key}: of each"
            problems[listing.location] = Problem(listing.location, message, hint)
    return tuple(problems.values())


def _host(url: str) -> str:
    return "/".join(url.split("/")[:3])


def _has_audiences(service: str) -> bool:
    """Whether a service has a list for each scope and language."""
    return service in LISTS and LISTS[service].for_audience is not None


def _problems(node: nodes.Mapping, listing: ListingModel) -> Iterator[tuple[int, str, str]]:
    """Yield the problems between the keys of a listing: place, message and hint."""
    name, own = listing.service, listing.replace
    if not _has_audiences(name):
        for key in sorted({"scopes", "languages"} & {*node}):
            yield node[key].at, f"{key} is not allowed for {quoted(name)}", f"remove {key}:"
    if own is None:
        if name not in LISTS:
            known = did_you_mean(name, LISTS) or f"known services are {', '.join(LISTS)};"
            hint = f"{known} another service needs replace:"
            yield node["service"].at, f"{quoted(name)} is not a known service", hint
        return
    yield from _declared_problems(node, listing, own)


def _declared_problems(
    node: nodes.Mapping, listing: ListingModel, own: ReplaceModel
) -> Iterator[tuple[int, str, str]]:
    """Yield the problems of a listing with `replace:`, as `_problems`."""
    name = listing.service
    if own.read and not own.fields:
        yield node["replace"].at, "replace.read needs fields", "write fields: {name: name, ...}"
    if own.read and _host(own.read.url) != _host(own.url):
        hint = "the token is sent there: both have one scheme and host"
        yield node["replace"].at, "the url of read has another host than that of replace", hint
    if name.casefold() in SERVICES:
        message = f"replace is not allowed beside {quoted(name)}, the name of a known service"
        yield node["replace"].at, message, "remove replace:, or choose another name"
    if "base_url" in node:
        hint = "write the host in the url of replace: only"
        yield node["base_url"].at, "base_url is not allowed beside replace", hint
    if own.authorization and not listing.token_env:
        variable = re.sub(r"\W", "_", name).upper()
        hint = f"name the variable of the token, such as token_env: COMMANDSYNC_TOKEN_{variable}"
        yield node.at, "a listing whose replace has an authorization needs a token_env", hint
    if listing.token_env and not own.authorization:
        hint = 'add authorization: "Bearer {token}" to replace:, or remove token_env:'
        yield node["token_env"].at, "token_env has no effect without replace.authorization", hint
