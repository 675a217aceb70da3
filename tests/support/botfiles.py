"""The files of a bot, written where its code is read from."""

from pathlib import Path, PurePosixPath

from commandsync.sources.entry import SourceReading
from commandsync.sources.python import read

COMMANDS = "import discord\nfrom discord.ext import commands\n"


def reading_of(folder: Path, files: dict[str, str | bytes] | str) -> SourceReading:
    """Write files into a folder, and read the commands of all of them.

    Args:
        folder: An empty folder.
        files: The content of each file by its path in the folder; a text is that of `bot.py`.
    """
    for path, content in ({"bot.py": files} if isinstance(files, str) else files).items():
        file = folder / PurePosixPath(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read(folder.as_posix())


def notes_of(reading: SourceReading) -> list[str]:
    """Return the notes, each with the name of its file, its line and its column."""
    return [
        f"{note.location.path.rpartition('/')[2]}:{note.location.line}:{note.location.column}"
        f" {note.message}"
        for note in reading.notes
        if note.location
    ]
