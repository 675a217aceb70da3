"""The content of an answer: its JSON, and whether the service carried out the request.

`content_of` checks the status first (wire notes, "status codes"), then parses the body, and then
looks for a failure that is reported in it. A refusal becomes an `ApiError` with the service's own
message, and a body that is not JSON a `DecodeError`. JSON is untrusted: a text whose values would
take too much memory is refused before it is parsed. The limits on requests are read from the
headers.

A sign says that a list has further pages, or that the service failed. It counts in any spelling:
case, punctuation and the usual prefixes are left out of its name. It may be beside the list, in an
object beside it, or in a header. `count` and `size` are not signs: they may describe this page
alone.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from commandsync import errors
from commandsync.diagnostics import Do, Hint
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


def more(reply: errors.Reply, levels: Iterable[Level], *, own_name: str, read: int) -> str:
    """Return the sign that a list has more records than the `read` ones; empty if there is none.

    The `levels` are the objects that contain the list, and `own_name` is its name there.
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
    """Whether a `Content-Range` of records has a total above the number of read ones."""
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


CHECK_BASE_URL = "check the base URL: is it the listing service's, without /v1?"
ABOUT_TOKEN = re.compile(
    "token|authori[sz]|authentic|credential|forbidden|permission", re.IGNORECASE
)
"""The words of a service that refuses the token."""

_LONGEST_PERIOD = 1_000_000_000  # seconds
_LONGEST_MESSAGE = 500  # characters of a service's own message that are passed on

MOST_VALUES = 1_000_000
"""Counted by the characters between values, those in strings too; 20,000 commands have half."""

MOST_MEMORY = 64 * 2**20
"""Bytes of the decoded text: with one emoji, every character takes four."""

_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_ESCAPES = re.compile(
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"  # whole
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|[\ud800-\udfff]"
)


def content_of(reply: errors.Reply, *, notice: bool = False) -> Any:  # noqa: ANN401 - JSON is anything
    """Return the JSON content of a successful answer; `notice` as in `failed`.

    Raises `ApiError` if the service refused, and `DecodeError` if the body is not JSON.
    """
    raise_for_status(reply)
    try:
        content = parse_json(reply.body)
    except (ValueError, RecursionError) as error:
        start = reply.body[:100].lstrip().lower()
        kind = "an HTML page" if start.startswith((b"<!doctype", b"<html")) else "not valid JSON"
        message = f"the answer is {kind} (HTTP {reply.status})"
        if isinstance(error, TooManyValuesError):
            message = f"the answer is too large: {error}"
        raise errors.DecodeError(message, reply=reply, hint=CHECK_BASE_URL) from error
    if isinstance(content, dict):
        raise_for_failure(content, reply, notice=notice)
    return content


def raise_for_failure(
    level: Mapping[str, Any], reply: errors.Reply, *, notice: bool = False
) -> None:
    """Raise `Invalid` if an object of an answer reports a failure; `notice` as in `failed`."""
    if failed(level, notice=notice):
        words = own_message(level)
        raise errors.Invalid(
            f"the service reports a failure: {words}" if words else "the service reports a failure",
            reply=reply,
            hint="this is the service's own message; if it does not help, see the bot's page",
        )


def json_or_none(reply: errors.Reply) -> Any:  # noqa: ANN401 - JSON is anything
    """Return the JSON content of any answer; None if it has none."""
    try:
        return parse_json(reply.body)
    except (ValueError, RecursionError):
        return None


def raise_for_status(reply: errors.Reply) -> None:
    """Raise the error of a status that is not a success."""
    status = reply.status
    if 200 <= status < 300:  # noqa: PLR2004 - HTTP's own class
        return
    if status < 200:  # noqa: PLR2004 - HTTP's own class
        raise errors.DecodeError(
            f"the answer is an interim one (HTTP {status})", reply=reply, hint=CHECK_BASE_URL
        )
    content = json_or_none(reply)
    words = own_message(content)
    message = f"{status}: {words}" if words else f"HTTP {status}"
    if status in _REFUSALS:
        raise refused(reply, message)
    if status == 429:  # noqa: PLR2004 - HTTP's own number
        asked = _retry_after(reply)
        seconds = _seconds_in(content) if asked is None else asked
        allowed = "" if seconds is None else f"; the next one is allowed in {seconds:,g} s"
        raise errors.RateLimited(
            f"the service limits the rate of requests ({message}){allowed}",
            reply=reply,
            hint=Do.LOWER_CONCURRENCY(),
            retry_after=seconds,
        )
    if status == 408 or status >= 500:  # noqa: PLR2004 - HTTP's own numbers
        raise errors.ServerError(
            f"the service has an internal error ({message})", reply=reply, hint="run again later"
        )
    if status < 400:  # noqa: PLR2004 - HTTP's own class
        raise errors.Redirected(
            f"the service redirects ({message}), and redirects are not followed",
            reply=reply,
            hint="set the base URL to the service's real address: the token is sent nowhere else",
        )
    raise errors.Invalid(f"the service refuses the request ({message})", reply=reply)


def refused(reply: errors.Reply, message: str, *, by: str = "service") -> errors.ApiError:
    """Return the error of a 401, 403 or 404; without a token, the first two ask for one."""
    kind, meaning, hint = _REFUSALS[reply.status]
    if kind is not errors.NotFound and not reply.with_token:
        meaning, hint = _NO_TOKEN
    return kind(f"{meaning.format(by=by)} ({message})", reply=reply, hint=hint)


