"""Markdown for GitHub's pages: a job's summary and a comment, cut to what they take."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from commandsync.report.escape import code

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_SUMMARY = 1_000_000
"""Bytes: GitHub drops a step's summary of more than 1 MiB."""

LONGEST_COMMENT = 60_000
"""Bytes: GitHub refuses a comment of more than 65,536 characters."""

_FENCE = re.compile(r"(`{3,})\w*")
_ROOM = 600  # bytes for the note on what was cut off


def page(markdown: str, *, label: str = "", notes: Iterable[str] = ()) -> str:
    """Return a page with its heading.

    Args:
        markdown: What a report rendered.
        label: The name of the run; may hold foreign text.
        notes: Our own sentences on the run, to stand first.
    """
    heading = f"## commandsync: {code(label)}" if label else "## commandsync"
    return "\n\n".join((heading, *notes, markdown.strip("\n"))) + "\n"


def cut(markdown: str, *, most: int, pointer: str) -> str:
    """Return a page that is short enough: whole lines, with no block left open.

    Args:
        markdown: A page.
        most: Bytes in UTF-8.
        pointer: Our own sentence on where the rest is.
    """
    if len(markdown.encode()) <= most:
        return markdown
    kept: list[str] = []
    left = most - _ROOM
    fence = ""
    for line in markdown.splitlines():  # pragma: no branch - what is too long does not end
        left -= len(line.encode()) + 1
        if left < len(fence):
            break
        kept.append(line)
        if not fence and (opening := _FENCE.fullmatch(line)):
            fence = opening[1]
        elif line == fence:
            fence = ""
    return "\n".join([*kept, *([fence] if fence else []), "", f"*Cut here. {pointer}*"]) + "\n"


def marker(key: str) -> str:
    """Return the hidden beginning of the comment that this run may edit.

    Args:
        key: What tells the comments of several runs on one pull request apart.
    """
    return f"<!-- commandsync:{_digest(key)}:"


def comment(markdown: str, *, key: str, pointer: str) -> str:
    """Return a comment's body: the hidden marker with a digest of all of it, then what fits."""
    shown = cut(markdown, most=LONGEST_COMMENT, pointer=pointer)
    return f"{same_comment(markdown, key=key)}\n{shown}"


def same_comment(markdown: str, *, key: str) -> str:
    """Return the first line of a comment that says the very same."""
    return f"{marker(key)}{_digest(markdown)} -->"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]
