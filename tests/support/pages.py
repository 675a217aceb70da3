"""Pages as their readers see them, and the bots and texts that a page is made of.

A Markdown file is read by GitHub's own parser. Two pages are compared by their outlines: the tags
without the texts. The records are those that the pages of the service are given; the hostile texts
try to be more than text on a page.
"""

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

import mdformat
from cmarkgfm import (  # type: ignore[import-untyped]  # it has no types
    github_flavored_markdown_to_html,
)
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]  # as above
from hypothesis import strategies as st

from commandsync.records.models import Bot
from commandsync.records.texts import CommandOption, LoadedCommand, canonical
from commandsync.server.bodies import BotRecord

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
        st.lists(
            st.builds(CommandOption, TEXTS, TEXTS, choices=st.lists(TEXTS, max_size=2).map(tuple)),
            min_size=1,
            max_size=2,
        ),
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


_NAMED = re.compile(
    r"(?<!\w)@\w|(?<!\w)[\w/.-]*#[0-9]|(?i:\bgh-[0-9])|(?<!\w)[0-9A-Fa-f]{7,40}(?!\w)"
)


def linked(page: str) -> list[str]:
    """Return what GitHub links on a page: addresses, and names of people, issues and commits.

    Its parser makes links of addresses. It then looks for names in each text by itself: a tag or a
    comment ends one, and code has none.
    """
    html = github_flavored_markdown_to_html(page, options=Options.CMARK_OPT_UNSAFE)
    html = re.sub(r"(?s)<code>.*?</code>", "<code>", html)
    texts = map(unescape, re.split(r"(?s)<!--.*?-->|<[^>]*>", html))
    return [
        *re.findall("<a [^>]*>", html),
        *(name for text in texts for name in _NAMED.findall(text)),
    ]


def formatted(page: str) -> str:
    """Return a page as mdformat leaves it."""
    return mdformat.text(page, extensions={"gfm"})


def collapsed(text: str) -> str:
    """Return a text as a page shows it: of several spaces one, and none at the ends of a line."""
    return "\n".join(re.sub("[ \t]+", " ", line).strip(" ") for line in text.split("\n"))


_VOID = {"br", "hr", "input", "link", "meta"}


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.links: list[dict[str, str | None]] = []
        self.values: list[str] = []
        self.attributes: set[str] = set()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        names = " ".join(attributes)
        self.tags.append(f"<{tag} {names} class={attributes.get('class')}>")
        self.attributes |= attributes.keys()
        self.values += [value for value in attributes.values() if value]
        if tag == "a":
            self.links.append(attributes)
        if tag not in _VOID and not self.get_starttag_text().endswith("/>"):  # type: ignore[union-attr]  # within a tag
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, (tag, self._open, self.getpos())
        self.tags.append(f"</{tag}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def close(self) -> None:
        super().close()
        assert self._open == []


class Outline:
    """What a page consists of.

    Attributes:
        tags: Its tags in their order, with the names of their attributes and with their classes.
        text: Its texts, as they are.
        words: The words of its texts, with a space between all of them.
        links: The attributes of each link.
        values: The values of all attributes.
        attributes: Their names.
    """

    def __init__(self, html: str) -> None:
        parser = _Parser()
        parser.feed(html)
        parser.close()
        self.tags = parser.tags
        self.text = "".join(parser.texts)
        self.words = " ".join(" ".join(parser.texts).split())
        self.links = parser.links
        self.values = parser.values
        self.attributes = parser.attributes

    def headings(self) -> list[int]:
        """Return the levels of the headings, in their order."""
        return [int(tag[2]) for tag in self.tags if tag[:2] == "<h" and tag[2].isdigit()]


MOMENT = "2026-03-04T12:00:00.000Z"


def bot(identifier: str = "7", **fields: Any) -> Bot:  # noqa: ANN401 - the fields of the record
    """Return a bot with the defaults of the service for all other fields."""
    profile = {"username": "Lantern", **fields.pop("profile", {})}
    record = {"id": identifier, "profile": profile, "createdAt": MOMENT, "updatedAt": MOMENT}
    return Bot.model_validate(BotRecord.model_validate(record | fields).model_dump(by_alias=True))


def command(number: int = 1, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Return a command as listed."""
    texts = {"name": f"n{number}", "description": f"d{number}", "syntax": f"/n{number}"}
    return {
        "id": f"c{number}",
        **texts,
        "uses": 0,
        "createdAt": MOMENT,
        "updatedAt": MOMENT,
        **fields,
    }


def announcement(number: int = 1, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Return an announcement as listed."""
    texts = {"title": f"t{number}", "description": f"text {number}"}
    return {"id": f"a{number}", **texts, "createdAt": MOMENT, **fields}


def voter(**fields: str) -> dict[str, Any]:
    """Return a vote as listed."""
    return {"id": "1", "username": "Ann", "avatar": "", "votedAt": MOMENT, **fields}


FRAGMENTS = (
    *("<script>alert(1)</script>", "</script>", "<!--", "-->", "]]>", "<![CDATA[", "<?x?>"),
    *('"', "'", "`", ">", "<", "&", "&lt;", "&#60;", "&quot;", "&#0;", "\\", "/", "="),
    *('" onmouseover="alert(1)', "' autofocus onfocus='alert(1)", '"><img src=x onerror=alert(1)>'),
    *("</title>", "</li></ul></main><h1>", "</style>", "<svg/onload=alert(1)>", "<base href=//x>"),
    *("javascript:alert(1)", "data:text/html,x", "{{7*7}}", "{% raw %}", "${7*7}", "%00"),
    *("\u202e", "\u2066", "\u200d", "\ufeff", "\x00", "\x1b", "\x0c", "\u2028", "\U0001f3b5"),
    *("مرحبا", "שלום", "a\u0300\u0301\u0302", " ", "\n", "\t"),
)

texts = (
    st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=6), min_size=1, max_size=6)
    .map("".join)
    .filter(str.strip)
)
"""Such texts, which are not empty."""

bot_texts = texts.filter(lambda text: "\x00" not in text)
"""Such texts for a bot, which no service creates with a NUL character."""
