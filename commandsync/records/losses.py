"""Losses: parts of a manifest that a service cannot show, with their reasons, as sentences."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from commandsync.diagnostics import Do, Location, Notice
from commandsync.records.texts import named

MOST_NAMED = 3
NAMES = "names"  # the limit on the characters of a name
OPTIONS, TRANSLATIONS, COMMANDS, SYNC = "options", "translations", "commands", "sync"
"""Losses beside a field of a command: its options, the platform's translations of its texts,
the command as a whole, and commands that the manifest's policy keeps on a list."""


class Limit(NamedTuple):
    """The limit of a service for the text of a field, or for a number of records.

    Lengths are counted in UTF-16 code units, as JavaScript does: no service counts more, so that a
    text that fits here fits everywhere.
    """

    least: int = 0
    most: int | None = None  # the greatest length or number; None for any
    pattern: str = ""  # a regular expression for the whole text; empty for any text
    lower_case: bool = False  # whether letters must be lower-case where they have a lower case
    allowed: str = ""  # the characters of the pattern in words; empty for any

    def is_short(self, text: str) -> bool:
        """Whether a text is shorter than the least length."""
        return _units(text) < self.least

    def is_long(self, text: str) -> bool:
        """Whether a text is longer than the greatest length."""
        return self.most is not None and _units(text) > self.most

    def allows(self, text: str) -> bool:
        """Whether the characters of a text are allowed, whatever its length."""
        if self.lower_case and text != text.lower():
            return False
        return not self.pattern or re.fullmatch(self.pattern, text) is not None

    def shortened(self, text: str) -> str:
        """Return a text that is not longer: cut after a word, with `…`; one long word is cut."""
        if self.most is None or not self.is_long(text):
            return text
        start = text[: self.most - 1]
        while _units(start) >= self.most:
            start = start[: len(start) - (_units(start) - self.most + 2) // 2]
        whole = re.match(r"(?s:.*\S)(?=\s)", text[: len(start) + 1])
        return f"{whole[0] if whole else start}…"


def limit_of_characters(text: str) -> Limit:
    """Return the limit that allows the characters of `a-z0-9_`; `ValueError` for a wrong range."""
    parts = re.findall(r"[^-]-[^-]|.", text)
    for first, last in ((part[0], part[-1]) for part in parts):
        if first > last:
            raise ValueError(f"{first}-{last}")
    ranges = ["-".join(map(re.escape, (part[0], part[-1]))) for part in parts]
    *most, end = parts
    allowed = f"{', '.join(most)} and {end}" if most else end
    return Limit(pattern=f"[{''.join(ranges)}]+", allowed=allowed)


def with_characters(limit: Limit, text: str) -> Limit:
    """Return a limit that allows only some characters, too; raises as `limit_of_characters`."""
    own = limit_of_characters(text)
    pattern = f"(?=(?:{limit.pattern})\\Z){own.pattern}" if limit.pattern else own.pattern
    return limit._replace(pattern=pattern, allowed=own.allowed)


class LossReason(Enum):
    """The reason why the service cannot show it; `limit` is the accepted text or number."""

    SHORT = "the {field} is shorter than {limit.least} characters"
    LONG = "the {field} is longer than {limit.most} characters"
    CHARACTERS = "a {field} there contains only {limit.allowed}"
    SAME_NAME = "another command has that name"
    BELOW_COMMAND = "a command without sub-commands has the beginning of the name"
    HAS_SUB_COMMANDS = "a group of commands has that name"
    LEVELS = "the name has more levels than sub-commands have there"
    SUB_COMMANDS = "a group has at most {limit.most} sub-commands"
    RECORDS = "the list has at most {limit.most} commands"
    PREFIX = "only commands that are called with / are listed there"
    MENU = "a command in a menu needs the platform's own object"
    NOT_TAKEN = "the service does not take that field"
    CHANGED = "the manifest has another text"
    NOT_READ = "the service does not return its list"
    UNKNOWN = "the options are not known"
    NO_OPTIONS = "the manifest does not describe options"
    KEPT = "a sub-command that is kept needs the name for its group"
    NOT_DESCRIBED = "neither the manifest nor an object of the platform describes the group"


class Instead(Enum):
    """The treatment of a lost text; `why` is the reason in words."""

    LEFT_OUT = "left out: {why}"
    GROUP = "shown only as the group of its sub-commands"
    SHORTENED = "shortened to {limit.most} characters"
    NOT_SHOWN = "not shown"
    NOT_KEPT = "without effect: {why}"
    STAYS = "left as registered: {why}"
    ELLIPSIS = "not known: shown as …"


@dataclass(frozen=True, slots=True)
class Loss:
    """A part that several commands lose for one reason."""

    field: str  # the lost part: a field of a command, or one of the above
    reason: LossReason
    instead: Instead = Instead.LEFT_OUT  # the treatment of the lost part
    # The names of the commands, in the manifest's order; for `SYNC`, the rules without effect.
    names: tuple[str, ...] = ()
    limit: Limit | None = None  # of the service, where that is the reason
    location: Location | None = None  # where the manifest defines the first one

    @property
    def count(self) -> int:
        """How many commands it is about."""
        return len(self.names)


def instead_of(loss: Loss) -> str:
    """Return the consequence of a loss, as the end of a sentence."""
    limit = loss.limit or Limit()
    why = loss.reason.value.format(field=loss.field, limit=limit)
    words = loss.instead.value.format(why=why, limit=limit)
    explained = loss.instead is Instead.NOT_SHOWN and loss.reason is LossReason.CHANGED
    return f"{words}: {why}" if explained else words


def loss_notice(loss: Loss, *, at: str) -> Notice:
    """Return the warning about a loss: the number, the first names, the consequence."""
    if loss.field == SYNC:
        rules = f"{' and '.join(loss.names)} of the manifest {'is' if loss.count == 1 else 'are'}"
        return Notice(f"{at}: {rules} {instead_of(loss)}")
    commands, names = _counted(loss.names)
    whole = loss.field == COMMANDS or loss.instead in {Instead.LEFT_OUT, Instead.GROUP}
    plural = loss.count > 1 if whole else loss.field in {OPTIONS, TRANSLATIONS}
    of_group = "the group of " if loss.reason is LossReason.NOT_DESCRIBED else ""
    what = commands if whole else f"the {loss.field} of {of_group}{commands}"
    verb = "are" if plural else "is"
    message = f"{at}: {what} {verb} {instead_of(loss)} ({names})"
    by_object = loss.field == OPTIONS or loss.reason in {LossReason.MENU, LossReason.UNKNOWN}
    hint = Do.IMPORT_OBJECTS() if by_object else ""
    if loss.reason is LossReason.NOT_DESCRIBED:
        hint = "record a run of the bot, or import Discord's JSON"
    return Notice(message, hint, loss.location)


def renewed_notices(parts: Mapping[str, Sequence[str]], *, at: str) -> list[Notice]:
    """Return the notice that commands are sent with other options or the like; empty for none.

    `parts` has the differing keys of each command, by its name.
    """
    if not parts:
        return []
    changed = [f"{name}: {named(keys, most=MOST_NAMED)}" for name, keys in parts.items()]
    commands, _ = _counted(changed)
    first = "; ".join(changed[:MOST_NAMED])
    more = f"; and {len(changed) - MOST_NAMED:,} more" if len(changed) > MOST_NAMED else ""
    what = f"the options, permissions or languages of {commands} changed"
    return [Notice(f"{at}: {what} ({first}{more})")]


def _counted(names: Sequence[str]) -> tuple[str, str]:
    """Return the number of commands, and the first names."""
    commands = f"{len(names)} {'command' if len(names) == 1 else 'commands'}"
    return commands, named(names, most=MOST_NAMED)


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
