"""Commands out of a bot's JavaScript and TypeScript code, read and never run.

Builders of discord.js, plain objects, and the objects and classes of command handlers.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from commandsync.sources.code import SCRIPTS, code_files, code_reading, declaring, without_collector
from commandsync.sources.entry import SourceReading
from commandsync.sources.javascript.inventory import Inventory
from commandsync.sources.javascript.program import Program

_TESTS = {"tests", "test", "__tests__"}
_DECLARING = re.compile(rb"[cC]ommand|description|aliases|usage|args")
_BUILT = re.compile(r"/(dist|build|out|coverage)/|\.min\.[cm]?js$|\.d\.[cm]?ts$")
_GENERATED, _HEAD = b"@generated", 1000
_LONGEST_LINE = 5000  # bytes, of what is not minified


@without_collector()
def read(path: str, inside: Sequence[Path] | None = None, *, locale: str = "") -> SourceReading:
    """Read the commands that a file, or the files of a folder, declare.

    `inside` are the files of the folder, by default all without those in hidden folders, tests and
    installed packages. The `locale` is the language of Discord's texts, such as `de`. The commands
    are in the order of the files and their lines, and their keys are their files, if no other
    command has the same. What cannot be read without running the code is in the notes. Raises
    `FileError` if the path cannot be read.
    """
    root = Path(path) if Path(path).is_dir() else Path(path).parent
    found = list(code_files(Path(path), inside, SCRIPTS, _TESTS))
    files = [file for file in found if not _BUILT.search(file.removeprefix(root.as_posix()))]
    program, generated = Program(files), {*found} - {*files}

    def may_declare(file: str, data: bytes) -> bool:
        if not _DECLARING.search(data):
            return False
        longest = max(map(len, data.split(b"\n")))
        if _GENERATED in data[:_HEAD] or longest > max(_LONGEST_LINE, len(data) // 2):
            generated.add(file)
        return file not in generated

    inventory = Inventory(root.as_posix(), locale)
    wanted = declaring(files, Path(path).as_posix(), may_declare)
    entries = list(inventory.of(program, wanted))
    unread = program.notes
    reading = code_reading(entries, [*unread, *inventory.notes], root, complete=not unread)
    modules = {f"{root.as_posix()}/node_modules"} if (root / "node_modules").is_dir() else set()
    return replace(reading, generated=tuple(sorted(modules | generated)))
