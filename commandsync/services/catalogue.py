"""The services that are known, by their names, and the table of what is known of them."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

from commandsync.records.facts import Fact, Facts
from commandsync.services.discordlists import DISCORD_BOT_LIST, TOP_GG
from commandsync.services.page import PAGE
from commandsync.services.service import ListService, Service
from commandsync.services.telegram import TELEGRAM

LISTS: Mapping[str, ListService] = MappingProxyType(
    {service.name: service for service in (TOP_GG, DISCORD_BOT_LIST, TELEGRAM)}
)
"""The services that a manifest's `listings:` can name."""

SERVICES: Mapping[str, Service] = MappingProxyType({PAGE.name: PAGE, **LISTS})
"""All services; `page` is that of the manifest's base URL."""


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
