"""Pages as their readers see them: what GitHub's own parser makes of a Markdown file."""

import re
from html.parser import HTMLParser

import mdformat
from cmarkgfm import (  # type: ignore[import-untyped]  # it has no types
    github_flavored_markdown_to_html,
)
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]  # as above
from hypothesis import strategies as st

from commandsync.records.texts import LoadedCommand, canonical

_BLOCKS = frozenset({"h1", "h2", "h3", "li", "td", "th"})
_PIECES = (
    *("*", "**", "_", "__", "[", "]", "(", ")", "<", ">", "<b>", "</b>", "<!--", "-->", "`", "``"),
    *(
        "&",
        "&amp;",
        "&lt;",
        "&#35;",
        "&nope;",
        "#",
        "##",
        "|",
        "\\",
        "~",
        "~~",
        "!",
        "-",
        "+",
        "1. ",
    ),
    *("https://a.bc/", "www.a.bc", "<id>", "1~2"),
    *("=", ":", "\n", "\n\n", " ", "  ", "\t", "a", "word", "snake_case", "é", "日本", "สวัสดี"),
    *("😀", "❤️", "👍🏽", "👩‍💻", "🇩🇪", "1️⃣", "@everyone", "{prefix}", "<@42>", "[x]", "[ ]", "(c)"),
    *(" https://a.bc/d_e ", "\u00a0", "'", '"', "...", "::error::", "##[group]", "\u200b", "\x1b"),
)
TEXTS = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=8).map(
    lambda pieces: canonical("".join(pieces)) or "x"
)
MENTIONS = st.sampled_from(("</ban:1>", "</my_ban-2 'x:123456789>", "</größe ไทย a_b:1>"))
COMMANDS = st.lists(
    st.builds(
        LoadedCommand.of,
        st.tuples(TEXTS, TEXTS, TEXTS, st.sampled_from(("", "Fun", "C#")) | TEXTS),
        MENTIONS,
        TEXTS,
    ),
    min_size=1,
    max_size=4,
)


class _Reader(HTMLParser):
    """Reads the texts of a page, each with the kind of block that it is in."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[tuple[str, str]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag in _BLOCKS:
            self.blocks.append((tag, ""))
            self.inside = True
        elif self.inside:
            assert tag in {"a", "br", "code", "strong"}, self.get_starttag_text()
            self.handle_data("\n" if tag == "br" else "")

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in _BLOCKS

    def handle_data(self, data: str) -> None:
        if self.inside:
            kind, text = self.blocks[-1]
            self.blocks[-1] = (kind, text + data)


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the texts of a page, each with the kind of block that it is in.

    Line ends are those that a reader sees.
    """
    reader = _Reader()
    reader.feed(github_flavored_markdown_to_html(page, options=Options.CMARK_OPT_UNSAFE))
    reader.close()
    return reader.blocks


def formatted(page: str) -> str:
    """Return a page as mdformat leaves it."""
    return mdformat.text(page, extensions={"gfm"})


def collapsed(text: str) -> str:
    """Return a text as a page shows it: of several spaces one, and none at the ends of a line."""
    return "\n".join(re.sub("[ \t]+", " ", line).strip(" ") for line in text.split("\n"))
