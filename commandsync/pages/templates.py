"""The pages, from values: templates, the Markdown that they show, and the two pages of a bot.

`render` fills a template: every value is escaped, and no character of the page is invisible. A page
loads a stylesheet, an icon and scripts. Descriptions and announcements are untrusted Markdown:
the parser knows no HTML, and its result is cleaned again by another library.

A row is a record as a page shows it. `groups_of` puts rows into the groups of the page.
`render_bot` makes the page of a bot: its numbers, announcements, commands and latest voters.
`commands_page` makes a page for the bot's own site, which loads nothing: its stylesheet and its
script are in the page, and the policy allows these two by their digests.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from colorsys import hls_to_rgb
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from unicodedata import category

from commandsync.extras import missing
from commandsync.records.display import readable
from commandsync.records.models import Bot
from commandsync.records.texts import CommandOption, CommandText, LoadedCommand, Resource

try:
    import nh3
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markdown_it import MarkdownIt
    from markdown_it.common.utils import escapeHtml
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict
    from markupsafe import Markup, escape
except ImportError as error:
    raise missing("a page needs", "html", error) from error

STATIC = Path(__file__).parent / "static"
"""The folder of the files that pages load."""


@cache
def static_files() -> Mapping[str, bytes]:
    """Return the stylesheet, the icon and the scripts, by their names."""
    return {file.name: file.read_bytes() for file in sorted(STATIC.iterdir())}


REL = "nofollow noopener noreferrer ugc"  # of every link in foreign text
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
    """Return the HTML of untrusted Markdown.

    Its headings follow the heading above it, of the level `above`, without a gap.
    """
    if _PLAIN.fullmatch(markdown):
        return Markup(f"<p>{escape(markdown)}</p>")  # noqa: S704 - it is escaped
    return _parsed(markdown, above=above)


@lru_cache(_KEPT)
def _parsed(markdown: str, *, above: int) -> Markup:
    tokens, level = _parser.parse(markdown), above
    for token in tokens:
        if token.type == "heading_open":
            level = min(above + int(token.tag[1]), level + 1, 6)
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{level}"
    rendered = _parser.renderer.render(tokens, _parser.options, {})
    clean = nh3.clean(
        rendered,
        tags=_TAGS,
        attributes={"*": set(), "a": {"href"}, "ol": {"start"}},
        url_schemes={"http", "https"},
        link_rel=REL,
    )
    return Markup(clean)  # noqa: S704 - cleaned in the line above


def _image(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    number: int,
    options: OptionsDict,
    env: dict[str, object],
) -> str:
    """Show the text of a picture: the page loads nothing from another host."""
    text = renderer.renderInlineAsText(tokens[number].children, options, env)
    return escapeHtml(text)


_parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
_parser.validateLink = lambda url: link_of(url) is not None  # type: ignore[method-assign]  # the library's manual
_parser.add_render_rule("image", _image)


def render(name: str, **values: object) -> str:
    """Return a page of a template, such as `list`, with its values.

    No character in it is invisible, a control or changes the direction of text.
    """
    return readable(_environment.get_template(f"{name}.html").render(values))


def as_it_is(html: str) -> Markup:
    """Return HTML of this package, to be written into a page without escapes."""
    return Markup(html)  # noqa: S704 - see above


def initial(name: str) -> str:
    """Return the sign of a bot without a picture: the first letter or digit of its name."""
    kept = name.strip() or "?"
    letter = next((c for c in kept if category(c)[0] in "LN"), kept[0])
    return letter.upper()[:1]


def colours_of(bot: Bot) -> tuple[str, str]:
    """Return the colours of a bot's banner: its theme's, or two that depend on its id."""
    hue = sha256(bot.id.encode(errors="replace")).digest()[0] % _HUES / _HUES
    colour, lighter = map(_colour, (bot.theme.color, bot.theme.color_lighter))
    if not (bot.theme.enabled and colour):
        return _of(hue, 0.45), _of(hue, 0.75)
    return colour, lighter or colour


def _colour(text: str | None) -> str:
    return text.lower() if text and _COLOUR.fullmatch(text) else ""


def _of(hue: float, lightness: float) -> str:
    return "#" + bytes(round(255 * part) for part in hls_to_rgb(hue, lightness, 0.55)).hex()


def day(moment: str) -> str:
    """Return the day of a time in ISO 8601, such as `4 March 2026`."""
    at = datetime.fromisoformat(moment)
    return f"{at.day} {at:%B %Y}"


def moment_of(moment: str) -> str:
    """Return a time in ISO 8601 to the minute, such as `4 March 2026 at 12:30 UTC`."""
    return f"{day(moment)} at {datetime.fromisoformat(moment):%H:%M} UTC"


_COLOUR = re.compile("#[0-9a-fA-F]{6}")
_HUES = 24  # of bots that have no theme
_LONG, _LINES = 400, 6  # characters and line ends; the page folds longer texts
_TIME = Markup('<time datetime="{}">{}</time>')
_environment = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_environment.filters |= {
    "number": lambda value: f"{value or 0:,}",
    "time": lambda moment: _TIME.format(moment, day(moment)),
    "minute": lambda moment: _TIME.format(moment, moment_of(moment)),
    "initial": initial,
    "colours": colours_of,
    "markdown": html_of,
    "link": link_of,
}
_environment.tests["long"] = lambda text: len(text) > _LONG or text.count("\n") > _LINES
_environment.globals["REL"] = REL


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record as a page shows it."""

    kind: Resource
    record: Mapping[str, Any]  # its fields, as a service sends them; an empty one may be left out
    anchor: str  # its place on the page
    menu: str = ""  # `user` or `message` for a command in such a menu, which nobody types
    options: Sequence[CommandOption] = ()  # of a command, where its platform's object is known

    @property
    def title(self) -> str:
        """The name of the record."""
        name = str(self.record[self.kind.fields[0]])
        return name.removeprefix("/") if self.menu else name

    @property
    def group(self) -> str:
        """The name of its group; empty for none."""
        return self.record.get(self.kind.group) or ""

    @property
    def usage(self) -> str:
        """Its usage; empty for a kind without one, and for a command in a menu."""
        return "" if self.menu else self.record.get(self.kind.usage) or ""

    @property
    def texts(self) -> list[str]:
        """Its other texts."""
        apart = {self.kind.fields[0], self.kind.usage, self.kind.group}
        names = [name for name in self.kind.fields if name not in apart]
        return [text for name in names if (text := self.record.get(name))]


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """The records of a group; its name is empty for records without a group."""

    name: str
    rows: list[RecordRow] = field(default_factory=list)


