"""The locale files of a bot: the texts that its code names by keys, as in `t("ping.about")`.

Such code is read with the texts of the file that `import.texts` names, or of the files of that
folder (`texts_of`). The path of a file below the folder may begin a key: `commands` in
`commands.ping.about` and `commands:ping.about`. Without the setting, the locale files of the
project are searched for the keys that the code names: `texts_notice` names the file of a folder
such as `locales` that has most of them, English first. The file is never read as a source: another
one may be meant.
"""

import posixpath
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, FileError
from commandsync.manifest import Manifest, load_texts
from commandsync.sources.sourcefile import files_of
from commandsync.sync.files import (
    check_in_workspace,
    read_text,
    relative,
)

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
    """Return the locale files, and the folders with the files of one language, English first."""
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
