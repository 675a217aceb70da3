"""The commands of a source, whatever kind it is, and the project that it is part of.

`read` looks at a file or folder: code is read by `python` or `javascript`, and a list as JSON, CSV
or BotFather's lines by `listfile`. `read_answer` reads Discord's answer.

`project_in` tells a bot's project as its files show it. The dependencies name the library and with
it the platform, else the imports do. The code is in the folder that contains all commands which can
be read; a script of `package.json`, or a file with a usual name, registers them. Nothing is run.
"""

import json
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import islice, product
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

from commandsync.errors import CommandsyncError, FileError, UsageError
from commandsync.extras import missing
from commandsync.records.snapshot import path_pattern
from commandsync.sources import python, sourcefile
from commandsync.sources.entry import SourceReading
from commandsync.sources.listfile import botfather_entries, csv_entries, of_json
from commandsync.sources.sourcefile import PYTHON, SCRIPTS

_MARKDOWN = frozenset({".md", ".markdown"})
_LISTS = _MARKDOWN | {".csv", ".txt"}
_DATA = _LISTS | {".json", ""}  # "": a pipe of the shell has no suffix
_OF_BOTS = re.compile(  # in scripts that may declare commands
    rb"ommand|telegraf|grammy|node-telegram|discord|seyfert|aliases|\bdescription\s*[:=]"
)
_EXPECTED = (
    "a source is the bot's code, Discord's commands as JSON, or a list as JSON, CSV or lines "
    "`name - text`"
)


def read(
    source: str,
    *,
    columns: Mapping[str, str] | None = None,
    locale: str = "",
    exclude: Collection[str] = (),
    texts: Mapping[str, str] | None = None,
    form: str = "",
) -> SourceReading:
    """Read the commands that a file or folder declares, or the files that a pattern matches.

    A folder is read as code, each file in its language, or as JSON with one command per file if no
    code has commands. The content of a JSON file tells whether it is Discord's or a custom list.

    Args:
        source: The path of a file or folder, or a pattern such as `commands/**/*.json`.
        columns: For a custom list, the column or key of each field (`name`, `description`,
            `syntax`, `category`) that is not named like the field.
        locale: The language of Discord's texts, such as `de`; empty for the default texts.
        exclude: Patterns of names and paths; a JSON file that one fits may be invalid.
        texts: The bot's texts by their keys, for code that names them; None if they are unknown.
        form: How the commands of an unknown bot are called, `slash` or `prefix`; empty for as the
            others of the source.

    Raises:
        FileError: It cannot be read, is too large, or contains something other than commands. A
            source is read in full or not at all: a missing command would look like a deleted one.
        UsageError: `columns` has a key that is not a field; or JavaScript cannot be read without
            the extra.
    """
    path, suffix = Path(source).as_posix(), Path(source).suffix.casefold()
    of_python = partial(python.read, form=form)
    of_scripts = partial(_read_scripts, locale=locale, texts=texts, form=form)
    of_objects = partial(of_json, columns=columns or {}, locale=locale)
    if sourcefile.is_folder_or_pattern(path):
        return _read_folder(path, of_python, of_scripts, of_objects, exclude)
    if suffix in PYTHON:
        return of_python(path)
    if suffix in SCRIPTS:
        return of_scripts(path)
    if suffix not in _DATA and Path(path).is_file():
        raise FileError(f"{path} is not a source of commands", hint=_EXPECTED)
    data = sourcefile.read_bytes(path)
    if suffix in _LISTS:
        return of_list(data, path, columns or {})
    if sourcefile.is_foreign(path, data):
        raise FileError(f"{path} configures a program, and has no commands", hint=_EXPECTED)
    return of_objects({path: data})


def read_answer(data: bytes, *, locale: str = "") -> SourceReading:
    """Read the body of Discord's answer to `GET /applications/{id}/commands`, as `read` does."""
    return of_json({"": data}, columns={}, locale=locale)


_Read: TypeAlias = Callable[..., SourceReading]
"""A reader of one language or format, with the settings of the source."""


def _read_folder(
    source: str,
    of_python: _Read,
    of_scripts: _Read,
    of_objects: _Read,
    exclude: Collection[str],
) -> SourceReading:
    """Read the code in a folder, each file in its language; without any, the JSON files."""
    folder, inside = sourcefile.matching(source)
    readings = _read_code(folder.as_posix(), inside, of_python, of_scripts)
    code = _together(readings)
    listed = [file for file in inside if sourcefile.is_command_file(file)]
    if code.entries or code.notes or code.unread or (readings and not listed):
        return code
    if not listed:
        raise FileError(f"{source} has no file of code or JSON", hint=_EXPECTED)
    return _read_objects(folder, listed, of_objects, exclude)


