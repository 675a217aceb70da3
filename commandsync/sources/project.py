"""A bot's project as its files show it: its platform, its library, its code and its programs.

The dependencies name the library, else the imports do. The code is in the folder that contains all
commands which can be read; a script of `package.json`, or a file with a usual name, registers them.
Nothing is run.
"""

import json
import posixpath
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Literal

from commandsync.errors import CommandsyncError, UsageError
from commandsync.sources.entry import SourceReading
from commandsync.sources.reading import read
from commandsync.sources.sourcefile import SCRIPTS

Platform = Literal["discord", "telegram"]

LIBRARIES: dict[str, Platform] = {
    **dict.fromkeys(
        (
            *("discord.js", "@sapphire/framework", "discordx", "necord", "slash-create", "eris"),
            *("oceanic.js", "seyfert", "discordeno", "@discordjs/core", "discord-akairo"),
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
_LISTS = ("package.json", "deno.json", "pyproject.toml", "requirements*.txt", "Pipfile")
_WORD = re.compile(r"@?[A-Za-z][\w./-]*")
_PREFIX = re.compile(
    r"\b(?:command_?)?prefix[\"']?\]?\s*[:=]\s*(?:commands\.when_mentioned_or\()?([\"'])(?P<prefix>[^\"'\s/]{1,5})\1",
    re.IGNORECASE,
)
_SETTINGS = ("config.json", "src/config.json", "settings.json", "config.js", "src/config.js")
_REGISTERS = re.compile(r"(deploy|register|refresh|push)[\w:-]*", re.IGNORECASE)
_PROGRAMS = ("node", "tsx", "ts-node", "bun", "python", "python3")
_SCRIPTS = ("deploy-commands", "deploy_commands", "register-commands", "register", "deploy")
_BOTS = ("bot.py", "main.py", "bot.js", "index.js", "src/bot.js", "src/index.js")
_MOST_BYTES = 1_000_000  # of a file that names dependencies


@dataclass(frozen=True, slots=True)
class Project:
    """A bot's project; what is not known is empty."""

    platform: Platform | Literal[""]
    library: str  # the package of the library
    source: str = ""  # the folder or file with all commands that can be read
    reading: SourceReading = field(default_factory=SourceReading)
    problem: CommandsyncError | None = None  # why code that is here is not read
    program: str = ""  # the command line of the program that registers the commands
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
        prefix=_prefix(folder, reading),
    )


def libraries_of(folder: Path, reading: SourceReading) -> list[str]:
    """Return the libraries that the dependencies of a folder name, then those its code imports."""
    imported = (_IMPORTED.get(name, name) for name in reading.frameworks)
    known = [*_dependencies(folder), *(name for name in imported if name in LIBRARIES)]
    return list(dict.fromkeys(known))


def _dependencies(folder: Path) -> Iterator[str]:
    """Yield the libraries that the dependencies of a folder name."""
    for file in (file for name in _LISTS for file in sorted(folder.glob(name))):
        words = map(str.casefold, _WORD.findall(_text(file)))
        names = (_IMPORTED.get(word, word) for word in words if word not in {"discord", "telegram"})
        yield from dict.fromkeys(name for name in names if name in LIBRARIES)


def _text(file: Path) -> str:
    with suppress(OSError), file.open("rb") as opened:
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


def _scripts(file: Path) -> dict[str, str]:
    """Return the scripts of a package by their names; none if it has another form."""
    with suppress(ValueError, AttributeError, TypeError, KeyError):
        return {name: str(line) for name, line in json.loads(_text(file))["scripts"].items()}
    return {}


def _prefix(folder: Path, reading: SourceReading) -> str:
    """Return the prefix that the project's files say; empty if they say none, or several."""
    texts = map(_text, _settings(folder, reading.files))
    found = {match["prefix"] for text in texts for match in _PREFIX.finditer(text)}
    return found.pop() if len(found) == 1 else ""


def _settings(folder: Path, searched: Iterable[str]) -> Iterator[Path]:
    """Yield the files that may say the prefix: usual ones, those with commands, and the bot."""
    yield from (folder / name for name in (*_SETTINGS, *_BOTS))
    yield from map(Path, searched)
