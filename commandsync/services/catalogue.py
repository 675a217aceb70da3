"""The services that a manifest's `listings:` can name or declare, and the table of their facts.

Most take a bot's commands as an array of objects as Discord has them (`objects`). Discord's own
limits of an object are kept; how many commands a list may have is the service's, and not known. A
command without the platform's own object has a name and a description: no option is made from a
syntax.

A service that is not known is declared by the manifest: `replace:` has its request as data, from
which `declared` makes a service like the known ones.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from commandsync.api import arguments
from commandsync.api.content import content_of, more, objects_of, raise_for_failure
from commandsync.api.operations import Method, Operation, bot_part
from commandsync.errors import ArgumentError, DecodeError, Reply
from commandsync.records.losses import COMMANDS, NAMES, Limit, with_characters
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText, Resource, canonical
from commandsync.services.abilities import (
    LIST_ABILITIES,
    OF_OBJECTS,
    Fact,
    Facts,
    FactSource,
    Reads,
    Support,
    facts_of,
)
from commandsync.services.discord import DISCORD
from commandsync.services.discordobjects import (
    COMMAND,
    DESCRIPTION,
    GROUP,
    NAME,
    NOT_DESCRIBED,
    SUB_COMMAND,
)
from commandsync.services.fit import as_listed, in_menu
from commandsync.services.service import (
    PAGE,
    ListService,
    Service,
    accepted,
    explained,
    managed,
    with_others,
)
from commandsync.services.telegram import TELEGRAM

_Call = tuple[tuple[str, ...], Entry]  # the names of all levels of a command

_TOP_GG = FactSource("top.gg: Projects", "https://docs.top.gg/api/v1/projects", "2026-11")
_TOP_GG_RATES = FactSource("top.gg: Rate limits", "https://docs.top.gg", "2026-11")
_DISCORD_BOT_LIST = FactSource(
    "discordbotlist.com: Commands list", "https://docs.discordbotlist.com/commands-list", "2026-11"
)

_MANIFEST = FactSource("the manifest")

_ANNOUNCEMENT = {"title": Limit(least=3, most=100), "description": Limit(least=10, most=2000)}
_CATEGORIES = ("announcement", "event", "new_feature")


def facts_of_objects(source: FactSource) -> Facts:
    """Return the facts of a list of Discord's objects, unless a source says otherwise."""
    limits = {"name": NAME, "description": DESCRIPTION}
    objects = facts_of(OF_OBJECTS, ("description",), limits, read=Reads.NO, replace=Support.YES)
    return replace(
        facts_of(source, (), {}, read=Reads.NO, replace=Support.YES, options=Support.YES),
        most_sub_commands=OF_OBJECTS.says(25),
        levels=OF_OBJECTS.says(2),
        fields=objects.fields,
        limits=objects.limits,
    )


def objects(snapshot: Snapshot) -> list[Any]:
    """Return commands, as `fit` returns them, as Discord has them.

    `/group sub` is a command with sub-commands. A command or group that is not among the commands
    has its own object's description, else `…`. Raises as `managed`.
    """
    managed(snapshot)
    calls = [
        ((entry.name,) if in_menu(entry.own) else tuple(entry.name.split(" ")), entry)
        for entry in snapshot.collections[Resource.COMMAND]
    ]
    return list(_level(calls, 0))


def _level(calls: Sequence[_Call], depth: int) -> Iterator[dict[str, Any]]:
    """Yield the objects of one level, with those below them."""
    members: dict[str, list[_Call]] = {}
    for call in calls:
        members.setdefault(call[0][depth], []).append(call)
    for name, inner in members.items():
        itself = [entry for path, entry in inner if len(path) == depth + 1]
        below = [call for call in inner if len(call[0]) > depth + 1]
        node = _node(name, [*itself, *dict(inner).values()], depth)
        if itself:
            node["description"] = itself[0].text[1]
        if below:
            options = list(_level(below, depth + 1))
            node |= {"type": GROUP if depth else COMMAND, "options": options}
        elif depth:
            node["type"] = SUB_COMMAND
        yield node


def _node(name: str, entries: Sequence[Entry], depth: int) -> dict[str, Any]:
    """Return the first own object of commands, without its id; else a name, not described."""
    own = next((entry.own[depth] for entry in entries if entry.own), {})
    node = {"name": name, "description": NOT_DESCRIBED, "type": COMMAND, **own}
    return {key: value for key, value in node.items() if key != "id" and value != ()}