_NO_TOKEN = "no token was given, and the {by} refuses the request", Do.GIVE_TOKEN()
_REFUSALS: dict[int, tuple[type[errors.ApiError], str, str | Hint]] = {
    401: (
        errors.Unauthorized,
        "the {by} does not accept the token",
        Do.RENEW_TOKEN(),
    ),
    403: (errors.Forbidden, "the token may not do this", "is it the token of this bot?"),
    404: (
        errors.NotFound,
        "the {by} does not have this bot or record",
        "check the bot's id and the base URL (without /v1)",
    ),
}


def own_message(content: object) -> str:
    """Return the service's own message on an error: `error` or `message` (wire notes).

    Some services send the error as an object with a `message`, or several in a list `errors`;
    others have the `detail` and `title` of RFC 9457, or a `description` beside `"ok": false`.
    """
    if not isinstance(content, dict):
        return ""
    names = ("error", "errors", "message", "detail", "title")
    values: Iterable[object] = (content.get(name) for name in names)
    if content.get("ok") is False:
        values = chain(values, [content.get("description")])
    message = next(filter(None, map(_joined, values)), "")
    return " ".join(message.split())[:_LONGEST_MESSAGE]


def _joined(value: object) -> str:
    """Return the messages of an error, or of a list of errors."""
    parts = value if isinstance(value, list) else [value]
    messages = (part.get("message") if isinstance(part, dict) else part for part in parts)
    return "; ".join(message for message in messages if isinstance(message, str))


class TooManyValuesError(ValueError):
    """The values would take too much memory; the message names the limit."""


def decode_json(data: bytes) -> str:
    """Decode JSON in any of its encodings.

    Half of a surrogate pair, escaped or not, becomes U+FFFD: it cannot be written to a file.
    Services leave one where they cut a text in the middle of an emoji. Raises `TooManyValuesError`
    if the text takes too much memory, and `UnicodeDecodeError` for another encoding than JSON's.
    """
    text = data.decode(json.detect_encoding(data), "surrogatepass")
    check_size(text)
    if _HALF.search(text):
        text = _ESCAPES.sub(lambda match: match[1] or "\ufffd", text)
    return text.removeprefix("\ufeff")


def check_size(text: str) -> None:
    """Raise `TooManyValuesError` for a text that is too large, or has too many values."""
    if sys.getsizeof(text) > MOST_MEMORY:
        raise TooManyValuesError(f"it takes more than {MOST_MEMORY // 2**20} MiB of memory")
    if sum(map(text.count, ",[{")) > MOST_VALUES:
        raise TooManyValuesError(f"it contains more than {MOST_VALUES:,} values")


def parse_json(data: bytes) -> Any:  # noqa: ANN401 - JSON is anything
    """Return the values of an answer's body.

    Raises `TooManyValuesError`, `ValueError` if it is not JSON, and `RecursionError` if it is
    nested too deeply.
    """
    return json.loads(decode_json(data))


class RateLimit(NamedTuple):
    """The limit on requests that an answer reports; None where it does not."""

    limit: int | None = None  # how many requests are allowed in a period
    remaining: int | None = None  # how many of them are left
    reset: float | None = None  # seconds until the next period
    retry_after: float | None = None  # seconds to wait before the next request


def rate_limit_of(reply: errors.Reply) -> RateLimit | None:
    """Return the limit in the headers of an answer; None if there is none."""
    numbers = {}
    for name in ("limit", "remaining", "reset"):
        value = reply.headers.get(f"ratelimit-{name}") or reply.headers.get(f"x-ratelimit-{name}")
        numbers[name] = int(value) if value and re.fullmatch(r"[0-9]{1,15}", value) else None
    reset: float | None = numbers["reset"]
    if reset and reset > _LONGEST_PERIOD:  # a time in place of seconds
        now = http_time(reply.headers.get("date", ""))
        reset = None if now is None else max(0.0, reset - now.timestamp())
    limit = RateLimit(numbers["limit"], numbers["remaining"], reset, _retry_after(reply))
    return None if limit == RateLimit() else limit


class Bucket(NamedTuple):
    """The limit of a service on one kind of request."""

    most: int  # how many are allowed in a period
    left: int  # how many of them are left
    seconds: float  # until the next period


def bucket_of(reply: errors.Reply) -> Bucket | None:
    """Return the limit on the kind of request that an answer is to, as Discord answers it."""
    names = ("limit", "remaining", "reset-after")
    values = [reply.headers.get(f"x-ratelimit-{name}", "") for name in names]
    if not all(re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value) for value in values):
        return None
    most, left, seconds = map(float, values)
    return Bucket(max(int(most), 1), int(left), seconds)


def _retry_after(reply: errors.Reply) -> float | None:
    """Return the seconds in `Retry-After`; None when it is absent or malformed.

    A date is measured from the answer's own `Date`, so that no clock is needed here.
    """
    value = reply.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    until, now = http_time(value), http_time(reply.headers.get("date", ""))
    return None if until is None or now is None else max(0.0, (until - now).total_seconds())


def _seconds_in(content: object) -> float | None:
    """Return the seconds to wait as some services have them in the body; None where it has none."""
    if not isinstance(content, dict):
        return None
    parameters = content.get("parameters")
    values = [content.get("retry-after"), content.get("retry_after")]
    values += [parameters.get("retry_after")] if isinstance(parameters, dict) else []
    for value in values:
        if isinstance(value, int | float) and 0 < value < _LONGEST_PERIOD and value is not True:
            return float(value)
    return None


def http_time(value: str) -> datetime | None:
    """Return the time in a header, with its zone; None if it is not a valid one."""
    try:
        time = parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):  # OverflowError: a year beyond all calendars
        return None
    return time if time.tzinfo else None
