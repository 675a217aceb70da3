"""Notes as a listing shows them: plain, and not too long.

`plain` leaves out images, badges, HTML comments and hidden signs; everything else stays to the
character. A parser finds them, so that code keeps its text. `excerpt` returns whole blocks from the
beginning, and the link to the rest.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, takewhile

from markdown_it.rules_inline import StateInline, html_inline, image, link
from markdown_it.token import Token

from commandsync.errors import FileError, UsageError
from commandsync.sources.notes.changelog import Page, new_parser, page_of

Rule = Callable[[StateInline, bool], bool]

_LINE_END = re.compile(r"\r+\n|\r")
# Controls, and signs that change the direction of the text after them.
_HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")
_HALF = re.compile(r"[\ud800-\udfff]")

_CUT = "\0"  # in place of a part that is left out, until the rest of its line is known
_LEFT_OUT = re.compile(
    r"""<!--.*?(?:-->|\Z)|<(?:img|source)\b(?:"[^"<]*"|'[^'<]*'|[^<>"'])*>""",
    re.DOTALL | re.IGNORECASE,
)
_EMPTIED = re.compile(
    rf"<(a|center|div|p|picture)\b[^<>]*>\s*{_CUT}[\s{_CUT}]*</\1\s*>", re.IGNORECASE
)
_DEEPEST = 5  # elements around an image that are left out with it
_TAG = re.compile(r"</?\w[^<>]*>")
# Marks of a list, a quote or a heading, and signs around and between badges, are not text.
_NO_TEXT = re.compile(rf"(?:[ \t>|·•*_+{_CUT}-]|\d+[.)] |#+ |&nbsp;|<br ?/?>)*", re.IGNORECASE)
_SPACE_AFTER = re.compile(rf"(?:^|(?<=\[)){_CUT}[ \t]*", re.MULTILINE)
_SPACE_BEFORE = re.compile(rf"[ \t]*{_CUT}(?=[\s\]{_CUT}]|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")


def plain(text: str) -> str:
    """Return notes without the parts that a listing does not show.

    Left out are images, links whose text is only images (badges), HTML comments, control
    characters and those that change the direction of the text after them. Lines that have nothing
    else are left out with them, and so are link definitions that nothing else uses. Line ends
    become LF.
    """
    page = page_of(_seen(text))
    finder = _Finder(page)
    # Of the blocks that contain text or HTML, but not code.
    rest = {
        token.map[0]: (token.map[1], finder.rest_of(token.type, *token.map))
        for token in page.tokens
        if token.type in {"paragraph_open", "heading_open", "html_block"} and token.map
    }
    shown = "".join(_joined(page.lines, rest))
    if not page.definitions:
        return shown
    for label in page.labels_in("".join(page.lines)) - page.labels_in(shown):
        begin, end = page.definitions[label]
        rest[begin] = end, ""
    return "".join(_joined(page.lines, rest))


def on_one_line(text: str) -> str:
    """Return a title without line breaks and hidden signs."""
    return " ".join(_seen(text).split())


def _seen(text: str) -> str:
    return _HALF.sub("\ufffd", _HIDDEN.sub("", _LINE_END.sub("\n", text)))


def _joined(lines: Sequence[str], rest: dict[int, tuple[int, str]]) -> Iterator[str]:
    """Yield the lines, some of them with their rest; one empty line is enough for none."""
    at, above_is_empty = 0, True
    while at < len(lines):
        end, text = rest.get(at, (at + 1, lines[at]))
        if text:
            yield text
            above_is_empty = not text.strip()
        while not text and above_is_empty and end < len(lines) and not lines[end].strip():
            end += 1
        at = end


def _is_left_out(first: Token, *inner: Token) -> bool:
    """Whether a link, an image or HTML inside of a text is left out, by its tokens."""
    if first.type == "link_open":
        shown = [token for token in inner[:-1] if token.content.strip() or token.attrs]
        return bool(shown) and all(map(_is_left_out, shown))
    html = first.type == "html_inline" and _LEFT_OUT.fullmatch(first.content)
    return first.type == "image" or bool(html)


class _Finder:
    """Finds the parts to leave out."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.parser = new_parser()
        self.source = ""
        # Of the source, with their tokens, which are complete when all of it is parsed.
        self.spans: list[tuple[int, int, Sequence[Token]]] = []
        for name, rule in (("link", link), ("image", image), ("html_inline", html_inline)):
            self.parser.inline.ruler.at(name, self._watched(rule))

    def rest_of(self, kind: str, begin: int, end: int) -> str:
        """Return the rest of a block of a kind, as the parser names it."""
        raw = "".join(self.page.lines[begin:end])
        if kind == "html_block":
            marked = _LEFT_OUT.sub(_CUT, raw)
            is_empty = marked != raw and not _TAG.sub("", marked).strip(f"{_CUT}\n\t >")
            return "" if is_empty else _without_marks(marked)
        return _without_marks(self._marked(raw))

    def _marked(self, raw: str) -> str:
        self.source, self.spans = raw, []
        self.parser.parseInline(raw, dict(self.page.env))
        marked, at = [], 0
        for begin, end, tokens in sorted(self.spans, key=lambda span: (span[0], -span[1])):
            if begin >= at and _is_left_out(*tokens):
                marked += [raw[at:begin], _CUT]
                at = end
        return "".join([*marked, raw[at:]])

    def _watched(self, rule: Rule) -> Rule:
        """Return a rule of the parser that notes its matches, with their places."""

        def watched(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the parser's rules
            begin, count = state.pos, len(state.tokens)
            matches = rule(state, silent)
            # The text of an image is parsed apart from the source.
            if matches and not silent and state.src == self.source:
                tokens = state.tokens[count:]
                if tokens[0].type == "text" and len(tokens) > 1:
                    tokens = tokens[1:]  # it was pending
                self.spans.append((begin, state.pos, tokens))
            return matches

        return watched


def _without_marks(marked: str) -> str:
    """Return a block without the marks, the elements that contain only marks, and such lines."""
    for _ in range(_DEEPEST):
        marked = _EMPTIED.sub(_CUT, marked)
    if _CUT not in marked:
        return marked
    lines = marked.splitlines(keepends=True)
    lines = [
        line for line in lines if _CUT not in line or not _NO_TEXT.fullmatch(line.rstrip("\n"))
    ]
    if all(_UNDERLINE.fullmatch(line.rstrip("\n")) for line in lines):
        return ""
    return _SPACE_BEFORE.sub("", _SPACE_AFTER.sub("", "".join(lines))).replace(_CUT, "")


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
        raise FileError("the announcement has no text", hint="write some")
    if len(joined) <= limit:
        return joined
    more = f"{_MORE} {_LINK}{link}" if link else _MORE
    shortened = (f"{part}\n\n{more}" for part in _parts(page, limit))
    for short in chain(shortened, [_LINK + link] if link else []):
        if len(short) <= limit:
            return short
    part = "link" if link else "first paragraph"
    message = f"the {part} is longer than the limit of {limit:,} characters"
    raise UsageError(message, hint="shorten it")


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
