"""Where the keys of a file's entries are, for what is said about one of them after loading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commandsync.manifest.events import parse
from commandsync.manifest.nodes import Mapping, Sequence
from commandsync.manifest.problems import FileProblems, Problems
from commandsync.manifest.source import Allowance, Source

if TYPE_CHECKING:
    from commandsync.diagnostics import Location


def field_places(text: str, collection: str, *, path: str) -> list[dict[str, Location]]:
    """Return the places of the values of each entry, by their keys, in the order of the file.

    Args:
        text: A file that was loaded without a problem.
        collection: The key of the list of entries.
        path: The path of the file.
    """
    source = Source(path, text.removeprefix("\ufeff"))
    root = parse(FileProblems(source, Problems()), Allowance()).root
    entries = root.get(collection) if isinstance(root, Mapping) else None
    return [
        {key: source.location(value.at) for key, value in entry.items()}
        for entry in (entries if isinstance(entries, Sequence) else ())
        if isinstance(entry, Mapping)
    ]
