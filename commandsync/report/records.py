"""Records, single calls and events: as a table or a line for people, or as one JSON document."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from commandsync.document import VERSION
from commandsync.errors import ListingError
from commandsync.records.texts import Resource
from commandsync.report.escape import json_text, visible
from commandsync.report.screen import columns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from commandsync import Event
    from commandsync.errors import CommandsyncError
    from commandsync.records.models import Record
    from commandsync.report.screen import Screen

_WIDEST = 40  # a longer cell is shown whole, but the column is not widened for it
_RUNNER_COMMAND = re.compile(r"^(\s*):(?=:)")


def _columns(*names: str) -> Mapping[str, Callable[[Any], object]]:
    return {name.upper(): attrgetter(name) for name in names}


_COLUMNS: Mapping[str, Mapping[str, Callable[[Any], object]]] = {
    **{kind.collection: _columns("id", *kind.fields) for kind in Resource},
    "commands": _columns("id", "name", "category", "uses", "syntax", "description"),
    "voters": {"ID": attrgetter("id"), "NAME": attrgetter("username")},
    "bots": {
        "ID": attrgetter("id"),
        "NAME": lambda bot: bot.profile.username or bot.profile.tag,
        "SERVERS": attrgetter("statistics.servers"),
        "VOTES": attrgetter("statistics.total_votes"),
        "RATING": attrgetter("ratings.average"),
        "OVERVIEW": attrgetter("information.overview"),
    },
}


def records_table(collection: str, records: Sequence[Any], *, screen: Screen) -> str:
    """Return a table of records; empty when there are none."""
    if not records:
        return ""
    columns = _COLUMNS[collection]
    rows = [[_cell(value(record)) for value in columns.values()] for record in records]
    return table(tuple(columns), rows, screen=screen)


def record_table(record: Record, *, screen: Screen) -> str:
    """Return all fields of one record, one on each line."""
    return table(("FIELD", "VALUE"), [*_fields(_dumped(record))], screen=screen)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, screen: Screen) -> str:
    """Return a table.

    Args:
        head: The names of the columns; the first column is never cut.
        rows: The cells, with foreign text.
        screen: Where it is printed: a terminal has the width that cells are cut to.
    """
    cells = [list(map(visible, row)) for row in rows]
    for row in cells:  # runners look for commands where a line begins
        row[0] = _RUNNER_COMMAND.sub(r"\1\\x3a", row[0])
    widths = [max(map(columns_of, column)) for column in zip(head, *cells, strict=True)]
    if screen.width is None:
        widths = [min(_WIDEST, wide) for wide in widths]
    else:
        widths = _fitted(widths, screen.width)
        cells = [[row[0], *map(_shortened, row[1:], widths[1:])] for row in cells]
    first, *lines = [_line(row, widths) for row in (head, *cells)]
    return "".join(
        f"{line}\n" for line in (f"\x1b[1m{first}\x1b[0m" if screen.color else first, *lines)
    )


def document(about: Mapping[str, Any]) -> str:
    """Return one JSON document; records in it are shown with every field, unknown ones too.

    Raises:
        ListingError: The service added a value that nests too deep.
    """
    values = {name: _plain(value) for name, value in about.items()}
    return _json({"version": VERSION} | values, indent=2) + "\n"


def event_line(event: Event) -> str:
    """Return an event on one line, for people."""
    match _event(event):
        case {"user": user, "bot": bot}:
            shown = " for ".join(filter(None, (_account(user), _account(bot))))
        case {"bot": bot}:
            shown = _account(bot)
        case {"code": code, "reason": reason}:
            shown = f"{visible(reason)} ({code})"
        case _:
            shown = ""
    return f"{event.name:<12}  {shown}".rstrip()


def event_json(event: Event) -> str:
    """Return an event as a JSON object on one line."""
    return _json(_event(event))


def failure_json(error: CommandsyncError) -> str:
    """Return the document of a failure on one line, after the lines of events."""
    from commandsync.document.failure import failure_document  # noqa: PLC0415 - loads pydantic

    return _json(failure_document(error))


def _event(event: Event) -> dict[str, Any]:
    names = [field.name for field in fields(event) if field.repr and field.name != "name"]
    return {"event": event.name} | {name: _plain(getattr(event, name)) for name in names}


def _account(account: dict[str, Any]) -> str:
    name, identifier = visible(account["username"]), visible(account["id"])
    return f"{name} ({identifier})" if name else identifier


def _json(document: dict[str, Any], *, indent: int | None = None) -> str:
    return json_text(json.dumps(document, indent=indent, ensure_ascii=False))


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON is anything
    """Return records as JSON values; null for NaN, which JSON does not have."""
    match value:
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case float():
            return value if isfinite(value) else None
        case _:
            return _plain(_dumped(value)) if hasattr(value, "model_dump") else value


def _dumped(record: Record) -> dict[str, Any]:
    try:
        return record.model_dump(mode="json")
    except ValueError as error:
        raise ListingError("the service's answer nests too deep to be shown whole") from error


def _fields(value: Any, inside: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - as above
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _fields(item, f"{inside}.{name}" if inside else str(name))
    elif isinstance(value, list):
        yield inside, ", ".join(map(str, value))
    else:
        yield inside, "" if value is None else str(value)


def _cell(value: object) -> str:
    if isinstance(value, int | float):
        return f"{value:,}"
    return "" if value is None else str(value)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        cell + " " * (wide - columns_of(cell)) for cell, wide in zip(cells, widths, strict=True)
    )
    return "  ".join(padded).rstrip()


def _fitted(widths: Sequence[int], width: int) -> list[int]:
    """Return widths that fit on a line; wide columns get the room that narrow ones leave."""
    left = width - widths[0] - len("  ") * (len(widths) - 1)
    fitted = {0: widths[0]}
    for done, column in enumerate(sorted(range(1, len(widths)), key=widths.__getitem__), 1):
        fitted[column] = max(1, min(widths[column], left // (len(widths) - done)))
        left -= fitted[column]
    return [fitted[column] for column in range(len(widths))]


def _shortened(cell: str, width: int) -> str:
    if columns_of(cell) <= width:
        return cell
    end = len(cell)
    while end and columns_of(cell[:end]) >= width:
        end = min(end - 1, width)
    return f"{cell[:end]}…"
