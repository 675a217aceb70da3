"""One listing service as a value, without its token, and the answers of services.

A `RecordService` writes records one by one; `PAGE`, whose requests come from the service interface
("Endpoints", "Authentication"), is the only one. A `ListService` replaces its whole list by one
request. `list_request` makes that request a value: a list is as it was exactly if the digest of its
request is. Its answer is read by `accepted`: the list was taken, or refused and why, with hints
that fit a service without a base URL of the user's.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from hashlib import sha256
from math import inf
from typing import Any, NamedTuple, TypeVar

from commandsync import errors
from commandsync.api import operations
from commandsync.api.arguments import service_of
from commandsync.api.content import (
    content_of,
    decode_json,
    http_time,
    raise_for_failure,
    raise_for_status,
)
from commandsync.api.credentials import SCHEME
from commandsync.api.operations import Operation
from commandsync.api.policy import LONGEST_WAIT
from commandsync.diagnostics import Do, Hint, Notice
from commandsync.records.snapshot import Audience, Entry, Snapshot, labelled
from commandsync.records.texts import Abilities, AnnouncementText, CommandText, Resource, Text
from commandsync.services.abilities import (
    LIST_ABILITIES,
    PAGE_ABILITIES,
    Facts,
    FactSource,
    Reads,
    Support,
    facts_of,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The fields of every service."""

    name: str
    abilities: Abilities  # for each kind of record
    facts: Facts  # known facts about it, with their sources
    authorization: str  # the header of this name, with `{token}`; empty for no header
    simulated_only: bool = False  # whether nobody has used it yet with this package
    agent: str = ""  # the `User-Agent` of its requests; empty for that of this package
    # Returns the request that reads a collection; its arguments are the bot's id and the kind.
    read: Callable[[str, Resource], Operation[tuple[Entry, ...]]]

    def limited(self, operation: Operation[T]) -> Operation[T]:
        """Return an operation as connections to the service carry it out."""
        return operation


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordService(Service):
    """A service of records, which are written one by one.

    Each returns the request of one write; its arguments begin with the bot's id and the kind.
    """

    # Takes the text. Its answer is read as the new id, or as `api.operations.Overwritten`.
    add: Callable[[str, Resource, Text], Operation[str]]
    # Takes the record as it was listed before the first write, and the text that it is to have.
    edit: Callable[[str, Resource, Entry, Text], Operation[str]]
    delete: Callable[[str, Resource, str], Operation[str]]  # takes the id


