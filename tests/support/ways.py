"""How listing services treat what they are sent, and how they say that a list has more pages.

A manner is a sign of further pages in one spelling, at one place, in one envelope. A way rewrites
texts (one field or all, of commands, announcements or both), or drops, refuses and hides records;
each is generated in its measure. A way hangs onto the hooks of `Listing`. Nothing here is shared
with the product, but for the value of a response.
"""

import html
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any, TypeAlias

from commandsync.errors import Reply
from tests.support.listing import FIELDS, Listing
from tests.support.oracle import without_emoji

Value = Callable[[int, int], object]

_LINK = "https://listing.example/v1/bot/42/commands?page={page}"


def _pages(read: int, count: int) -> int:
    return -(-count // read) if read else 1 + (count > 0)


SIGNS: dict[str, Value] = {
    "total": lambda _, count: count,
    "total count": lambda _, count: str(count),
    "total items": lambda _, count: count,
    "pages": _pages,
    "total pages": _pages,
    "page count": lambda read, count: str(_pages(read, count)),
    "max page": _pages,
    "last page": _pages,
    "has more": lambda read, count: read < count,
    "has next page": lambda read, count: str(read < count).lower(),
    "truncated": lambda read, count: read < count,
    "is last": lambda read, count: read == count,
    "next": lambda read, count: _LINK.format(page=2) if read < count else None,
    "next page": lambda read, count: 2 if read < count else None,
    "next cursor": lambda read, count: "eyJpZCI6NX0=" if read < count else "",
    "cursor": lambda read, count: "eyJpZCI6NX0=" if read < count else None,
    "next page token": lambda read, count: "t" if read < count else False,
}
"""The value of each sign, by how many records are in the answer and how many there are."""

SPELLINGS: dict[str, Callable[[Sequence[str]], str]] = {
    "camelCase": lambda words: words[0] + "".join(map(str.title, words[1:])),
    "PascalCase": lambda words: "".join(map(str.title, words)),
    "snake_case": "_".join,
    "kebab-case": "-".join,
    "UPPER_CASE": lambda words: "_".join(words).upper(),
}

ENVELOPES = ("data", "data.data", "own", "data.own", "own.data", "bare")
PLACES = ("top", "beside", "meta", "top meta", "pagination", "meta.pagination", "header")
HTTP = ("206", "206 with a range", "a range", "link", "links", "linked objects")


@dataclass(frozen=True)
class Manner:
    """How a service says that a list goes on."""

    sign: str  # the words of the sign, or one of HTTP's own
    spelling: str = "camelCase"  # how it is spelled
    place: str = "top"  # where it is
    envelope: str = "data"  # where the list is

    def __str__(self) -> str:
        return f"{self.sign}, {self.spelling}, {self.place}, {self.envelope}"

    def answer(self, records: Sequence[object], *, count: int, own: str = "commands") -> Reply:
        """Answer with these records, of so many that there are."""
        body, inner = _enveloped(self.envelope.replace("own", own).split("."), list(records))
        status, headers = 200, dict[str, str]()
        read = len(records)
        if self.sign in HTTP:
            status, headers = _http(self.sign, read, count, body)
        else:
            name = SPELLINGS[self.spelling](self.sign.split())
            value = SIGNS[self.sign](read, count)
            if self.place == "header":
                text = (
                    "" if value is None else value if isinstance(value, str) else json.dumps(value)
                )
                headers = {f"x-{name}".lower(): text}
            else:
                _put(body, inner, self.place, {name: value})
        return Reply(status, json.dumps(body).encode(), headers)


def manners() -> list[Manner]:
    """Return every manner."""
    every = [Manner(*parts) for parts in product(SIGNS, SPELLINGS, PLACES, ENVELOPES)]
    own = [
        Manner(sign, envelope=envelope)
        for sign, envelope in product(HTTP, ENVELOPES)
        if envelope != "bare" or not sign.startswith("link") or sign == "link"
    ]
    return own + [each for each in every if each.envelope != "bare" or each.place == "header"]


def _enveloped(names: Sequence[str], records: list[object]) -> tuple[Any, dict[str, Any]]:
    """Return the body, and the object in it that contains the list."""
    if names == ["bare"]:
        return records, {}
    *outer, last = names
    inner: dict[str, Any] = {last: records}
    body = inner
    for name in reversed(outer):
        body = {name: body}
    return {"success": True, "message": "Done.", **body}, inner if outer else {}


def _put(body: dict[str, Any], inner: dict[str, Any], place: str, said: dict[str, object]) -> None:
    match place:
        case "top":
            body |= said
        case "top meta":
            body["meta"] = said
        case "beside":
            (inner or body).update(said)
        case _:
            for name in reversed(place.split(".")):
                said = {name: {**said, "page": 1}}
            (inner or body).update(said)


def _http(sign: str, read: int, count: int, body: Any) -> tuple[int, dict[str, str]]:  # noqa: ANN401 - JSON
    on = read < count
    pages = {"next": 2, "last": 9} if on else {"prev": 1, "first": 1}
    links = {name: _LINK.format(page=page) for name, page in pages.items()}
    content_range = {"content-range": f"commands 0-{max(read - 1, 0)}/{count}"}
    match sign:
        case "206":
            return 206 if on else 200, {}
        case "206 with a range":
            return 206 if on else 200, content_range
        case "a range":
            return 200, content_range
        case "link":
            header = ", ".join(
                f'<{link}>; title="next"; rel="{name}"' for name, link in links.items()
            )
            return 200, {"link": header}
        case "links":
            body["_links"] = {name: {"href": link} for name, link in links.items()}
        case _:
            body["links"] = [{"rel": name, "href": link} for name, link in links.items()]
    return 200, {}


Record: TypeAlias = dict[str, Any]
Rewriting: TypeAlias = Callable[[str], str]

CUTS = (20, 30, 32, 49, 50, 62, 64, 99, 100, 127, 128, 250)
"""Characters at which services cut."""

_OPTIONAL = "category"  # the one field that may be empty
_SMART = str.maketrans({"'": "’", '"': "”", "-": "–"})  # noqa: RUF001 - what services make of them


def _cutting(size: int) -> Rewriting:
    return lambda text: text[:size]


def _cutting_in_two(size: int) -> Rewriting:
    """Cut as JavaScript does: an emoji counts as two, and half of one reads as U+FFFD."""
    return lambda text: text.encode("utf-16-le")[: 2 * size].decode("utf-16-le", "replace")


def _shortening(size: int) -> Rewriting:
    return lambda text: text if len(text) <= size else f"{text[: size - 1]}…"


def _then(*steps: Rewriting) -> Rewriting:
    def rewrite(text: str) -> str:
        for step in steps:
            text = step(text)
        return text

    return rewrite


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _collapsed(text: str) -> str:
    return " ".join(text.split())


def _without_punctuation(text: str) -> str:
    return "".join(c for c in text if not unicodedata.category(c).startswith("P"))


def _without_accents(text: str) -> str:
    apart = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))


