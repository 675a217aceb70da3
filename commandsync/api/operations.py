"""Every call of the service as data: method, path, query, body, and the reader of the answer.

Paths and fields come from the service interface ("Endpoints"); `set_uses` and the second form of
the vote check from published clients; `post_stats` and `cast_vote` are extensions of the embedded
service. Each function checks its arguments and raises
`ArgumentError` before anything is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, TypeVar
from urllib.parse import quote

from commandsync.api import answers, arguments
from commandsync.api.arguments import Id
from commandsync.diagnostics import Do
from commandsync.errors import ApiError, ArgumentError, ListingError, Reply
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Resource, Text, canonical

if TYPE_CHECKING:
    from commandsync.records.models import Bot, BotPage, VoterPage

T_co = TypeVar("T_co", covariant=True)

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

LARGEST_PAGE = 100
"""Entries of a page, from the service interface."""

LONGEST_CHECK = 30.0
"""Seconds for the check of a vote with all retries: somebody waits for it."""

_MOST_USES = 2**63  # a service that answers more has lost count
_NO_SUCH_METHOD = {404, 405}
_CHECK_ID = "check the id of the {}: is it listed?"


@dataclass(frozen=True, slots=True)
class Operation(Generic[T_co]):
    """One call of the service."""

    name: str  # its name in messages, e.g. `add command`
    method: Method
    # The path below `{base_url}/v1`, or behind the host where the service says so; every part
    # percent-encoded. The transport alone replaces a `{token}` in it.
    path: str
    read: Callable[[Reply], T_co]  # reads the answer; raises `ApiError` or `DecodeError`
    query: tuple[tuple[str, str], ...] = ()
    body: Any = None  # the JSON body, an object or a list; None for none
    # Whether doing it twice has the same result as doing it once, so that it may be sent again if
    # the result is unknown. Adding is not idempotent.
    idempotent: bool = True
    gone_is_done: bool = False  # whether a 404 means success (a delete)
    missing: str = ""  # the hint for a 404 that is not about the bot
    deadline: float = inf  # seconds for the whole call, unless the caller has a limit of its own
    # The method that older versions of the service have for it; None for none.
    fallback: Method | None = None

    def after(self, error: ListingError) -> Operation[T_co] | None:
        """Return the operation to send in its place after an error; None for nothing.

        Only where the service does not have the method, and so did nothing: 404 and 405.
        """
        if self.fallback is None or not isinstance(error, ApiError):
            return None
        is_missing = error.status in _NO_SUCH_METHOD
        return replace(self, method=self.fallback, fallback=None) if is_missing else None


class Overwritten(str):
    """The id of a record that an add overwrote: one of the same name was there already.

    Only a service that keeps names unique answers so.
    """

    __slots__ = ()


class BotFilters(TypedDict, total=False):
    """The arguments of `list_bots` that restrict and sort the bots of all pages."""

    q: str | None
    sort: str | None
    ids: Sequence[Id]
    certified: bool | None
    tags: Sequence[str]


def list_bots(  # noqa: PLR0913 - the interface's own parameters
    *,
    limit: int | None = None,
    page: int | None = None,
    q: str | None = None,
    sort: str | None = None,
    ids: Sequence[Id] = (),
    certified: bool | None = None,
    tags: Sequence[str] = (),
) -> Operation[BotPage]:
    """One page of the bots: GET /bots."""
    query = {
        "limit": _number("limit", limit, most=LARGEST_PAGE),
        "page": _number("page", page),
        "q": None if q is None else arguments.string("q", q),
        "sort": None if sort is None else arguments.string("sort", sort),
        "ids": ",".join(arguments.strings("ids", ids, ids=True)) or None,
        "certified": None
        if certified is None
        else str(arguments.boolean("certified", certified)).lower(),
        "tags": ",".join(arguments.strings("tags", tags)) or None,
    }
    return Operation("list bots", "GET", "/bots", partial(answers.page, "bots"), _given(query))


def get_bot(bot: Id) -> Operation[Bot]:
    """One bot: GET /bot/:id."""
    return Operation("get bot", "GET", _path(bot), answers.bot)


def list_voters(
    bot: Id, *, page: int | None = None, limit: int | None = None
) -> Operation[VoterPage]:
    """One page of a bot's voters: GET /bot/:id/voters; pages start at 1 (wire notes)."""
    query = {"page": _number("page", page), "limit": _number("limit", limit, most=LARGEST_PAGE)}
    read = partial(answers.page, "voters")
    return Operation("list voters", "GET", _path(bot, "voters"), read, _given(query))


def check_vote(bot: Id, user: Id) -> Operation[bool]:
    """Whether a user voted: GET /bot/:id/voters/:userId."""
    path = _path(bot, "voters", _quoted("user", user))
    return Operation("check vote", "GET", path, answers.voted, deadline=LONGEST_CHECK)


