"""The colours of a bot: its theme, made legible in light and in dark.

Contrast is that of WCAG 2.2 (success criterion 1.4.3): text needs a ratio of 4.5 to what is behind
it. A colour that has less is mixed with black or with white until it has enough.
"""

import re
from collections.abc import Sequence
from colorsys import hls_to_rgb
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from commandsync.records.models import Bot

LEGIBLE = 4.5
"""The ratio that text needs."""

VISIBLE = 3.0
"""The ratio that the shape of a button needs."""

LIGHT = {"page": "#f7f7f5", "surface": "#ffffff", "text": "#1d1d1b", "muted": "#5f5e59"}
DARK = {"page": "#121214", "surface": "#1b1b1e", "text": "#ececea", "muted": "#a3a29c"}
"""The colours of the stylesheet that a theme has to be legible on."""

BLACK, WHITE = "#000000", "#ffffff"
_COLOUR = re.compile("#[0-9a-fA-F]{6}")
_SHARE = 0.12  # of the theme in the backgrounds that are tinted with it
_STEPS = 20
_LINEAR = 0.04045  # below this part of a colour, sRGB is a straight line
_HUES = 24  # of bots that have no theme; every second one is light


@dataclass(frozen=True, slots=True)
class Shades:
    """The colours of a theme in light or in dark."""

    fill: str  # the background of a button
    on_fill: str  # the text on it
    link: str  # coloured text on the page, a surface or `tint`
    tint: str  # a background with a little of the theme


@dataclass(frozen=True, slots=True)
class Picture:
    """The colours of the initial that a bot has instead of a picture, and of its backgrounds."""

    base: str
    lighter: str
    letter: str


def contrast(colour: str, other: str) -> float:
    """Return the ratio of two colours such as `#1d1d1b`, from 1 to 21."""
    darker, lighter = sorted((_luminance(colour), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@lru_cache(1_000)
def shades(theme: str, scheme: str) -> Shades:
    """Return the colours of a theme such as `#d97706` in the scheme `light` or `dark`."""
    backgrounds = LIGHT if scheme == "light" else DARK
    toward = BLACK if scheme == "light" else WHITE
    surface, page = backgrounds["surface"], backgrounds["page"]
    tint = _mixed(surface, theme, _SHARE)
    fill = _moved(theme, toward, [surface, page], VISIBLE)
    link = _moved(theme, toward, [surface, page, tint], LEGIBLE)
    return Shades(fill=fill, on_fill=on(fill), link=link, tint=tint)


def on(background: str) -> str:
    """Return the colour of text on a background: one of black and white is always legible."""
    return max((WHITE, BLACK), key=lambda colour: contrast(colour, background))


def picture(bot: Bot) -> Picture:
    """Return the colours of a bot's initial."""
    base = theme_of(bot)
    lighter = _enabled(bot, bot.theme.color_lighter) or _mixed(base, WHITE, 0.5)
    return Picture(base=base, lighter=lighter, letter=on(base))


def theme_of(bot: Bot) -> str:
    """Return the colour of a bot's theme; one that depends on its id if none is enabled."""
    hue = sha256(bot.id.encode(errors="replace")).digest()[0] % _HUES
    plain = hls_to_rgb(hue / _HUES, 0.63 if hue % 2 else 0.31, 0.55)
    return _enabled(bot, bot.theme.color) or "#" + "".join(f"{round(255 * p):02x}" for p in plain)


def _enabled(bot: Bot, colour: str | None) -> str:
    """Return a colour of a bot's theme; empty if it is not enabled or not a colour."""
    return colour.lower() if bot.theme.enabled and colour and _COLOUR.fullmatch(colour) else ""


def _moved(colour: str, toward: str, backgrounds: Sequence[str], ratio: float) -> str:
    """Return the nearest mixture with another colour that has a ratio to all backgrounds."""
    mixtures = (_mixed(colour, toward, step / _STEPS) for step in range(_STEPS + 1))
    return next(
        mixture
        for mixture in mixtures
        if all(contrast(mixture, background) >= ratio for background in backgrounds)
    )


def _mixed(colour: str, other: str, share: float) -> str:
    pairs = zip(_parts(colour), _parts(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    red, green, blue = (_linear(part / 255) for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= _LINEAR else ((part + 0.055) / 1.055) ** 2.4
