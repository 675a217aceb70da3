"""Every call of the service as data: method, path, query, body, and the reader of the answer.

Paths and fields come from the service interface ("Endpoints"); `set_uses` and the second form of
the vote check from published clients; `post_stats` and `cast_vote` are extensions of the embedded
service. Each function checks its arguments and raises `ArgumentError` before anything is sent.

The readers are tolerant of an answer's shape, and strict about its meaning. The shapes come from
the wire notes: `{"success", "message", "data"}` with the list in `data` or in `data.data`, a bare
list, or a list under its own name. An answer that is not a list, reports a failure, or reports more
records than it contains is an error and never an empty listing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypedDict, TypeVar, cast
from urllib.parse import quote

from commandsync.api import arguments
from commandsync.api.arguments import Id
from commandsync.api.content import (
    ABOUT_TOKEN,
    CHECK_BASE_URL,
    content_of,
    json_or_none,
    more,
    objects_of,
    own_message,
    raise_for_failure,
    raise_for_status,
)
from commandsync.diagnostics import Do
from commandsync.errors import ApiError, ArgumentError, DecodeError, ListingError, Reply
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Resource, Text, canonical

if TYPE_CHECKING:
    from pydantic import ValidationError

    from commandsync.records.models import Bot, BotPage, Record, VoterPage

    M = TypeVar("M", bound=Record)

_MOST_RECORDS = 100_000  # of one list: no bot has a tenth of it
_ACCEPTED = 202
_NOT_FOUND = 404
_NEITHER = "the answer to the vote check is neither yes nor no"


def read_records(resource: Resource, reply: Reply) -> tuple[Any, ...]:
    """Read a list of records, as a tuple of that kind's models.

    Raises `ApiError` if the service refused, and `DecodeError` if it is not a whole list of that
    kind of record with a name each.
    """
    return _listed(resource, _whole_list(resource, reply), reply)


class Listed(NamedTuple):
    """A record as it is listed."""

    id: str
    fields: tuple[str, ...]  # in the order of the kind's
    uses: int | None


def read_listed(resource: Resource, reply: Reply) -> list[Listed]:
    """Read a list of records as `read_records` does, without models where they are not needed.

    Planning needs only texts. pydantic takes longer to load than a list to be read, so it reads
    the records alone in which a value is not a text; raises as `read_records`.
    """
    listed = []
    for item in _whole_list(resource, reply):
        record = _plain(resource, item)
        if record is None:
            (model,) = _listed(resource, [item], reply)
            fields = tuple(getattr(model, name) for name in resource.fields)
            record = Listed(model.id, fields, getattr(model, "uses", None))
        listed.append(record)
    return listed


def _plain(resource: Resource, item: object) -> Listed | None:
    """Return a record of texts as its model reads it; None if something in it is not a text."""
    if not isinstance(item, dict):
        return None
    identifier, uses = item["id"] if "id" in item else item.get("_id", ""), item.get("uses")
    # An absent field, and null, is empty.
    fields = ["" if (text := item.get(name)) is None else text for name in resource.fields]
    is_plain = all(type(text) is str for text in (identifier, *fields)) and bool(fields[0].strip())
    if not is_plain or "\ufffd" in identifier or not (uses is None or type(uses) is int):
        return None
    return Listed(identifier, tuple(fields), uses)


def _whole_list(resource: Resource, reply: Reply) -> list[Any]:
    """Return the records in an answer; raises as `read_records`."""
    own_name = resource.collection
    items, levels = _list(reply, own_name)
    if sign := more(reply, levels, own_name=own_name, read=len(items)):
        raise DecodeError(
            f"the answer contains only a part of the {own_name} (see its {sign})",
            reply=reply,
            hint="a partial listing is never compared; ask the service for its whole list",
        )
    return items


def read_bot(reply: Reply) -> Bot:
    """Read one bot; raises as `read_records` does."""
    from commandsync.records.models import Bot  # noqa: PLC0415 - as above

    content = content_of(reply)
    for name in ("data", "bot", "data"):
        if isinstance(content, dict) and isinstance(content.get(name), dict | list):
            content = content[name]
    if isinstance(content, list) and len(content) == 1:
        content = content[0]
    return _record(Bot, content, reply)


def read_page(own_name: Literal["bots", "voters"], reply: Reply) -> Any:  # noqa: ANN401 - its model
    """Read one page of bots or voters; raises as `read_records` does."""
    from commandsync.records import models  # noqa: PLC0415 - as above

    items, levels = _list(reply, own_name)
    paging: dict[str, Any] = {}
    for level in levels:
        queries = level.get("queries")
        paging |= queries if isinstance(queries, dict) else {}
        paging |= {name: level[name] for name in ("page", "limit", "maxPage") if name in level}
    model = models.BotPage if own_name == "bots" else models.VoterPage
    return _record(model, {own_name: items, "queries": paging}, reply)


def read_vote(reply: Reply) -> bool:
    """Read a vote check: `{"voted": bool}`, or `{"success": bool}` with 404 for no (wire notes).

    `voted` decides where it is; `success` decides only if the answer contains nothing else on it.
    Raises `ApiError` if the service refused the question itself, and `DecodeError` if the answer
    has neither form.
    """
    body = json_or_none(reply) if reply.status in {200, _NOT_FOUND} else None
    level = body
    while isinstance(level, dict):  # an answer, its `data`, the `data` in that, and so on
        if "voted" in level:
            return _flag(level["voted"], reply)
        level = level.get("data")
    if isinstance(body, dict) and not (body.get("error") or body.get("errors")):
        if body.get("success") is False and not ABOUT_TOKEN.search(own_message(body)):
            return False
        if body.get("success") is True and "data" not in body:
            return reply.status != _NOT_FOUND
    content_of(reply)
    raise _unreadable(_NEITHER, reply)


def _flag(value: object, reply: Reply) -> bool:
    if isinstance(value, int) and value in {0, 1}:
        return bool(value)
    raise _unreadable(_NEITHER, reply)


def acknowledged(reply: Reply) -> str:
    """Read the answer to a write: the record's id, or `""` if the answer does not contain it.

    Raises `ApiError` if the service refused, and `DecodeError` if the answer cannot be read, so the
    result of the write is unknown.
    """
    content = _written(reply)
    identifier = content.get("id", content.get("_id"))
    is_id = isinstance(identifier, str | int) and not isinstance(identifier, bool)
    return str(identifier) if is_id else ""


def stored(resource: Resource, reply: Reply) -> Any:  # noqa: ANN401 - that kind's model
    """Read the answer to an add: the stored record; None if the answer does not contain it whole.

    Raises as `acknowledged` does.
    """
    content = _written(reply)
    try:
        (record,) = _listed(resource, [content], reply)
    except DecodeError:
        return None
    return record if record.id else None


def _written(reply: Reply) -> dict[str, Any]:
    """Return the record in the answer to a write, or the object in its place; empty for none."""
    raise_for_status(reply)
    content = content_of(reply, notice=True) if reply.body.strip() else None
    for name in ("data", *Resource):
        if isinstance(content, dict) and isinstance(content.get(name), dict):
            content = content[name]
    return content if isinstance(content, dict) else {}


def _list(reply: Reply, own_name: str) -> tuple[list[Any], list[dict[str, Any]]]:
    """Find the list in an answer, and the objects that contain it."""
    content = content_of(reply)
    levels: list[dict[str, Any]] = []
    for name in ("data", own_name, "data"):
        if isinstance(content, dict) and name in content:
            levels.append(content)
            content = content[name]
    for level in objects_of(levels):
        raise_for_failure(level, reply)
    if reply.status == _ACCEPTED:
        raise _unreadable("the service has not carried out the request yet (HTTP 202)", reply)
    if not isinstance(content, list):
        raise _unreadable(f"the answer contains no list of {own_name}", reply)
    if len(content) > _MOST_RECORDS:
        raise _unreadable(f"the answer contains more than {_MOST_RECORDS:,} {own_name}", reply)
    return content, levels


def _listed(resource: Resource, items: Sequence[object], reply: Reply) -> tuple[Any, ...]:
    from commandsync.records.models import MODELS, with_raw  # noqa: PLC0415 - loads pydantic

    model = MODELS[resource]
    return tuple(with_raw(_record(model, item, reply), item) for item in items)


def _record(model: type[M], item: object, reply: Reply) -> M:
    try:
        return model.model_validate(item)
    except ValueError as error:
        problems = cast("ValidationError", error).errors(include_url=False, include_input=False)
        first = problems[0]
        place = ".".join(str(step) for step in first["loc"]) or "the record"
        name = model.__name__.lower()
        message = f"the answer has a malformed {name}: {place}: {first['msg']}"
        raise _unreadable(message, reply) from error


def _unreadable(message: str, reply: Reply) -> DecodeError:
    return DecodeError(message, reply=reply, hint=CHECK_BASE_URL)


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
    return Operation("list bots", "GET", "/bots", partial(read_page, "bots"), _given(query))


def get_bot(bot: Id) -> Operation[Bot]:
    """One bot: GET /bot/:id."""
    return Operation("get bot", "GET", _path(bot), read_bot)


def list_voters(
    bot: Id, *, page: int | None = None, limit: int | None = None
) -> Operation[VoterPage]:
    """One page of a bot's voters: GET /bot/:id/voters; pages start at 1 (wire notes)."""
    query = {"page": _number("page", page), "limit": _number("limit", limit, most=LARGEST_PAGE)}
    read = partial(read_page, "voters")
    return Operation("list voters", "GET", _path(bot, "voters"), read, _given(query))


