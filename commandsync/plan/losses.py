"""What a service cannot show of a manifest, in sentences."""

from collections.abc import Sequence
from typing import assert_never

from commandsync.diagnostics import Notice
from commandsync.records.facts import Limit
from commandsync.records.losses import COMMANDS, OPTIONS, SYNC, TRANSLATIONS, Instead, Loss, Reason

MOST_NAMED = 3

_REASONS = {
    Reason.SHORT: "the {field} is shorter than {limit.least} characters",
    Reason.LONG: "the {field} is longer than {limit.most} characters",
    Reason.CHARACTERS: "a {field} there contains only {limit.allowed}",
    Reason.SAME_NAME: "another command has that name",
    Reason.BELOW_COMMAND: "a command without sub-commands has the beginning of the name",
    Reason.HAS_SUB_COMMANDS: "a group of commands has that name",
    Reason.LEVELS: "the name has more levels than sub-commands have there",
    Reason.SUB_COMMANDS: "there are at most {limit.most} in a group",
    Reason.CHANGED: "the manifest has another text",
    Reason.RECORDS: "there are at most {limit.most} in the list",
}


def instead_of(loss: Loss) -> str:
    """Return what happens instead of showing something."""
    match loss.instead:
        case Instead.LEFT_OUT:
            limit = loss.limit or Limit()
            return f"left out: {_REASONS[loss.reason].format(field=loss.field, limit=limit)}"
        case Instead.GROUP:
            return "shown only as the group of its sub-commands"
        case Instead.SHORTENED:
            most = loss.limit.most if loss.limit else None
            return f"shortened to {most} characters"
        case Instead.NOT_SHOWN:
            changed = loss.reason is Reason.CHANGED
            return f"not shown: {_REASONS[loss.reason]}" if changed else "not shown"
        case Instead.NOT_KEPT:
            return "not kept: the service does not return its list"
        case _:
            assert_never(loss.instead)


def loss_notice(loss: Loss, *, at: str) -> Notice:
    """Return the warning about a loss at a service: how many, the first names, what happens."""
    if loss.field == SYNC:
        return Notice(f"{at}: {' and '.join(loss.names)} of the manifest is {instead_of(loss)}")
    commands, names = _counted(loss.names)
    whole = loss.field == COMMANDS or loss.instead in {Instead.LEFT_OUT, Instead.GROUP}
    plural = loss.count > 1 if whole else loss.field in {OPTIONS, TRANSLATIONS}
    what = commands if whole else f"the {loss.field} of {commands}"
    verb = "are" if plural else "is"
    message = f"{at}: {what} {verb} {instead_of(loss)} ({names})"
    return Notice(message, location=loss.location)


def renewed_notices(names: Sequence[str], *, at: str) -> list[Notice]:
    """Return the notice that commands are sent with other options or the like; empty for none."""
    if not names:
        return []
    commands, first = _counted(names)
    return [Notice(f"{at}: the options, permissions or languages of {commands} changed ({first})")]


def _counted(names: Sequence[str]) -> tuple[str, str]:
    """Return the number of commands, and the first names."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    commands = f"{len(names)} {'command' if len(names) == 1 else 'commands'}"
    return commands, ", ".join(names[:MOST_NAMED]) + more
