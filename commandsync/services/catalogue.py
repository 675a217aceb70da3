"""The services that are known, by their names, and the table of what is known of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

from commandsync.records.facts import Fact
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


@dataclass(frozen=True, slots=True)
class Row:
    """One fact of a service, for the table."""

    service: str
    ability: str  # an attribute of `Facts`, a field of a command, or `limit of` one
    fact: Fact
    simulated_only: bool  # whether nobody has used the service yet with this package


def table() -> tuple[Row, ...]:
    """Return all that is known of all services."""
    return tuple(
        Row(service.name, ability, fact, service.simulated_only)
        for service in SERVICES.values()
        for ability, fact in _facts(service)
    )


def _facts(service: Service) -> Iterator[tuple[str, Fact]]:
    for attribute in fields(service.facts):
        match getattr(service.facts, attribute.name):
            case Fact() as fact:
                yield attribute.name.replace("_", " "), fact
            case by_field:
                of = "limit of " * (attribute.name == "limits")
                yield from ((f"{of}{name}", fact) for name, fact in by_field.items())
