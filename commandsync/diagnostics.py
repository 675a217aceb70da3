"""Places in a manifest, the problems and warnings about them, and the checks of a set-up."""

from dataclasses import dataclass, field
from typing import Literal

State = Literal["ok", "warning", "failed", "skipped"]


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


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of a line around a place.

    Attributes:
        text: The part, with "…" where the line goes on.
        caret: The index of the place in it.
    """

    text: str
    caret: int


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something wrong, or worth a warning, at a place in a manifest.

    Attributes:
        location: The place; 1:1 for the whole file.
        message: The problem, in one sentence without a full stop.
        hint: What to do about it; may be empty.
        excerpt: The text at the place; None for the whole file.
    """

    location: Location
    message: str
    hint: str = ""
    excerpt: Excerpt | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.location}: {self.message}"


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning, which does not affect the changes.

    Its attributes are those of a `Problem`; `runs` tells that the hint is a command, ready to run.
    """

    message: str
    hint: str = ""
    location: Location | None = None
    runs: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a set-up.

    Attributes:
        name: What was checked.
        state: `failed` stops a sync, `warning` does not; `skipped` could not be checked.
        message: What was found, without a full stop.
        hint: What to do about it; may be empty.
        manifest: The manifest that it is about, if there are several.
    """

    name: str
    state: State
    message: str
    hint: str = ""
    manifest: str = ""
