"""The imported file of tests, and the platform's own objects of the commands of a source."""

from typing import Any

from commandsync.manifest.yamltext import imported_text
from commandsync.records.snapshot import ImportedCommand, ImportedFile, Node, together
from commandsync.sources.entry import SourceReading


def objects_in(reading: SourceReading) -> tuple[Node, ...]:
    """Return the objects of all commands, each group put together."""
    return tuple(together(entry.discord for entry in reading.entries if entry.discord))


def imported(*commands: dict[str, Any]) -> str:
    """Return the text of an imported file with these commands, by the fields of one."""
    return imported_text(ImportedFile(tuple(ImportedCommand(**each) for each in commands)))
