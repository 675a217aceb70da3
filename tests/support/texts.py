"""Texts as bots have them, generated: recased, cut, grown by a sentence, of round lengths, twins.

Every function draws from the `Random` it is given, so that a number always gives the same texts.
"""

import html
import unicodedata
from collections.abc import Callable
from random import Random
from typing import TypeAlias

Variant: TypeAlias = Callable[[Random, str], str]

SIZES = (1, 2, 8, 16, 29, 30, 31, 32, 48, 49, 50, 51, 62, 63, 64, 65, 99, 100, 101, 127, 128, 129)
"""Characters: where services cut, and right beside."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ALPHABETS = (*[_LETTERS] * 12, "0123456789", "äéïöüçñßøå", "абвгдежзиклм", "日本語中文한국")
_MARKS = (".", "!", "?", "...", ":", " -", ",", ";", "_", "*", "#", "/", "`")
_ODD = (
    "<b>{}</b>",
    "<{}>",
    "[{}]",
    "&amp; {}",
    "{} &amp; {}",
    "{} &lt;{}&gt;",
    "{}&#39;s {}",
    "&amp;amp; {}",
    "& {}",
    "&lt;{}&gt;",
    '"{}"',
    "'{}'",
    "“{}”",
    "it’s {}",  # noqa: RUF001 - what a phone types
    "{}  {}",
    "{}\n{}",
    "{}\n\n{}",
    "**{}**",
    "ﬁ{}",
    "Ⅷ{}",
    "Ａ{}",  # noqa: RUF001 - full width
    "İ{}",
    "{}\u0301",
    "{}\u200d{}",
    "{}\u00a0{}",
)
_EMOJI = ("😀", "🎉", "✨", "⚠️", "❤️", "👍🏽", "👩‍💻", "🇩🇪", "🏳️‍🌈", "☂")


def word(numbers: Random) -> str:
    """Draw a word of one alphabet."""
    letters = numbers.choice(_ALPHABETS)
    drawn = "".join(numbers.choices(letters, k=numbers.randint(1, 7)))
    return drawn.capitalize() if numbers.random() < 0.2 else drawn


def sentence(numbers: Random) -> str:
    """Draw a few words that end with a full stop."""
    words = [word(numbers) for _ in range(numbers.randint(1, 5))]
    return " ".join(words).capitalize() + "."


def sized(numbers: Random, size: int) -> str:
    """Draw words of so many characters in all, no space at either end."""
    drawn = word(numbers)
    while len(drawn) < size:
        drawn += f" {word(numbers)}"
    drawn = drawn[:size]
    return drawn if drawn == drawn.strip() else drawn[:-1] + numbers.choice(_LETTERS)


def phrase(numbers: Random) -> str:
    """Draw a text of any of the kinds: a few words, a round length, an odd one, an emoji."""
    chance = numbers.random()
    if chance < 0.3:
        return sized(numbers, numbers.choice(SIZES))
    if chance < 0.45:
        odd = numbers.choice(_ODD)
        return odd.format(*(word(numbers) for _ in range(2)))
    if chance < 0.6:
        return emotional(numbers, sentence(numbers))
    return sentence(numbers)


def name(numbers: Random) -> str:
    """Draw the name of a command: mostly one or two words, at times whatever a phrase may be."""
    chance = numbers.random()
    if chance < 0.55:
        return word(numbers)
    return f"{word(numbers)} {word(numbers)}" if chance < 0.75 else phrase(numbers)


def emotional(numbers: Random, text: str) -> str:
    """Put an emoji in front of a text, behind it, or between two of its characters."""
    place = numbers.choice((0, len(text), numbers.randint(0, len(text))))
    return f"{text[:place]}{numbers.choice(_EMOJI)}{text[place:]}"


def grown(numbers: Random, text: str) -> str:
    """Add a sentence to a text."""
    return f"{text} {sentence(numbers)}"


def grown_from(numbers: Random, text: str) -> str:
    """Fill a text up to one of the round lengths, as if it had been cut there."""
    size = numbers.choice([size for size in SIZES if size > len(text)] or [len(text) + 1])
    return text + sized(numbers, size - len(text))


def shortened(numbers: Random, text: str) -> str:
    """Cut a text at one of the round lengths, or anywhere."""
    sizes = [size for size in SIZES if size < len(text)]
    size = numbers.choice(sizes) if sizes and numbers.random() < 0.7 else len(text) // 2
    return text[: max(size, 1)]


def with_a_mark(numbers: Random, text: str) -> str:
    """Add punctuation to a text."""
    return text + numbers.choice(_MARKS)


def with_another_letter(numbers: Random, text: str) -> str:
    """Change one character."""
    place = numbers.randrange(len(text)) if text else 0
    return f"{text[:place]}{numbers.choice(_LETTERS)}{text[place + 1 :]}"


VARIANTS: tuple[Variant, ...] = (
    *(grown, grown, grown_from, shortened, with_a_mark, with_another_letter, emotional),
    lambda _, text: text.lower(),
    lambda _, text: text.upper(),
    lambda _, text: text.title(),
    lambda _, text: text.swapcase(),
    lambda _, text: text.replace(" ", "  "),
    lambda _, text: text.replace(" ", ""),
    lambda _, text: html.escape(text),
    lambda _, text: html.unescape(text),
    lambda _, text: unicodedata.normalize("NFD", text),
    lambda _, text: unicodedata.normalize("NFKC", text),
    lambda numbers, _: phrase(numbers),
)
"""What an author, or another writer, makes of a text."""


def varied(numbers: Random, text: str) -> str:
    """Draw a variant of a text; one that would be empty stays as it was."""
    return clean(numbers.choice(VARIANTS)(numbers, text)) or text


def clean(text: str) -> str:
    """Return a text as manifests and listings are compared: LF line ends, stripped."""
    return text.replace("\r\n", "\n").strip()
