"""How changes ended, as lines of text: only what is not plain is worth a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commandsync.apply.outcomes import Outcome
from commandsync.report import words
from commandsync.report.differing import cut, differing_rows
from commandsync.report.escape import visible, visible_line
from commandsync.report.palette import Palette

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandsync.apply.outcomes import Difference, Result, Settled
    from commandsync.plan.changes import Change
    from commandsync.records.rewrites import Rewrite
    from commandsync.report.palette import Style

_STYLES: dict[Outcome, Style] = {
    Outcome.DONE: "add",
    Outcome.FAILED: "delete",
    Outcome.UNKNOWN: "warning",
    Outcome.SKIPPED: "dim",
}
_MOST_SKIPPED = 10  # what was never sent is as the plan shows it


def settled(settled: Settled, *, color: bool) -> str:
    """Return how one change ended, on one line."""
    return _headline(settled, Palette(color)) + (
        f": {visible(settled.error)}" if settled.error else ""
    )


def result_lines(result: Result, palette: Palette) -> Iterator[str]:
    """Return what is not plain: what is not done and why, and what the service changed."""
    skipped = 0
    for one in result.settled:
        if one.outcome is Outcome.DONE:
            continue
        skipped += one.outcome is Outcome.SKIPPED
        if one.outcome is not Outcome.SKIPPED or skipped <= _MOST_SKIPPED:
            yield from _unfinished(one, palette)
    if skipped > _MOST_SKIPPED:
        yield palette.paint(f"skipped: and {skipped - _MOST_SKIPPED:,} more", "dim")
    if skipped or result.count(Outcome.FAILED) or result.count(Outcome.UNKNOWN):
        yield ""
    if result.differences:
        count = words.counted(len(result.differences), "record")
        yield f"The service changed the text of {count}:"
        for difference in result.differences:
            yield from _difference(difference, palette)
        yield ""
    yield from _ending(result)


def _unfinished(one: Settled, palette: Palette) -> Iterator[str]:
    yield _headline(one, palette)
    if one.error:
        yield f"    why:  {visible(one.error)}"
    if one.hint:
        yield f"    next: {visible(one.hint)}"
    elif one.outcome is Outcome.UNKNOWN:
        yield "    next: run plan to see whether it arrived; apply does what is left"


def _headline(one: Settled, palette: Palette) -> str:
    label = palette.paint(f"{words.ended(one)}:", _STYLES[one.outcome])
    return f"{label} {words.named(one.change)} {visible(cut(one.change.name))}{_place(one.change)}"


def _place(change: Change) -> str:
    location = getattr(change, "location", None)
    return f"  ({visible(str(location))})" if location else ""


def _difference(difference: Difference, palette: Palette) -> Iterator[str]:
    change = difference.change
    yield f"  {words.named(change)} {visible(cut(change.name))}{_place(change)}"
    for rewrite in difference.rewrites:
        yield f"      {rewrite.field}: {rewrite.how}; {rewrite.advice}"
        yield from _stored(rewrite, palette)


def _stored(rewrite: Rewrite, palette: Palette) -> Iterator[str]:
    if "\n" in rewrite.sent + rewrite.stored or max(map(len, (rewrite.sent, rewrite.stored))) > 60:  # noqa: PLR2004 - fits on a line
        for row in differing_rows(rewrite.sent, rewrite.stored):
            yield palette.paint(f"        {row.sign} {visible_line(row.text)}", "dim")
        return
    yield palette.paint(f'        sent:   "{visible(cut(rewrite.sent))}"', "dim")
    yield palette.paint(f'        stored: "{visible(cut(rewrite.stored))}"', "dim")


def _ending(result: Result) -> Iterator[str]:
    if not (result.stopped or result.interrupted):
        return
    if result.interrupted:
        yield f"Interrupted: {words.in_flight(result)}"
    else:
        yield f"Stopped: {visible(result.stopped)}. {words.go_on(result)}"
    yield ""
