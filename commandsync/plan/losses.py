"""What a service cannot show of a manifest, in sentences."""

from collections.abc import Sequence

from commandsync.diagnostics import Notice
from commandsync.records.facts import Limit
from commandsync.records.losses import COMMANDS, OPTIONS, SYNC, TRANSLATIONS, Instead, Loss, Reason
from commandsync.records.texts import named

MOST_NAMED = 3


def instead_of(loss: Loss) -> str:
    """Return what happens instead of showing something."""
    limit = loss.limit or Limit()
    why = loss.reason.value.format(field=loss.field, limit=limit)
    words = loss.instead.value.format(why=why, limit=limit)
    explained = loss.instead is Instead.NOT_SHOWN and loss.reason is Reason.CHANGED
    return f"{words}: {why}" if explained else words


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
    commands = f"{len(names)} {'command' if len(names) == 1 else 'commands'}"
    return commands, named(names, most=MOST_NAMED)
