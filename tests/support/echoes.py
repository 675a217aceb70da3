"""Tokens and base URLs in the ways in which services and people write them.

A service may return a token escaped, nested, in any encoding.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator

from hypothesis import strategies as st

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
