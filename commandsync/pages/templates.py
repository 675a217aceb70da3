"""The templates of the pages: compiled once, every value escaped."""

from datetime import datetime
from pathlib import Path
from unicodedata import category

from commandsync.characters import readable
from commandsync.extras import missing
from commandsync.pages.colours import picture

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


def day(moment: str) -> str:
    """Return the day of a time in ISO 8601, such as `4 March 2026`."""
    at = datetime.fromisoformat(moment)
    return f"{at.day} {at:%B %Y}"


def moment_of(moment: str) -> str:
    """Return a time in ISO 8601 to the minute, such as `4 March 2026 at 12:30 UTC`."""
    return f"{day(moment)} at {datetime.fromisoformat(moment):%H:%M} UTC"


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
    "picture": picture,
    "markdown": html_of,
    "link": link_of,
}
_environment.tests["long"] = lambda text: len(text) > _LONG or text.count("\n") > _LINES
_environment.globals["REL"] = REL
