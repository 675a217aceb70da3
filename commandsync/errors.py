"""The errors of the package, as one tree; messages and exit codes are made of them.

CommandsyncError
├── UsageError                 a setting is missing or not valid
│   └── ArgumentError          an argument in code (also a ValueError)
├── ManifestError              the manifest is invalid: all problems at once
├── FileError                  a file cannot be read or written
├── RefusedError               refused for safety, nothing was written
│   ├── TooManyDeletesError    the plan deletes more than its limits allow
│   ├── TooLargeError          the service does not take a list of this size
│   ├── StalePlanError         the listing changed since the plan was saved
│   │   └── NotOwnedError      the plan deletes records that no version of the manifest had
│   ├── UnknownListError       nothing is known of the list that would be replaced
│   ├── WrongBotError          the token belongs to another bot
│   └── PlainHttpError         plain http to another machine
└── ListingError               the listing service, or the connection to it
    ├── TransportError         no answer: refused, reset, timed out
    ├── StoppedError           the run was stopped before it was sent
    ├── DecodeError            an answer that cannot be read
    └── ApiError               an answer that refuses
        ├── Invalid            the request (400, 409, 422 ... or `success: false`)
        │   └── Redirected     3xx: redirects are not followed
        ├── Unauthorized       401
        ├── Forbidden          403
        ├── NotFound           404
        ├── RateLimited        429
        └── ServerError        408 and 5xx: the service's own failure
"""

from __future__ import annotations

import copyreg
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from commandsync.diagnostics import Hint, Problem

_MOST_NOTES = 20  # problems that a traceback shows


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the service, unread.

    Attributes:
        status: The HTTP status code.
        body: The decoded (unzipped) body, at most 32 MiB.
        headers: The headers, names in lower case.
        with_token: Whether the request carried a token.
        resent: Whether the request was sent before on a kept connection, which broke: the service
            may have done it then.
    """

    status: int
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    with_token: bool = True
    resent: bool = False

    @property
    def text(self) -> str:
        """The body as text, in the encoding of its `Content-Type`, else UTF-8."""
        encoding = re.search(r"charset=\"?([\w.:-]+)", self.headers.get("content-type", ""))
        try:
            return self.body.decode(encoding[1] if encoding else "utf-8", "replace")
        except LookupError:
            return self.body.decode(errors="replace")

    def json(self) -> Any:  # noqa: ANN401 - JSON is anything
        """Return the body as JSON.

        Raises:
            DecodeError: It is not JSON.
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise DecodeError("the answer is not valid JSON", reply=self) from error


class Exit(IntEnum):
    """The meaning of the program's exit code; the first of several counts, in this order."""

    INCOMPLETE = 6
    REFUSED = 5
    INVALID = 4
    USAGE = 2
    FAILED = 1
    CHANGES = 3
    DONE = 0


def worst_exit(codes: Iterable[Exit]) -> Exit:
    """Return the exit code of several manifests, none of them applied."""
    return min(codes, key=[*Exit].index, default=Exit.DONE)


class CommandsyncError(Exception):
    """The root of every error this package raises on purpose.

    Attributes:
        message: One sentence about the failure, without a full stop.
        hint: The advice; `str(error.hint)` is the text, which may be empty.
        kind: The failed part, in a word; documents have it.
        exit_code: The exit code of a run that ends with it before anything was written.
        failure_reason: The Action's output with this name.
        listing: The listing of several that it is about; empty for the only one.
        problems: The errors in files, each with its place.
    """

    kind: str = "failed"
    problems: tuple[Problem, ...] = ()
    exit_code: ClassVar[Exit] = Exit.FAILED
    failure_reason: ClassVar[str] = "incomplete"

    def __init_subclass__(
        cls, *, kind: str = "", exit_code: Exit | None = None, failure_reason: str = ""
    ) -> None:
        """Inherit the values that a class does not state."""
        super().__init_subclass__()
        cls.kind = kind or cls.kind
        cls.exit_code = exit_code or cls.exit_code
        cls.failure_reason = failure_reason or cls.failure_reason

    def __init__(self, message: str, *, hint: str | Hint = "", kind: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.kind = kind or self.kind
        self.listing = ""

    def having(self, *, message: str = "", hint: str | Hint = "", listing: str = "") -> Self:
        """Return a copy with another message, hint or listing; an empty one does not replace."""
        other = copy(self)
        other.message = message or self.message
        other.args = (other.message,)
        other.hint, other.listing = hint or self.hint, listing or self.listing
        return other

    def __reduce__(self) -> tuple[object, ...]:
        """Let copies be made, and pickles for other processes, with every attribute.

        Without this, an exception is copied from its message alone, which most of these classes do
        not accept.
        """
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]  # as every object is unpickled


