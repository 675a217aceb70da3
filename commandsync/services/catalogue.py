"""The services that a manifest's `listings:` can name or declare, and the table of their facts.

A service that is not known is declared by the manifest: `replace:` has its request as data, from
which `declared` makes a service like the known ones.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from commandsync.api.content import content_of, more, objects_of, raise_for_failure
from commandsync.api.operations import Method, Operation, bot_part
from commandsync.errors import DecodeError, Reply
from commandsync.records.losses import COMMANDS, NAMES, Limit, with_characters
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource, canonical
from commandsync.services.abilities import (
    LIST_ABILITIES,
    Fact,
    Facts,
    FactSource,
    Reads,
    Support,
    facts_of,
)
from commandsync.services.discord import DISCORD
from commandsync.services.discordlists import (
    DESCRIPTION,
    DISCORD_BOT_LIST,
    NAME,
    TOP_GG,
    facts_of_objects,
    objects,
    replacing,
)
from commandsync.services.fit import as_listed
from commandsync.services.service import (
    PAGE,
    ListService,
    Service,
    explained,
    managed,
    with_others,
)
from commandsync.services.telegram import TELEGRAM

LISTS: Mapping[str, ListService] = MappingProxyType(
    {service.name: service for service in (TOP_GG, DISCORD_BOT_LIST, TELEGRAM)}
)
"""The services that a manifest's `listings:` can name."""

SERVICES: Mapping[str, Service] = MappingProxyType(
    {PAGE.name: PAGE, DISCORD.name: DISCORD, **LISTS}
)
"""All services; `page` is that of the manifest's base URL."""


_SOURCE = FactSource("the manifest")


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
        _SOURCE,
        fields.values(),
        bounds,
        read=Reads.LIST if read else Reads.NO,
        replace=Support.YES,
        most_records=limits.get(COMMANDS, Support.UNKNOWN),
    )
    array: Callable[[Snapshot], list[Any]] = partial(_flat, fields)
    if not fields:
        nested = facts_of_objects(_SOURCE)
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
    with explained(reply):
        content, levels = _within(content_of(reply), read.list.split(".") if read.list else ())
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


def _within(content: Any, keys: Iterable[str]) -> tuple[Any, list[dict[str, Any]]]:  # noqa: ANN401 - JSON
    """Return the value below keys, None if there is none, and the objects that lead to it."""
    levels: list[dict[str, Any]] = []
    for key in keys:
        if not isinstance(content, dict):
            return None, levels
        levels.append(content)
        content = content.get(key)
    return content, levels


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
