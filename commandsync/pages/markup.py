"""Foreign Markdown as HTML that cannot harm the page: descriptions and announcements.

The parser knows no HTML, and what it writes is cleaned again by another library.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup, escape

REL = "nofollow noopener noreferrer ugc"  # what every link of foreign text says of itself
_SCHEMES = ("http://", "https://")
_TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p"),
    *("pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_KEPT = 2_048  # texts, of a page of many commands; an announcement has at most 20,000 characters
# A line without Markdown, as most commands have: a parser would be slow for thousands of them.
_PLAIN = re.compile(r"[^\W\d_][^\n\r\0\\`*_\[<&~]*")


def link_of(url: str | None) -> str | None:
    """Return an address that a page may link to: http and https alone."""
    return url if url and url.lower().startswith(_SCHEMES) else None


def html_of(markdown: str, *, above: int) -> Markup:
    """Return the HTML of a text, of anybody.

    Its headings follow the one that it is below, of the level `above`, without a gap.
    """
    if _PLAIN.fullmatch(markdown):
        return Markup(f"<p>{escape(markdown)}</p>")  # noqa: S704 - it is escaped
    return _parsed(markdown, above=above)


@lru_cache(_KEPT)
def _parsed(markdown: str, *, above: int) -> Markup:
    tokens = _parser.parse(markdown)
    _order_headings(tokens, above)
    rendered = _parser.renderer.render(tokens, _parser.options, {})
    clean = nh3.clean(
        rendered,
        tags=_TAGS,
        attributes={"*": set(), "a": {"href"}, "ol": {"start"}},
        url_schemes={"http", "https"},
        link_rel=REL,
    )
    return Markup(clean)  # noqa: S704 - cleaned in the line above


def _order_headings(tokens: Sequence[Token], above: int) -> None:
    level = above
    for token in tokens:
        if token.type == "heading_open":
            level = min(above + int(token.tag[1]), level + 1, 6)
            token.tag = f"h{level}"
        elif token.type == "heading_close":
            token.tag = f"h{level}"


def _image(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    number: int,
    options: OptionsDict,
    env: dict[str, object],
) -> str:
    """Show what a picture is called: the page loads nothing from another host."""
    text = renderer.renderInlineAsText(tokens[number].children, options, env)
    return escapeHtml(text)


_parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
_parser.validateLink = lambda url: link_of(url) is not None  # type: ignore[method-assign]  # the library's manual
_parser.add_render_rule("image", _image)
