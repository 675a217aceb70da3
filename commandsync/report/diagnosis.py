"""The checks of a set-up, as lines for people or as one JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from commandsync.report.escape import visible
from commandsync.report.lines import BOLD, DIM, GREEN, RED, YELLOW, joined, paint
from commandsync.report.records import document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.diagnostics import Check
    from commandsync.report.screen import Screen

_COLORS = {"ok": GREEN, "warning": YELLOW, "failed": RED, "skipped": DIM}
_STATE, _NAME = 9, 13  # columns


def check_lines(check: Check, *, screen: Screen) -> str:
    """Return one check, and below it what to do about it."""
    state = paint(check.state, _COLORS[check.state]) + " " * (_STATE - len(check.state))
    about = f"{visible(check.manifest)}: " if check.manifest else ""
    lines = [f"{state}{check.name:{_NAME}}{about}{visible(check.message)}"]
    if check.hint:
        lines.append(f"{'':{_STATE + _NAME}}hint: {visible(check.hint)}")
    return joined(lines, screen)


def verdict(checks: Sequence[Check], *, screen: Screen) -> str:
    """Return whether a sync can work, in one line."""
    failures = sum(check.state == "failed" for check in checks)
    text = "No problems: plan and apply can work."
    if failures:
        text = f"{failures} of {len(checks)} checks failed: apply cannot work."
    return joined(["", paint(text, BOLD)], screen)


def checks_json(checks: Sequence[Check]) -> str:
    """Return all checks as one JSON document."""
    return document({"checks": [asdict(check) for check in checks]})