def replacing(
    method: Method,
    path: str,
    *,
    array: Callable[[Snapshot], list[Any]] = objects,
    wrap: str = "",
    fallback: Method | None = None,
) -> Callable[[str, Snapshot], Operation[None]]:
    """Return the function that replaces a list: `{bot}` in its path is the id, if it names the bot.

    The array of the commands is sent under the key `wrap`, or bare without one.
    """

    def replace_list(bot: str, snapshot: Snapshot) -> Operation[None]:
        at = path.replace("{bot}", bot_part(bot)) if "{bot}" in path else path
        body: Any = array(snapshot)
        body = {wrap: body} if wrap else body
        name = "replace commands"
        return Operation(name, method, at, accepted, body=body, fallback=fallback)

    return replace_list


def _announce_at_top_gg(text: AnnouncementText, category: str) -> Operation[None]:
    """Return the request that posts an announcement; `ArgumentError` if top.gg refuses it."""
    for name, limit in _ANNOUNCEMENT.items():
        value = arguments.string(name, getattr(text, name))
        if limit.is_short(value) or limit.is_long(value):
            bounds = f"{limit.least} to {limit.most:,} characters"
            raise ArgumentError(f"the {name} of an announcement at top.gg has {bounds}")
    if category not in _CATEGORIES:
        known = ", ".join(_CATEGORIES)
        raise ArgumentError(f"{category!r} is not a category of announcements at top.gg: {known}")
    return Operation(
        "post announcement",
        "POST",
        "/api/v1/projects/@me/announcements",
        accepted,
        body={"title": text.title, "content": text.description, "category": category},
        idempotent=False,
        fallback="PUT",  # a copy of its documents has that
    )


def _project(reply: Reply) -> str:
    """Read the name of a project; empty if the answer does not contain it."""
    with explained(reply):
        content = content_of(reply)
    name = content.get("name") if isinstance(content, dict) else None
    return name if isinstance(name, str) else ""


TOP_GG = ListService(
    name="top.gg",
    abilities=LIST_ABILITIES,
    facts=replace(
        facts_of_objects(_TOP_GG),
        announcements=_TOP_GG.says(Support.YES),
        wait=_TOP_GG_RATES.says(3600),
    ),
    authorization="Bearer {token}",
    simulated_only=True,
    origin="https://top.gg",
    variables=("COMMANDSYNC_TOKEN_TOPGG", "TOPGG_TOKEN"),
    renewal="tokens of the interface v0 are not accepted: copy the one of Integrations & API, in "
    "the settings of the bot at top.gg",
    names_bot=False,
    replace=replacing("PUT", "/api/v1/projects/@me/commands", fallback="POST"),
    check=lambda: Operation("check token", "GET", "/api/v1/projects/@me", _project),
    announce=_announce_at_top_gg,
)
"""top.gg, interface v1. Its older documents have POST for the PUT of the list."""

DISCORD_BOT_LIST = ListService(
    name="discordbotlist.com",
    abilities=LIST_ABILITIES,
    facts=facts_of_objects(_DISCORD_BOT_LIST),
    authorization="Bot {token}",
    simulated_only=True,
    origin="https://discordbotlist.com",
    variables=("COMMANDSYNC_TOKEN_DISCORDBOTLIST", "DISCORDBOTLIST_TOKEN", "DBL_TOKEN"),
    replace=replacing("POST", "/api/v1/bots/{bot}/commands"),
)
"""discordbotlist.com, as it documents the header; some clients send the token alone."""

LISTS: Mapping[str, ListService] = MappingProxyType(
    {service.name: service for service in (TOP_GG, DISCORD_BOT_LIST, TELEGRAM)}
)
"""The services that a manifest's `listings:` can name."""

SERVICES: Mapping[str, Service] = MappingProxyType(
    {PAGE.name: PAGE, DISCORD.name: DISCORD, **LISTS}
)
"""All services; `page` is that of the manifest's base URL."""


class DeclaredRead(NamedTuple):
    """How a declared service returns its list."""

    url: str  # of the same scheme and host as the request that replaces it
    list: str = ""  # the keys that lead to the list, joined by dots; empty for a bare array
    keep: tuple[str, ...] = ()  # the keys of a command that are sent back as they are listed
    absent: str = "error"  # `empty` if a list that is missing or null is an empty one


