"""The files that a page loads: the stylesheet, the icon, the scripts.

Each has a name of its own for every content, so that browsers keep it for good.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path

_FOLDER = Path(__file__).parent / "static"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assets:
    """Where a page finds its files."""

    style: str  # the address of the stylesheet
    icon: str  # the address of the icon
    scripts: tuple[str, ...]  # the addresses of the scripts of the bot's page
    # The stream of a preview that tells of the next version of the page; empty elsewhere.
    live: str = ""
    # Whether a service answers the links of the page; a preview has none of them.
    listing: bool = False


@cache
def static_files() -> Mapping[str, bytes]:
    """Return the stylesheet and the scripts, by their own names."""
    return {file.name: file.read_bytes() for file in sorted(_FOLDER.iterdir())}


@cache
def served_files() -> Mapping[str, bytes]:
    """Return them by the names that the service has them under."""
    return {_hashed(name): content for name, content in static_files().items()}


@cache
def served() -> Assets:
    """Return the addresses on a service."""
    folder = beside()
    return Assets(
        style=f"/static/{_hashed(folder.style)}",
        icon=f"/static/{_hashed(folder.icon)}",
        scripts=tuple(f"/static/{_hashed(name)}" for name in folder.scripts),
        listing=True,
    )


@cache
def previewed() -> Assets:
    """Return the addresses on the web server of a preview."""
    return replace(served(), live="/live", listing=False)


@cache
def beside() -> Assets:
    """Return the addresses of files in the folder of the page."""
    scripts = tuple(name for name in static_files() if name.endswith(".js"))
    return Assets(style="style.css", icon="icon.svg", scripts=scripts)


def _hashed(name: str) -> str:
    stem, _, ending = name.rpartition(".")
    return f"{stem}.{sha256(static_files()[name]).hexdigest()[:12]}.{ending}"