def list_records(bot: Id, resource: Resource) -> Operation[Any]:
    """A bot's records of one kind: GET /bot/:id/commands. Reads a tuple of that kind's models."""
    read = partial(answers.records, resource)
    return Operation(f"list {resource.collection}", "GET", _path(bot, resource.collection), read)


def reading(bot: Id, resource: Resource) -> Operation[tuple[Entry, ...]]:
    """As `list_records`, but reads the entries that planning compares."""
    operation = list_records(bot, resource)

    def read(reply: Reply) -> tuple[Entry, ...]:
        entries: dict[object, Entry] = {}
        for record in operation.read(reply):
            fields = (canonical(getattr(record, name)) for name in resource.fields)
            uses = getattr(record, "uses", None)
            shown = uses if uses is not None and 0 <= uses < _MOST_USES else None
            entry = Entry(resource.text(*fields), id=record.id, uses=shown)
            # Of each usable id, one: a service that repeats a record still has it once.
            entries.setdefault(entry.id if entry.writable else object(), entry)
        return tuple(entries.values())

    return replace(operation, read=read)


def add(bot: Id, resource: Resource, text: Text) -> Operation[str]:
    """Add a record: POST /bot/:id/commands. Reads the new id; `""` if the answer has none."""
    fields = _fields(resource, text)
    return Operation(
        f"add {resource}",
        "POST",
        _path(bot, resource.collection),
        answers.acknowledged,
        body={name: value for name, value in fields.items() if value or name in resource.required},
        idempotent=False,
    )


def add_record(bot: Id, resource: Resource, text: Text) -> Operation[Any | None]:
    """As `add`, but reads the record itself; None if the answer does not contain it."""
    return replace(add(bot, resource, text), read=partial(answers.stored, resource))


def edit(bot: Id, resource: Resource, record_id: Id, text: Text) -> Operation[str]:
    """Edit a record: POST /bot/:id/commands with its id in the body.

    A cleared category is sent as `""`: a service may keep the old one if it is left out.
    """
    body = {"id": arguments.identifier("id", record_id), **_fields(resource, text)}
    path, missing = _path(bot, resource.collection), _CHECK_ID.format(resource)
    read = answers.acknowledged
    return Operation(f"edit {resource}", "POST", path, read, body=body, missing=missing)


def delete(bot: Id, resource: Resource, record_id: Id) -> Operation[str]:
    """Delete a record: DELETE /bot/:id/commands/:commandId."""
    path = _path(bot, resource.collection, _quoted("id", record_id))
    return Operation(f"delete {resource}", "DELETE", path, answers.acknowledged, gone_is_done=True)


def set_uses(bot: Id, record_id: Id, uses: int) -> Operation[str]:
    """Set how often a command was used: PUT /bot/:id/commands/:commandId/uses (wire notes)."""
    path = _path(bot, "commands", _quoted("id", record_id), "uses")
    body, missing = {"uses": arguments.number("uses", uses, least=0)}, _CHECK_ID.format("command")
    return Operation("set uses", "PUT", path, answers.acknowledged, body=body, missing=missing)


def post_stats(bot: Id, *, servers: int, shards: int | None = None) -> Operation[str]:
    """Report the size of a bot: POST /bot/:id/stats."""
    body = {"servers": arguments.number("servers", servers, least=0)}
    if shards is not None:
        body["shards"] = arguments.number("shards", shards, least=0)
    return Operation("post stats", "POST", _path(bot, "stats"), answers.acknowledged, body=body)


def cast_vote(bot: Id, user: Id, *, username: str = "") -> Operation[str]:
    """Cast a vote of a user: POST /bot/:id/votes. Without a name, the user is called by the id."""
    account = {"id": arguments.identifier("user", user)}
    if arguments.string("username", username):
        account["username"] = username
    path, body = _path(bot, "votes"), {"user": account}
    read = answers.acknowledged
    return Operation("cast vote", "POST", path, read, body=body, idempotent=False)


def bot_part(bot: Id) -> str:
    """Return a bot's id as one part of a path; raises `ArgumentError` where there is none."""
    if bot == "":
        raise ArgumentError("which bot? The token does not contain a bot id", hint=Do.GIVE_BOT())
    return _quoted("bot", bot)


def _path(bot: Id, *parts: str) -> str:
    return "/".join(("/bot", bot_part(bot), *parts))


def _quoted(name: str, value: Id) -> str:
    """Quote an identifier as one part of a path; JSON can contain half of a surrogate pair."""
    return quote(arguments.identifier(name, value), safe="", errors="surrogatepass")


def _fields(resource: Resource, text: Text) -> dict[str, str]:
    return {
        name: arguments.string(name, value, empty=name not in resource.required)
        for name, value in zip(resource.fields, text, strict=True)
    }


def _number(name: str, value: int | None, *, most: int | None = None) -> str | None:
    return None if value is None else str(arguments.number(name, value, least=1, most=most))


def _given(query: Mapping[str, str | None]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in query.items() if value is not None)
