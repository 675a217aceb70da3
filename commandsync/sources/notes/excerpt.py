"""Notes that are too long -> whole blocks from their beginning, and the link to the rest."""

import re
from collections.abc import Iterator
from itertools import chain, takewhile

from commandsync.errors import FileError, UsageError
from commandsync.sources.notes.markdown import Page, page_of

_MORE = "…"
_LINK = "Full notes: "
_WHOLE = {"paragraph_open", "fence", "code_block", "html_block", "blockquote_open", "hr"}


def excerpt(text: str, *, limit: int, link: str = "") -> str:
    """Return notes with a link at their end, whole or cut after a block.

    Blocks are paragraphs, items of lists, quotes and code; no heading is the last one. The link
    definitions that the rest uses are kept.

    Args:
        text: The notes, with LF as their line ends.
        limit: The most code points of the result.
        link: The address of the whole notes, added unless the text has it; empty for none.

    Raises:
        FileError: There is nothing to show.
        UsageError: Not even the link, or the first block, fits.
    """
    text = _dedented(text)
    page = page_of(text)
    whole = _closed(text.rstrip(), page)
    has_link = re.search(rf"{re.escape(link)}(?![^\s<>)\]]*\w)", whole)  # not only a longer one
    end = _LINK + link if link and not has_link else ""
    joined = "\n\n".join(filter(None, [whole, end]))
    if not joined:
        raise FileError("the announcement has no text", hint="write some, or give a link")
    if len(joined) <= limit:
        return joined
    more = f"{_MORE} {_LINK}{link}" if link else _MORE
    shortened = (f"{part}\n\n{more}" for part in _parts(page, limit))
    for short in chain(shortened, [_LINK + link] if link else []):
        if len(short) <= limit:
            return short
    what, other = ("link", "") if link else ("first paragraph", ", or give a link")
    message = f"the {what} is longer than the limit of {limit:,} characters"
    raise UsageError(message, hint=f"raise the limit{other}")


def _dedented(text: str) -> str:
    """Return a text whose first block is not indented; a listing strips its first line only."""
    page = page_of(text)
    begin, end = (page.tokens[0].map if page.tokens else None) or (0, 0)
    lines = list(page.lines)
    if block := lines[begin:end]:
        indent = len(block[0]) - len(block[0].lstrip(" \t"))
        lines[begin:end] = [re.sub(rf"\A[ \t]{{0,{indent}}}", "", line) for line in block]
    return "".join(lines)


def _parts(page: Page, limit: int) -> Iterator[str]:
    """Yield the text up to the end of each block, with the definitions it uses, from the last."""
    ends = sorted(
        {
            token.map[1]
            for token in page.tokens
            if token.map
            and (token.type == "list_item_open" or (token.level == 0 and token.type in _WHOLE))
        }
    )
    parts = ("".join(page.lines[:end]).rstrip() for end in ends)
    short = takewhile(lambda part: len(part) <= limit, parts)
    for end, part in reversed(list(zip(ends, short, strict=False))):
        definitions = page.used_definitions(part, without=range(end)).rstrip()
        yield "\n\n".join(filter(None, [_closed(part, page_of(part)), definitions]))


def _closed(text: str, page: Page) -> str:
    """Return a text with an end for the code that does not end before it does."""
    last = page.tokens[-1] if page.tokens else None
    if last is None or last.type != "fence" or not last.map:
        return text
    begin, end = last.map
    closing = rf" {{0,3}}{last.markup}{last.markup[0]}*\s*"
    is_closed = end - begin > 1 and re.fullmatch(closing, page.lines[end - 1])
    return text if is_closed else f"{text}\n{last.markup}"
