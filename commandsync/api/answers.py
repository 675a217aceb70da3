"""What an answer of the service says: tolerant of its shape, strict about its meaning.

The shapes come from the wire notes: `{"success", "message", "data"}` with the list in `data` or in
`data.data`, a bare list, or a list under its own name. What is not a list, reports failure, or
says that there is more than was read is an error and never an empty listing.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

from commandsync.api import jsontext
from commandsync.errors import (
    ApiError,
    DecodeError,
    Forbidden,
    Invalid,
    NotFound,
    RateLimited,
    Reply,
    ServerError,
    Unauthorized,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from commandsync.records.models import Announcement, Bot, BotPage, Command, VoterPage

    M = TypeVar("M", bound=BaseModel)

_LONGEST_MESSAGE = 500  # characters of a service's own words that are passed on
_MOST_RECORDS = 100_000  # of one list: no bot has a tenth of it
_CHECK_BASE_URL = "check the base URL: is it the listing service's, without /v1?"


def commands(reply: Reply) -> tuple[Command, ...]:
    """Read a list of commands.

    Raises:
        ApiError: The service said no.
        DecodeError: It is not a whole list of commands with a name each.
    """
    from commandsync.records.models import Command  # noqa: PLC0415 - pydantic loads while the reply travels

    return tuple(_record(Command, item, reply) for item in _whole_list(reply, "commands"))


def announcements(reply: Reply) -> tuple[Announcement, ...]:
    """Read a list of announcements; raises as `commands` does."""
    from commandsync.records.models import Announcement  # noqa: PLC0415 - as above

    return tuple(_record(Announcement, item, reply) for item in _whole_list(reply, "announcements"))


def bot(reply: Reply) -> Bot:
    """Read one bot; raises as `commands` does."""
    from commandsync.records.models import Bot  # noqa: PLC0415 - as above

    content = _content(reply)
    for name in ("data", "bot", "data"):
        if isinstance(content, dict) and isinstance(content.get(name), dict | list):
            content = content[name]
    if isinstance(content, list) and len(content) == 1:
        content = content[0]
    return _record(Bot, content, reply)


def bot_page(reply: Reply) -> BotPage:
    """Read one page of bots; raises as `commands` does."""
    from commandsync.records.models import BotPage  # noqa: PLC0415 - as above

    items, queries = _list(reply, "bots")
    return _record(BotPage, {"bots": items, "queries": queries}, reply)


def voter_page(reply: Reply) -> VoterPage:
    """Read one page of voters; raises as `commands` does."""
    from commandsync.records.models import VoterPage  # noqa: PLC0415 - as above

    items, queries = _list(reply, "voters")
    return _record(VoterPage, {"voters": items, "queries": queries}, reply)


def voted(reply: Reply) -> bool:
    """Read a vote check: `{"voted": bool}`, or `{"success": bool}` with 404 for no (wire notes).

    Raises:
        ApiError: The service said no to the question itself.
        DecodeError: The answer is neither of the two forms.
    """
    not_found = 404
    body = _json_or_none(reply) if reply.status in {200, not_found} else None
    if isinstance(body, dict):
        inner = body.get("data")
        for place in (body, inner if isinstance(inner, dict) else {}):
            if isinstance(place.get("voted"), bool):
                return bool(place["voted"])
        if isinstance(body.get("success"), bool) and not body.get("error"):
            return bool(body["success"]) and reply.status != not_found
    _content(reply)
    raise DecodeError(
        "the answer to the vote check says neither yes nor no", reply=reply, hint=_CHECK_BASE_URL
    )


def acknowledged(reply: Reply) -> str:
    """Read the answer to a write: the record's id where it is told, else `""`.

    Raises:
        ApiError: The service said no.
        DecodeError: The answer cannot be read, so whether it was written is not known.
    """
    _raise_for_status(reply)
    if not reply.body.strip():
        return ""
    content = _content(reply)
    for name in ("data", "command", "announcement"):
        if isinstance(content, dict) and isinstance(content.get(name), dict):
            content = content[name]
    if not isinstance(content, dict):
        return ""
    identifier = content.get("id", content.get("_id"))
    named = isinstance(identifier, str | int) and not isinstance(identifier, bool)
    return str(identifier) if named else ""


def _content(reply: Reply) -> Any:  # noqa: ANN401 - JSON is anything
    """Return the body of an answer that says yes."""
    _raise_for_status(reply)
    content = _json(reply)
    if isinstance(content, dict) and (content.get("success") is False or _is_error(content)):
        raise Invalid(
            _words(reply) or "the service says that it failed",
            reply=reply,
            hint="these are the service's own words; if they do not help, look at the bot's page",
        )
    return content


def _is_error(content: Mapping[str, object]) -> bool:
    return bool(content.get("error")) and content.get("success") is not True


def _json(reply: Reply) -> Any:  # noqa: ANN401 - JSON is anything
    try:
        return jsontext.parse(reply.body)
    except jsontext.TooLargeError as error:
        raise DecodeError(
            f"the answer is too large: {error}", reply=reply, hint=_CHECK_BASE_URL
        ) from error
    except (ValueError, RecursionError) as error:
        start = reply.body[:100].lstrip().lower()
        kind = "an HTML page" if start.startswith((b"<!doctype", b"<html")) else "no valid JSON"
        raise DecodeError(
            f"the answer is {kind} (HTTP {reply.status})", reply=reply, hint=_CHECK_BASE_URL
        ) from error


def _json_or_none(reply: Reply) -> Any:  # noqa: ANN401 - JSON is anything
    try:
        return jsontext.parse(reply.body)
    except (ValueError, RecursionError):
        return None


def _list(reply: Reply, own_name: str) -> tuple[list[Any], Mapping[str, Any]]:
    """Find the list in an answer, and the paging that stands beside it."""
    content = _content(reply)
    paging: dict[str, Any] = {}
    for name in ("data", own_name, "data"):
        if isinstance(content, dict):
            paging |= _paging(content)
            if name in content:
                content = content[name]
    if not isinstance(content, list):
        raise DecodeError(
            f"the answer holds no list of {own_name}", reply=reply, hint=_CHECK_BASE_URL
        )
    if len(content) > _MOST_RECORDS:
        raise DecodeError(
            f"the answer lists more than {_MOST_RECORDS:,} {own_name}",
            reply=reply,
            hint=_CHECK_BASE_URL,
        )
    return content, paging


def _paging(content: Mapping[str, Any]) -> dict[str, Any]:
    queries = content.get("queries")
    found = dict(queries) if isinstance(queries, dict) else {}
    names = ("page", "limit", "maxPage", "total", "hasMore")
    return found | {name: content[name] for name in names if name in content}


def _whole_list(reply: Reply, own_name: str) -> list[Any]:
    items, paging = _list(reply, own_name)
    page, last, total = (_number(paging.get(name)) for name in ("page", "maxPage", "total"))
    more = (
        (last is not None and last > (1 if page is None else page))
        or (total is not None and total > len(items))
        or paging.get("hasMore") is True
    )
    if more:
        raise DecodeError(
            f"the service shows only a part of the {own_name}, and says that there is more",
            reply=reply,
            hint="a partial listing is never compared; ask the service for its whole list",
        )
    return items


def _number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except (ValueError, OverflowError):
        return None


def _record(model: type[M], item: object, reply: Reply) -> M:
    from pydantic import ValidationError  # noqa: PLC0415 - pydantic loads with the first record

    try:
        return model.model_validate(item)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "the record"
        raise DecodeError(
            f"the answer has a malformed {model.__name__.lower()}: {place}: {first['msg']}",
            reply=reply,
            hint=_CHECK_BASE_URL,
        ) from error


def _raise_for_status(reply: Reply) -> None:
    """Raise what a status that is not a success means (wire notes, "status codes")."""
    status = reply.status
    if 200 <= status < 300:  # noqa: PLR2004 - HTTP's own class
        return
    said = said_by(reply)
    if status in _REFUSALS:
        raise refused(reply, said)
    if status == 429:  # noqa: PLR2004 - HTTP's own number
        raise RateLimited(
            f"the service asks for fewer requests ({said})",
            reply=reply,
            hint="run again later; a lower --concurrency helps",
            retry_after=_retry_after(reply),
        )
    if status == 408 or status >= 500:  # noqa: PLR2004 - HTTP's own numbers
        raise ServerError(
            f"the service is in trouble ({said})", reply=reply, hint="run again later"
        )
    if status < 400:  # noqa: PLR2004 - HTTP's own class
        raise Invalid(
            f"the service redirects ({said}), and redirects are not followed",
            reply=reply,
            hint="set the base URL to where the service really is: the token goes nowhere else",
        )
    raise Invalid(f"the service refuses the request ({said})", reply=reply)


def refused(reply: Reply, said: str, *, by: str = "service") -> ApiError:
    """Return what a 401, 403 or 404 means; whether a token was sent decides what it says of one."""
    kind, meaning, hint = _REFUSALS[reply.status]
    if kind is not NotFound and not reply.with_token:
        meaning, hint = _NO_TOKEN
    return kind(f"{meaning.format(by=by)} ({said})", reply=reply, hint=hint)


_NO_TOKEN = (
    "no token was given, and the {by} refuses the request",
    "set COMMANDSYNC_TOKEN (or what token_env names), give --token-file, or in code token=...",
)
_REFUSALS: dict[int, tuple[type[ApiError], str, str]] = {
    401: (
        Unauthorized,
        "the {by} does not accept the token",
        "copy the bot's token again from the service's page into the variable or file",
    ),
    403: (
        Forbidden,
        "the token may not do this",
        "is it the token of this very bot?",
    ),
    404: (
        NotFound,
        "the service does not know this bot or record",
        "check the bot's id and the base URL (without /v1)",
    ),
}


def said_by(reply: Reply) -> str:
    """Return an error answer's status and own words: `error` or `message` (wire notes)."""
    words = _words(reply)
    return f"{reply.status}: {words}" if words else f"HTTP {reply.status}"


def _words(reply: Reply) -> str:
    content = _json_or_none(reply)
    if not isinstance(content, dict):
        return ""
    said = next((content[n] for n in ("error", "message") if isinstance(content.get(n), str)), "")
    return " ".join(said.split())[:_LONGEST_MESSAGE]


def _retry_after(reply: Reply) -> float | None:
    """Return the seconds that `Retry-After` asks for; None when it is absent or nonsense.

    A date is measured from the answer's own `Date`, so that no clock is needed here.
    """
    value = reply.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
        now = parsedate_to_datetime(reply.headers.get("date", ""))
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError, OverflowError):  # OverflowError: a year beyond all calendars
        return None