REWRITINGS: dict[str, Callable[[int], Rewriting]] = {
    "lower-cases": lambda _: str.lower,
    "upper-cases": lambda _: str.upper,
    "title-cases": lambda _: str.title,
    "capitalizes": lambda _: str.capitalize,
    "collapses spaces": lambda _: _collapsed,
    "removes spaces": lambda _: _without_spaces,
    "one line": lambda _: lambda text: text.replace("\n", " "),
    "escapes": lambda _: html.escape,
    "escapes twice": lambda _: _then(html.escape, html.escape),
    "escapes, then title-cases": lambda _: _then(html.escape, str.title),
    "escapes twice and cuts": lambda size: _then(html.escape, html.escape, _cutting(size)),
    "escapes all but quotes": lambda _: lambda text: html.escape(text, quote=False),
    "unescapes": lambda _: html.unescape,
    "strips tags": lambda _: lambda text: re.sub(r"<[^<>]*>", "", text),
    "cuts": _cutting,
    "cuts emoji in two": _cutting_in_two,
    "cuts, with an ellipsis": _shortening,
    "lower-cases and cuts": lambda size: _then(str.lower, _cutting(size)),
    "escapes and cuts": lambda size: _then(html.escape, _cutting(size)),
    "cuts and escapes": lambda size: _then(_cutting(size), html.escape),
    "drops emoji": lambda _: without_emoji,
    "drops emoji and cuts": lambda size: _then(without_emoji, _cutting(size)),
    "NFKC": lambda _: lambda text: unicodedata.normalize("NFKC", text),
    "NFC": lambda _: lambda text: unicodedata.normalize("NFC", text),
    "NFD": lambda _: lambda text: unicodedata.normalize("NFD", text),
    "strips punctuation": lambda _: _without_punctuation,
    "strips accents": lambda _: _without_accents,
    "drops the category": lambda _: lambda _: "",
    "smart quotes": lambda _: lambda text: text.translate(_SMART),
    "all of it": lambda size: _then(_collapsed, str.lower, html.escape, _cutting(size)),
}
"""What a service makes of a field's text, given where it cuts."""


