"""One file of a manifest as text: read within limits, decoded, every character's place known."""

import os
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from commandsync.api.redaction import contains_token
from commandsync.diagnostics import Do, Excerpt, Location

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
    # The contents of files by path, in place of those on the disk; what is read there is added.
    contents: dict[str, bytes] = field(default_factory=dict, repr=False)
    folders: set[str] = field(default_factory=set, repr=False)  # those searched are added


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
