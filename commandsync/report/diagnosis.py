"""The checks of a set-up, as lines for people or as one JSON document."""

from collections.abc import Sequence
from textwrap import wrap

from commandsync.api.redaction import redacted
from commandsync.diagnostics import Check
from commandsync.report.escape import visible
from commandsync.report.lines import BOLD, DIM, GREEN, RED, YELLOW, Screen, joined, paint

_COLORS = {"ok": GREEN, "warning": YELLOW, "failed": RED, "skipped": DIM}
_STATE, _NAME = 9, 13  # columns
_INDENT = _STATE + _NAME
_BELOW = 2  # columns of indent below the name, where a screen has no room beside it
_NARROWEST = 32  # columns of a message beside the name


def check_lines(check: Check, *, screen: Screen) -> str:
    """Return one check, and below it what to do about it."""
    about = f"{check.manifest}: " if check.manifest else ""
    beside = screen.width is None or screen.width >= _INDENT + _NARROWEST
    indent = _INDENT if beside else _BELOW
    rows = _wrapped(about + check.message, screen, indent)
    if check.hint:
        rows += _wrapped(f"hint: {check.hint}", screen, indent)
    state = paint(check.state, _COLORS[check.state]) + " " * (_STATE - len(check.state))
    head = f"{state}{check.name:{_NAME - 1}} {rows.pop(0) if beside else ''}".rstrip()
    return joined([head, *(" " * indent + row for row in rows)], screen)


def verdict(checks: Sequence[Check], *, screen: Screen) -> str:
    """Return whether a sync can work, in one line."""
    failures = sum(check.state == "failed" for check in checks)
    text = "No check failed: plan and apply can work."
    if failures:
        text = f"{failures} of {len(checks)} checks failed: apply cannot work."
    return joined([*([] if screen.quiet else [""]), paint(text, BOLD)], screen)


def _wrapped(text: str, screen: Screen, indent: int) -> list[str]:
    if screen.width is None:
        return [visible(text)]
    return wrap(visible(redacted(text)), max(screen.width - indent, 1), break_long_words=False)