def listed_rows(kind: Resource, records: Iterable[Mapping[str, Any]]) -> list[RecordRow]:
    """Return the rows of records as a service lists them."""
    return [RecordRow(kind, record, f"{kind}-{record['id']}") for record in records]


def groups_of(rows: Iterable[RecordRow]) -> list[RecordGroup]:
    """Return the rows by group, each where its first record is listed."""
    groups: dict[str, RecordGroup] = {}
    for row in rows:
        groups.setdefault(row.group, RecordGroup(row.group)).rows.append(row)
    return [*groups.values()]


_NO_ANCHOR = re.compile(r"[\W_]+")


def commands_page(commands: Iterable[CommandText], *, bot: str = "") -> str:
    """Return the HTML of a page with the commands of a bot, whose name may be empty.

    The options of a `LoadedCommand` are shown, and its menu instead of a syntax.
    """
    style, script = (as_it_is(static_files()[name].decode()) for name in ("style.css", "filter.js"))
    return render(
        "commandlist",
        bot=bot,
        kind=Resource.COMMAND,
        groups=groups_of(_rows(commands)),
        style=style,
        style_digest=_digest(style),
        script=script,
        script_digest=_digest(script),
    )


def _rows(commands: Iterable[CommandText]) -> Iterator[RecordRow]:
    """Yield the rows of commands; links to them stay as long as their names and order do."""
    seen: dict[str, int] = {}
    for command in commands:
        anchor = "-".join(("command", *filter(None, _NO_ANCHOR.split(command.name.casefold()))))
        seen[anchor] = seen.get(anchor, 0) + 1
        again = f"--{seen[anchor]}" if seen[anchor] > 1 else ""
        row = RecordRow(Resource.COMMAND, command._asdict(), anchor + again)
        if isinstance(command, LoadedCommand):
            row = replace(row, menu=command.menu, options=command.option_list)
        yield row


def _digest(text: str) -> str:
    """Return the digest of a stylesheet or a script, as a policy names it."""
    return b64encode(sha256(text.encode()).digest()).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class BotPageContent:
    """The content of a bot's page."""

    bot: Bot
    rows: Mapping[Resource, Sequence[RecordRow]]  # the oldest first
    voters: Sequence[Mapping[str, Any]] = ()  # its latest votes as on the wire, the newest first
    next_vote: str = ""  # when the reader may vote again, as on the wire; empty for now


def render_bot(page: BotPageContent) -> str:
    """Return the HTML of a bot's page."""
    return render(
        "bot",
        bot=page.bot,
        lists={kind: groups_of(rows) for kind, rows in page.rows.items() if kind.group},
        articles={kind: rows[::-1] for kind, rows in page.rows.items() if not kind.group},
        voters=page.voters,
        next_vote=page.next_vote,
    )
