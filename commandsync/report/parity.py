"""Where the names of commands differ: a table in text or Markdown, or one JSON document."""

from collections.abc import Callable, Iterator, Sequence

from commandsync.plan.parity import Parity, Row
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
    head = [visible(each).upper() for each in _head(result)]
    table = records.table(head, [*_rows(result)], screen=screen) if result.differing else ""
    return "\n".join(filter(None, (table, joined(_unread(result, visible), screen), last)))


def _markdown(result: Parity) -> str:
    blocks = [f"**Parity of {code(result.manifest)}**: {result.sentence(code)}."]
    if result.differing:
        rows = ([code(name), *cells] for name, *cells in _rows(result))
        blocks.append(tables.table([*map(code, _head(result))], rows))
    blocks.append("\n".join(f"- {line}" for line in _unread(result, code)))
    return "\n\n".join(filter(None, blocks)) + "\n"


def _head(result: Parity) -> list[str]:
    return ["command", "difference", *(place.name for place in result.places)]


def _rows(result: Parity) -> Iterator[list[str]]:
    for row in result.differing:
        yield [row.name, ", ".join(_words(row)).replace("-", " "), *row.cells]


def _words(row: Row) -> list[str]:
    return [each.name.lower().replace("_", "-") for each in row.differences]


def _unread(result: Parity, shown: Callable[[str], str]) -> list[str]:
    unread = (place for place in result.places if place.unread)
    return [f"{each.others}: {shown(each.name)}: {shown(each.unread)}" for each in unread]


def _document(result: Parity) -> dict[str, object]:
    places = [
        {"name": each.name, "state": each.others if each.unread else "read", "reason": each.unread}
        for each in result.places
    ]
    commands = [
        {"name": row.name, "differences": _words(row), "cells": row.cells} for row in result.rows
    ]
    return {"manifest": result.manifest, "places": places, "commands": commands}
