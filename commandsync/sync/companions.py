"""The files beside a manifest: the commands as users see them, and the texts of the bot.

The platform's own objects of commands are in the imported file, or in the entries. They say how
messages mention a command, and what its options are for: `load` returns the commands of a manifest
with both.

Code that names its texts by keys, as in `t("ping.about")`, is read with the texts of the file that
`import.texts` names, or of the files of that folder (`texts_of`). The path of a file below the
folder may begin a key: `commands` in `commands.ping.about` and `commands:ping.about`. Without the
setting, the locale files of the project are searched for the keys that the code names: the one of a
folder such as `locales` that has most of them, English first. It is only named (`texts_notice`),
never read as a source: another may be meant.
"""

import os
import posixpath
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path

from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, FileError, UsageError
from commandsync.manifest import Manifest, load_manifests, load_texts
from commandsync.records.snapshot import Levels
from commandsync.records.texts import CommandOption, LoadedCommand, by_category
from commandsync.sources.entry import text_of
from commandsync.sources.sourcefile import files_of
from commandsync.sync.files import (
    check_in_workspace,
    read_text,
    relative,
)

_IDENTIFIER = re.compile("[0-9]{1,20}")
_NAME = re.compile(r"[-\w']{1,32}")  # nothing that a message takes for something else
_SLASH_COMMAND = 1
_MENUS = {2: "user", 3: "message"}  # by the type of a command in one


def mention_of(name: str, objects: Mapping[str, Levels]) -> str:
    """Return what mentions a command in a message of Discord; empty if its id is not known."""
    levels = _levels_of(name, objects)
    names = [str(node.get("name")) for node in levels]
    if not levels or levels[0].get("type") != _SLASH_COMMAND or levels[-1].get("options") == ():
        return ""
    identifier = str(levels[0].get("id"))
    if not (_IDENTIFIER.fullmatch(identifier) and all(map(_NAME.fullmatch, names))):
        return ""
    return f"</{' '.join(names)}:{identifier}>"


def _levels_of(name: str, objects: Mapping[str, Levels]) -> Levels:
    return objects.get(" ".join(name.removeprefix("/").split()), ())


def commands_of(manifest: Manifest, shown: Callable[[str], str] = str) -> tuple[LoadedCommand, ...]:
    """Return the commands of a manifest with what their objects say.

    `shown` returns a text as it is shown.
    """
    objects = manifest.objects
    commands = []
    for text in manifest.snapshot.commands:
        levels = _levels_of(text.name, objects)
        options = [
            CommandOption(
                shown(text_of(option, "name")),
                shown(text_of(option, "description")),
                option.get("required") is True,
                tuple(shown(text_of(each, "name")) for each in option.get("choices", ())),
            )
            for node in levels[-1:]
            for option in node.get("options", ())
        ]
        mention = mention_of(text.name, objects)
        menu = _MENUS.get(levels[0].get("type", 0), "") if levels else ""
        commands.append(LoadedCommand.of(map(shown, text), mention, options, menu=menu))
    return tuple(commands)


def load(path: str | os.PathLike[str]) -> dict[str, tuple[LoadedCommand, ...]]:
    """Load the commands of a manifest by category, as `/help` of the bot shows them.

    Args:
        path: The manifest, with everything that it includes; or a folder with one manifest in it.

    Returns:
        The commands of each category, both in the order of their first appearance; those without a
        category come first, under `""`. The prefix is filled in, and defaults are applied. The
        `mention` and the `options` of a command are empty unless `commandsync import` has kept
        Discord's object of it.

    Raises:
        ManifestError: It is invalid or cannot be read. The traceback has the place of each problem.
        UsageError: It is a folder with several manifests.
    """
    manifests = load_manifests([os.fspath(path)], stdin=bytes)
    if len(manifests) != 1:
        raise UsageError(
            f"{os.fspath(path)} contains {len(manifests)} manifests",
            hint="pass the path of one file",
        )
    return by_category(commands_of(manifests[0]))


_LARGEST = 4 * 1024 * 1024  # bytes
_LOCALES = re.compile(
    r"(.*/)?(locales?|lang(uage)?s?|i18n|translations?)/(?=(.+/)?[^/]+\.(json|ya?ml)$)",
    re.IGNORECASE,
)
_ENGLISH = re.compile(r"(^|/)en([-_][a-z]{2})?([./]|$)", re.IGNORECASE)
_TEXTS = (".json", ".yaml", ".yml")
_MOST_FILES = 20  # that are searched


def texts_of(manifest: Manifest) -> dict[str, str] | None:
    """Return the bot's texts by their keys; None if the manifest names no file with them."""
    if not manifest.imports.texts:
        return None
    path = posixpath.join(posixpath.dirname(manifest.path), manifest.imports.texts)
    check_in_workspace(path)
    return _load(path)


def texts_notice(manifest: Manifest, keys: Collection[str]) -> Notice | None:
    """Return a notice that names the locale file with some of the keys; None without one."""
    folder = posixpath.dirname(manifest.path) or "."
    found = ("", 0)
    with suppress(FileError):
        for path in _catalogues(folder) if keys else ():
            with suppress(CommandsyncError):
                number = len(_load(path).keys() & {*keys})
                found = (relative(path, folder), number) if number > found[1] else found
    name, number = found
    message = f"{name} has the texts of {number} of the computed descriptions"
    hint = f"name it under import: in the manifest: texts: {name}"
    return Notice(message, hint) if number else None


def _catalogues(folder: str) -> list[str]:
    """Return the locale files, and the folders of those of one language, English first."""
    found: dict[str, None] = {}
    for file in map(Path.as_posix, files_of(Path(folder))):
        if match := _LOCALES.match(relative(file, folder)):
            language, slash, _ = relative(file, folder)[match.end() :].partition("/")
            around = [posixpath.join(folder, match[0] + language)] if slash else []
            found |= dict.fromkeys([file, *around])
    return sorted(found, key=lambda path: not _ENGLISH.search(path))[:_MOST_FILES]


def _load(path: str) -> dict[str, str]:
    """Return the texts of a file or a folder; a key that files of a folder share is ambiguous."""
    if not Path(path).is_dir():
        return _of_file(path, Path(path).stem)
    texts: dict[str, str] = {}
    ambiguous: set[str] = set()
    for file in (file for file in files_of(Path(path)) if file.suffix in _TEXTS):
        inside = file.relative_to(path).with_suffix("").as_posix()
        for key, text in _of_file(file.as_posix(), inside).items():
            ambiguous |= {key} if texts.setdefault(key, text) != text else set()
    return {key: text for key, text in texts.items() if key not in ambiguous}


def _of_file(path: str, name: str) -> dict[str, str]:
    texts = load_texts(path, read_text(path, most=_LARGEST))
    starts = ("", f"{name.replace('/', '.')}.", f"{name}:")
    return {f"{start}{key}": text for start in starts for key, text in texts.items()}
