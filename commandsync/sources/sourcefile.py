"""The files of a source: found in a folder or by a pattern, and read within a limit.

The readers of code share the second half: the files of a language, those of them that may declare
commands, and one list of the commands of all files.
"""

import gc
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

from commandsync.diagnostics import Location, Notice
from commandsync.errors import FileError
from commandsync.records.snapshot import Kind, is_imported
from commandsync.records.texts import has_wildcard, pattern
from commandsync.sources.entry import (
    AGAIN,
    Excluded,
    PartlyRead,
    SourceEntry,
    SourceReading,
    Trait,
    UnreadPart,
)
from commandsync.sources.telegrammenu import CodeMenus

MOST_BYTES = 10 * 1024 * 1024
"""Of one file, and of all JSON files of a folder."""

MOST_FILES = 10_000
"""JSON files of a folder."""

MOST_COMMANDS = 20_000
"""Of one source; no bot has a tenth of it."""

MOST_PLACES = 250_000
"""Files and folders that are looked at."""

_PROGRAMS = re.compile(  # files of programs
    r"(package(-lock)?|(ts|js)config.*|.*\.tsconfig|biome|deno|nodemon|vercel|turbo|lerna|nest-cli"
    r"|renovate|composer|angular)\.json",
    re.IGNORECASE,
)
_NOT_COMMANDS = frozenset({"app.json", "manifest.json"})  # in a folder
_FOREIGN = re.compile(  # keys of a web manifest, a configuration or a JSON Schema
    rb"\s*\{(?s:.{0,2000}?)\"(start_url|manifest_version|compilerOptions|lockfileVersion"
    rb"|(devD|d)ependencies\"\s*:\s*\{\s*\"[^\"]*\"\s*:\s*\"[\^~*\d]"
    rb"|\$defs|\$schema\"\s*:\s*\"https?://json-schema)"
)
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "venv", "env", "site-packages"})
_VENDORED = frozenset({"bower_components", "vendor", "public"})  # but below a folder of commands
_COMMANDS = re.compile(r"(^|/)[\w-]*(command|cmd)s?(/|$)", re.IGNORECASE)


def read_bytes(path: str, *, most: int = MOST_BYTES) -> bytes:
    """Read a file of at most `most` bytes; `FileError` if it is larger, or cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - one of thousands: a Path costs more
            data = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = getattr(error, "strerror", None) or "it is not a path"
        message = f"cannot read {path}: {why.lower()}"
        raise FileError(message, hint="check the path") from None
    if len(data) > most:
        message = f"{path} is larger than {MOST_BYTES // 1024**2} MiB"
        raise FileError(message, hint="no bot has that many commands: is it the right file?")
    return data


def check_number(number: int, path: str) -> None:
    """Refuse, with a `FileError`, more commands than a source may have."""
    if number > MOST_COMMANDS:
        message = f"{path or 'the answer'} has more than {MOST_COMMANDS:,} commands"
        raise FileError(message, hint="is it the right file?")


def read_all(paths: Sequence[Path], folder: Path) -> dict[str, bytes]:
    """Read files by their paths; `FileError` if they are too many, or together too large."""
    if len(paths) > MOST_FILES:
        message = f"{folder.as_posix()} has more than {MOST_FILES:,} JSON files"
        raise FileError(message, hint="name the folder that contains the commands")
    data: dict[str, bytes] = {}
    left = MOST_BYTES
    for path in map(Path.as_posix, paths):
        data[path] = read_bytes(path, most=left)
        left -= len(data[path])
    return data


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and those below it, sorted, without following links.

    Hidden folders and installed packages are passed over; `FileError` if there are too many files.
    """
    looked_at = 0
    for above, folders, names in os.walk(folder):
        unwanted = _PASSED_OVER | (frozenset() if _COMMANDS.search(above) else _VENDORED)
        folders[:] = sorted(name for name in set(folders) - unwanted if name[0] != ".")
        looked_at += len(folders) + len(names)
        if looked_at > MOST_PLACES:
            message = f"{folder.as_posix()} has more than {MOST_PLACES:,} files"
            raise FileError(message, hint="name the folder that contains the commands")
        for name in sorted(names):
            path = Path(above, name)
            if not name.startswith(".") and not path.is_symlink():
                yield path


def matching(source: str) -> tuple[Path, list[Path]]:
    """Return a folder with its files; of a pattern, its folder and the files that it matches."""
    root = _fixed(source)
    at, wanted = len(root.parts), Path(source).parts[len(root.parts) :] or ("**", "*")
    return root, [file for file in files_of(root) if _fits(file.parts[at:], wanted)]


def _fixed(source: str) -> Path:
    """Return the part of a source before its first wildcard, which exists as it is."""
    if Path(source).exists():
        return Path(source)
    return Path(*takewhile(lambda part: not has_wildcard(part), Path(source).parts))


def is_folder_or_pattern(source: str) -> bool:
    """Whether a source is a folder, or the pattern of several files."""
    return Path(source).is_dir() or _fixed(source) != Path(source)


