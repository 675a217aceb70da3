"""Bots as the pages of the service are given them."""

from typing import Any

from commandsync.records.models import Bot
from commandsync.server.records import BotRecord

MOMENT = "2026-03-04T12:00:00.000Z"


def bot(identifier: str = "7", **fields: Any) -> Bot:  # noqa: ANN401 - the fields of the record
    """Return a bot with the defaults of the service for all other fields."""
    profile = {"username": "Lantern", **fields.pop("profile", {})}
    record = {"id": identifier, "profile": profile, "createdAt": MOMENT, "updatedAt": MOMENT}
    return Bot.model_validate(BotRecord.model_validate(record | fields).model_dump(by_alias=True))


def command(number: int = 1, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Return a command as listed."""
    texts = {"name": f"n{number}", "description": f"d{number}", "syntax": f"/n{number}"}
    return {
        "id": f"c{number}",
        **texts,
        "uses": 0,
        "createdAt": MOMENT,
        "updatedAt": MOMENT,
        **fields,
    }


def announcement(number: int = 1, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Return an announcement as listed."""
    texts = {"title": f"t{number}", "description": f"text {number}"}
    return {"id": f"a{number}", **texts, "createdAt": MOMENT, **fields}


def voter(**fields: str) -> dict[str, Any]:
    """Return a vote as listed."""
    return {"id": "1", "username": "Ann", "avatar": "", "votedAt": MOMENT, **fields}
