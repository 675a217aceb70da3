"""The signs in an answer that its list goes on, or that the service failed: a table of each.

A sign counts in any spelling: case, punctuation and the usual prefixes are left out of its name. It
may be beside the list, in an object beside it, or in a header. `count` and `size` are not signs:
they may describe this page alone.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from commandsync.errors import Reply
from commandsync.records.texts import OF_MANIFEST

Level: TypeAlias = Mapping[str, Any]
Says: TypeAlias = Callable[[Any, int, float], bool]

_PARTIAL = 206
_LEAST_ERROR = 400
_PREFIX = re.compile("^(?:x|wp|odata|paging|pagination)+(?=.)")
_PARAMETER = re.compile(r";\s*(\w+)\s*=\s*(\"[^\"]*\"|[^\s;,]*)")
_NO = {"", "0", "false", "none", "null"}
_FAILED = {"error", "fail", "failed", "failure", "false"}
_OTHERS = {
    *(resource.collection for resource in OF_MANIFEST),
    *("bot", "bots", "user", "voters", "votes"),
    *("profile", "information", "statistics", "stats", "ratings", "theme"),
}
"""Objects that are not about the list: the ratings of a bot have a `total` too."""


def failed(level: Level, *, notice: bool = False) -> bool:
    """Whether an object of an answer reports that the service failed.

    With `notice`, `success` may be a sentence, as the service interface has it for a write.
    """
    values = {_folded(name): value for name, value in level.items()}
    if "id" in values and "data" not in values:
        values.pop("status", None)  # a bot has one too
    if notice and " " in str(values.get("success")):
        del values["success"]
    return any(says(values[name]) for name, says in _FAILURE.items() if name in values)


def objects_of(levels: Iterable[Level]) -> Iterator[Level]:
    """Yield the objects that contain a list, and the objects beside it."""
    pending = list(levels)
    while pending:
        level = pending.pop()
        yield level
        nested = (value for name, value in level.items() if _folded(name) not in _OTHERS)
        pending += (value for value in nested if isinstance(value, dict))


def more(reply: Reply, levels: Iterable[Level], *, own_name: str, read: int) -> str:
    """Return the sign that a list has more records than the `read` ones; empty if there is none.

    The `levels` are the objects that contain the list, and `own_name` is what it is called there.
    """
    if reply.status == _PARTIAL:
        return f"HTTP {_PARTIAL}"
    headers = {name: _object_or_text(value) for name, value in reply.headers.items()}
    for level in objects_of([headers, *levels]):
        named = {_folded(name).replace(own_name, "items"): name for name in level}
        page = _number(level.get(named.get("page", "")))
        for folded, name in named.items():
            if folded in _MORE and _MORE[folded](level[name], read, 1 if page is None else page):
                return name
    return ""


def _folded(name: str) -> str:
    return _PREFIX.sub("", re.sub("[^a-z0-9]", "", name.casefold()))


def _object_or_text(value: str) -> object:
    """Return a header's value; some services write an object of JSON into one."""
    try:
        return json.loads(value) if value.startswith("{") else value
    except (ValueError, RecursionError):
        return value


def _number(value: object) -> float | None:
    try:
        is_number = isinstance(value, str | int | float) and not isinstance(value, bool)
        return float(value) if is_number else None  # type: ignore[arg-type]  # one of them
    except (ValueError, OverflowError):
        return None


def _above(value: object, limit: float) -> bool:
    number = _number(value)
    return number is not None and number > limit


def _is_given(value: object) -> bool:
    """Whether a value, or any within it, is more than nothing, zero or no."""
    pending = [value]
    while pending:
        match pending.pop():
            case dict() as inner:
                pending += inner.values()
            case list() as inner:
                pending += inner
            case str() as text:
                if text.strip().casefold() not in _NO:
                    return True
            case given:
                if given:
                    return True
    return False


def _text(value: object) -> str:
    return str(value).strip().casefold() if isinstance(value, str | int | float) else ""


def _is_false(value: object) -> bool:
    return _text(value) == "false"


def _is_success(value: object) -> bool:
    return value == 1 or _text(value) in {"true", "1"}


def _is_failure(status: object) -> bool:
    word = _text(status).partition(" ")[0]
    return word in _FAILED or _above(word, _LEAST_ERROR - 1)


def _leads_on(link: object) -> bool:
    """Whether a `Link` header (RFC 8288), or a list of links, has one to the next page."""
    if isinstance(link, list):
        objects = [dict(item) for item in link if isinstance(item, dict)]
        return any(_is_next(item.pop("rel", "")) and _is_given(item) for item in objects)
    parameters = _PARAMETER.findall(re.sub("<[^>]*>", "", _text(link)))
    return any(name == "rel" and _is_next(value) for name, value in parameters)


def _is_next(relation: object) -> bool:
    return "next" in _text(relation).strip('"').split()


def _ends_before(content_range: object, read: int) -> bool:
    """Whether a `Content-Range` of records has a total above what was read."""
    unit, _, total = _text(content_range).rpartition("/")
    return not unit.startswith("bytes") and _above(total, read)


_FAILURE: dict[str, Callable[[object], bool]] = {
    "success": lambda value: not _is_success(value),
    "ok": lambda value: not _is_success(value),
    "error": _is_given,
    "errors": _is_given,
    "status": _is_failure,
    "statuscode": _is_failure,
}
"""Whether the value of a name reports a failure."""

_ROWS: tuple[tuple[Says, str], ...] = (
    (
        lambda value, read, _: _above(value, read),
        "total totalcount totalitems totalresults totalrecords totalelements itemstotal",
    ),
    (
        lambda value, _, __: _above(value, 1),
        "pages totalpages pagestotal pagetotal numpages numberofpages pagecount pagescount",
    ),
    (
        # The number of the last page: where pages are counted from 0, 1 is the second one.
        lambda value, _, page: _above(value, min(page, 1)) or _is_false(value),
        "maxpage lastpage",
    ),
    (
        lambda value, _, __: _is_given(value),
        (
            "next nextpage nexturl nexturi nextlink nexthref nexttoken nextpagetoken nextpageurl "
            "nextcursor nextoffset nextmarker nextkey cursor continuation continuationtoken more "
            "hasmore hasmoreitems hasmorepages hasmoreresults hasnext hasnextpage moreavailable "
            "truncated istruncated incomplete incompleteresults partial"
        ),
    ),
    (lambda value, _, __: _is_false(value), "last islast islastpage complete done"),
    (lambda value, _, __: _leads_on(value), "link links"),
    (lambda value, read, _: _ends_before(value, read), "contentrange"),
)
_MORE = {name: says for says, names in _ROWS for name in names.split()}
"""Whether the value of a name reports more records, given how many were read, and the page."""
