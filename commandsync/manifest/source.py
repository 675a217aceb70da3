"""The files of a manifest: found by patterns, read as text within limits, with problems at places.

`read_source` decodes a file; `Source` knows the line and column of every character. Problems are
collected while all files are read (`FileProblems`, `Problems`), to be reported at once.
`included_paths` finds the files that a manifest includes, and `yaml_files` those of a folder.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import translate
from itertools import islice
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple

from commandsync.api.credentials import contains_token, redacted
from commandsync.diagnostics import Do, Excerpt, Hint, Location, Problem
from commandsync.errors import ManifestError
from commandsync.records.snapshot import is_imported

STDIN = "-"  # the name of standard input as a source
MOST_BYTES = 10 * 1024 * 1024  # of one file, and of a manifest with all its includes
MOST_NODES = 250_000  # of the same; each alias counts as the whole value that it repeats
MOST_DEPTH = 64  # how deep lists and mappings may nest; a manifest needs five
MOST_LINES = 1_000_000  # of one file; each costs memory before anything is read into it
_BEFORE, _AFTER = 50, 70  # characters of a line that are shown around a place
_NEAR = 2_000  # characters: more than a token has
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_TOO_MUCH = "no bot has that many commands: is this the right file?"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(slots=True)
class Allowance:
    """How many more bytes, nodes, and characters of its values one manifest may take up."""

    bytes: int = MOST_BYTES
    nodes: int = MOST_NODES
    characters: int = MOST_BYTES


@dataclass(slots=True)
class Source:
    """The text of one file."""

    path: str  # as the user named it, with `/` between folders; `-` for standard input
    text: str = field(repr=False)  # without a byte order mark, line ends as they are
    _lines: list[int] = field(default_factory=list, repr=False)

    def location(self, at: int) -> Location:
        """Return the place of a character, given its index in the text, as editors count it."""
        if not self._lines:
            self._lines = [0, *map(re.Match.end, _LINE_BREAK.finditer(self.text))]
        line = bisect_right(self._lines, at)
        return Location(self.path, line, at - self._lines[line - 1] + 1)

    def column(self, at: int) -> int:
        """Return how many characters are before a place on its line."""
        return self.location(at).column - 1

    def line_at(self, at: int) -> tuple[int, str]:
        """Return the index of the beginning of a character's line, and the line's text."""
        start = at - self.column(at)
        return start, self.text[start : self.line_end(at)]

    def line_end(self, at: int) -> int:
        """Return the index of the line break that ends a character's line, or of the end."""
        end = _LINE_BREAK.search(self.text, at)
        return end.start() if end else len(self.text)

    def excerpt(self, at: int) -> Excerpt | None:
        """Return the part of a line around a character, given its index in the text.

        It reads no further: a line may have millions of characters, and a thousand problems. None
        near a token: the part could end within it.
        """
        if contains_token(self.text[max(0, at - _NEAR) : at + _NEAR]):
            return None
        start = at - self.column(at)
        begin = max(start, at - _BEFORE)
        line_break = _LINE_BREAK.search(self.text, at, at + _AFTER)
        end = line_break.start() if line_break else min(at + _AFTER, len(self.text))
        lead = "…" if begin > start else ""
        rest = "…" if not line_break and end < len(self.text) else ""
        return Excerpt(f"{lead}{self.text[begin:end]}{rest}", at - begin + len(lead))


class UnreadableError(Exception):
    """A file cannot be read as text: with the arguments of a `Problem`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where files may be read from: the links of a workspace must not lead out of it."""

    stdin: Callable[[], bytes]
    workspace: Path | None = None  # the folder that a CI job works in; None outside CI
    # The contents of files by path, in place of the disk. Files that are read are added.
    contents: dict[str, bytes] = field(default_factory=dict, repr=False)
    # The folders that are searched are added.
    folders: set[str] = field(default_factory=set, repr=False)
    needs_imported: bool = True  # whether a manifest with `import:` needs its imported file


