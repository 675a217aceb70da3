"""The table of the services, and the rules that the values of all of them keep.

A service that a manifest declares: its request, its limits.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from typing import Any

import pytest

from commandsync.api.credentials import SECRET_VARIABLE
from commandsync.errors import ApiError, DecodeError, Reply
from commandsync.records.losses import Limit
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.abilities import Facts, Reads, Support
from commandsync.services.catalogue import LISTS, SERVICES, DeclaredRead, declared, table
from commandsync.services.fit import fit
from commandsync.services.service import PAGE, ListService, RecordService, Service

LIST = Snapshot({Resource.COMMAND: (Entry(CommandText("ban", "Bans.", "")),)})


def test_the_names_are_those_of_the_services() -> None:
    assert list(SERVICES) == ["page", "discord", "top.gg", "discordbotlist.com", "telegram"]
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

    assert values["top.gg", "clear"] is Support.UNKNOWN
    assert values["top.gg", "wait"] == 3600
    assert values["top.gg", "read"] is Reads.NO
    assert values["discordbotlist.com", "most records"] is Support.UNKNOWN
    assert values["telegram", "read"] is Reads.LIST
    assert values["telegram", "most records"] == 100
    assert values["page", "read"] is Reads.RECORDS


@pytest.mark.parametrize("service", SERVICES.values(), ids=lambda service: service.name)
def test_what_is_planned_is_what_is_known(service: Service) -> None:
    (ability,) = (service.abilities[kind] for kind in service.abilities if kind.is_command)

    assert ability.uses is (service.facts.uses.value is Support.YES)
    assert (Resource.ANNOUNCEMENT in service.abilities) is (service is PAGE)
    assert (service.facts.write.value is Support.YES) is isinstance(service, RecordService)
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
    assert (service.announce is not None) is (service.facts.announcements.value is Support.YES)


URL = "https://list.example/api/bots/{bot}/commands"
RADARCORD: dict[str, Any] = {
    "method": "POST",
    "url": "https://api.radarcord.net/bot/{bot}/commands",
    "authorization": "Bearer {token}",
    "wrap": "commands",
}
DISQ_INK: dict[str, Any] = {
    "method": "POST",
    "url": "https://api.disq.ink/v1/bots/{bot}/commands",
    "authorization": "{token}",
    "wrap": "commands",
    "limits": {"description": 100, "commands": 200},
}
BOTS_ON_DISCORD: dict[str, Any] = {
    "method": "POST",
    "url": "https://bots.ondiscord.xyz/bot-api/bots/{bot}/commands",
    "authorization": "{token}",
    "wrap": "commands",
    "fields": {"name": "name", "description": "description", "category": "category"},
    "limits": {"description": 1000, "commands": 200},
}
COMMANDS = Snapshot(
    {
        Resource.COMMAND: (
            Entry(CommandText("/set prefix", "Changes it.", "/set prefix <prefix>", "Settings")),
            Entry(CommandText("ban", "Bans.", "/ban")),
        )
    }
)


@pytest.mark.parametrize("data", [RADARCORD, DISQ_INK])
def test_objects_are_as_discord_has_them(data: dict[str, Any]) -> None:
    service = declared("our-list", **data)
    fitted = fit(service, COMMANDS)

    operation = service.replace("42", fitted.snapshot)
    assert service.origin + operation.path == data["url"].replace("{bot}", "42")
    assert operation.method == "POST"
    assert service.authorization == data["authorization"]
    prefix = {"name": "prefix", "description": "Changes it.", "type": 1}
    assert operation.body == {
        "commands": [
            {"name": "set", "description": "…", "type": 1, "options": [prefix]},
            {"name": "ban", "description": "Bans.", "type": 1},
        ]
    }
    assert [loss.field for loss in fitted.losses] == ["options", "category", "description"]


def test_objects_have_the_fields_that_are_declared() -> None:
    service = declared("bots.ondiscord.xyz", **BOTS_ON_DISCORD)
    fitted = fit(service, COMMANDS)

    assert service.replace("42", fitted.snapshot).body == {
        "commands": [
            {"name": "/set prefix", "description": "Changes it.", "category": "Settings"},
            {"name": "ban", "description": "Bans."},
        ]
    }
    assert [(loss.field, loss.names) for loss in fitted.losses] == [
        ("syntax", ("/set prefix", "ban"))
    ]


def test_without_a_key_the_array_is_sent_alone() -> None:
    service = declared("our-list", method="PUT", url=URL)

    assert service.replace("42", Snapshot({Resource.COMMAND: ()})).body == []
    assert service.replace("4/2", Snapshot({Resource.COMMAND: ()})).path == (
        "/api/bots/4%2F2/commands"
    )
    assert service.authorization == ""
    with pytest.raises(ValueError, match="not managed"):
        service.replace("42", Snapshot())


def test_the_bot_is_not_necessary_where_the_url_does_not_name_it() -> None:
    service = declared("our-list", method="PUT", url="http://localhost:8081/me?a=b")

    operation = service.replace("", Snapshot({Resource.COMMAND: ()}))
    assert (service.origin, operation.path) == ("http://localhost:8081", "/me?a=b")
    assert not service.names_bot
    assert declared("our-list", **RADARCORD).names_bot


def test_what_is_not_declared_is_not_known() -> None:
    facts = declared("our-list", **DISQ_INK).facts

    assert facts.read.value is Reads.NO
    assert facts.clear.value is Support.UNKNOWN
    assert facts.most_records.value == 200
    assert facts.most_records.source.title == "the manifest"
    assert declared("our-list", **RADARCORD).facts.most_records.value is Support.UNKNOWN


READ: dict[str, Any] = {
    "method": "PATCH",
    "url": "https://list.example/me/commands",
    "fields": {"title": "name", "text": "description", "help": "description"},
}


def read_back(answer: object, *, status: int = 200, **more: Any) -> tuple[Entry, ...]:  # noqa: ANN401 - keys of `replace.read`
    own = DeclaredRead("https://list.example/me?x={bot}", "me.commands", **more)
    operation = declared("own", **READ, read=own).read("4 2", Resource.COMMAND)
    assert (operation.method, operation.path) == ("GET", "/me?x=4%202")
    return operation.read(Reply(status, json.dumps(answer).encode()))


def test_a_declared_list_is_read_as_it_is_sent_with_the_keys_to_keep() -> None:
    item = {"title": "ban", "text": "Bans.", "help": "Not read.", "icon": [1], "new": True}
    (entry,) = entries = read_back({"me": {"commands": [item]}}, keep=("icon",))
    service = declared("own", **READ)
    sent = service.replace("42", Snapshot({Resource.COMMAND: entries})).body

    assert entry.text == CommandText("ban", "Bans.", "")
    assert sent == [{"title": "ban", "text": "Bans.", "help": "Bans.", "icon": [1]}]


@pytest.mark.parametrize("key", READ["fields"])
def test_a_key_of_the_manifests_texts_is_never_sent_back_as_listed(key: str) -> None:
    item = {"title": "ban", "text": "Old.", "help": "Old."}
    entries = read_back({"me": {"commands": [item]}}, keep=(key,))
    edited = [replace(each, text=CommandText("kick", "New.", "")) for each in entries]
    sent = declared("own", **READ).replace("42", Snapshot({Resource.COMMAND: tuple(edited)})).body

    assert sent == [{"title": "kick", "text": "New.", "help": "New."}]


@pytest.mark.parametrize("absent", ["error", "empty"])
@pytest.mark.parametrize("answer", [{"me": {}}, {"me": {"commands": None}}, {"me": None}, {}])
def test_an_absent_list_is_empty_only_if_declared(answer: object, absent: str) -> None:
    if absent == "empty":
        assert read_back(answer, absent=absent) == ()
        return
    with pytest.raises(DecodeError):
        read_back(answer, absent=absent)


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {"me": {"commands": {}}},
        {"me": {"commands": ["ban"]}},
        {"me": {"commands": [{"text": "Bans."}]}},
        {"me": {"commands": [{"title": 1}]}},
        {"me": {"commands": [], "total": 9}},
        {"me": {"commands": [], "next": "/page/2"}},
        {"me": {"commands": []}, "success": False},
        {"me": {"commands": [], "error": "busy"}},
    ],
)
def test_what_is_not_a_whole_declared_list_is_not_an_empty_one(answer: object) -> None:
    with pytest.raises((DecodeError, ApiError)):
        read_back(answer, absent="empty")


@pytest.mark.parametrize(
    ("text", "fitting"),
    [("a-z0-9_", "a_9"), ("a-z-", "a-b"), ("A-Z.", "A."), ("0-9^]", "9]^")],
)
def test_the_characters_of_a_name_are_a_limit(text: str, fitting: str) -> None:
    limit = declared("own", **READ, limits={"names": text}).facts.limit("name")

    assert limit.allows(fitting)
    assert not limit.allows(f"{fitting} ")
    assert not limit.allows("é")
