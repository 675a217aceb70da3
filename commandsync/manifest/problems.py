"""Everything wrong with the manifests, collected while they are read, to be reported at once."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import NamedTuple

from commandsync.api.redaction import redacted
from commandsync.diagnostics import Hint, Location, Problem
from commandsync.errors import ManifestError
from commandsync.manifest.source import Source

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
        """Report what makes it invalid, a duplicate once; `StopReadingError` if that is enough."""
        self.opened(problem.location.path)
        self._errors[problem] = None
        if len(self._errors) >= MOST_PROBLEMS:
            raise StopReadingError

    def warning(self, problem: Problem) -> None:
        """Report what is valid and probably a mistake, up to as many as anybody reads."""
        if len(self._warnings) < MOST_PROBLEMS:
            self._warnings[problem] = None

    def add(self, others: Problems) -> None:
        """Report all errors of another manifest, as `error` does."""
        for path in others.paths:
            self.opened(path)
        for problem in others._errors:
            self.error(problem)

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
        """Report what makes the manifest invalid, as `Problems.error` does."""
        self.problems.error(self._problem(at, message, hint))

    def warning(self, at: int, message: str, hint: str | Hint = "") -> None:
        """Report what is valid and probably a mistake."""
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
