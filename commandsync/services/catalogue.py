"""The services that a manifest's `listings:` can name or declare, and the table of their facts.

A service that is not known is declared by the manifest: `replace:` has its request as data, from
which `declared` makes a service like the known ones.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from commandsync.api.operations import Method
from commandsync.records.losses import COMMANDS, Limit
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.services.abilities import (
    LIST_ABILITIES,
    Answer,
    Fact,
    Facts,
    Reads,
    Source,
    facts_of,
)
from commandsync.services.discordlists import (
    DESCRIPTION,
    DISCORD_BOT_LIST,
    NAME,
    TOP_GG,
    facts_of_objects,
    objects,
    replacing,
)
from commandsync.services.service import PAGE, ListService, Service, managed
from commandsync.services.telegram import TELEGRAM

LISTS: Mapping[str, ListService] = MappingProxyType(
    {service.name: service for service in (TOP_GG, DISCORD_BOT_LIST, TELEGRAM)}
)
"""The services that a manifest's `listings:` can name."""

SERVICES: Mapping[str, Service] = MappingProxyType({PAGE.name: PAGE, **LISTS})
"""All services; `page` is that of the manifest's base URL."""


_SOURCE = Source("the manifest")


def declared(  # noqa: PLR0913 - the keys of `replace:`
    name: str,
    *,
    method: Method,
    url: str,
    authorization: str = "",
    wrap: str = "",
    fields: Mapping[str, str] = MappingProxyType({}),
    limits: Mapping[str, int] = MappingProxyType({}),
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
    facts = facts_of(
        _SOURCE,
        fields.values(),
        bounds,
        read=Reads.NO,
        replace=Answer.YES,
        most_records=limits.get(COMMANDS, Answer.UNKNOWN),
    )
    array: Callable[[Snapshot], list[Any]] = partial(_flat, fields)
    if not fields:
        nested = facts_of_objects(_SOURCE)
        facts = replace(nested, limits=facts.limits, most_records=facts.most_records)
        array = partial(objects, description=bounds["description"])
    return ListService(
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


def _flat(fields: Mapping[str, str], snapshot: Snapshot) -> list[dict[str, str]]:
    objects = (
        {key: getattr(command, field) for key, field in fields.items()}
        for command in managed(snapshot)
    )
    return [{key: text for key, text in each.items() if text} for each in objects]


class Row(NamedTuple):
    """One fact of a service, for the table."""

    service: str
    ability: str  # an attribute of `Facts`, a field of a command, or `limit of` one
    fact: Fact


def table() -> Iterator[Row]:
    """Yield all that is known of all services."""
    for service, attribute in product(SERVICES.values(), fields(Facts)):
        match getattr(service.facts, attribute.name):
            case Fact() as fact:
                yield Row(service.name, attribute.name.replace("_", " "), fact)
            case by_field:
                of = "limit of " * (attribute.name == "limits")
                yield from (Row(service.name, of + name, fact) for name, fact in by_field.items())
