"""Pinned ids that are not listed: what becomes of their entries, and of the uses a backup notes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from commandsync.diagnostics import Notice

if TYPE_CHECKING:
    from commandsync.records.snapshot import Entry

_DEFAULT_MANIFEST = "commands.yaml"  # which no option names
_STDIN = "-"


def lost_pin(wanted: Entry, listed: Entry | None) -> Notice:
    """Return what to know of an entry whose pinned id is not listed.

    Args:
        wanted: The manifest's entry; from a backup, it knows how often the command was used.
        listed: The listed entry that it is matched with by its text; None if it is added.
    """
    lost = f"{wanted.name!r} is pinned to the id {wanted.id!r}, which is not listed"
    uses = wanted.uses or 0
    if listed is None:
        added = f"{lost}: it is added with a new id"
        if not uses:
            return Notice(added, _PINS, wanted.location)
        hint = "once it is added, apply shows the command that sets its uses again"
        return Notice(f"{added}, and its {uses:,} uses are not", hint, wanted.location)
    if listed.writable and uses > (listed.uses or 0):
        message = f"{wanted.name!r} has the new id {listed.id!r}, and {listed.uses or 0:,} of its"
        return Notice(f"{message} {uses:,} uses", _set_uses(wanted, listed.id), wanted.location)
    return Notice(f"{lost}; it is matched by its text instead", _PINS, wanted.location)


def _set_uses(wanted: Entry, identifier: str) -> str:
    """Return the command that gives a listed command the uses that a backup notes."""
    path = wanted.location.path if wanted.location else _DEFAULT_MANIFEST
    words = ["commandsync", "commands", "set-uses"]
    words += ["-f", path] if path not in {_DEFAULT_MANIFEST, _STDIN} else []
    words += ["--"] if identifier.startswith("-") else []
    return shlex.join([*words, identifier, str(wanted.uses)])


_PINS = "commandsync pull --pin shows the ids that are listed"