def check_vote(bot: Id, user: Id) -> Operation[bool]:
    """Whether a user voted: GET /bot/:id/voters/:userId."""
    path = _path(bot, "voters", _quoted("user", user))
    return Operation("check vote", "GET", path, read_vote, deadline=LONGEST_CHECK)


def list_records(bot: Id, resource: Resource) -> Operation[Any]:
    """A bot's records of one kind: GET /bot/:id/commands. Reads a tuple of that kind's models."""
    read = partial(read_records, resource)
    return Operation(f"list {resource.collection}", "GET", _path(bot, resource.collection), read)


def reading(bot: Id, resource: Resource) -> Operation[tuple[Entry, ...]]:
    """As `list_records`, but reads the entries that planning compares."""
    operation = list_records(bot, resource)

    def read(reply: Reply) -> tuple[Entry, ...]:
        entries: dict[object, Entry] = {}
        for identifier, fields, uses in read_listed(resource, reply):
            shown = uses if uses is not None and 0 <= uses < _MOST_USES else None
            entry = Entry(resource.text(*map(canonical, fields)), id=identifier, uses=shown)
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
        acknowledged,
        body={name: value for name, value in fields.items() if value or name in resource.required},
        idempotent=False,
    )


def add_record(bot: Id, resource: Resource, text: Text) -> Operation[Any | None]:
    """As `add`, but reads the record itself; None if the answer does not contain it."""
    return replace(add(bot, resource, text), read=partial(stored, resource))


