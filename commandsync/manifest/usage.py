"""How often a command was used, as a comment behind its id: noted by backups, read back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commandsync.manifest.nodes import Scalar

if TYPE_CHECKING:
    from commandsync.manifest.nodes import Node

_NOTE = re.compile(r"[ \t]+# uses: ([0-9]{1,15})[ \t]*(?=[\r\n]|\Z)")


def noted_uses(uses: int) -> str:
    """Return the comment behind an id that notes the uses of a command."""
    return f" # uses: {int(uses)}"


def uses_noted(text: str, identifier: Node | None) -> int | None:
    """Return the uses that are noted behind an id in a file; None if there is no note."""
    note = _NOTE.match(text, identifier.end) if isinstance(identifier, Scalar) else None
    return int(note[1]) if note else None
