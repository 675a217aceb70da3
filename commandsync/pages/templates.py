"""The templates of the pages: compiled once, every value escaped."""

import re
from colorsys import hls_to_rgb
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from unicodedata import category

from commandsync.characters import readable
from commandsync.extras import missing
from commandsync.records.models import Bot

try:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    from commandsync.pages.markup import REL, html_of, link_of
except ImportError as error:
    raise missing("a page needs", "preview", error) from error


def render(name: str, **values: object) -> str:
    """Return a page of a template, such as `list`, with its values.

    No character in it is invisible, a control or changes the direction of text.
    """
    return readable(_environment.get_template(f"{name}.html").render(values))


def as_it_is(html: str) -> Markup:
    """Return HTML of this package, to be written into a page without escapes."""
    return Markup(html)  # noqa: S704 - see above


def initial(name: str) -> str:
    """Return what a bot has instead of a picture: the first letter or digit of its name."""
    kept = name.strip() or "?"
    letter = next((c for c in kept if category(c)[0] in "LN"), kept[0])
    return letter.upper()[:1]


def colours_of(bot: Bot) -> tuple[str, str]:
    """Return the colours of a bot's banner: those of its theme, or two that depend on its id."""
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
_LONG, _LINES = 400, 6  # characters and line ends; the page folds what has more
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
