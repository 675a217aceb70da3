"""Texts as bots have them, and tokens and base URLs as services and people write them.

Texts are recased, cut, grown by a sentence, of round lengths, twins. Each such function draws from
the `Random` it is given, so that a number always gives the same texts. A service may return a token
escaped, nested, in any encoding.
"""

import html
import json
import unicodedata
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from random import Random
from typing import TypeAlias

from hypothesis import strategies as st

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


ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le")

_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))

tokens = st.text(_PRINTABLE, min_size=8, max_size=80).filter(
    lambda token: not token.startswith("Bot") and "hidden" not in token
)
"""Opaque tokens of every character that one may have."""

plain_tokens = st.from_regex(r"[A-Za-z][A-Za-z0-9_.\-]{11,40}", fullmatch=True)
"""Tokens as services make them, which no address, name or JSON of ours resembles by chance."""

jwts = st.builds(
    lambda bot, signature: ".".join(
        urlsafe_b64encode(part).decode().rstrip("=")
        for part in (b'{"alg":"HS256"}', json.dumps({"id": bot}).encode(), signature)
    ),
    st.text("0123456789", min_size=1, max_size=20),
    st.binary(min_size=8, max_size=32),
)
"""Tokens as the wire notes have them."""


@st.composite
def spelled(draw: st.DrawFn, text: str) -> str:
    """Return a string of JSON that means a text, any of its characters escaped or not."""
    ways = draw(st.lists(st.integers(0, 2), min_size=len(text), max_size=len(text)))
    return '"' + "".join(map(_character, text, ways)) + '"'


@st.composite
def echoes(draw: st.DrawFn, before: str) -> tuple[str, str]:
    """Return a token, and a string of JSON that means it after some words."""
    token = draw(plain_tokens)
    return token, draw(spelled(before + token))


@st.composite
def folded(draw: st.DrawFn, text: str, times: int) -> str:
    """Return a string of JSON that holds a string of JSON, and so on, that means a text."""
    for _ in range(times):
        text = draw(spelled(text))
    return text


def _character(character: str, way: int) -> str:
    if way == 0:
        return json.dumps(character, ensure_ascii=False)[1:-1]
    code = f"{ord(character):04x}"
    return "\\u" + (code if way == 1 else code.upper())


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in decoded JSON, keys included."""
    match value:
        case str():
            yield value
        case dict():
            for name, inside in value.items():
                yield name
                yield from texts_in(inside)
        case list():
            for inside in value:
                yield from texts_in(inside)
        case _:
            pass


_LOOPBACK = (
    st.sampled_from(["localhost", "localhost.", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:7f00:1]"])
    | st.tuples(*[st.integers(0, 255)] * 3).map("127.{0[0]}.{0[1]}.{0[2]}".format)
    | st.integers(1, 254).map("[::ffff:127.0.0.{}]".format)
)
_LABELS = st.lists(st.text("abcxyz019", min_size=1, max_size=5).map("n{}".format), min_size=2)


def local_urls(port: int) -> st.SearchStrategy[str]:
    """Draw base URLs of a service on this machine."""
    return _LOOPBACK.flatmap(lambda host: _urls("http", host, port))


@st.composite
def url_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Draw two base URLs of one service."""
    host = draw(_LABELS.map(".".join))
    scheme, port = draw(st.sampled_from([("http", 80), ("https", 443), ("https", 8443)]))
    urls = _urls(scheme, host, port) | _urls(scheme, f"{host}.", port)
    return draw(urls), draw(urls)


@st.composite
def _urls(draw: st.DrawFn, scheme: str, host: str, port: int) -> str:
    default = {"http": 80, "https": 443}[scheme] == port
    ports = [f":{port}", f":0{port}", *(["", ":"] if default else [])]
    path = draw(st.sampled_from(["", "/", "/v1", "/v1/"]))
    name = "".join(draw(st.sampled_from([str.lower, str.upper]))(one) for one in host)
    return f"{draw(st.sampled_from([scheme, scheme.upper()]))}://{name}{draw(st.sampled_from(ports))}{path}"
