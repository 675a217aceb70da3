"""The colours of a bot: its theme, made legible in light and in dark.

Contrast is that of WCAG 2.2 (success criterion 1.4.3): text needs a ratio of 4.5 to what is behind
it. A colour that has less is mixed with black or with white until it has enough.
"""

import re
from collections.abc import Mapping, Sequence
from colorsys import hls_to_rgb
from functools import lru_cache
from hashlib import sha256

from commandsync.records.models import Bot

LEGIBLE = 4.5  # the ratio that text needs
VISIBLE = 3.0  # the ratio that the shape of a button needs
# The colours of the stylesheet that a theme has to be legible on.
LIGHT = {"page": "#f7f7f5", "surface": "#ffffff", "text": "#1d1d1b", "muted": "#5f5e59"}
DARK = {"page": "#121214", "surface": "#1b1b1e", "text": "#ececea", "muted": "#a3a29c"}
BLACK, WHITE = "#000000", "#ffffff"
_COLOUR = re.compile("#[0-9a-fA-F]{6}")
_SHARE = 0.12  # of the theme in the backgrounds that are tinted with it
_STEPS = 20
_LINEAR = 0.04045  # below this part of a colour, sRGB is a straight line
_HUES = 24  # of bots that have no theme; every second one is light


def contrast(colour: str, other: str) -> float:
    """Return the ratio of two colours such as `#1d1d1b`, from 1 to 21."""
    darker, lighter = sorted((_luminance(colour), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@lru_cache(1_000)
def shades(theme: str, scheme: str) -> Mapping[str, str]:
    """Return the colours of a theme such as `#d97706` in the scheme `light` or `dark`.

    `fill` is the background of a button, and `on-fill` the text on it; `link` is coloured text on
    the page, a surface or `tint`, a background with a little of the theme.
    """
    backgrounds, toward = (LIGHT, BLACK) if scheme == "light" else (DARK, WHITE)
    surface, page = backgrounds["surface"], backgrounds["page"]
    tint = _mixed(surface, theme, _SHARE)
    fill = _moved(theme, toward, [surface, page], VISIBLE)
    link = _moved(theme, toward, [surface, page, tint], LEGIBLE)
    return {"fill": fill, "on-fill": on(fill), "link": link, "tint": tint}


def on(background: str) -> str:
    """Return the colour of text on a background: one of black and white is always legible."""
    return max((WHITE, BLACK), key=lambda colour: contrast(colour, background))


def picture(bot: Bot) -> Mapping[str, str]:
    """Return the colours of the initial that a bot has instead of a picture."""
    base = theme_of(bot)
    lighter = _enabled(bot, bot.theme.color_lighter) or _mixed(base, WHITE, 0.5)
    return {"base": base, "lighter": lighter, "letter": on(base)}


def theme_of(bot: Bot) -> str:
    """Return the colour of a bot's theme; one that depends on its id if none is enabled."""
    hue = sha256(bot.id.encode(errors="replace")).digest()[0] % _HUES
    plain = hls_to_rgb(hue / _HUES, 0.63 if hue % 2 else 0.31, 0.55)
    return _enabled(bot, bot.theme.color) or "#" + bytes(round(255 * part) for part in plain).hex()


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
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(a + (b - a) * share) for a, b in pairs).hex()


def _luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    parts = (part / 255 for part in bytes.fromhex(colour[1:]))
    red, green, blue = (
        part / 12.92 if part <= _LINEAR else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
