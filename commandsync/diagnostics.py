"""Places in a manifest, the problems and warnings about them, hints, and the checks of a set-up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Literal, NamedTuple

State = Literal["ok", "warning", "failed", "skipped"]


class Do(Enum):
    """An action that helps with a problem; each program has a table with its own words for it."""

    ALLOW_DELETES = auto()
    ALLOW_DELETES_OF_NEW_PLAN = auto()
    ALSO = auto()
    APPLY_ALL = auto()
    APPLY_LATER = auto()
    APPLY_PLAN = auto()
    BEGIN_IMPORT = auto()
    DELETE_ALONE = auto()
    EJECT_IMPORT = auto()
    GIVE_BASE_URL = auto()
    GIVE_BOT = auto()
    GIVE_TOKEN = auto()
    IMPORT_OBJECTS = auto()
    KEEP_LIMITS = auto()
    KEEP_TARGET = auto()
    LOWER_CONCURRENCY = auto()
    MAKE_PLAN = auto()
    NAME_MANIFEST = auto()
    NAME_STATE = auto()
    POST_LATER = auto()
    RAISE_TIMEOUT = auto()
    RENEW_TOKEN = auto()
    REPLACE_FILE = auto()
    REPLACE_UNMATCHED = auto()
    REPLACE_UNSEEN = auto()
    SET_TOKEN = auto()
    SET_VARIABLE = auto()
    SHOW_IDS = auto()
    UNSET_BOT = auto()
    USE_ENV_FILE = auto()
    USE_HTTPS = auto()
    WRITE_ANEW = auto()
    WRITE_FORMERLY = auto()
    WRITE_STARTER = auto()

    def __call__(self, **values: object) -> "Hint":
        """Return the hint with its values, which the words name in braces."""
        return Hint(self, tuple(values.items()))


Words = Mapping[Do, str]
"""The words of a program for each kind of hint, with the names of its values in braces."""

LIBRARY: Words = {
    Do.ALLOW_DELETES: "if that is meant, pass max_deletes={limit!r}",
    Do.ALSO: "{first}; {other}",
    Do.APPLY_ALL: "{first}",
    Do.APPLY_LATER: "apply will refuse it: {first}",
    Do.APPLY_PLAN: "pass the path of a manifest",
    Do.BEGIN_IMPORT: "commandsync import SOURCE begins it, where SOURCE is the bot's code",
    Do.DELETE_ALONE: "{mend}; or make the deletes alone, with only=NAMES",
    Do.EJECT_IMPORT: "commandsync import --eject prints a manifest without import:",
    Do.GIVE_BOT: "give the bot's id: bot=...",
    Do.GIVE_TOKEN: "give the bot's token: token=...",
    Do.IMPORT_OBJECTS: (
        "to get the options, record a run of the bot (commandsync import -- PROGRAM), or import "
        "Discord's JSON"
    ),
    Do.LOWER_CONCURRENCY: "run again later; a lower concurrency helps",
    Do.NAME_STATE: "name a file that this user may write: state=PATH",
    Do.RAISE_TIMEOUT: "run again later, or with a longer timeout",
    Do.RENEW_TOKEN: "copy the bot's token again from the service's page",
    Do.REPLACE_UNMATCHED: "{why}; if that is meant, allow it with unseen=True",
    Do.REPLACE_UNSEEN: "if that is meant, allow it with unseen=True",
    Do.SET_TOKEN: "give the bot's token: token=...",
    Do.SET_VARIABLE: "set {variable}",
    Do.SHOW_IDS: "{first}commandsync pull --pin shows the ids",
    Do.USE_ENV_FILE: "{otherwise}",
    Do.USE_HTTPS: "use https://, or insecure_http=True if you are certain",
    Do.WRITE_ANEW: "restore it from version control; commandsync import --force writes it anew",
    Do.WRITE_FORMERLY: (
        "if they are renames, write the old name below each new one, such as  {line}"
    ),
    Do.WRITE_STARTER: "commandsync init writes a starter",
}
"""The words for a program that uses the library. Another one may have its own."""


@dataclass(frozen=True, slots=True)
class Hint:
    """The advice on a problem; `str` says it in the words of the library."""

    do: Do
    values: tuple[tuple[str, object], ...]  # by their names in the braces of the words

    def __str__(self) -> str:
        return in_words(self, LIBRARY)


def in_words(hint: object, words: Words) -> str:
    """Return a hint in the words of a program; empty if that program can do nothing about it.

    A kind without words of the program's own has those of the library. A string stays as it is.
    """
    if not isinstance(hint, Hint):
        return str(hint)
    text = words.get(hint.do, LIBRARY.get(hint.do, ""))
    return text.format_map(
        {
            name: in_words(value, words) if isinstance(value, Hint) else value
            for name, value in hint.values
        }
    )


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a manifest, as editors and compilers count it."""

    path: str  # the file as the user named it, with `/` between folders; `-` for standard input
    line: int = 1
    column: int = 1  # in characters (code points)
    # Whether the file could not be read: as text, the place then has no line.
    is_unread: bool = field(default=False, compare=False, repr=False)

    def __str__(self) -> str:
        if self.is_unread:
            return self.path
        return f"{self.path}:{self.line}:{self.column}"


class Excerpt(NamedTuple):
    """The part of a line around a place."""

    text: str  # with "…" where the line goes on
    caret: int  # the index of the place in it


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something wrong, or worth a warning, at a place in a manifest."""

    location: Location  # 1:1 for the whole file
    message: str  # in one sentence without a full stop
    # The advice; may be empty. A string is the same in every program.
    hint: str | Hint = field(default="", compare=False)
    excerpt: Excerpt | None = field(default=None, compare=False)  # None for the whole file

    def __str__(self) -> str:
        return f"{self.location}: {self.message}"


class Renaming(NamedTuple):
    """Two names of one record; several with the same message can be shown as one table."""

    new: str
    old: str
    uses: str  # such as `163 uses`
    message: str  # for all of them, with `{count}`
    hint: str | Hint


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning, which does not affect the changes, with the attributes of a `Problem`."""

    message: str
    hint: str | Hint = ""
    location: Location | None = None
    runs: bool = field(default=False, compare=False)  # whether the hint is a call of the library
    renaming: Renaming | None = field(default=None, compare=False)  # of a rename


class Check(NamedTuple):
    """One check of a set-up."""

    name: str  # of the checked setting or service
    state: State  # `failed` stops a sync, `warning` does not; `skipped` could not be checked
    message: str  # the result, without a full stop
    hint: str | Hint = ""
    manifest: str = ""  # the manifest that it is about, if there are several
    code: int = 0  # the exit code that it asks for: not 0 if it failed, or names differ