def _read_code(
    folder: str, inside: Sequence[Path], of_python: _Read, of_scripts: _Read
) -> list[SourceReading]:
    readings = []
    if any(file.suffix in PYTHON for file in inside):
        readings.append(of_python(folder, inside))
    scripts = [file for file in inside if file.suffix in SCRIPTS]
    # Without commands in them, scripts beside Python need no extra to be read.
    if scripts and (not readings or any(map(_may_declare, scripts))):
        readings.append(of_scripts(folder, inside))
    return readings


def _read_objects(
    folder: Path, listed: Sequence[Path], of_objects: _Read, exclude: Collection[str]
) -> SourceReading:
    """Read JSON files that are not the configuration of a tool; excluded ones may be invalid."""
    data = {
        path: content
        for path, content in sourcefile.read_all(listed, folder).items()
        if not sourcefile.is_foreign(path, content)
    }
    unwanted = {path: data.pop(path) for path in [*data] if path_pattern(path, exclude)}
    reading = of_objects(data, folder=folder.as_posix())
    for path, content in unwanted.items():
        with suppress(FileError):
            entries = of_objects({path: content}, folder=folder.as_posix()).entries
            reading = replace(reading, entries=(*reading.entries, *entries))
    return reading


def _together(readings: Sequence[SourceReading]) -> SourceReading:
    """Return the content of several readings as one reading."""
    return SourceReading(
        **{
            key.name: tuple(part for reading in readings for part in getattr(reading, key.name))
            for key in fields(SourceReading)
        }
    )


def _may_declare(script: Path) -> bool:
    """Whether a file of JavaScript may declare commands, by the words in it."""
    try:
        return _OF_BOTS.search(sourcefile.read_bytes(script.as_posix())) is not None
    except FileError:
        return True


def _read_scripts(
    path: str,
    inside: Sequence[Path] | None = None,
    *,
    locale: str,
    texts: Mapping[str, str] | None,
    form: str,
) -> SourceReading:
    try:
        from commandsync.sources import javascript  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing("JavaScript is read with", "javascript", error) from error
    return javascript.read(path, inside, locale=locale, texts=texts, form=form)


def of_list(data: bytes, path: str, columns: Mapping[str, str]) -> SourceReading:
    """Read a CSV file or a list in BotFather's format; raises as `of_json` does."""
    suffix = PurePosixPath(path).suffix.casefold()
    if suffix == ".csv":
        rows = csv_entries(data, path, columns)
    else:
        rows = botfather_entries(data, path, fenced=suffix in _MARKDOWN)
    entries = tuple(islice(rows, sourcefile.MOST_COMMANDS + 1))
    sourcefile.check_number(len(entries), path)
    return SourceReading(entries=entries, files=(path,))


Platform = Literal["discord", "telegram"]

LIBRARIES: dict[str, Platform] = {
    **dict.fromkeys(
        (
            *("discord.js", "@sapphire/framework", "discordx", "necord", "slash-create", "eris"),
            *("oceanic.js", "seyfert", "discordeno", "@discordjs/core", "discord-akairo"),
            *("@buape/carbon", "commandkit", "robo.js", "@discord-nestjs/core", "wokcommands"),
            *("discord.py", "py-cord", "nextcord", "disnake", "hikari", "interactions.py"),
        ),
        "discord",
    ),
    **dict.fromkeys(
        (
            *("grammy", "telegraf", "gramio", "node-telegram-bot-api", "aiogram", "telethon"),
            *("python-telegram-bot", "pytelegrambotapi", "pyrogram", "kurigram"),
        ),
        "telegram",
    ),
}
"""The platforms of the libraries, by the names of their packages."""

_IMPORTED = {  # packages by the names with which code imports them, where these differ
    "discord": "discord.py",
    "telegram": "python-telegram-bot",
    "telebot": "pytelegrambotapi",
    "interactions": "interactions.py",
    "discord-py-interactions": "interactions.py",
}
_NAMING = ("package.json", "deno.json", "pyproject.toml", "requirements*.txt", "Pipfile")
_WORD = re.compile(r"@?[A-Za-z][\w./-]*")
_PREFIX = re.compile(
    r"\b(?:command_?)?prefix[\"']?\]?\s*[:=]\s*(?:commands\.when_mentioned_or\()?([\"'])(?P<prefix>[^\"'\s/]{1,5})\1",
    re.IGNORECASE,
)
_SETTINGS = ("config.json", "src/config.json", "settings.json", "config.js", "src/config.js")
_REGISTERS = re.compile(r"(deploy|register|refresh|push)[\w:-]*", re.IGNORECASE)
_REGISTRATION = re.compile(
    r"\.sync\(|commands\.set\(|set_?my_?commands|bulk_?(?:over)?write|bulkEdit|\.applicationCommands\("
    r"|application_?guild_?commands|syncCommands|register_?(?:chat_?input_?|slash_?)?commands?\(|slash_command",
    re.IGNORECASE,
)
_PROGRAMS = ("node", "tsx", "ts-node", "bun", "python", "python3")
_SCRIPTS = ("deploy-commands", "deploy_commands", "register-commands", "register", "deploy")
_BOTS = ("bot.py", "main.py", "bot.js", "index.js", "src/bot.js", "src/index.js")
_MOST_BYTES = 1_000_000  # of a file that names dependencies


