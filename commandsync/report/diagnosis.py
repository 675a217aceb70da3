"""The output of `doctor`: the checks of a set-up, and the differences between command names.

On a terminal and in a log each check is a line as soon as it is made (`check_lines`), and `text`
ends them: the commands whose names differ, as a table, and the verdict. `json` is a whole document.
"""

from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import NamedTuple

from commandsync.api.credentials import redacted
from commandsync.diagnostics import Check, in_words
from commandsync.plan.differences import Parity
from commandsync.report import records
from commandsync.report.lines import (
    BOLD,
    DIM,
    GREEN,
    RED,
    YELLOW,
    Screen,
    joined,
    paint,
    visible,
)


class Diagnosis(NamedTuple):
    """The checks of a set-up, and the names of commands wherever they were compared."""

    checks: Sequence[Check]
    compared: Sequence[Parity]


_COLORS = {"ok": GREEN, "warning": YELLOW, "failed": RED, "skipped": DIM}
_STATE, _NAME = 9, 13  # columns
_INDENT = _STATE + _NAME
_BELOW = 2  # columns of indent below the name, where a screen has no room beside it
_NARROWEST = 32  # columns of a message beside the name


def check_lines(check: Check, *, screen: Screen) -> str:
    """Return one check, with its hint below."""
    is_wide = screen.width is None or screen.width >= _INDENT + _NARROWEST
    indent = _INDENT if is_wide else _BELOW
    beside = is_wide and len(check.name) < _NAME
    rows = _wrapped(_about(check), screen, indent)
    if hint := in_words(check.hint, screen.words):
        rows += _wrapped(f"hint: {hint}", screen, indent)
    state = paint(check.state, _COLORS[check.state]) + " " * (_STATE - len(check.state))
    head = f"{state}{check.name:{_NAME - 1}} {rows.pop(0) if beside else ''}".rstrip()
    return joined([head, *(" " * indent + row for row in rows)], screen)


def text(diagnosis: Diagnosis, *, screen: Screen) -> str:
    """Return the commands whose names differ, and whether a sync can work, in one line."""
    last = joined([paint(_verdict(diagnosis.checks), BOLD)], screen)
    if screen.quiet:
        return last
    return "\n".join(["", *(_table(result, screen) for result in diagnosis.compared), last])


def json(diagnosis: Diagnosis, *, screen: Screen) -> str:
    """Return one JSON document: the checks, and for each manifest the names of all commands."""
    listed = [
        {name: getattr(check, name) for name in ("name", "state", "message", "manifest")}
        | {"hint": in_words(check.hint, screen.words)}
        for check in diagnosis.checks
    ]
    names = [_names(result) for result in diagnosis.compared]
    return records.document({"checks": listed, "names": names})


def _verdict(checks: Sequence[Check]) -> str:
    failures = sum(check.state == "failed" for check in checks)
    if failures:
        return f"{failures} of {len(checks)} checks failed: apply cannot work."
    return "No check failed: plan and apply can work."


def _about(check: Check) -> str:
    return f"{check.manifest}: {check.message}" if check.manifest else check.message


def _wrapped(text: str, screen: Screen, indent: int) -> list[str]:
    if screen.width is None:
        return [visible(text)]
    return wrap(visible(redacted(text)), max(screen.width - indent, 1), break_long_words=False)


def _table(result: Parity, screen: Screen) -> str:
    head, *rows = _rows(result)
    shown = records.table([visible(name).upper() for name in head], rows, screen=screen)
    unread = joined(_unread(result, visible), screen)
    sentence = f"Parity of {visible(result.manifest)}: {result.sentence(visible)}."
    return "\n".join(filter(None, (shown if rows else "", unread, joined([sentence], screen))))


def _rows(result: Parity) -> list[list[str]]:
    """Return the head of the table, and a row for each command that differs."""
    rows = [[row.name, ", ".join(row.differences), *row.cells] for row in result.differing]
    return [["command", "difference", *(place.name for place in result.places)], *rows]


def _unread(result: Parity, shown: Callable[[str], str]) -> list[str]:
    unread = (place for place in result.places if place.unread)
    return [f"{place.others}: {shown(place.name)}: {shown(place.unread)}" for place in unread]


def _names(result: Parity) -> dict[str, object]:
    places = [
        {
            "name": place.name,
            "state": place.others if place.unread else "read",
            "reason": place.unread,
        }
        for place in result.places
    ]
    rows = [
        {"name": row.name, "differences": row.differences, "cells": row.cells}
        for row in result.rows
    ]
    return {"manifest": result.manifest, "places": places, "commands": rows}
