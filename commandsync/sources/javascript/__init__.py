"""Commands from a bot's JavaScript and TypeScript code, read and never run.

Builders and objects of discord.js, the frameworks for it, the objects and classes of the bot's own
command handler, and the handlers and menus of Telegram's frameworks.

The statements of each file that may declare commands are followed (`program`) as far as their
values (`value`) are certain: expressions and statements (`expression`), functions and classes
(`function`), calls and other files (`program`). `inventory` takes what a framework declares
(`framework`), what calls register, and what is exported and is a command (`handler`); each becomes
a command of Discord's, or one with a prefix (`document`). Last, `candidate` finds what declares a
command and is none of these: it is not read.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from commandsync.diagnostics import Location, Notice
from commandsync.sources.entry import PartlyRead, SourceReading
from commandsync.sources.javascript.candidate import BELOW, candidates_in, frameworks_in
from commandsync.sources.javascript.document import BROKEN
from commandsync.sources.javascript.inventory import CommandInventory
from commandsync.sources.javascript.program import Program
from commandsync.sources.javascript.telegram import TelegramScripts
from commandsync.sources.javascript.value import MOST_BYTES
from commandsync.sources.sourcefile import (
    SCRIPTS,
    code_files,
    code_reading,
    declaring,
    without_collector,
)

_TESTS = {"tests", "test", "__tests__"}
_DECLARING = re.compile(
    rb"[cC]ommand|telegraf|grammy|description|aliases|usage|args|\.setName\(|@Slash|onText"
    rb"|\bextends\b|\bexport\s*[*{]|exports\s*=\s*require"
)
_BUILT = re.compile(r"[/\\](dist|build|out|coverage)[/\\]|\.min\.[cm]?js$|\.d\.[cm]?ts$")
_GENERATED, _HEAD = b"@generated", 1000
_SHAPE = re.compile(
    rb"\.setName\(|CommandBuilder|extends\s+\w*Command|\b(aliases|execute|setMyCommands)\b|\.command\("
)
_REST = "the rest of the file is read, and no command of it is removed"
_LONGEST_LINE = 5000  # bytes, of code that is not minified


@without_collector()
def read(
    path: str,
    inside: Sequence[Path] | None = None,
    *,
    locale: str = "",
    texts: Mapping[str, str] | None = None,
    form: str = "",
) -> SourceReading:
    """Read the commands that a file, or the files of a folder, declare.

    `inside` are the files of the folder, by default all without those in hidden folders, tests and
    installed packages. The `locale` is the language of Discord's texts, such as `de`, and `texts`
    are the bot's own by their keys. The `form`, `slash` or `prefix`, is how commands are called if
    the code does not say it. The commands are in the order of the files and their lines. The
    notes name the parts that cannot be read without running the code. Raises `FileError` if the
    path cannot be read.
    """
    root = Path(path) if Path(path).is_dir() else Path(path).parent
    scripts = list(code_files(Path(path), inside, SCRIPTS, _TESTS))
    files = [file for file in scripts if not _BUILT.search(f"/{Path(file).relative_to(root)}")]
    program, generated = Program(files, texts), {*scripts} - {*files}

    def may_declare(file: str, data: bytes) -> bool:
        if not _DECLARING.search(data) and not BELOW.search(file):
            return False
        longest = max(map(len, data.split(b"\n")))
        if _GENERATED in data[:_HEAD] or longest > max(_LONGEST_LINE, len(data) // 2):
            generated.add(file)
            return False
        if len(data) <= MOST_BYTES:
            program.contents[file] = data
        return True

    inventory = CommandInventory(program, locale=locale, form=form)
    wanted = list(declaring(files, Path(path).as_posix(), may_declare))
    entries = list(inventory.of(wanted))
    telegram, documents = TelegramScripts(program), inventory.documents
    covered = documents.read | telegram.covered | inventory.others
    candidates = candidates_in(program, covered, with_handlers=not telegram.menus.is_closed)
    missed = [*documents.unread, *telegram.unread, *candidates]
    errors = _errors(program)
    known = {part.place for part in missed}
    broken = (Notice(BROKEN, _REST, place) for place in errors if place not in known)
    reading = code_reading(
        root,
        files,
        entries=entries,
        menus=telegram.menus,
        unread=missed,
        notes=[*broken, *documents.notes()],
        problems=program.notes,
        partly=[
            *documents.partly,
            *telegram.partly,
            *(PartlyRead(place, reason) for place, reason in program.partly),
            *(PartlyRead(place, BROKEN) for place in errors),
            *(PartlyRead(Location(file), "it was generated") for file in generated & {*files}),
        ],
        shape=_SHAPE,
        frameworks=frameworks_in(program.files),
    )
    modules = {f"{root.as_posix()}/node_modules"} if (root / "node_modules").is_dir() else set()
    return replace(
        reading,
        generated=tuple(sorted(modules | generated)),
        text_keys=tuple(sorted(documents.text_keys)) if texts is None else (),
    )


def _errors(program: Program) -> list[Location]:
    """Return where the parser could not read a part of a file."""
    return [file.place(file.error) for file in program.files if file.error]
