"""The code of a bot, and the notes of its reading."""

from collections.abc import Callable

from commandsync.sources.entry import SourceReading

ReadingOf = Callable[..., SourceReading]

COMMANDS = "import discord\nfrom discord.ext import commands\n"
COMPUTED_NAME = "the name of this command is computed at run time"


def notes_of(reading: SourceReading) -> list[str]:
    """Return the notes, each with the name of its file, its line and its column."""
    return [
        f"{note.location.path.rpartition('/')[2]}:{note.location.line}:{note.location.column}"
        f" {note.message}"
        for note in reading.notes
        if note.location
    ]
