"""An event as one line: for people, or as JSON for programs."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol

from commandsync.document.documents import failure_document
from commandsync.report.escape import json_text, visible
from commandsync.report.records import plain

if TYPE_CHECKING:
    from commandsync.errors import CommandsyncError


class Event(Protocol):
    """An event of the client library: a dataclass with a name."""

    @property
    def name(self) -> str:
        """What happened."""


def event_line(event: Event) -> str:
    """Return an event on one line, as people read it."""
    match _fields(event):
        case {"user": user, "bot": bot}:
            shown = " for ".join(filter(None, (_who(user), _who(bot))))
        case {"bot": bot}:
            shown = _who(bot)
        case {"code": code, "reason": reason}:
            shown = f"{visible(reason)} ({code})"
        case _:
            shown = ""
    return f"{event.name:<12}  {shown}".rstrip()


def event_json(event: Event) -> str:
    """Return an event as a JSON object on one line."""
    return _dumped(_fields(event))


def failure_json(error: CommandsyncError) -> str:
    """Return the document of a failure on one line, after lines that are events."""
    return _dumped(failure_document(error))


def _fields(event: Event) -> dict[str, Any]:
    shown = [field for field in fields(event) if field.repr]  # type: ignore[arg-type]  # see `Event`
    names = [field.name for field in shown if field.name != "name"]
    return {"event": event.name} | {name: plain(getattr(event, name)) for name in names}


def _who(account: dict[str, Any]) -> str:
    name, identifier = visible(account["username"]), visible(account["id"])
    return f"{name} ({identifier})" if name else identifier


def _dumped(document: dict[str, Any]) -> str:
    return json_text(json.dumps(document, ensure_ascii=False))
