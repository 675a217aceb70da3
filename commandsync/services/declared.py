"""A service that a manifest declares: `replace:` as data, and the service that it makes."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from commandsync.api.operations import Method
from commandsync.records.facts import Answer, Limit, Reads, Source
from commandsync.records.losses import COMMANDS
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.services.abilities import LIST_ABILITIES
from commandsync.services.discordlists import (
    DESCRIPTION,
    NAME,
    facts_of_objects,
    objects,
    replacing,
)
from commandsync.services.service import ListService, facts_of, managed

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
