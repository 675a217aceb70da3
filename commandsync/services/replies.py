"""The answers of services that take a whole list: it was accepted, or refused and why."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, timedelta

from commandsync.api.policy import LONGEST_WAIT
from commandsync.api.refusals import content_of, http_time, raise_for_status
from commandsync.diagnostics import Do, Hint
from commandsync.errors import (
    ApiError,
    DecodeError,
    NotFound,
    RateLimited,
    Reply,
    Unauthorized,
)

_LATER = "run again later"
_HINTS: dict[int, str | Hint] = {
    400: "some services answer so to a token that they do not accept",
    401: Do.RENEW_TOKEN(),
    403: "is it the token of this bot at this service?",
    404: "is the bot listed at this service, and with this id?",
    405: "the interface of the service has changed",
    429: _LATER,
}
_REDIRECTS = range(300, 400)
_DAY = timedelta(days=1)
_LONGEST = 366 * _DAY
_MOVED = "redirects are not followed: the token is sent nowhere else"


def accepted(reply: Reply) -> None:
    """Read the answer to what was sent; its body may be anything but a failure.

    Raises `ApiError` if the service refused it, and `DecodeError` for a page, or an answer that is
    not whole: the result is unknown.
    """
    with explained(reply):
        raise_for_status(reply)
        if reply.body.lstrip()[:1] in {b"{", b"<"}:
            content_of(reply, notice=True)


@contextmanager
def explained(reply: Reply, *, missing_is_token: bool = False) -> Iterator[None]:
    """Give the errors of an answer the hints that fit a service without a base URL of the user's.

    With `missing_is_token`, a 404 means that the token is not that of any bot.
    """
    try:
        yield
    except ApiError as error:
        if missing_is_token and isinstance(error, NotFound):
            message = f"the service does not accept the token (HTTP {error.status})"
            raise Unauthorized(message, reply=reply, hint=Do.RENEW_TOKEN()) from error
        hint = _MOVED if error.status in _REDIRECTS else _HINTS.get(error.status, "")
        if isinstance(error, RateLimited) and (error.retry_after or 0) > LONGEST_WAIT:
            hint = _when(error) or _LATER
        raise error.having(hint=hint) from error.__cause__
    except DecodeError as error:
        raise error.having(hint=_LATER) from error.__cause__


def _when(error: RateLimited) -> str:
    """Return when to run again, by the clock that the answer is from; empty if it has none."""
    wait = timedelta(seconds=min(error.retry_after or 0, _LONGEST.total_seconds()))
    now = http_time(error.reply.headers.get("date", ""))
    if now is None:
        return ""
    # Minutes are shown: the next full one is not too early.
    until = now.astimezone(UTC) + wait + timedelta(minutes=1)
    return f"run again after {until:{'%H:%M' if wait < _DAY else '%Y-%m-%d %H:%M'}} UTC"