def read_source(path: str, *, origin: Origin, allowance: Allowance) -> Source:
    """Read one file; its bytes are taken from the allowance. Raises `UnreadableError`."""
    if path == STDIN:
        data = origin.stdin()
    else:
        if path not in origin.contents:
            origin.contents[path] = _read_file(path, origin.workspace)
        data = origin.contents[path]
    if len(data) > allowance.bytes:
        raise UnreadableError(
            Location(path), f"the manifest is larger than {MOST_BYTES // 1024**2} MiB", _TOO_MUCH
        )
    allowance.bytes -= len(data)
    if data.count(b"\n") + data.count(b"\r") > MOST_LINES:
        message = f"the file has more than {MOST_LINES:,} lines"
        raise UnreadableError(Location(path), message, _TOO_MUCH)
    if data.startswith(_UTF16):
        raise UnreadableError(Location(path), "the file is UTF-16, not UTF-8", "save it as UTF-8")
    try:
        return Source(path, data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        before = Source(path, data[: error.start].decode("utf-8").removeprefix("\ufeff"))
        at, byte = before.location(len(before.text)), data[error.start]
        message = f"the file is not UTF-8: the byte 0x{byte:02X} appears here"
        raise UnreadableError(at, message, "save it as UTF-8") from error


def _read_file(path: str, workspace: Path | None) -> bytes:
    at = Location(path, is_unread=True)
    try:
        if workspace and leads_out(path, workspace):
            hint = "in CI a file of the workspace is read only if its links stay inside it"
            raise UnreadableError(at, "this is a link out of the workspace, and is not read", hint)
        with Path(path).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        if Path(path).is_symlink():
            message = "this is a link to a file that does not exist"
            hint = "add the file that it points to, or name that file in its place"
            raise UnreadableError(at, message, hint) from error
        raise UnreadableError(at, "the file does not exist", Do.WRITE_STARTER()) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(at, f"the file cannot be read: {reason}") from error


def leads_out(path: str, workspace: Path) -> bool:
    """Whether a path that is in the workspace as it is written really leads to another place."""
    written = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow the links
    real = Path(os.path.realpath(workspace))
    inside = written.is_relative_to(workspace) or written.is_relative_to(real)
    # resolve() fails on a link to itself before Python 3.13.
    return inside and not Path(os.path.realpath(path)).is_relative_to(real)


MOST_PROBLEMS = 1000  # reading stops after so many, so that malicious input costs no time
_LONGEST_QUOTE = 60
_LONGEST_WORD = 40
_MOST_WORDS = 100  # to compare a word with; it takes some microseconds each


class StopReadingError(Exception):
    """Reading stops here: at a limit, which is reported, or at more problems than anybody reads."""


class Problems:
    """The problems and warnings of a manifest, or of all of them."""

    def __init__(self) -> None:
        self._order: dict[str, int] = {}
        self._errors: dict[Problem, None] = {}
        self._warnings: dict[Problem, None] = {}

    def opened(self, path: str) -> None:
        """Record that a file is read now: problems are sorted in the order of the files."""
        self._order.setdefault(path, len(self._order))

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that were opened so far."""
        return tuple(self._order)

    def error(self, problem: Problem) -> None:
        """Report an error, a duplicate once; `StopReadingError` after `MOST_PROBLEMS`."""
        self.opened(problem.location.path)
        self._errors[problem] = None
        if len(self._errors) >= MOST_PROBLEMS:
            raise StopReadingError

    def warning(self, problem: Problem) -> None:
        """Report a warning: the text is valid and probably a mistake; at most `MOST_PROBLEMS`."""
        if len(self._warnings) < MOST_PROBLEMS:
            self._warnings[problem] = None

    def add(self, others: Problems) -> None:
        """Report all errors of another manifest, as `error` does."""
        for path in others.paths:
            self.opened(path)
        for problem in others._errors:
            self.error(problem)

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The errors, in the order in which they were found."""
        return tuple(self._errors)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The warnings, in the order of files and lines."""
        return tuple(self._sorted(self._warnings))

    def raise_if_any(self) -> None:
        """Raise a `ManifestError` with every error, in the order of files and lines."""
        if not self._errors:
            return
        problems = self._sorted(self._errors)
        if len(problems) >= MOST_PROBLEMS:
            message = f"there may be more problems: only the first {MOST_PROBLEMS} are shown"
            problems.append(Problem(Location(problems[-1].location.path), message))
        raise ManifestError(problems)

    def _sorted(self, problems: Iterable[Problem]) -> list[Problem]:
        return sorted(problems, key=lambda each: (self._order[each.location.path], each.location))


class FileProblems(NamedTuple):
    """The problems of one file, each at a character of it."""

    source: Source
    problems: Problems

    def error(self, at: int, message: str, hint: str | Hint = "") -> None:
        """Report an error, as `Problems.error` does."""
        self.problems.error(self._problem(at, message, hint))

    def warning(self, at: int, message: str, hint: str | Hint = "") -> None:
        """Report a warning: the text is valid and probably a mistake."""
        self.problems.warning(self._problem(at, message, hint))

    def _problem(self, at: int, message: str, hint: str | Hint) -> Problem:
        return Problem(self.source.location(at), message, hint, self.source.excerpt(at))


def quoted(text: str) -> str:
    """Show a piece of the manifest inside a message: on one line, not too long."""
    text = redacted(text)
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1] + "…"
    return '"' + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text) + '"'


def closest(word: str, known: Iterable[str]) -> str:
    """Return the closest of the first known words; empty when none is close."""
    names = islice(known, _MOST_WORDS)
    first = {name.lower(): name for name in names if len(name) <= _LONGEST_WORD}
    matches = get_close_matches(word[:_LONGEST_WORD].lower(), first, n=1)
    return first[matches[0]] if matches else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the closest known word; empty when none is close."""
    close = closest(word, known)
    return f"did you mean {close}?" if close else ""


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
    report: FileProblems, patterns: Mapping[int, str], folders: set[str]
) -> list[str]:
    """List the files that a manifest includes, each once, in the order of the patterns.

    The patterns come by their places in the file. The folders in which they are looked for are
    added to `folders`.
    """
    walk = _Walk(report.source.path, folders)
    paths: dict[Path, str] = {}
    for number, (at, pattern) in enumerate(patterns.items()):
        if number == _MOST_PATTERNS:
            message = f"include has more than {_MOST_PATTERNS:,} patterns"
            report.error(at, message, "one pattern can name many files: commands/*.yaml")
            break
        try:
            matches = _matches(walk, pattern.strip())
        except _PatternError as error:
            report.error(at, *error.args)
            continue
        for path in matches:
            if path.resolve().is_relative_to(walk.folder.resolve()):
                paths.setdefault(path.resolve(), path.as_posix())
            else:
                report.error(at, f"{quoted(path.as_posix())} {_LEADS_OUT}", _STAY_INSIDE)
    return list(paths.values())


class _PatternError(Exception):
    """A pattern is not valid, or matches nothing: a message, and perhaps a hint."""


def _matches(walk: _Walk, text: str) -> list[Path]:
    paths = walk.files(_parts(text))
    if not paths:
        hint = "patterns are relative to the manifest's folder"
        if is_folder(walk.folder / text):
            hint = f"that is a folder; its files are {quoted(text.rstrip('/') + '/*.yaml')}"
        elif "\\" in text:
            hint = "between folders write /, on Windows as well"
        raise _PatternError(f"{quoted(text)} matches no file", hint)
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
        """Return the first path that led to a folder; None if the folder does not exist."""
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


def identity(path: str) -> str | Path:
    """Return the same for every path to a file."""
    if path == STDIN:
        return path
    try:
        return Path(path).resolve()
    except (OSError, ValueError, RuntimeError):  # reading the file reports the problem
        return path
