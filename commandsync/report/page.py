"""A page for GitHub, of a summary or a comment: a heading, notes and a report, cut to fit.

What is least dangerous is cut first, whichever of several plans it belongs to: adds, then edits,
renames, and the warnings. What deletes a record, is refused or failed is cut last.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from commandsync.report.lines import code

LONGEST_SUMMARY = 1_000_000  # bytes: GitHub drops a step's summary of more than 1 MiB
LONGEST_COMMENT = 60_000  # bytes: GitHub refuses a comment of more than 65,536 characters
_CUT_FIRST = (
    "#### Add",
    "#### Done already",
    "#### Edit",
    "#### Rename",
    "#### Skipped",
    "#### Done",
    "#### Sent",
    "#### Warn",
)
_HEADING = re.compile(r"#{2,4} ")
_FENCE = re.compile(r"(`{3,})\w*")
_FOLD, _UNFOLD = "<details>", "</details>"
_ROOM = 600  # bytes for the remark at the end


def page(markdown: str, *, label: str = "", title: str = "", notes: Iterable[str] = ()) -> str:
    """Return a report with its heading and notes, of which only the label is foreign text."""
    heading = "## " + ": ".join(filter(None, ("commandsync", label and code(label), title)))
    return "\n\n".join((heading, *notes, markdown.strip("\n"))) + "\n"


def cut_page(markdown: str, *, most: int, pointer: str) -> str:
    """Return a page of at most `most` bytes of UTF-8: whole lines, with no block left open.

    The pointer is a sentence on where the rest is, without foreign text.
    """
    sections = list(_sections(markdown))
    for heading in _CUT_FIRST:
        excess = sum(map(_size, sections)) - most
        for n, section in reversed([*enumerate(sections)]):
            if excess > 0 and section[0].startswith(heading):
                cut = _cut(section, _size(section) - excess, pointer)
                sections[n] = min(section, cut, key=_size)
                excess -= _size(section) - _size(sections[n])
    lines = [line for section in sections for line in section]
    return "\n".join(_cut(lines, most, pointer)).rstrip("\n") + "\n"


def _sections(markdown: str) -> Iterator[list[str]]:
    section: list[str] = []
    fence = ""
    for line in markdown.splitlines():
        if section and not fence and _HEADING.match(line):
            yield section
            section = []
        section.append(line)
        fence = _open_fence(fence, line)
    yield section


def _cut(lines: list[str], most: int, pointer: str) -> list[str]:
    """Return the first line and those that fit, with the remark that the others are elsewhere."""
    if _size(lines) <= most:
        return lines
    kept, left = lines[:1], most - _ROOM - _size(lines[:1])
    fence = _open_fence("", lines[0])
    for line in lines[1:]:  # pragma: no branch - it breaks before the end
        left -= _size([line])
        if left < len(fence):
            break
        kept.append(line)
        fence = _open_fence(fence, line)
    dropped = lines[len(kept) :]
    folds = dropped.count(_UNFOLD) - dropped.count(_FOLD)  # those that end in what is dropped
    ends = [*([fence] if fence else []), *["", _UNFOLD] * folds]
    return [*kept, *ends, "", f"*Cut here. {pointer}*", ""]


def _open_fence(fence: str, line: str) -> str:
    """Return the fence of the block that is open after a line; empty for none."""
    if not fence and (opening := _FENCE.fullmatch(line)):
        return opening[1]
    return "" if line == fence else fence


def _size(lines: Sequence[str]) -> int:
    """Return the bytes of lines, with their ends."""
    return sum(len(line.encode()) + 1 for line in lines)
