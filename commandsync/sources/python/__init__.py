"""Commands out of a bot's Python code, read and never run.

discord.py, py-cord, nextcord and disnake: commands, hybrid commands, slash commands, groups, cogs.
python-telegram-bot and aiogram: the handlers of commands, and their texts.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from commandsync.diagnostics import Notice
from commandsync.sources.code import PYTHON, code_files, code_reading, declaring, without_collector
from commandsync.sources.entry import SourceReading
from commandsync.sources.python.cog import Cogs
from commandsync.sources.python.constant import Code
from commandsync.sources.python.entries import Entries
from commandsync.sources.python.inventory import Inventory
from commandsync.sources.python.scope import Outline
from commandsync.sources.python.telegram import Telegram

_DECLARING = re.compile(rb"[cC]ommand|group|context_menu|Cog|ContextMenu")


@without_collector()
def read(path: str, inside: Sequence[Path] | None = None) -> SourceReading:
    """Read the commands that a Python file, or the Python files of a folder, declare.

    `inside` are the files of the folder that count; by default all without those in hidden folders,
    `tests` and installed packages. What cannot be read without running the code is in the notes: a
    name that is computed, a file that is not valid Python. The key of a command is the names of its
    class and function, if no other one has the same. Raises `FileError` if the path cannot be read.
    """
    root = Path(path)
    files = list(code_files(root, inside, PYTHON, {"tests"}))
    code = Code(files)
    wanted = declaring(files, root.as_posix(), lambda _, data: _DECLARING.search(data))
    read_files = [code.outline(file) for file in wanted]
    outlines = [content for content in read_files if isinstance(content, Outline)]
    unread = {content for content in read_files if isinstance(content, Notice)}
    unread.update(note for outline in outlines for note in outline.scope.file.problems)
    inventory = Inventory(outlines, code)
    entries = Entries(inventory, Cogs(outlines, code), code)
    made = [entry for declaration in inventory.declared for entry in entries.of(declaration)]
    made += Telegram(code).entries(outlines)
    return code_reading(made, {*unread, *code.notes}, root, complete=not unread)
