"""The JSON document of a command list, for a website or another program."""

import json
from collections.abc import Iterable
from typing import Literal

from commandsync.document import VERSION
from commandsync.document.part import CommandField, Document, Model
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