def edit(bot: Id, resource: Resource, record_id: Id, text: Text) -> Operation[str]:
    """Edit a record: POST /bot/:id/commands with its id in the body.

    A cleared category is sent as `""`: a service may keep the old one if it is left out.
    """
    body = {"id": arguments.identifier("id", record_id), **_fields(resource, text)}
    path, missing = _path(bot, resource.collection), _CHECK_ID.format(resource)
    read = acknowledged
    return Operation(f"edit {resource}", "POST", path, read, body=body, missing=missing)


def delete(bot: Id, resource: Resource, record_id: Id) -> Operation[str]:
    """Delete a record: DELETE /bot/:id/commands/:commandId."""
    path = _path(bot, resource.collection, _quoted("id", record_id))
    return Operation(f"delete {resource}", "DELETE", path, acknowledged, gone_is_done=True)


def set_uses(bot: Id, record_id: Id, uses: int) -> Operation[str]:
    """Set how often a command was used: PUT /bot/:id/commands/:commandId/uses (wire notes)."""
    path = _path(bot, "commands", _quoted("id", record_id), "uses")
    body, missing = {"uses": arguments.number("uses", uses, least=0)}, _CHECK_ID.format("command")
    return Operation("set uses", "PUT", path, acknowledged, body=body, missing=missing)


def post_stats(bot: Id, *, servers: int, shards: int | None = None) -> Operation[str]:
    """Report the size of a bot: POST /bot/:id/stats."""
    body = {"servers": arguments.number("servers", servers, least=0)}
    if shards is not None:
        body["shards"] = arguments.number("shards", shards, least=0)
    return Operation("post stats", "POST", _path(bot, "stats"), acknowledged, body=body)


def cast_vote(bot: Id, user: Id, *, username: str = "") -> Operation[str]:
    """Cast a vote of a user: POST /bot/:id/votes. Without a name, the user is called by the id."""
    account = {"id": arguments.identifier("user", user)}
    if arguments.string("username", username):
        account["username"] = username
    path, body = _path(bot, "votes"), {"user": account}
    read = acknowledged
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