def _fits(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    if not (parts and wanted):
        return not (parts or wanted)
    if wanted[0] == "**":  # any folders, also none
        return _fits(parts, wanted[1:]) or _fits(parts[1:], wanted)
    return pattern(wanted[0]).match(parts[0]) and _fits(parts[1:], wanted[1:])


_TRAITS = {
    Trait.DISABLED: re.compile("_?disabled", re.IGNORECASE),
    Trait.GUILD_ONLY: re.compile("[0-9]{17,20}"),
}


def folder_traits(path: str, source: str) -> frozenset[Trait]:
    """Return the traits that the names of the folders in a source give the commands in a file."""
    return _traits(Path(path).parts[len(_fixed(source).parts) : -1])


def _traits(folders: Sequence[str]) -> frozenset[Trait]:
    return frozenset(trait for trait, name in _TRAITS.items() if any(map(name.fullmatch, folders)))


def is_command_file(path: Path) -> bool:
    """Whether a file in a folder of commands is one of them."""
    return (
        path.suffix.casefold() == ".json"
        and not _PROGRAMS.fullmatch(path.name)
        and path.name.casefold() not in _NOT_COMMANDS
        and not is_imported(path.name)
    )


def is_foreign(path: str, data: bytes) -> bool:
    """Whether a JSON file is certainly not about commands, by its name or its content."""
    name = path.rpartition("/")[2]
    return bool(_PROGRAMS.fullmatch(name) or _FOREIGN.match(data))


BY_HAND = "write the text in the code, or add the command to commands.yaml"
NOT_IMPORTED = "its commands are not imported"
PYTHON = (".py", ".pyw")
SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
"""How files of JavaScript and TypeScript end."""

T = TypeVar("T")


@contextmanager
def without_collector() -> Iterator[None]:
    """Leave the garbage collector off: it would look at all syntax trees, half of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def code_files(
    root: Path, inside: Iterable[Path] | None, suffixes: Collection[str], tests: Collection[str]
) -> Iterator[str]:
    """Yield the file, or those `inside` a folder with one of the suffixes; not its `tests`."""
    if not root.is_dir():
        yield root.as_posix()
        return
    for file in files_of(root) if inside is None else inside:
        inside_root = file.parts[len(root.parts) :]
        if file.suffix in suffixes and not {*tests}.intersection(inside_root):
            yield file.as_posix()


def parsed(path: str, parse: Callable[[str, bytes], T], data: bytes | None = None) -> T | Notice:
    """Return the parsed file, perhaps of its known `data`, or the reason why it cannot be read."""
    try:
        return parse(path, read_bytes(path) if data is None else data)
    except FileError as error:
        return Notice(error.message, error.hint, Location(path))


def declaring(
    files: Iterable[str], named: str, may_declare: Callable[[str, bytes], object]
) -> Iterator[tuple[str, bytes | None]]:
    """Yield the files that may declare commands, with their contents; None for an unreadable one.

    Raises `FileError` if the file that the user named cannot be read.
    """
    for file in files:
        data = None
        try:
            data = read_bytes(file)
        except FileError:
            if file == named:
                raise
        if data is None or may_declare(file, data):
            yield file, data


def _unparsed(
    problems: Iterable[Notice], shape: re.Pattern[bytes]
) -> tuple[list[UnreadPart], list[Notice]]:
    """Return the files that cannot be parsed: those that name commands, and notes on others."""
    unread, notes = [], []
    for problem in problems:
        place = problem.location or Location("")
        try:
            names_commands = shape.search(read_bytes(place.path)) is not None
        except FileError:
            names_commands = True
        if names_commands:
            unread.append(UnreadPart(place, problem.message))
        else:
            notes.append(problem)
    return unread, notes


def code_reading(  # noqa: PLR0913 - the contents of code
    root: Path,
    files: Iterable[str],
    *,
    entries: Iterable[SourceEntry],
    menus: CodeMenus,
    unread: Iterable[UnreadPart],
    notes: Iterable[Notice],
    problems: Collection[Notice],
    partly: Iterable[PartlyRead] = (),
    shape: re.Pattern[bytes],
    frameworks: Iterable[str],
) -> SourceReading:
    """Return the commands of code, in the order of the files and their lines.

    Of equal commands the first one counts. The
    `problems` are those of files that were not parsed, or not as a whole: they are not read if they
    have the `shape` of commands.
    """
    of_menus, (of_files, noted) = menus.reading(), _unparsed(problems, shape)
    every, all_notes = [*entries, *of_menus.entries], {*notes, *noted, *of_menus.notes}
    unique_entries: dict[object, SourceEntry] = {}
    excluded = []
    for entry in sorted(every, key=lambda entry: _position(entry.place)):
        apart = bool(_traits(_position(entry.place)[0][len(root.parts) : -1]))
        menu = entry.discord.get("type") if entry.discord and entry.kind is Kind.MENU else None
        first = unique_entries.setdefault((entry.name, entry.syntax[:1], menu, apart), entry)
        if first is not entry:
            excluded.append(Excluded(entry, f"{AGAIN} (first at {first.place})"))
            if (entry.description, entry.syntax) != (first.description, first.syntax):
                message = f"{entry.name!r} is declared again (first at {first.place})"
                all_notes.add(Notice(message, "only the first is imported", entry.place))
    missed = sorted({*unread, *of_files}, key=lambda part: (_position(part.place), *part[1:]))
    # A file with a part that is not read, or that is not parsed, may have more than is read of it.
    of_missed = [PartlyRead(part.place, part.reason) for part in missed]
    of_missed += [PartlyRead(each.location, each.message) for each in problems if each.location]
    return SourceReading(
        entries=tuple(unique_entries.values()),
        unread=tuple(missed),
        excluded=(*excluded, *of_menus.excluded),
        notes=tuple(sorted(all_notes, key=lambda note: (_position(note.location), note.message))),
        files=tuple(files),
        partly=tuple(sorted({*partly, *of_missed}, key=lambda part: (_position(part.place), part))),
        frameworks=tuple(sorted(frameworks)),
        menus=of_menus.menus,
    )


def _position(place: Location | None) -> tuple[list[str], int, int]:
    """Return the sort key of a place: folders, file, line, column."""
    known = place or Location("")
    return (known.path.split("/"), known.line, known.column)
