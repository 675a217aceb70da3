"""The templates of the pages: compiled once, every value escaped."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from unicodedata import category

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from commandsync.server.pages.colours import picture
from commandsync.server.pages.markup import REL, html_of, link_of


def render(name: str, **values: object) -> str:
    """Return a page.

    Args:
        name: The template, without its ending.
        values: What it shows.
    """
    return _environment.get_template(f"{name}.html").render(values)


def initial(name: str) -> str:
    """Return what a bot has instead of a picture: the first letter or digit of its name."""
    kept = name.strip() or "?"
    letter = next((c for c in kept if category(c)[0] in "LN"), kept[0])
    return letter.upper()[:1]


def day(moment: str) -> str:
    """Return the day of a time as on the wire, such as `4 March 2026`."""
    at = datetime.fromisoformat(moment)
    return f"{at.day} {at:%B %Y}"


def moment_of(moment: str) -> str:
    """Return a time as on the wire to the minute, such as `4 March 2026 at 12:30 UTC`."""
    return f"{day(moment)} at {datetime.fromisoformat(moment):%H:%M} UTC"


def _number(value: float) -> str:
    return f"{value:,}"


def _time(moment: str) -> Markup:
    return Markup('<time datetime="{}">{}</time>').format(moment, day(moment))


def _minute(moment: str) -> Markup:
    return Markup('<time datetime="{}">{}</time>').format(moment, moment_of(moment))


_environment = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_environment.filters |= {
    "number": _number,
    "time": _time,
    "minute": _minute,
    "initial": initial,
    "picture": picture,
    "markdown": html_of,
    "link": link_of,
}
_environment.globals["REL"] = REL
