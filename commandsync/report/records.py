"""What the service lists, and what became of one call: as a table, or as one JSON document."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from commandsync.document.part import VERSION
from commandsync.errors import ListingError
from commandsync.report.json import dumped
from commandsync.report.table import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commandsync.records.models import Announcement, Bot, Command, Record, Voter

Collection = Literal["bots", "voters", "commands", "announcements"]
Row: TypeAlias = "tuple[str, ...]"

_HEADS: dict[Collection, Row] = {
    "bots": ("ID", "NAME", "SERVERS", "VOTES", "RATING", "OVERVIEW"),
    "voters": ("ID", "NAME"),
    "commands": ("ID", "NAME", "CATEGORY", "USES", "SYNTAX", "DESCRIPTION"),
    "announcements": ("ID", "TITLE", "DESCRIPTION"),
}


def records_table(
    collection: Collection, records: Sequence[Any], *, width: int | None, color: bool
) -> str:
    """Return a table of records; empty when there are none.

    Args:
        collection: What they are.
        records: The records.
        width: The terminal's columns; None for text that is not for a terminal.
        color: Whether it is painted.
    """
    if not records:
        return ""
    rows = [_ROWS[collection](record) for record in records]
    return table(_HEADS[collection], rows, width=width, color=color)


def record_table(record: Record, *, width: int | None, color: bool) -> str:
    """Return all that is known of one record, a field on each line."""
    rows = list(_fields(_dumped(record)))
    return table(("FIELD", "VALUE"), rows, width=width, color=color)


def document(about: Mapping[str, Any]) -> str:
    """Return one JSON document; records in it are shown with every field, unknown ones too.

    Raises:
        ListingError: What the service added nests too deep.
    """
    return dumped({"version": VERSION} | {name: plain(value) for name, value in about.items()})


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON is anything
    """Return a record, or several, as what JSON has: it knows no NaN, which Python reads in it."""
    match value:
        case dict():
            return {name: plain(one) for name, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
        case float():
            return value if isfinite(value) else None
        case _:
            return plain(_dumped(value)) if hasattr(value, "model_dump") else value


def _dumped(record: Record) -> dict[str, Any]:
    try:
        return record.model_dump(mode="json")
    except ValueError as error:
        raise ListingError("what the service says nests too deep to be shown whole") from error


def _bot(bot: Bot) -> Row:
    return (
        bot.id,
        bot.profile.username or bot.profile.tag,
        _number(bot.statistics.servers),
        _number(bot.statistics.total_votes),
        _number(bot.ratings.average),
        bot.information.overview,
    )


def _voter(voter: Voter) -> Row:
    return voter.id, voter.username


def _command(command: Command) -> Row:
    text = (command.name, command.category, _number(command.uses), command.syntax)
    return (command.id, *text, command.description)


def _announcement(announcement: Announcement) -> Row:
    return announcement.id, announcement.title, announcement.description


_ROWS: dict[Collection, Any] = {
    "bots": _bot,
    "voters": _voter,
    "commands": _command,
    "announcements": _announcement,
}


def _number(number: float | None) -> str:
    return "" if number is None else f"{number:,}"


def _fields(value: Any, inside: str = "") -> Iterator[Row]:  # noqa: ANN401 - JSON is anything
    if isinstance(value, dict) and value:
        for name, one in value.items():
            yield from _fields(one, f"{inside}.{name}" if inside else str(name))
    elif isinstance(value, list):
        yield inside, ", ".join(map(str, value))
    else:
        yield inside, "" if value is None else str(value)
