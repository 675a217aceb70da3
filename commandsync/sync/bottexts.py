"""The texts of a bot: the file that `import.texts` names, or the one that its code seems to use.

Code that names its texts by keys, as in `t("ping.about")`, is read with the texts of that file.
Without the setting, the locale files of the project are searched for the keys that the code names:
one of a folder such as `locales`, English first, that has at least one of them. It is only named,
never read as a source: another file may be meant.
"""

import os
import posixpath
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, FileError
from commandsync.manifest import Manifest, load_texts
from commandsync.sources.sourcefile import files_of
from commandsync.sync.files import ci_workspace, read_text, real, relative

IN_CI = "in CI a manifest names only sources in the checkout"
_LARGEST = 4 * 1024 * 1024  # bytes
_LOCALES = re.compile(
    r"(^|/)(locales?|lang(uage)?s?|i18n|translations?)/(.+/)?[^/]+\.(json|ya?ml)$", re.IGNORECASE
)
_ENGLISH = re.compile(r"(^|/)en([-_][a-z]{2})?[./]", re.IGNORECASE)
_MOST_FILES = 20  # that are searched


def texts_of(manifest: Manifest) -> dict[str, str] | None:
    """Return the bot's texts by their keys; None if the manifest names no file with them."""
    if not manifest.imports.texts:
        return None
    path = posixpath.join(posixpath.dirname(manifest.path), manifest.imports.texts)
    if (workspace := ci_workspace(os.environ)) and not real(path).is_relative_to(real(workspace)):
        raise FileError(f"{path} is not in the workspace, and is not read", hint=IN_CI)
    return _load(path)


def texts_notice(manifest: Manifest, keys: Collection[str]) -> Notice | None:
    """Return a notice that names the locale file with some of the keys; None without one."""
    folder = posixpath.dirname(manifest.path) or "."
    with suppress(FileError):
        files = [path.as_posix() for path in (files_of(Path(folder)) if keys else ())]
        found = [path for path in files if _LOCALES.search(relative(path, folder))]
        for path in sorted(found, key=lambda path: not _ENGLISH.search(path))[:_MOST_FILES]:
            with suppress(CommandsyncError):
                if known := _load(path).keys() & {*keys}:
                    name = relative(path, folder)
                    message = f"{name} has the texts of {len(known)} of the computed descriptions"
                    return Notice(message, f"name it under import: in the manifest: texts: {name}")
    return None


def _load(path: str) -> dict[str, str]:
    return load_texts(path, read_text(path, most=_LARGEST))
