"""Notes -> what a listing shows of them: without images, badges, HTML comments and hidden signs.

Everything else stays to the character. A parser finds them, so that code keeps what it shows.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, html_inline, image, link
from markdown_it.token import Token

from commandsync.sources.notes.markdown import Page, new_parser, page_of

Rule = Callable[[StateInline, bool], bool]

_LINE_END = re.compile(r"\r+\n|\r")
# Controls, and what changes the direction of the text after it.
_HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")
_HALF = re.compile(r"[\ud800-\udfff]")

_CUT = "\0"  # in place of what is left out, until the rest of its line is known
_LEFT_OUT = re.compile(
    r"""<!--.*?(?:-->|\Z)|<(?:img|source)\b(?:"[^"<]*"|'[^'<]*'|[^<>"'])*>""",
    re.DOTALL | re.IGNORECASE,
)
_EMPTIED = re.compile(
    rf"<(a|center|div|p|picture)\b[^<>]*>\s*{_CUT}[\s{_CUT}]*</\1\s*>", re.IGNORECASE
)
_DEEPEST = 5  # elements around an image that are left out with it
_TAG = re.compile(r"</?\w[^<>]*>")
# Marks of a list, a quote or a heading, and what is around and between badges, are not text.
_NO_TEXT = re.compile(rf"(?:[ \t>|·•*_+{_CUT}-]|\d+[.)] |#+ |&nbsp;|<br ?/?>)*", re.IGNORECASE)
_SPACE_AFTER = re.compile(rf"(?:^|(?<=\[)){_CUT}[ \t]*", re.MULTILINE)
_SPACE_BEFORE = re.compile(rf"[ \t]*{_CUT}(?=[\s\]{_CUT}]|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")


def plain(text: str) -> str:
    """Return notes without what a listing does not show.

    Left out are images, links whose text is only images (badges), HTML comments, control
    characters and those that change the direction of the text after them. Lines that have nothing
    else are left out with them, and so are link definitions that nothing else uses. Line ends
    become LF.
    """
    page = page_of(_seen(text))
    finder = _Finder(page)
    rest = {begin: (end, finder.rest_of(token, begin, end)) for token, begin, end in _texts(page)}
    for begin, end in (page.definitions[label] for label in finder.unused):
        rest[begin] = end, ""
    return "".join(_joined(page.lines, rest))


def on_one_line(text: str) -> str:
    """Return a title without line breaks and hidden signs."""
    return " ".join(_seen(text).split())


def _seen(text: str) -> str:
    return _HALF.sub("\ufffd", _HIDDEN.sub("", _LINE_END.sub("\n", text)))


def _texts(page: Page) -> Iterator[tuple[Token, int, int]]:
    """Yield the blocks that contain text or HTML, but not code, with their lines."""
    for token in page.tokens:
        if token.type in {"paragraph_open", "heading_open", "html_block"} and token.map:
            begin, end = token.map
            yield token, begin, end


def _joined(lines: Sequence[str], rest: dict[int, tuple[int, str]]) -> Iterator[str]:
    """Yield the lines, with what is left of some; where nothing is, one empty line is enough."""
    at, above_is_empty = 0, True
    while at < len(lines):
        end, text = rest.get(at, (at + 1, lines[at]))
        if text:
            yield text
            above_is_empty = not text.strip()
        while not text and above_is_empty and end < len(lines) and not lines[end].strip():
            end += 1
        at = end


class _Span(NamedTuple):
    """A link, an image or HTML inside of a text: its place and its tokens."""

    begin: int
    end: int
    tokens: Sequence[Token]

    @property
    def is_left_out(self) -> bool:
        first, *inner = self.tokens
        if first.type == "link_open":
            shown = [token for token in inner[:-1] if token.content.strip() or token.attrs]
            return bool(shown) and all(map(_is_left_out, shown))
        return _is_left_out(first)

    @property
    def label(self) -> str:
        """The label of the definition that it uses; empty where it uses none."""
        return str(self.tokens[0].meta.get("label", ""))


def _is_left_out(token: Token) -> bool:
    html = token.type == "html_inline" and _LEFT_OUT.fullmatch(token.content)
    return token.type == "image" or bool(html)


@dataclass(slots=True)
class _Finder:
    """Finds what is left out, and remembers which definitions that uses, and which the rest."""

    page: Page
    parser: MarkdownIt = field(default_factory=new_parser)
    source: str = ""
    spans: list[_Span] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=lambda: {""})

    def __post_init__(self) -> None:
        for name, rule in (("link", link), ("image", image), ("html_inline", html_inline)):
            self.parser.inline.ruler.at(name, self._watched(rule))

    @property
    def unused(self) -> set[str]:
        """The labels of the definitions that only what is left out uses."""
        return self.gone - self.kept

    def rest_of(self, block: Token, begin: int, end: int) -> str:
        """Return what is left of a block."""
        raw = "".join(self.page.lines[begin:end])
        if block.type == "html_block":
            marked = _LEFT_OUT.sub(_CUT, raw)
            is_empty = marked != raw and not _TAG.sub("", marked).strip(f"{_CUT}\n\t >")
            return "" if is_empty else _without_marks(marked)
        return _without_marks(self._marked(raw))

    def _marked(self, raw: str) -> str:
        self.source, self.spans = raw, []
        self.parser.parseInline(raw, dict(self.page.env))
        marked, at = [], 0
        for span in sorted(self.spans, key=lambda span: (span.begin, -span.end)):
            (self.gone if span.is_left_out else self.kept).add(span.label)
            if span.is_left_out and span.begin >= at:
                marked += [raw[at : span.begin], _CUT]
                at = span.end
        return "".join([*marked, raw[at:]])

    def _watched(self, rule: Rule) -> Rule:
        """Return a rule of the parser that notes what it finds, with its place."""

        def watched(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the parser's rules
            begin, count = state.pos, len(state.tokens)
            matches = rule(state, silent)
            # The text of an image is parsed apart from the source.
            if matches and not silent and state.src == self.source:
                tokens = state.tokens[count:]
                if tokens[0].type == "text" and len(tokens) > 1:
                    tokens = tokens[1:]  # it was pending
                self.spans.append(_Span(begin, state.pos, tokens))
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
