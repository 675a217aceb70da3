"""Records, the facts about services, and the checks of a set-up: for people, or as JSON.

`table` cuts foreign text at the width of a terminal, and `document` returns JSON with all fields
of a record. The table of services is in Markdown, too, for the documents.

On a terminal and in a log each check of `doctor` is a line as soon as it is made (`check_lines`).
`diagnosis_text` ends them: the commands whose names differ, as a table, and the verdict.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from operator import attrgetter
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from commandsync.api.credentials import redacted
from commandsync.diagnostics import Check, in_words
from commandsync.document import VERSION
from commandsync.errors import ListingError
from commandsync.records.losses import Limit
from commandsync.report import lines
from commandsync.report.lines import Screen, beginning, columns_of, cut_at, json_text, visible
from commandsync.services.abilities import Fact, Support
from commandsync.services.catalogue import SERVICES
from commandsync.services.catalogue import table as service_facts

if TYPE_CHECKING:
    from commandsync.plan.differences import Parity
    from commandsync.records.models import Bot, Record
    from commandsync.records.snapshot import Snapshot

_WIDEST = 200  # columns; a longer cell is shown whole, but the column is not widened for it
_BOTS: Mapping[str, Callable[[Bot], object]] = {
    "ID": attrgetter("id"),
    "NAME": lambda bot: bot.profile.username or bot.profile.tag,
    "SERVERS": attrgetter("statistics.servers"),
    "VOTES": attrgetter("statistics.total_votes"),
    "RATING": attrgetter("ratings.average"),
    "OVERVIEW": attrgetter("information.overview"),
}


def bots_table(bots: Sequence[Bot], *, screen: Screen) -> str:
    """Return a table of bots; empty when there are none."""
    if not bots:
        return ""
    rows = [[_cell(value(bot)) for value in _BOTS.values()] for bot in bots]
    return table(tuple(_BOTS), rows, screen=screen)


def record_table(record: Record, *, screen: Screen) -> str:
    """Return all fields of one record, one on each line."""
    return table(("FIELD", "VALUE"), [*_fields(_dumped(record))], screen=screen)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, screen: Screen) -> str:
    """Return a table of foreign text; on a terminal, each line is cut at the width."""
    cells = [[beginning(row[0]), *map(visible, row[1:])] for row in (head, *rows)]
    columns = zip(*cells, strict=True)
    widths = [min(max(map(columns_of, column)), _WIDEST) for column in columns]
    first, *lines = (_line(row, widths, screen) for row in cells)
    return "".join(
        f"{line}\n" for line in (f"\x1b[1m{first}\x1b[0m" if screen.color else first, *lines)
    )


def listed_document(listed: Snapshot, *, bot: str, base_url: str, guild: str = "") -> str:
    """Return one JSON document of the listed records, with their ids and uses; null if unknown.

    `guild` is the server at Discord whose commands they are; empty for global ones.
    """
    from commandsync.document.part import text_document  # noqa: PLC0415 - loads pydantic

    records = {
        kind.collection: [
            {"id": entry.id or None, **text_document(entry.text), "uses": entry.uses}
            for entry in entries
        ]
        for kind, entries in listed.collections.items()
    }
    server = {"guild": guild} if guild else {}
    return document({"bot": bot, "base_url": base_url, **server, **records})


def document(about: Mapping[str, Any]) -> str:
    """Return one JSON document; records in it are shown with every field, unknown ones too."""
    values = {name: _plain(value) for name, value in about.items()}
    text = json.dumps({"version": VERSION} | values, indent=2, ensure_ascii=False)
    return json_text(text) + "\n"


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
        raise ListingError("the service's answer is nested too deeply to be shown whole") from error


def _fields(value: Any, inside: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - as above
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _fields(item, f"{inside}.{name}" if inside else str(name))
    elif isinstance(value, list):
        yield inside, ", ".join(map(str, value))
    else:
        yield inside, _cell(value)


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def _line(row: Sequence[str], widths: Sequence[int], screen: Screen) -> str:
    padded = (
        cell + " " * (wide - columns_of(cell)) for cell, wide in zip(row, widths, strict=True)
    )
    line = "  ".join(padded).rstrip()
    return line if screen.width is None or screen.full else cut_at(line, screen.width)


_TRIED = "tried with the service itself"
_ABILITIES = {
    "read": "returns the list",
    "replace": "one request replaces the list",
    "write": "records are written one by one",
    "clear": "the list may be empty",
    "ids": "records have ids",
    "uses": "counts uses",
    "order": "keeps the order",
    "options": "shows options",
    "announcements": "takes announcements",
    "most records": "most commands",
    "most bytes": "most bytes of all commands",
    "most sub commands": "most sub-commands of a command",
    "levels": "levels of sub-commands",
    "wait": "seconds to wait after a 429",
}


def services_text(*, screen: Screen) -> str:
    """Return the table of abilities and services, and the sources below it."""
    head, rows = _cells()
    whole = screen._replace(width=None)
    shown = table([name.upper() for name in head], rows, screen=whole)
    if screen.width and max(map(columns_of, shown.splitlines())) > screen.width:
        # One service below the other: each fact has its line.
        shown = "\n".join(
            table([name.upper(), ""], [(row[0], row[column]) for row in rows], screen=whole)
            for column, name in enumerate(head[1:], 1)
        )
    sources = [
        line
        for title, url, checked in _sources()
        for line in (f"  {title}{checked}", *([f"    {url}"] if url else []))
    ]
    return "\n".join([shown, "sources:", *sources])


def services_markdown() -> str:
    """Return the same in Markdown, for the documents."""
    sources = (
        (f"[{title}]({url})" if url else title) + checked for title, url, checked in _sources()
    )
    return f"{lines.table(*_cells())}\n\nSources: {'; '.join(sources)}."


def services_json() -> str:
    """Return all facts of each service, with their sources, as a JSON document."""
    services = [
        {
            "service": service.name,
            "simulated_only": service.simulated_only,
            "facts": [
                {
                    "ability": row.ability,
                    "value": _value(row.fact),
                    "source": row.fact.source.title,
                    "url": row.fact.source.url or None,
                    "checked": row.fact.source.checked or None,
                }
                for row in service_facts()
                if row.service == service.name
            ],
        }
        for service in SERVICES.values()
    ]
    return document({"services": services})


def _cells() -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows: an ability, and its value for each service."""
    values: dict[str, dict[str, str]] = {}
    for row in service_facts():
        match row.fact.value:
            case Limit(least=least, most=most, allowed=allowed):
                field = row.ability.removeprefix("limit of ")
                texts = {f"length of a {field}": f"{least} to {most}"}
                texts |= {f"characters of a {field}": allowed} if allowed else {}
            case value:
                label = _ABILITIES.get(row.ability, f"shows the {row.ability}")
                texts = {label: str(value)}
        for label, text in texts.items():
            values.setdefault(label, {})[row.service] = text
    tried = ["simulated only" if each.simulated_only else "yes" for each in SERVICES.values()]
    rows = [
        [label, *(known.get(name, Support.UNKNOWN) for name in SERVICES)]
        for label, known in values.items()
    ]
    return ["ability", *SERVICES], [[_TRIED, *tried], *rows]