@dataclass(frozen=True, slots=True)
class Project:
    """A bot's project; unknown fields are empty."""

    platform: Platform | Literal[""]
    library: str  # the package of the library
    source: str = ""  # the folder or file with all commands that can be read
    reading: SourceReading = field(default_factory=SourceReading)
    problem: CommandsyncError | None = None  # why code that is here is not read
    program: str = ""  # the command line of the program that registers the commands
    registers: bool = False  # whether a script, or the bot at its login, registers commands
    prefix: str = ""  # the prefix of its text commands, if its files say one


def platform_of(folder: Path) -> Platform:
    """Return the platform that the dependencies of a folder show; Discord if none does."""
    return "telegram" if "telegram" in map(LIBRARIES.get, _dependencies(folder)) else "discord"


def project_in(folder: Path) -> Project:
    """Return the project in a folder, which is the current one or below it."""
    reading, problem = SourceReading(), None
    try:
        reading = read(folder.as_posix())
    except UsageError as error:  # an extra is missing
        problem = error
    except CommandsyncError:
        pass  # no code is here
    library = next(iter(libraries_of(folder, reading)), "")
    return Project(
        platform=LIBRARIES.get(library, ""),
        library=library,
        source=_source(folder, reading),
        reading=reading,
        problem=problem if library else None,
        program=program_in(folder),
        registers=registers(folder, reading),
        prefix=_prefix(folder, reading),
    )


def libraries_of(folder: Path, reading: SourceReading) -> list[str]:
    """Return the libraries that the dependencies of a folder name, then those its code imports."""
    imported = (_IMPORTED.get(name, name) for name in reading.frameworks)
    known = [*_dependencies(folder), *(name for name in imported if name in LIBRARIES)]
    return list(dict.fromkeys(known))


def _dependencies(folder: Path) -> Iterator[str]:
    """Yield the libraries that the dependencies of a folder name."""
    for file in (file for name in _NAMING for file in sorted(folder.glob(name))):
        words = map(str.casefold, _WORD.findall(_text(file)))
        names = (_IMPORTED.get(word, word) for word in words if word not in {"discord", "telegram"})
        yield from dict.fromkeys(name for name in names if name in LIBRARIES)


def _text(file: Path) -> str:
    with suppress(OSError):
        if not file.is_file():  # a pipe would never end
            return ""
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode("utf-8", "replace")
    return ""


def _source(folder: Path, reading: SourceReading) -> str:
    """Return the first folder on the way to all commands; the folder itself for a file in it."""
    if not (reading.entries or reading.unread):
        return ""
    places = [entry.place for entry in reading.entries] + [part.place for part in reading.unread]
    files = [posixpath.relpath(place.path, folder.as_posix()) for place in places if place]
    tops = {file.split("/")[0] if "/" in file else "." for file in files}
    return posixpath.normpath(
        posixpath.join(folder.as_posix(), tops.pop() if len(tops) == 1 else ".")
    )


def program_in(folder: Path) -> str:
    """Return the program that registers the commands, else the bot itself; empty for neither."""
    for name, line in _scripts(folder / "package.json").items():
        if _REGISTERS.fullmatch(name) and line.split(" ")[0] in _PROGRAMS:
            return line
    usual = (
        f"{at}{name}{end}" for at, name, end in product(("", "src/"), _SCRIPTS, (".js", ".py"))
    )
    file = next((name for name in (*usual, *_BOTS) if (folder / name).is_file()), "")
    runs = "node" if Path(file).suffix in SCRIPTS else "python"
    return f"{runs} {file}" if file else ""


def registers(folder: Path, reading: SourceReading) -> bool:
    """Return whether a script registers the commands, or the code of the bot does."""
    program = program_in(folder)
    script = PurePosixPath(program.split(" ")[-1]).stem if program else ""
    if script in _SCRIPTS or any(
        _REGISTERS.fullmatch(name) for name in _scripts(folder / "package.json")
    ):
        return bool(program)
    bots = (folder / name for name in _BOTS)
    return any(_REGISTRATION.search(_text(path)) for path in (*bots, *map(Path, reading.files)))


def _scripts(file: Path) -> dict[str, str]:
    """Return the scripts of a package by their names; none if it has another form."""
    with suppress(ValueError, AttributeError, TypeError, KeyError):
        return {name: str(line) for name, line in json.loads(_text(file))["scripts"].items()}
    return {}


def _prefix(folder: Path, reading: SourceReading) -> str:
    """Return the prefix that the project's files say; empty if they say none, or several."""
    usual = (folder / name for name in (*_SETTINGS, *_BOTS))
    texts = map(_text, (*usual, *map(Path, reading.files)))
    found = {match["prefix"] for text in texts for match in _PREFIX.finditer(text)}
    return found.pop() if len(found) == 1 else ""