def declared(  # noqa: PLR0913 - the keys of `replace:`
    name: str,
    *,
    method: Method,
    url: str,
    authorization: str = "",
    wrap: str = "",
    fields: Mapping[str, str] = MappingProxyType({}),
    limits: Mapping[str, Any] = MappingProxyType({}),
    read: DeclaredRead | None = None,
) -> ListService:
    """Return a service that a manifest declares, which has checked the values.

    The arguments are the keys of `replace:`. Without `fields`, the objects of the array are as
    Discord has them; without `wrap`, it is sent bare.
    """
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    known = {"name": NAME, "description": DESCRIPTION}
    if fields:
        known = {key: Limit(least=1 if key == "name" else 0) for key in Resource.COMMAND.fields}
    bounds = {key: limit._replace(most=limits.get(key, limit.most)) for key, limit in known.items()}
    if characters := limits.get(NAMES):
        bounds["name"] = with_characters(bounds["name"], characters)
    facts = facts_of(
        _MANIFEST,
        fields.values(),
        bounds,
        read=Reads.LIST if read else Reads.NO,
        replace=Support.YES,
        most_records=limits.get(COMMANDS, Support.UNKNOWN),
    )
    array: Callable[[Snapshot], list[Any]] = partial(_flat, fields)
    if not fields:
        nested = facts_of_objects(_MANIFEST)
        facts = replace(nested, limits=facts.limits, most_records=facts.most_records)
        array = objects
    service = ListService(
        name=name,
        abilities=LIST_ABILITIES,
        facts=facts,
        authorization=authorization.strip(),
        origin=f"{scheme}://{host}",
        names_bot="{bot}" in path,
        slash=not fields,
        unique=not fields,
        replace=replacing(method, f"/{path}", array=array, wrap=wrap),
    )
    return replace(service, read=partial(_read, read, fields)) if read else service


def _flat(fields: Mapping[str, str], snapshot: Snapshot) -> list[dict[str, Any]]:
    managed(snapshot)
    entries = snapshot.collections[Resource.COMMAND]
    objects = (
        ({key: getattr(entry.text, field) for key, field in fields.items()}, entry)
        for entry in entries
    )
    return [
        with_others({key: text for key, text in keys.items() if text}, entry)
        for keys, entry in objects
    ]


def _read(
    read: DeclaredRead, fields: Mapping[str, str], bot: str, resource: Resource
) -> Operation[tuple[Entry, ...]]:
    """Return the request that reads a declared list; the first key of a field counts."""
    path = "/" + read.url.partition("://")[2].partition("/")[2]
    if "{bot}" in path:
        path = path.replace("{bot}", bot_part(bot))
    keys = {field: key for key, field in reversed([*fields.items()])}
    keep = [key for key in read.keep if key not in fields]  # these are the manifest's

    def listed(reply: Reply) -> tuple[Entry, ...]:
        entries = tuple(_entry(item, keys, keep, reply) for item in _items(read, resource, reply))
        return as_listed(Snapshot({resource: entries})).collections[resource]

    return Operation(f"list {resource.collection}", "GET", path, listed)


def _items(read: DeclaredRead, resource: Resource, reply: Reply) -> list[Any]:
    """Return the items of a list in an answer; raises as `content_of`, or if it is not whole."""
    levels: list[dict[str, Any]] = []  # the objects that lead to the list
    with explained(reply):
        content = content_of(reply)
        for key in read.list.split(".") if read.list else ():
            if not isinstance(content, dict):
                content = None
                break
            levels.append(content)
            content = content.get(key)
        for level in objects_of(levels):
            raise_for_failure(level, reply)
    if content is None and levels and read.absent == "empty":
        return []
    if not isinstance(content, list):
        raise DecodeError("the answer contains no list of commands", reply=reply)
    if sign := more(reply, levels, own_name=resource.collection, read=len(content)):
        message = f"the answer contains only a part of the list (see its {sign})"
        raise DecodeError(message, reply=reply)
    return content


def _entry(item: Any, keys: Mapping[str, str], keep: Iterable[str], reply: Reply) -> Entry:  # noqa: ANN401 - JSON
    """Return an item of a list; raises `DecodeError` if it is not a command with texts."""
    values = item if isinstance(item, dict) else {}
    texts = {field: values.get(key) or "" for field, key in keys.items()}
    if not all(isinstance(text, str) for text in texts.values()) or not texts["name"]:
        raise DecodeError("the answer contains a command without a name or texts", reply=reply)
    others = {key: values[key] for key in keep if key in values}
    empty = dict.fromkeys(Resource.COMMAND.fields, "")
    text = CommandText(**empty | {field: canonical(text) for field, text in texts.items()})
    return Entry(text, own=(others,) if others else ())


class FactRow(NamedTuple):
    """One fact of a service, for the table."""

    service: str
    ability: str  # an attribute of `Facts`, a field of a command, or `limit of` one
    fact: Fact


def table() -> Iterator[FactRow]:
    """Yield all that is known of all services."""
    for service, attribute in product(SERVICES.values(), fields(Facts)):
        match getattr(service.facts, attribute.name):
            case Fact() as fact:
                yield FactRow(service.name, attribute.name.replace("_", " "), fact)
            case by_field:
                of = "limit of " * (attribute.name == "limits")
                yield from (
                    FactRow(service.name, of + name, fact) for name, fact in by_field.items()
                )
