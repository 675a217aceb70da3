"""Where in a manifest a thing was said, and what is wrong there."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a manifest, as editors and compilers count it.

    Attributes:
        path: The file as the user named it, with `/` between folders; `-` for standard input.
        line: The line, from 1.
        column: The column in characters (code points), from 1.
    """

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something wrong, or worth a warning, at a place in a manifest.

    Attributes:
        location: Where it stands; what concerns the whole file stands at 1:1.
        message: What is wrong, in one sentence without a full stop.
        hint: What to do about it; empty when the message says it all.
    """

    location: Location
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.location}: {self.message}"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know that changes nothing of what is done.

    Attributes:
        message: What it is, in one sentence without a full stop.
        hint: What to do about it; may be empty.
        location: Where the manifest says what it is about; None when it says nothing.
    """

    message: str
    hint: str = ""
    location: Location | None = None
