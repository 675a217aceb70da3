"""What can go wrong, as one tree; the doors turn it into messages and exit codes.

CommandsyncError
├── UsageError                 a setting is missing or makes no sense
│   └── ArgumentError          an argument of a client's method (also a ValueError)
├── ManifestError              the manifest is invalid: all problems at once
├── FileError                  a file of the user's cannot be read or written
├── RefusedError               refused for safety, nothing was written
│   ├── TooManyDeletesError    the plan deletes more than its limits allow
│   ├── StalePlanError         the listing changed since the plan was saved
│   ├── WrongBotError          the token belongs to another bot
│   └── PlainHttpError         plain http to another machine
└── ListingError               the listing service, or the way to it
    ├── TransportError         no answer: refused, reset, timed out
    ├── StoppedError           the run was stopped before it was sent
    ├── DecodeError            an answer that cannot be understood
    └── ApiError               an answer that says no
        ├── Invalid            the request (400, 409, 422 ... or `success: false`)
        ├── Unauthorized       401
        ├── Forbidden          403
        ├── NotFound           404
        ├── RateLimited        429
        └── ServerError        408 and 5xx: the service's own trouble
"""

from __future__ import annotations

import copyreg
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commandsync.diagnostics import Problem


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the service as it came, before anything is read into it.

    Attributes:
        status: The HTTP status code.
        body: The decoded (unzipped) body, at most 32 MiB.
        headers: The headers, names in lower case.
        with_token: Whether the request carried a token.
    """

    status: int
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    with_token: bool = True


class CommandsyncError(Exception):
    """The root of every error this package raises on purpose.

    Attributes:
        message: What went wrong and where, in one sentence.
        hint: What to do next; may be empty.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """Let copies be made, and pickles for other processes, with every attribute.

        By itself an exception is made anew from its message alone, which is less than most of
        these take.
        """
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]  # what every object is unpickled with


class UsageError(CommandsyncError):
    """A setting is missing or makes no sense."""


class ArgumentError(UsageError, ValueError):
    """An argument of a client's method makes no sense; nothing was sent."""


class ManifestError(CommandsyncError):
    """The manifest is invalid.

    Attributes:
        problems: Every problem found, in the order of the files and lines.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        count = len(problems)
        super().__init__(f"the manifest has {count} problem{'s' if count != 1 else ''}")
        self.problems = tuple(problems)


class FileError(CommandsyncError):
    """A file of the user's cannot be read or written; nothing was changed."""


class RefusedError(CommandsyncError):
    """Refused for safety; nothing was written."""


class TooManyDeletesError(RefusedError):
    """The plan deletes more than its limits allow."""


class StalePlanError(RefusedError):
    """The listing changed since the plan was saved."""


class WrongBotError(RefusedError):
    """The token belongs to another bot."""


class PlainHttpError(RefusedError):
    """Plain http to another machine would show the token to the network."""


class ListingError(CommandsyncError):
    """The listing service, or the way to it, failed.

    Attributes:
        tried_before: Whether an earlier try of the same operation may have happened.
        silent_before: Whether such a try ended in silence, not in an answer that says no.
    """

    tried_before: bool = False
    silent_before: bool = False


class TransportError(ListingError):
    """There was no answer.

    Attributes:
        sent: Whether the request may have reached the service; False only when the connection was
            certainly never made.
        lasting: Whether trying again cannot help (a certificate that is not trusted, say).
    """

    def __init__(
        self, message: str, *, hint: str = "", sent: bool = True, lasting: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.sent = sent
        self.lasting = lasting


class StoppedError(ListingError):
    """The run was stopped before this was sent; it certainly did not happen."""


class DecodeError(ListingError):
    """An answer came that cannot be understood.

    Attributes:
        reply: The answer.
    """

    def __init__(self, message: str, *, reply: Reply, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reply = reply


class ApiError(ListingError):
    """The service answered and said no.

    Attributes:
        status: The HTTP status code; 200 where the body says `success: false`.
        reply: The whole answer.
    """

    def __init__(self, message: str, *, reply: Reply, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = reply.status
        self.reply = reply


class Invalid(ApiError):  # noqa: N818 - the client library's public name
    """The service refused the request itself."""


class Unauthorized(ApiError):  # noqa: N818 - the client library's public name
    """The token is missing or invalid."""


class Forbidden(ApiError):  # noqa: N818 - the client library's public name
    """The token may not do this: it is another bot's."""


class NotFound(ApiError):  # noqa: N818 - the client library's public name
    """The bot or the record is not known to the service."""


class RateLimited(ApiError):  # noqa: N818 - the client library's public name
    """Too many requests.

    Attributes:
        retry_after: Seconds until the service wants to be asked again; None when it did not say.
    """

    def __init__(
        self, message: str, *, reply: Reply, hint: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message, reply=reply, hint=hint)
        self.retry_after = retry_after


class ServerError(ApiError):
    """The service's own trouble: 408 and 5xx."""
