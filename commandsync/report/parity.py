"""Where the names of commands differ: a table in text or Markdown, or one JSON document."""

from collections.abc import Callable, Sequence

from commandsync.plan.differences import Parity
from commandsync.report import Format, records, tables
from commandsync.report.escape import code, visible
from commandsync.report.lines import BOLD, Screen, joined, paint


def render_parity(results: Sequence[Parity], *, form: Format, screen: Screen) -> str:
    """Show the commands that differ, and what was not read; as JSON, all commands."""
    if form == "json":
        return records.document({"results": [_document(result) for result in results]})
    if form == "markdown":
        return "\n".join(map(_markdown, results))
    return "\n".join(_text(result, screen) for result in results)


def _text(result: Parity, screen: Screen) -> str:
    sentence = f"Parity of {visible(result.manifest)}: {result.sentence(visible)}."
    last = joined([paint(sentence, BOLD)], screen)
    if screen.quiet:
        return last
    head, *rows = _rows(result)
    shown = records.table([visible(name).upper() for name in head], rows, screen=screen)
    unread = joined(_unread(result, visible), screen)
    return "\n".join(filter(None, (shown if rows else "", unread, last)))


def _markdown(result: Parity) -> str:
    head, *rows = _rows(result)
    shown = tables.table([*map(code, head)], ([code(name), *cells] for name, *cells in rows))
    unread = "\n".join(f"- {line}" for line in _unread(result, code))
    first = f"**Parity of {code(result.manifest)}**: {result.sentence(code)}."
    return "\n\n".join(filter(None, (first, shown if rows else "", unread))) + "\n"


def _rows(result: Parity) -> list[list[str]]:
    """Return the head of the table, and a row for each command that differs."""
    rows = [[row.name, ", ".join(row.differences), *row.cells] for row in result.differing]
    return [["command", "difference", *(place.name for place in result.places)], *rows]


def _unread(result: Parity, shown: Callable[[str], str]) -> list[str]:
    unread = (place for place in result.places if place.unread)
    return [f"{each.others}: {shown(each.name)}: {shown(each.unread)}" for each in unread]


def _document(result: Parity) -> dict[str, object]:
    places = [
        {"name": each.name, "state": each.others if each.unread else "read", "reason": each.unread}
        for each in result.places
    ]
    rows = [
        {"name": row.name, "differences": row.differences, "cells": row.cells}
        for row in result.rows
    ]
    return {"manifest": result.manifest, "places": places, "commands": rows}
