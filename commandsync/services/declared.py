"""A service that a manifest declares: `replace:` as data, and the service that it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from commandsync.api.operations import Method
from commandsync.records.facts import Answer, Facts, Limit, Source
from commandsync.records.losses import COMMANDS
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.services.abilities import LIST_ABILITIES
from commandsync.services.discordlists import DESCRIPTION, NAME, facts_of, objects, replacing
from commandsync.services.service import ListService, managed

_SOURCE = Source("the manifest")
_FIELDS = Resource.COMMAND.fields


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

    Args:
        name: The name of the service.
        method: The HTTP method.
        url: The URL, with `{bot}` for the bot's id behind the host.
        authorization: The header of this name, with `{token}` for the token; empty for no header.
        wrap: The key of the object that has the array; empty for a bare array.
        fields: The fields of a command by the keys of its object; empty for objects as Discord has
            them.
        limits: The greatest length of a field, and of `commands` the greatest number.
    """
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    facts = _flat_facts(fields, limits) if fields else _nested_facts(limits)
    array = (
        partial(_flat, fields)
        if fields
        else partial(objects, description=facts.limit("description"))
    )
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


def _nested_facts(limits: Mapping[str, int]) -> Facts:
    """Return what is declared of a list of objects as Discord has them."""
    known = {"name": NAME, "description": DESCRIPTION}
    return replace(facts_of(_SOURCE), **_limits(known, limits))


def _flat_facts(fields: Mapping[str, str], limits: Mapping[str, int]) -> Facts:
    """Return what is declared of a list of objects with the manifest's own fields."""
    taken = set(fields.values())
    answers = {key: _SOURCE.says(Answer.YES if key in taken else Answer.NO) for key in _FIELDS}
    return replace(
        facts_of(_SOURCE),
        options=_SOURCE.says(Answer.NO),
        most_sub_commands=_SOURCE.says(0),
        levels=_SOURCE.says(0),
        fields=MappingProxyType(answers),
        **_limits({key: Limit(least=1 if key == _FIELDS[0] else 0) for key in _FIELDS}, limits),
    )


def _limits(known: Mapping[str, Limit], declared: Mapping[str, int]) -> dict[str, Any]:
    """Return the facts about limits: the known ones, with the most of each as declared."""
    limits = {
        key: _SOURCE.says(replace(limit, most=declared.get(key, limit.most)))
        for key, limit in known.items()
    }
    most_records = _SOURCE.says(declared.get(COMMANDS, Answer.UNKNOWN))
    return {"limits": MappingProxyType(limits), "most_records": most_records}