@dataclass(frozen=True)
class Way:
    """How a service treats what it is sent.

    Attributes:
        rewriting: The name of what it makes of a text; empty for a service that keeps texts.
        fields: Which fields it does that to.
        size: Where it cuts, or how many records it keeps.
        habit: The name of what it does with records; empty for a service that keeps all.
        collections: Which collections all of this is about.
        lag: From how many reads each change is hidden.
        tells: Whether the answer to an add tells the new id.
        manner: How it says that its lists go on after a page; None for one that lists all.
    """

    rewriting: str = ""
    fields: frozenset[str] = frozenset()
    size: int = 100
    habit: str = ""
    collections: tuple[str, ...] = tuple(FIELDS)
    lag: int = 0
    tells: bool = False
    manner: Manner | None = None

    def __str__(self) -> str:
        parts = [
            f"{self.rewriting} ({self.size}) {'/'.join(sorted(self.fields))}"
            if self.rewriting
            else "verbatim",
            f"{self.habit} ({self.size})" if self.habit else "",
            "" if self.collections == tuple(FIELDS) else f"{'/'.join(self.collections)} alone",
            f"lags {self.lag} reads" if self.lag else "",
            "tells ids" if self.tells else "",
            f"in pages of {self.page} ({self.manner})" if self.manner else "",
        ]
        return ", ".join(part for part in parts if part)

    @property
    def keeps_texts(self) -> bool:
        """Whether what is sent is stored verbatim."""
        return not self.rewriting

    @property
    def keeps_records(self) -> bool:
        """Whether every record that is sent is stored."""
        return not self.habit and self.manner is None

    @property
    def page(self) -> int:
        """How many records a page has, where there are pages."""
        return 1 + self.size % 5

    def cuts(self, count: int) -> bool:
        """Whether a read of so many records shows the first page alone."""
        return self.manner is not None and count > self.page

    def stored(self, record: Record) -> Record:
        """Return a record as this service stores it; a field that it must have is never empty."""
        collection = "commands" if "name" in record else "announcements"
        if not self.rewriting or collection not in self.collections:
            return record
        return {
            field: self._rewritten(field, text) if field in self.fields else text
            for field, text in record.items()
        }

    def _rewritten(self, field: str, text: str) -> str:
        stored = REWRITINGS[self.rewriting](self.size)(text).strip()
        return stored if field == _OPTIONAL else stored or text

    def text(self, text: tuple[str, ...]) -> tuple[str, ...]:
        """Return a text as this service stores it."""
        names = FIELDS["commands" if len(text) == len(FIELDS["commands"]) else "announcements"]
        return tuple(self.stored(dict(zip(names, text, strict=True))).values())

    def on(self, service: Listing) -> None:
        """Make a service behave so."""
        service.store = self.stored
        service.lag = self.lag
        service.tells = self.tells
        if manner := self.manner:
            service.present = lambda own, records: manner.answer(
                records[: self.page], count=len(records), own=own
            )
        service.refuse = self._refuse
        service.tidy = self._tidy

    def _refuse(self, collection: str, record: Record, others: list[Record]) -> str:
        if collection not in self.collections:
            return ""
        match self.habit:
            case "limits":
                return "the list is full" if len(others) >= max(self.size % 7, 1) else ""
            case "rejects":
                return "a field is invalid" if _unlucky(record, self.size) else ""
            case "rejects doubles":
                return "that name is taken" if _first(record) in map(_first, others) else ""
            case _:
                return ""

    def _tidy(self, collection: str, records: list[Record]) -> None:
        if collection in self.collections and self.habit in _TIDYING:
            _TIDYING[self.habit](records, self.size)


def _first(record: Record) -> str:
    return str(record.get("name") or record.get("title"))


def _unlucky(record: Record, size: int) -> bool:
    """Whether a service has something against this very text; of five it takes three or so."""
    return sum(map(ord, _first(record))) % 5 < 1 + size % 2


def _evict(records: list[Record], size: int) -> None:
    del records[: -max(size % 7, 1)]


def _drop(records: list[Record], size: int) -> None:
    if records and _unlucky(records[-1], size):
        del records[-1]


def _merge(records: list[Record], key: Callable[[Record], object]) -> None:
    seen: set[object] = set()
    kept = []
    for record in records:
        if key(record) not in seen:
            kept.append(record)
        seen.add(key(record))
    records[:] = kept


_TIDYING: dict[str, Callable[[list[Record], int], None]] = {
    "evicts": _evict,
    "drops": _drop,
    "merges names": lambda records, _: _merge(records, lambda one: _first(one).casefold()),
    "merges doubles": lambda records, _: _merge(
        records, lambda one: tuple(value for key, value in one.items() if key not in {"id", "uses"})
    ),
}

HABITS = ("limits", "rejects", "rejects doubles", *_TIDYING)


def draw_way(numbers: Random) -> Way:
    """Draw a service: four of ten keep everything verbatim, four rewrite, two lose records."""
    chance = numbers.random()
    collections = numbers.choice((("commands",), ("announcements",), tuple(FIELDS), tuple(FIELDS)))
    lag = numbers.randint(1, 4) if numbers.random() < 0.1 else 0
    tells = numbers.random() < 0.2
    size = numbers.choice(CUTS)
    if chance < 0.4:
        return Way(lag=lag, tells=tells)
    rewriting = numbers.choice(tuple(REWRITINGS)) if chance < 0.85 else ""
    habit = numbers.choice(HABITS) if chance >= 0.8 else ""
    every = sorted({field for name in collections for field in FIELDS[name]})
    first = {FIELDS[name][0] for name in collections}
    fields = numbers.choice((every, every, first, [numbers.choice(every)]))
    if rewriting == "drops the category":
        collections, fields = ("commands",), [_OPTIONAL]
    return Way(rewriting, frozenset(fields), size, habit, collections, lag, tells)
