"""Every manner in which services say that a list goes on, and how the same ones say that it ends.

A manner is a sign in one spelling, at one place, in one envelope. It shares nothing with the
product but the value that stands for an answer.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from commandsync.errors import Reply

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
