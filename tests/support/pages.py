"""Pages as their readers see them: what a Markdown file renders to, as GitHub's own Markdown."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import mdformat.plugins
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from commandsync.records.texts import CommandText, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.token import Token

_PIECES = (
    *("*", "**", "_", "__", "[", "]", "(", ")", "<", ">", "<b>", "</b>", "<!--", "-->", "`", "``"),
    *("&", "&amp;", "&lt;", "&#35;", "&nope;", "#", "##", "|", "\\", "~~", "!", "-", "+", "1. "),
    *("=", ":", "\n", "\n\n", " ", "  ", "\t", "a", "word", "snake_case", "é", "日本", "สวัสดี"),
    *("😀", "❤️", "👍🏽", "👩‍💻", "🇩🇪", "1️⃣", "@everyone", "{prefix}", "<@42>", "[x]", "[ ]", "(c)"),
    *(" https://a.bc/d_e ", "\u00a0", "'", '"', "...", "::error::", "##[group]", "\u200b", "\x1b"),
)
TEXTS = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=8).map(
    lambda pieces: canonical("".join(pieces)) or "x"
)
COMMANDS = st.lists(
    st.builds(CommandText, TEXTS, TEXTS, TEXTS, st.sampled_from(("", "Fun", "C#")) | TEXTS),
    min_size=1,
    max_size=4,
)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"parser_extension": [], "mdformat": {}})
    mdformat.plugins.PARSER_EXTENSIONS["gfm"].update_mdit(parser)
    return parser


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the texts of a page, each with the kind of block that it is in.

    Line ends are those that a reader sees.
    """
    tokens = _parser().parse(page)
    return [
        (tokens[index - 1].tag, "".join(_seen(token.children or ())))
        for index, token in enumerate(tokens)
        if token.type == "inline"
    ]


def formatted(page: str) -> str:
    """Return a page as mdformat leaves it."""
    return mdformat.text(page, extensions={"gfm"})


def collapsed(text: str) -> str:
    """Return a text as a page shows it: of several spaces one, and none at the ends of a line."""
    return "\n".join(re.sub("[ \t]+", " ", line).strip(" ") for line in text.split("\n"))


def _seen(tokens: Iterable[Token]) -> Iterable[str]:
    for token in tokens:
        if token.type == "html_inline":
            assert token.content in {"<br>", "<code>", "</code>", "<!-- -->"}, token.content
            yield "\n" if token.content == "<br>" else ""
        elif token.type in {"text", "code_inline"}:
            yield token.content
        else:
            assert (
                token.type in {"gfm_autolink_open", "gfm_autolink_close"} or token.tag == "strong"
            )