def _value(fact: Fact) -> object:
    match fact.value:
        case Limit(least=least, most=most, allowed=allowed):
            return {"least": least, "most": most, "allowed": allowed or None}
        case value:
            return value


def _sources() -> Iterator[tuple[str, str, str]]:
    """Yield the title of each source, its address, and when it was read."""
    for source in dict.fromkeys(row.fact.source for row in service_facts()):
        checked = f" (checked {source.checked})" if source.checked else ""
        yield source.title, source.url, checked


class Diagnosis(NamedTuple):
    """The checks of a set-up, and the names of commands wherever they were compared."""

    checks: Sequence[Check]
    compared: Sequence[Parity]


_COLORS = {
    "ok": lines.GREEN,
    "warning": lines.YELLOW,
    "failed": lines.RED,
    "skipped": lines.DIM,
}
_STATE, _NAME = 9, 13  # columns
_INDENT = _STATE + _NAME
_BELOW = 2  # columns of indent below the name, where a screen has no room beside it
_NARROWEST = 32  # columns of a message beside the name


def check_lines(check: Check, *, screen: Screen) -> str:
    """Return one check, with its hint below."""
    is_wide = screen.width is None or screen.width >= _INDENT + _NARROWEST
    indent = _INDENT if is_wide else _BELOW
    about = f"{check.manifest}: {check.message}" if check.manifest else check.message
    rows = _wrapped(about, screen, indent)
    if hint := in_words(check.hint, screen.words):
        rows += _wrapped(f"hint: {hint}", screen, indent)
    state = lines.paint(check.state, _COLORS[check.state]) + " " * (_STATE - len(check.state))
    beside = rows.pop(0) if is_wide and len(check.name) < _NAME else ""
    head = f"{state}{check.name:{_NAME - 1}} {beside}".rstrip()
    return lines.joined([head, *(" " * indent + row for row in rows)], screen)


def _wrapped(text: str, screen: Screen, indent: int) -> list[str]:
    if screen.width is None:
        return [visible(text)]
    return wrap(visible(redacted(text)), max(screen.width - indent, 1), break_long_words=False)


def diagnosis_text(diagnosis: Diagnosis, *, screen: Screen) -> str:
    """Return the commands whose names differ, and whether a sync can work, in one line."""
    failures = sum(check.state == "failed" for check in diagnosis.checks)
    verdict = "No check failed: plan and apply can work."
    if failures:
        verdict = f"{failures} of {len(diagnosis.checks)} checks failed: apply cannot work."
    last = lines.joined([lines.paint(verdict, lines.BOLD)], screen)
    if screen.quiet:
        return last
    return "\n".join(["", *(_parity(result, screen) for result in diagnosis.compared), last])


def _parity(result: Parity, screen: Screen) -> str:
    """Return a table of the commands that differ, the places that were not read, and the result."""
    places = [visible(place.name).upper() for place in result.places]
    rows = [[row.name, ", ".join(row.differences), *row.cells] for row in result.differing]
    shown = table(["COMMAND", "DIFFERENCE", *places], rows, screen=screen) if rows else ""
    unread = [
        f"{place.others}: {visible(place.name)}: {visible(place.unread)}"
        for place in result.places
        if place.unread
    ]
    sentence = f"Parity of {visible(result.manifest)}: {result.sentence(visible)}."
    below = (lines.joined(unread, screen), lines.joined([sentence], screen))
    return "\n".join(filter(None, (shown, *below)))


def diagnosis_json(diagnosis: Diagnosis, *, screen: Screen) -> str:
    """Return one JSON document: the checks, and for each manifest the names of all commands."""
    checks = [
        {name: getattr(check, name) for name in ("name", "state", "message", "manifest")}
        | {"hint": in_words(check.hint, screen.words)}
        for check in diagnosis.checks
    ]
    names = [
        {
            "manifest": result.manifest,
            "places": [
                {
                    "name": place.name,
                    "state": place.others if place.unread else "read",
                    "reason": place.unread,
                }
                for place in result.places
            ],
            "commands": [
                {"name": row.name, "differences": row.differences, "cells": row.cells}
                for row in result.rows
            ],
        }
        for result in diagnosis.compared
    ]
    return document({"checks": checks, "names": names})
