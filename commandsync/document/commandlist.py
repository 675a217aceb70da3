"""The JSON document of a command list, for a website or another program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter

from commandsync.document import VERSION
from commandsync.document.failure import Failure
from commandsync.document.part import CommandField, Document, Model

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commandsync.records.texts import CommandText


class CommandList(Model):
    """The commands of a manifest, in its order, with the prefix filled in."""

    version: Literal[1]
    commands: tuple[CommandField, ...]


def command_list_document(commands: Iterable[CommandText]) -> Document:
    """Return the document of a command list."""
    return CommandList.built(version=VERSION, commands=tuple(commands)).model_dump(mode="json")


def is_command_list(text: str) -> bool:
    """Return whether a text is such a document, whatever its commands are."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.keys() == CommandList.model_fields.keys()


def command_list_schema_text() -> str:
    """Return the JSON Schema of a command list, and of a failure."""
    shapes: Any = CommandList | Failure
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "commandsync command list",
    }
    return json.dumps(head | TypeAdapter(shapes).json_schema(), indent=2) + "\n"
