"""What the user points at -> the files to read: sources of `-f`, and a manifest's includes."""

from __future__ import annotations

import os
import re
import stat
from fnmatch import translate
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from commandsync.diagnostics import Location
from commandsync.manifest.folders import manifests_in
from commandsync.manifest.problems import quoted
from commandsync.manifest.source import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commandsync.manifest.folders import Stray
    from commandsync.manifest.loaded import Manifest
    from commandsync.manifest.nodes import Scalar
    from commandsync.manifest.problems import Problems
    from commandsync.manifest.reading import Reader
    from commandsync.manifest.source import Origin

_MOST_PATTERNS = 1000
_MOST_PLACES = 250_000
"""Files and folders that one manifest's patterns may look at; a repository with its libraries has
fewer."""

_LONGEST_PATTERN = 1000  # characters
_STAY_INSIDE = "move the file into the manifest's folder, or the manifest beside it"


def manifest_paths(
    sources: Sequence[str], problems: Problems, strays: list[Stray], origin: Origin
) -> Iterator[str]:
    """List the manifests that the sources stand for, each once.

    Args:
        sources: Files, folders, or `-`.
        problems: Where a folder without manifests is noted, in the order of the sources.
        strays: Where files of folders are put that have a manifest's keys and no version.
        origin: Where files may be read from.
    """
    seen: set[str | Path] = set()
    for source in sources:
        for path in _stands_for(source, problems, strays, origin):
            identity = path if path == STDIN else _identity(path)
            if identity not in seen:
                seen.add(identity)
                yield path


def _stands_for(source: str, problems: Problems, strays: list[Stray], origin: Origin) -> list[str]:
    if source == STDIN or not _is_folder(source):
        return [STDIN if source == STDIN else _shown(source)]
    inside, nearly = manifests_in(Path(source), origin)
    strays.extend(nearly)
    if not inside:
        problems.opened(_shown(source))
        problems.error(
            Location(_shown(source)),
            "no *.yaml or *.yml file in this folder has a top-level version:",
            "commandsync init writes a starter; -f names another file",
        )
    return inside


def note_strays(strays: Sequence[Stray], problems: Problems, *, all_loaded: bool) -> None:
    """Note the strays that nothing has read by now.

    Args:
        strays: The files.
        problems: Knows what was read; they are noted there.
        all_loaded: Whether every manifest could tell what it includes; where one could not, only
            a misspelt version is certain.
    """
    read = {_identity(path) for path in problems.paths if path != STDIN}
    for stray in strays:
        if _identity(stray.path) not in read and (all_loaded or stray.meant):
            problems.opened(stray.path)
            problems.error(stray.location, stray.message, stray.hint)


def note_included(manifests: Sequence[Manifest], problems: Problems) -> set[str]:
    """Note the manifests that another one includes: their entries would be managed twice.

    Args:
        manifests: All that were loaded.
        problems: Where they are noted.

    Returns:
        Their paths.
    """
    includers = {_identity(part): one.path for one in manifests for part in one.paths[1:]}
    found: set[str] = set()
    for one in manifests:
        includer = None if one.path == STDIN else includers.get(_identity(one.path))
        if includer is not None:
            found.add(one.path)
            problems.error(
                Location(one.path),
                f"this is a manifest of its own here, and {includer} includes it",
                "take its version: out, or name only one of the two",
            )
    return found


def included_paths(reader: Reader, patterns: Iterable[Scalar]) -> list[str]:
    """List the files that a manifest includes, each once, in the order of the patterns.

    Args:
        reader: Reads the manifest; it notes what is wrong with a pattern.
        patterns: The patterns, relative to the manifest's folder.
    """
    manifest = reader.source.path
    folder = Path() if manifest == STDIN else Path(manifest).parent
    walk = _Walk(folder)
    found: dict[Path, str] = {}
    for number, pattern in enumerate(patterns):
        if number >= _MOST_PATTERNS:
            hint = "one pattern can name many files: commands/*.yaml"
            reader.error(pattern.at, f"include has more than {_MOST_PATTERNS:,} patterns", hint)
            break
        matches = _matches(reader, walk, pattern)
        others = [path for path in matches if manifest == STDIN or not path.samefile(manifest)]
        if matches and not others:
            reader.error(pattern.at, "the manifest includes itself", "remove it from include:")
        for path in others:
            if path.resolve().is_relative_to(folder.resolve()):
                found.setdefault(path.resolve(), path.as_posix())
            else:
                message = f"{quoted(path.as_posix())} leads out of the manifest's folder"
                reader.error(pattern.at, message, _STAY_INSIDE)
    return list(found.values())