class UsageError(CommandsyncError, kind="usage", exit_code=Exit.USAGE, failure_reason="invalid"):
    """A setting is missing or not valid."""


class ArgumentError(UsageError, ValueError):
    """An argument is not valid; nothing was sent."""


class ManifestError(
    CommandsyncError, kind="invalid", exit_code=Exit.INVALID, failure_reason="invalid"
):
    """The manifest is invalid, with every problem in the order of the files and lines.

    Or the file `of` that is written from it is. A traceback shows the first of the problems, each
    with its place.
    """

    def __init__(self, problems: Sequence[Problem], *, of: str = "the manifest") -> None:
        count = len(problems)
        message = f"{of} has {count} problem{'s' if count != 1 else ''}"
        self.is_unread = count > 0 and all(each.location.is_unread for each in problems)
        super().__init__(f"{of} cannot be read" if self.is_unread else message)
        self.problems = tuple(problems)
        for problem in self.problems[:_MOST_NOTES]:
            self.add_note(str(problem))


class FileError(CommandsyncError, kind="file", failure_reason="invalid"):
    """A file cannot be read or written; it is as it was."""

    def __init__(
        self, message: str, *, hint: str | Hint = "", problems: Sequence[Problem] = ()
    ) -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)


class RefusedError(
    CommandsyncError, kind="refused", exit_code=Exit.REFUSED, failure_reason="refused"
):
    """Refused for safety; nothing was written."""


class TooManyDeletesError(RefusedError):
    """The plan deletes more than its limits allow."""


class TooLargeError(RefusedError, kind="invalid", exit_code=Exit.INVALID, failure_reason="invalid"):
    """The service does not take a list of this size."""


class StalePlanError(RefusedError, kind="stale", failure_reason="stale"):
    """The listing changed since the plan was saved."""


class NotOwnedError(StalePlanError):
    """The plan would delete or replace records that somebody else listed."""


class UnknownListError(RefusedError):
    """Nothing is known of the list that would be replaced, and nobody allowed that."""


class WrongBotError(RefusedError):
    """The token belongs to another bot."""


class PlainHttpError(RefusedError):
    """Plain http to another machine would show the token to the network."""


class ListingError(CommandsyncError, kind="service", failure_reason="network"):
    """The listing service, or the connection to it, failed."""


class TransportError(ListingError, kind="network"):
    """There was no answer.

    Attributes:
        sent: Whether the request may have reached the service; False only when the connection was
            certainly never made.
        lasting: Whether a retry cannot help (an untrusted certificate, for example).
    """

    def __init__(
        self, message: str, *, hint: str | Hint = "", sent: bool = True, lasting: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.sent = sent
        self.lasting = lasting


class StoppedError(ListingError):
    """The run was stopped before this was sent; it certainly did not happen."""


class DecodeError(ListingError):
    """An answer cannot be read."""

    def __init__(self, message: str, *, reply: Reply, hint: str | Hint = "") -> None:
        super().__init__(message, hint=hint)
        self.reply = reply


class ApiError(ListingError):
    """The service refused; the status is 200 if the body contains `success: false`."""

    def __init__(self, message: str, *, reply: Reply, hint: str | Hint = "") -> None:
        super().__init__(message, hint=hint)
        self.status = reply.status
        self.reply = reply


class Invalid(ApiError, failure_reason="rejected"):  # noqa: N818 - the client library's public name
    """The service refused the request itself."""


class Redirected(Invalid):
    """The service sent the request to another address, which is not followed.

    Attributes:
        location: That address, as the service sent it; empty if it sent none.
    """

    def __init__(self, message: str, *, reply: Reply, hint: str | Hint = "") -> None:
        super().__init__(message, reply=reply, hint=hint)
        self.location = reply.headers.get("location", "")


class Unauthorized(ApiError, kind="auth", failure_reason="auth"):  # noqa: N818 - the client library's public name
    """The token is missing or invalid."""


class Forbidden(ApiError, kind="auth", failure_reason="auth"):  # noqa: N818 - the client library's public name
    """The token may not do this: it belongs to another bot."""


class NotFound(ApiError, failure_reason="rejected"):  # noqa: N818 - the client library's public name
    """The service does not have this bot or record."""


class RateLimited(ApiError, kind="rate-limited", failure_reason="rate-limited"):  # noqa: N818 - the client library's public name
    """Too many requests; `retry_after` is in seconds, or None if the service sent none."""

    def __init__(
        self, message: str, *, reply: Reply, hint: str | Hint = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message, reply=reply, hint=hint)
        self.retry_after = retry_after


class ServerError(ApiError, kind="network"):
    """The service's own failure: 408 and 5xx."""
