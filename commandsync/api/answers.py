"""The answers of the service as values: tolerant of their shape, strict about their meaning.

The shapes come from the wire notes: `{"success", "message", "data"}` with the list in `data` or in
`data.data`, a bare list, or a list under its own name. An answer that is not a list, reports a
failure, or reports more records than it contains is an error and never an empty listing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from commandsync.api import signs
from commandsync.api.content import (
    ABOUT_TOKEN,
    CHECK_BASE_URL,
    content_of,
    json_or_none,
    own_message,
    raise_for_failure,
    raise_for_status,
)
from commandsync.errors import DecodeError, Reply
from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from pydantic import ValidationError

    from commandsync.records.models import Bot, Record

    M = TypeVar("M", bound=Record)

_MOST_RECORDS = 100_000  # of one list: no bot has a tenth of it
_ACCEPTED = 202
_NOT_FOUND = 404
_NEITHER = "the answer to the vote check is neither yes nor no"


def records(resource: Resource, reply: Reply) -> tuple[Any, ...]:
    """Read a list of records, as a tuple of that kind's models.

    Raises `ApiError` if the service refused, and `DecodeError` if it is not a whole list of that
    kind of record with a name each.
    """
    own_name = resource.collection
    items, levels = _list(reply, own_name)
    if sign := signs.more(reply, levels, own_name=own_name, read=len(items)):
        raise DecodeError(
            f"the answer contains only a part of the {own_name} (see its {sign})",
            reply=reply,
            hint="a partial listing is never compared; ask the service for its whole list",
        )
    return _listed(resource, items, reply)


def bot(reply: Reply) -> Bot:
    """Read one bot; raises as `records` does."""
    from commandsync.records.models import Bot  # noqa: PLC0415 - as above

    content = content_of(reply)
    for name in ("data", "bot", "data"):
        if isinstance(content, dict) and isinstance(content.get(name), dict | list):
            content = content[name]
    if isinstance(content, list) and len(content) == 1:
        content = content[0]
    return _record(Bot, content, reply)


def page(own_name: Literal["bots", "voters"], reply: Reply) -> Any:  # noqa: ANN401 - its model
    """Read one page of bots or voters; raises as `records` does."""
    from commandsync.records import models  # noqa: PLC0415 - as above

    items, levels = _list(reply, own_name)
    model = models.BotPage if own_name == "bots" else models.VoterPage
    return _record(model, {own_name: items, "queries": _paging(levels)}, reply)


def voted(reply: Reply) -> bool:
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
    for level in signs.objects_of(levels):
        raise_for_failure(level, reply)
    if reply.status == _ACCEPTED:
        raise _unreadable("the service has not carried out the request yet (HTTP 202)", reply)
    if not isinstance(content, list):
        raise _unreadable(f"the answer contains no list of {own_name}", reply)
    if len(content) > _MOST_RECORDS:
        raise _unreadable(f"the answer contains more than {_MOST_RECORDS:,} {own_name}", reply)
    return content, levels


def _paging(levels: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    paging: dict[str, Any] = {}
    for level in levels:
        queries = level.get("queries")
        paging |= queries if isinstance(queries, dict) else {}
        paging |= {name: level[name] for name in ("page", "limit", "maxPage") if name in level}
    return paging


def _listed(resource: Resource, items: Sequence[object], reply: Reply) -> tuple[Any, ...]:
    from commandsync.records.models import MODELS, with_raw  # noqa: PLC0415 - pydantic loads while the reply travels

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
