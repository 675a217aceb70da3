"""Folders and patterns -> the files to read."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from fnmatch import translate
from pathlib import Path, PurePosixPath, PureWindowsPath

from commandsync.manifest.nodes import Scalar
from commandsync.manifest.source import STDIN, FileProblems, quoted
from commandsync.records.imported import is_imported

is_folder = os.path.isdir  # False also for too long a name, or a NUL in it

_SUFFIXES = frozenset({".yaml", ".yml"})
_MOST_PATTERNS = 1000
_MOST_PLACES = 250_000  # files and folders that patterns may read; a repository has fewer
_LONGEST_PATTERN = 1000  # characters
_LEADS_OUT = "leads out of the manifest's folder"
_STAY_INSIDE = "move the file into the manifest's folder, or the manifest beside it"


def yaml_files(folder: str) -> list[str]:
    """List the files directly in a folder that may be manifests."""
    return sorted(
        path.as_posix()
        for path in Path(folder).iterdir()
        if path.suffix in _SUFFIXES
        and not (path.name.startswith(".") or is_imported(path.name))
        and path.is_file()
    )


def included_paths(
    report: FileProblems, patterns: Sequence[Scalar], folders: set[str]
) -> list[str]:
    """List the files that a manifest includes, each once, in the order of the patterns.

    The folders in which they are looked for are added to `folders`.
    """
    walk = _Walk(report.source.path, folders)
    paths: dict[Path, str] = {}
    for pattern in patterns[:_MOST_PATTERNS]:
        try:
            matches = _matches(walk, pattern.strip())
        except _PatternError as error:
            report.error(pattern.at, *error.args)
            continue
        for path in matches:
            if path.resolve().is_relative_to(walk.folder.resolve()):
                paths.setdefault(path.resolve(), path.as_posix())
            else:
                report.error(pattern.at, f"{quoted(path.as_posix())} {_LEADS_OUT}", _STAY_INSIDE)
    if len(patterns) > _MOST_PATTERNS:
        message = f"include has more than {_MOST_PATTERNS:,} patterns"
        hint = "one pattern can name many files: commands/*.yaml"
        report.error(patterns[_MOST_PATTERNS].at, message, hint)
    return list(paths.values())


class _PatternError(Exception):
    """A pattern is not valid, or matches nothing: a message, and perhaps a hint."""


def _matches(walk: "_Walk", text: str) -> list[Path]:
    paths = walk.files(_parts(text))
    if not paths:
        raise _PatternError(f"{quoted(text)} matches no file", _no_match(walk.folder, text))
    others = [path for path in paths if walk.manifest == STDIN or not path.samefile(walk.manifest)]
    if not others:
        raise _PatternError("the manifest includes itself", "remove it from include:")
    return others


def _parts(text: str) -> Sequence[str]:
    """Return the parts of a valid pattern, one for each folder and one for the files."""
    windows, parts = PureWindowsPath(text), PurePosixPath(text).parts
    if windows.drive or windows.root or ".." in windows.parts:
        raise _PatternError(f"{quoted(text)} {_LEADS_OUT}", _STAY_INSIDE)
    if len(text) > _LONGEST_PATTERN or parts.count("**") > 1:
        # A second ** walks every folder once more for each folder above it.
        raise _PatternError(f"{quoted(text)} is too long, or has more than one **")
    if not parts or any("**" in part and part != "**" for part in parts):
        raise _PatternError(f"{quoted(text)} is not a valid pattern for files")
    return parts


class _Walk:
    """Finds the files that patterns match from a manifest's folder, up to a number of places."""

    def __init__(self, manifest: str, folders: set[str]) -> None:
        self.manifest = manifest
        self._folders = folders
        self.folder = Path() if manifest == STDIN else Path(manifest).parent
        self._known: dict[tuple[int, int], Path] = {}
        self._left = _MOST_PLACES
        self._first_path(self.folder)

    def files(self, parts: Sequence[str]) -> list[Path]:
        """Return the files that a pattern matches, sorted.

        It goes one part of the pattern at a time, and into each real folder once, by the first
        path found to it: links to a folder above would lead along ever more and longer ones.
        """
        folders = [self.folder]
        for part in parts[:-1]:
            inside = [path for folder in folders for path in self._under(folder, part)]
            folders = list(dict.fromkeys(filter(None, map(self._first_path, inside))))
        if parts[-1] == "**":  # which matches folders only
            return []
        inside = [path for folder in folders for path in self._under(folder, parts[-1])]
        found = (path for path in inside if path.is_file() and not is_imported(path.name))
        return sorted(found)

    def _first_path(self, path: Path) -> Path | None:
        """Return the first path that led to a folder; None where there is no folder."""
        try:
            status = path.stat()
        except (OSError, ValueError):
            return None
        key = status.st_dev, status.st_ino
        return self._known.setdefault(key, path) if stat.S_ISDIR(status.st_mode) else None

    def _under(self, folder: Path, part: str) -> Iterator[Path]:
        """Yield the files and folders in a folder that match one part of a pattern."""
        self._folders.add(str(folder))
        if part == "**":
            waiting = [folder]
            while waiting:
                yield (above := waiting.pop())
                self._folders.add(str(above))
                inside = self._inside(above)
                waiting += [path for path in inside if is_folder(path) and not path.is_symlink()]
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
        except OSError:  # it cannot be opened
            return

    def _look(self) -> None:
        self._left -= 1
        if self._left < 0:
            message = f"the patterns up to this one read more than {_MOST_PLACES:,}"
            hint = "name the folder, such as commands/*.yaml"
            raise _PatternError(f"{message} files and folders", hint)


def _no_match(folder: Path, pattern: str) -> str:
    if is_folder(folder / pattern):
        return f"that is a folder; its files are {quoted(pattern.rstrip('/') + '/*.yaml')}"
    if "\\" in pattern:
        return "between folders write /, on Windows as well"
    return "patterns are relative to the manifest's folder"


def identity(path: str) -> str | Path:
    """Return the same for every path to a file."""
    if path == STDIN:
        return path
    try:
        return Path(path).resolve()
    except (OSError, ValueError, RuntimeError):  # reading it reports what is wrong
        return path