def _unreadable(bot: str, resource: Resource) -> Operation[tuple[Entry, ...]]:  # noqa: ARG001 - as `Service.read` has them
    raise errors.ArgumentError(f"the service does not return its list of {resource.collection}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListService(Service):
    """A service that takes the whole list of commands in one request.

    The paths of its operations begin after the host. Where one contains `{token}`, which no quoted
    part of a path can contain, the transport puts the token there.
    """

    origin: str  # its scheme and host
    # Returns the request that replaces the list; its arguments are a bot's id and the commands of
    # `fit`.
    replace: Callable[[str, Snapshot], Operation[None]]
    variables: tuple[str, ...] = ()  # of its token; the first one that is set counts
    renewal: str = ""  # the place of its token, after a 401; empty for the usual advice
    names_bot: bool = True  # whether its requests name the bot; else the token decides
    own_bots: bool = False  # whether its bots have ids of their own: not the manifest's
    slash: bool = True  # whether it shows names with a `/` that is not sent
    prefixed: bool = False  # whether it gets commands with another prefix all the same
    unique: bool = True  # whether a name is sent once: a second could make it refuse the list
    read: Callable[[str, Resource], Operation[tuple[Entry, ...]]] = _unreadable
    # Returns a request that proves that the token is accepted, changes nothing, and reads the name
    # of its holder, if the answer has it; None where there is no such request.
    check: Callable[[], Operation[str]] | None = None
    # Returns the request that posts an announcement in a category; None if it takes none.
    announce: Callable[[AnnouncementText, str], Operation[None]] | None = None
    # The users of this list, and the function that returns another list; None if it has only one.
    audience: Audience | None = None
    for_audience: Callable[[Audience], "ListService"] | None = None

    @property
    def label(self) -> str:
        """The title of its list: `telegram`, or `telegram (all_private_chats, de)`."""
        return labelled(self.name, self.audience)

    def limited(self, operation: Operation[T]) -> Operation[T]:
        """Return an operation that waits after a 429 without a time as long as the facts say.

        If they do not, it is not sent again. A 401 has the advice of the service.
        """

        def read(reply: errors.Reply) -> T:
            try:
                return operation.read(reply)
            except errors.Unauthorized as error:
                raise error.having(hint=self.renewal) from error.__cause__
            except errors.RateLimited as error:
                if error.retry_after is not None:
                    raise
                wait = self.facts.wait.number
                seconds = inf if wait is None else wait
                hint = _LATER if wait is None else _when(seconds, reply) or _LATER
                raise errors.RateLimited(
                    error.message, reply=reply, hint=hint, retry_after=seconds
                ) from error

        return replace(operation, read=read)


def managed(snapshot: Snapshot) -> tuple[CommandText, ...]:
    """Return the commands of a list; raises `ValueError` if they are not managed.

    Such a list is never replaced by an empty one.
    """
    if not LIST_ABILITIES.keys() <= snapshot.collections.keys():
        raise ValueError("the commands are not managed: no list can be sent")
    return snapshot.commands


def with_others(keys: Mapping[str, Any], entry: Entry) -> dict[str, Any]:
    """Return the object of a command with the keys beside ours that it was listed with."""
    return {**keys, **dict(*entry.own)}


def _page_edit(bot: str, resource: Resource, listed: Entry, text: Text) -> Operation[str]:
    return operations.edit(bot, resource, listed.id, text)


PAGE = RecordService(
    name="page",
    abilities=PAGE_ABILITIES,
    facts=facts_of(
        FactSource("service interface: Endpoints"),
        Resource.COMMAND.fields[1:],  # a text has the fields of this service
        {},
        read=Reads.RECORDS,
        replace=Support.NO,
        **dict.fromkeys(("write", "clear", "ids", "uses", "announcements"), Support.YES),
    ),
    authorization=f"{SCHEME} {{token}}",
    read=operations.reading,
    add=operations.add,
    edit=_page_edit,
    delete=operations.delete,
)
"""The service of the interface that the client library implements."""


_LATER = "run again later"
_FEWER = (
    "remove commands; listed ones that stay (prune: false, ignore, a selection of changes) count"
)
_SHORTER = (
    "shorten descriptions, all of this list by limits: {description: 60} in its entry, or remove "
    "commands"
)
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


def accepted(reply: errors.Reply) -> None:
    """Read the answer to a list or an announcement; it may be anything but a failure.

    An empty body, plain text, `null` and `true` are an acceptance, and so are an object and an
    array in which nothing is a sign of failure.

    Raises `ApiError` if the service refused it, and `DecodeError` for a page, or an answer that is
    not whole or cannot be read: the result is unknown.
    """
    with explained(reply):
        raise_for_status(reply)
        try:
            text = decode_json(reply.body).strip()
        except ValueError as error:
            message = f"the answer is not text (HTTP {reply.status})"
            raise errors.DecodeError(message, reply=reply) from error
        if text[:1] in {"{", "[", "<"}:
            for level in _objects(content_of(reply, notice=True)):
                raise_for_failure(level, reply, notice=True)
        elif text.casefold() == "false":
            raise_for_failure({"success": False}, reply)


def _objects(content: object) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in an answer, at any depth."""
    pending = [content]
    while pending:
        match pending.pop():
            case dict() as level:
                yield level
                pending += level.values()
            case list() as values:
                pending += values
            case _:
                pass


@contextmanager
def explained(reply: errors.Reply, *, missing_is_token: bool = False) -> Iterator[None]:
    """Give the errors of an answer the hints that fit a service without a base URL of the user's.

    With `missing_is_token`, a 404 means that the token belongs to no bot.
    """
    try:
        yield
    except errors.ApiError as error:
        if missing_is_token and isinstance(error, errors.NotFound):
            message = f"the service does not accept the token (HTTP {error.status})"
            raise errors.Unauthorized(message, reply=reply, hint=Do.RENEW_TOKEN()) from error
        hint = _MOVED if error.status in _REDIRECTS else _HINTS.get(error.status, "")
        if isinstance(error, errors.RateLimited) and (error.retry_after or 0) > LONGEST_WAIT:
            hint = _when(error.retry_after or 0, reply) or _LATER
        raise error.having(hint=hint) from error.__cause__
    except errors.DecodeError as error:
        raise error.having(hint=_LATER) from error.__cause__


def _when(seconds: float, reply: errors.Reply) -> str:
    """Return when to run again, by the clock that the answer is from; empty if it has none."""
    wait = timedelta(seconds=min(seconds, _LONGEST.total_seconds()))
    now = http_time(reply.headers.get("date", ""))
    if now is None:
        return ""
    # Minutes are shown: the next full one is not too early.
    until = now.astimezone(UTC) + wait + timedelta(minutes=1)
    return f"run again after {until:{'%H:%M' if wait < _DAY else '%Y-%m-%d %H:%M'}} UTC"


class ListRequest(NamedTuple):
    """A request, which has `{token}` where the token goes."""

    method: str
    url: str
    body: str  # the JSON text

    @property
    def digest(self) -> str:
        """The digest over the whole request, whatever the host is called in its URL."""
        scheme, _, rest = self.url.partition("://")
        host, slash, path = rest.partition("/")
        url = f"{scheme}://{service_of(f'{scheme}://{host}')}{slash}{path}"
        return sha256(f"{self.method}\n{url}\n{self.body}".encode()).hexdigest()


def list_request(service: ListService, bot: str, commands: Snapshot) -> ListRequest:
    """Return the request that replaces a list by commands, as `fit` returns them.

    Raises `ValueError` if the commands are not managed.
    """
    return of_operation(service, service.replace(bot, commands))


def excess(service: ListService, operation: Operation[None]) -> Notice | None:
    """Return why a service does not take a list of this size; None if it does.

    The list of `fit` has no more commands than the service takes. Listed commands that stay come in
    addition.
    """
    body: Any = operation.body
    arrays = [body, *body.values()] if isinstance(body, dict) else [body]
    array = next((each for each in arrays if isinstance(each, list)), [])
    text = json.dumps(array, ensure_ascii=False, separators=(",", ":"))
    bytes_ = len(text.encode("utf-8", "surrogatepass"))
    sizes = (
        (len(array), "commands", service.facts.most_records.number, _FEWER),
        (bytes_, "bytes", service.facts.most_bytes.number, _SHORTER),
    )
    for size, unit, most, hint in sizes:
        if most is not None and size > most:
            sent = f"would send {size:,} {unit} to {service.label}"
            return Notice(f"{sent}, which takes at most {most:,} {unit}", hint)
    return None


def of_operation(service: ListService, operation: Operation[None]) -> ListRequest:
    """Return the request of an operation of a service."""
    body = json.dumps(operation.body)
    return ListRequest(operation.method, service.origin + operation.path, body)
