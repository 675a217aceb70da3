"""The table of the services, and what the values of all of them have in common."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from commandsync.records.facts import Answer, Facts, Limit, Reads
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.catalogue import LISTS, SERVICES, table
from commandsync.services.page import PAGE
from commandsync.services.service import ListService, Service
from commandsync.sync.redaction import SECRET_VARIABLE

LIST = Snapshot({Resource.COMMAND: (Entry(CommandText("ban", "Bans.", "")),)})


def test_the_names_are_those_of_the_services() -> None:
    assert list(SERVICES) == ["page", "top.gg", "discordbotlist.com", "telegram"]
    assert list(LISTS) == ["top.gg", "discordbotlist.com", "telegram"]
    assert all(service.name == name for name, service in SERVICES.items())


def test_each_variable_of_a_token_is_hidden_before_anything_is_read() -> None:
    variables = {name for service in LISTS.values() for name in service.variables}

    assert {name for name in variables if not SECRET_VARIABLE.fullmatch(name)} == set()


def test_the_table_has_each_fact_of_each_service_with_its_source() -> None:
    rows = [*table()]

    keys = [(row.service, row.ability) for row in rows]
    assert len(set(keys)) == len(keys)
    plain = {attribute.name.replace("_", " ") for attribute in fields(Facts)}
    plain -= {"fields", "limits"}
    for service in SERVICES:
        abilities = {ability for name, ability in keys if name == service}
        assert abilities >= plain | {"description", "syntax", "category"}
    for row in rows:
        assert row.fact.source.title
        if row.service != "page":
            assert re.fullmatch("https://.+", row.fact.source.url)
            assert re.fullmatch("20[0-9]{2}-[01][0-9]", row.fact.source.checked)
        if isinstance(row.fact.value, Limit):
            assert row.ability.startswith("limit of ")


def test_the_table_says_what_is_not_known() -> None:
    values = {(row.service, row.ability): row.fact.value for row in table()}

    assert values["top.gg", "clear"] is Answer.UNKNOWN
    assert values["top.gg", "wait"] == 3600
    assert values["top.gg", "read"] is Reads.NO
    assert values["discordbotlist.com", "most records"] is Answer.UNKNOWN
    assert values["telegram", "read"] is Reads.LIST
    assert values["telegram", "most records"] == 100
    assert values["page", "read"] is Reads.RECORDS


@pytest.mark.parametrize("service", SERVICES.values(), ids=lambda service: service.name)
def test_what_is_planned_is_what_is_known(service: Service) -> None:
    ability = service.abilities[Resource.COMMAND]

    assert ability.uses is (service.facts.uses.value is Answer.YES)
    assert (Resource.ANNOUNCEMENT in service.abilities) is (service is PAGE)
    assert (service.facts.write.value is Answer.YES) is (service is PAGE)
    assert service.simulated_only is (service is not PAGE)


@pytest.mark.parametrize("service", LISTS.values(), ids=lambda service: service.name)
def test_a_token_has_one_place_and_variables_of_its_own(service: ListService) -> None:
    operations = [service.replace("42", LIST)]
    operations += [service.check()] if service.check else []  # type: ignore[list-item]  # reads another type
    for operation in operations:
        places = [service.authorization, operation.path]
        assert sum(place.count("{token}") for place in places) == 1
        assert operation.path.startswith("/")
    assert service.variables[0].startswith("COMMANDSYNC_TOKEN_")
    assert service.origin.startswith("https://")
    assert (service.announce is not None) is (service.facts.announcements.value is Answer.YES)
