"""A service that a manifest declares: its request, its limits."""

from __future__ import annotations

from typing import Any

import pytest

from commandsync.records.facts import Answer, Reads
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.declared import declared
from commandsync.services.fit import fit

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
            {"name": "set", "description": "set", "type": 1, "options": [prefix]},
            {"name": "ban", "description": "Bans.", "type": 1},
        ]
    }
    assert [loss.field for loss in fitted.losses] == ["options", "category"]


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
    assert facts.clear.value is Answer.UNKNOWN
    assert facts.most_records.value == 200
    assert facts.most_records.source.title == "the manifest"
    assert declared("our-list", **RADARCORD).facts.most_records.value is Answer.UNKNOWN
