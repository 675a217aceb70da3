"""A service that a manifest declares: `replace:` as data, and the service that it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Literal

from commandsync.api.operations import Operation, bot_part
from commandsync.records.facts import Answer, Fact, Facts, Limit, Source
from commandsync.records.losses import COMMANDS
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services import replies
from commandsync.services.abilities import LIST_ABILITIES
from commandsync.services.discordlists import DESCRIPTION, NAME, facts_of, objects
from commandsync.services.service import ListService, managed

Method = Literal["POST", "PUT", "PATCH"]

FIELDS = Resource.COMMAND.fields
"""The fields of a command that `fields:` can send."""

LIMITS = (*FIELDS, COMMANDS)
"""What `limits:` can limit: the lengths of the fields, and the number of commands."""

_SOURCE = Source("the manifest")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """How a service that commandsync does not know replaces a whole list.

    Attributes:
        method: The HTTP method.
        url: The URL, with `{bot}` for the bot's id behind the host.
        authorization: The header of this name, with `{token}` for the token; empty for no header.
        wrap: The key of the object that has the array; empty for a bare array.
        fields: The fields of a command by the keys of its object; empty for objects as Discord has
            them.
        limits: The greatest length of a field, and of `commands` the greatest number; see `LIMITS`.
    """

    method: Method
    url: str
    authorization: str = ""
    wrap: str = ""
    fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


def declared(name: str, data: Replacement) -> ListService:
    """Return the service that a manifest declares, which has checked the data."""
    scheme, _, rest = data.url.partition("://")
    host, _, path = rest.partition("/")
    return ListService(
        name=name,
        abilities=LIST_ABILITIES,
        facts=_flat_facts(data) if data.fields else _nested_facts(data),
        authorization=data.authorization.strip(),
        origin=f"{scheme}://{host}",
        names_bot="{bot}" in path,
        slash=not data.fields,
        unique=not data.fields,
        replace=partial(_replace, data, f"/{path}"),
    )


def _replace(data: Replacement, path: str, bot: str, snapshot: Snapshot) -> Operation[None]:
    if "{bot}" in path:
        path = path.replace("{bot}", bot_part(bot))
    array = (
        [_flat(data.fields, command) for command in managed(snapshot)]
        if data.fields
        else objects(snapshot, description=_limit(data, "description", DESCRIPTION))
    )
    body = {data.wrap: array} if data.wrap else array
    return Operation("replace commands", data.method, path, replies.accepted, body=body)


def _flat(fields: Mapping[str, str], command: CommandText) -> dict[str, str]:
    texts = ((key, getattr(command, field)) for key, field in fields.items())
    return {key: text for key, text in texts if text}


def _nested_facts(data: Replacement) -> Facts:
    """Return what is declared of a list of objects as Discord has them."""
    facts = facts_of(_SOURCE)
    known = {"name": NAME, "description": DESCRIPTION}
    limits = {key: _SOURCE.says(_limit(data, key, limit)) for key, limit in known.items()}
    return replace(facts, limits=MappingProxyType(limits), most_records=_most_records(data))


def _flat_facts(data: Replacement) -> Facts:
    """Return what is declared of a list of objects with the manifest's own fields."""
    taken = set(data.fields.values())
    fields = {key: _SOURCE.says(Answer.YES if key in taken else Answer.NO) for key in FIELDS}
    bounds = {key: Limit(least=1 if key == FIELDS[0] else 0) for key in FIELDS}
    limits = {key: _SOURCE.says(_limit(data, key, limit)) for key, limit in bounds.items()}
    return replace(
        facts_of(_SOURCE),
        options=_SOURCE.says(Answer.NO),
        most_records=_most_records(data),
        most_sub_commands=_SOURCE.says(0),
        levels=_SOURCE.says(0),
        fields=MappingProxyType(fields),
        limits=MappingProxyType(limits),
    )


def _limit(data: Replacement, key: str, limit: Limit) -> Limit:
    return replace(limit, most=data.limits.get(key, limit.most))


def _most_records(data: Replacement) -> Fact:
    return _SOURCE.says(data.limits.get(COMMANDS, Answer.UNKNOWN))