def _matches(reader: Reader, walk: _Walk, pattern: Scalar) -> list[Path]:
    text = pattern.text.strip()
    windows = PureWindowsPath(text)
    if windows.drive or windows.root or ".." in windows.parts or PurePosixPath(text).is_absolute():
        reader.error(pattern.at, f"{quoted(text)} leads out of the manifest's folder", _STAY_INSIDE)
        return []
    parts = PurePosixPath(text).parts
    if len(text) > _LONGEST_PATTERN or parts.count("**") > 1:
        # A second ** walks every folder once more for each folder above it.
        reader.error(pattern.at, f"{quoted(text)} is too long, or has more than one **")
        return []
    if not parts or any("**" in part and part != "**" for part in parts):
        reader.error(pattern.at, f"{quoted(text)} is not a valid pattern for files")
        return []
    try:
        found = walk.files(parts)
    except _TooFarError:
        reader.error(
            pattern.at,
            f"the patterns up to {quoted(text)} look at more than {_MOST_PLACES:,} files and "
            "folders",
            "name the folder, such as commands/*.yaml",
        )
        return []
    if not found:
        hint = _no_match(walk.folder, text)
        reader.error(pattern.at, f"{quoted(text)} matches no file", hint)
    return found


class _TooFarError(Exception):
    """The patterns of a manifest look at more files and folders than they may."""


class _Walk:
    """Finds the files that patterns match, and counts what it looks at.

    Args:
        folder: The manifest's folder, where every pattern begins.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known = {_folder_id(folder): folder}
        self._left = _MOST_PLACES

    def files(self, parts: Sequence[str]) -> list[Path]:
        """Return the files that a pattern matches, sorted.

        It goes one part of the pattern at a time, and into each real folder once, by the first
        path found to it: links to a folder above would lead along ever more and longer ones.

        Raises:
            _TooFarError: There is too much to look at.
        """
        folders = [self.folder]
        for part in parts[:-1]:
            found = (path for folder in folders for path in self._under(folder, part))
            ids = ((_folder_id(path), path) for path in found)
            paths = [self._known.setdefault(key, path) for key, path in ids if key]
            folders = list(dict.fromkeys(paths))
        last = parts[-1] if parts[-1] != "**" else ""  # "**" alone means folders
        found = (path for folder in folders for path in self._under(folder, last) if last)
        return sorted(path for path in found if _is_file(path))

    def _under(self, folder: Path, part: str) -> Iterator[Path]:
        """Yield what is in a folder and matches one part of a pattern; folders only for `**`."""
        if part == "**":
            waiting = [folder]
            while waiting:
                yield (above := waiting.pop())
                inside = self._inside(above)
                waiting += [path for path in inside if _is_folder(path) and not path.is_symlink()]
        elif any(character in part for character in "*?["):
            matches = re.compile(translate(os.path.normcase(part))).match
            for path in self._inside(folder):
                if matches(os.path.normcase(path.name)):
                    yield path
        else:
            self._look()
            yield folder / part

    def _inside(self, folder: Path) -> Iterator[Path]:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._look()
                    yield folder / entry.name
        except OSError:  # nobody may look into it
            return

    def _look(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _TooFarError


def _no_match(folder: Path, pattern: str) -> str:
    if _is_folder(folder / pattern):
        return f"that is a folder; its files are {quoted(pattern.rstrip('/') + '/*.yaml')}"
    if "\\" in pattern:
        return "between folders write /, on Windows as well"
    return "patterns are relative to the manifest's folder"


def _folder_id(path: Path) -> tuple[int, int] | None:
    """Return what is the same for every path to a folder; None where there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def _is_folder(source: str | Path) -> bool:
    try:
        return Path(source).is_dir()
    except (OSError, ValueError):  # too long a name, or a NUL in it: reading it says so
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _shown(source: str) -> str:
    return Path(source).as_posix()


def _identity(path: str) -> str | Path:
    try:
        return Path(path).resolve()
    except (OSError, ValueError, RuntimeError):  # reading it says what is wrong
        return path
