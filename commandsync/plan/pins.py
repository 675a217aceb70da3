"""Pinned ids that are not listed: what becomes of their entries, and of the uses a backup notes."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from commandsync.diagnostics import Do, Notice
from commandsync.records.snapshot import Entry

_DEFAULT_MANIFEST = "commands.yaml"  # which no option names
_STDIN = "-"


def pinned_by_both(
    wanted: Sequence[Entry], others: Iterable[Entry]
) -> tuple[tuple[Entry, ...], int]:
    """Leave out the pins of entries that another manifest does not have; return their number too.

    An id that is pinned since then says nothing about the entries of the other manifest.
    """
    known = {"", *(entry.id for entry in others)}
    kept = tuple(entry if entry.id in known else replace(entry, id="") for entry in wanted)
    return kept, sum(entry.id not in known for entry in wanted)


def lost_pins(entries: Iterable[tuple[Entry, Entry | None]]) -> Iterator[Notice]:
    """Yield what to know of entries whose pinned id is not listed.

    Each comes with the listed entry that has its text; None for one that is added. Entries of a
    backup know their uses.
    """
    restored = []
    for wanted, listed in entries:
        if listed is None and wanted.uses is not None:
            restored.append(wanted)
        else:
            yield _lost_pin(wanted, listed)
    if restored:
        yield _restored(restored)


def _restored(entries: Sequence[Entry]) -> Notice:
    """Return what becomes of the entries of a backup that are no longer listed."""
    uses = sum(entry.uses or 0 for entry in entries)
    what = f"{entries[0].name!r} is" if len(entries) == 1 else f"{len(entries):,} entries are"
    message = f"{what} no longer listed, and added with a new id"
    if not uses:
        return Notice(message, location=entries[0].location)
    hint = "after the adds, apply prints the commands that set these uses again"
    return Notice(f"{message} and without {uses:,} uses", hint, entries[0].location)


def _lost_pin(wanted: Entry, listed: Entry | None) -> Notice:
    lost = f"{wanted.name!r} is pinned to the id {wanted.id!r}, which is not listed"
    if listed is None:
        return Notice(f"{lost}: it is added with a new id", _PINS, wanted.location)
    uses, left = wanted.uses or 0, listed.uses or 0
    if listed.writable and uses > left:
        message = f"{wanted.name!r} has the new id {listed.id!r}, and {left:,} of its {uses:,} uses"
        return Notice(message, _set_uses(wanted, listed.id), wanted.location, runs=True)
    return Notice(f"{lost}; it is matched by its text instead", _PINS, wanted.location)


def _set_uses(wanted: Entry, identifier: str) -> str:
    """Return the command that gives a listed command the uses that a backup notes."""
    path = wanted.location.path if wanted.location else _DEFAULT_MANIFEST
    words = ["commandsync", "commands", "set-uses"]
    words += ["-f", path] if path not in {_DEFAULT_MANIFEST, _STDIN} else []
    words += ["--"] if identifier.startswith("-") else []
    return shlex.join([*words, identifier, str(wanted.uses)])


_PINS = Do.SHOW_IDS(first="")
