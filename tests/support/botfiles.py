"""The code of a bot, and the notes of its reading."""

from collections.abc import Callable

from commandsync.diagnostics import Location
from commandsync.sources.entry import SourceReading

ReadingOf = Callable[..., SourceReading]

COMMANDS = "import discord\nfrom discord.ext import commands\n"
COMPUTED_NAME = "the name of this command is computed at run time"


def notes_of(reading: SourceReading) -> list[str]:
    """Return the notes and the unread parts, each with its file's name, its line and its column."""
    parts = [(note.location, note.message) for note in reading.notes]
    parts += [(unread.place, unread.reason) for unread in reading.unread]
    return [
        f"{place.path.rpartition('/')[2]}:{place.line}:{place.column} {message}"
        for place, message in sorted(parts, key=lambda part: part[0] or Location(""))
        if place
    ]
