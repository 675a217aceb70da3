"""A listing service in memory, written from the service interface and the wire notes alone.

It shares nothing with the product but the two values that stand for an answer and for none. Faults
are given per request, by the request's number or by a function that picks one. A `FaultServer` puts
it behind real sockets, and does every fault as a network would: it sends the answer, or none,
reset, delayed, byte by byte, of a wrong length, as a gzip bomb, without end.
"""

import gzip
import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

from commandsync.errors import Reply, TransportError
from tests.support import rawserver
from tests.support.rawserver import (
    Act,
    Exchange,
    SocketServer,
    answer,
    dripping,
    hanging,
    keeping,
    resetting,
    sending,
)

Record = dict[str, Any]
Answer = Reply | TransportError
Texts = dict[str, tuple[str, ...]]

FIELDS = {
    "commands": ("name", "description", "syntax", "category"),
    "announcements": ("title", "description"),
}
_OPTIONAL = "category"


def _reply(status: int, content: object) -> Reply:
    return Reply(status, json.dumps(content).encode())


def _ok(data: object = None) -> Reply:
    content: Record = {"success": True, "message": "Done."}
    return _reply(200, content if data is None else {**content, "data": data})


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request."""

    name: str  # what it is called in a table of faults
    # Gives what comes back instead of the service's own answer; None leaves that.
    answer: Callable[[Answer], Answer] | None = None
    applied: bool = True  # whether the service does what was asked
    late: int = 0  # if so, after how many further requests; 0 means at once
    hidden: int = 0  # from how many of the next reads the effect is hidden
    wire: str = ""  # how sockets do it, where it is more than another answer; see `faultserver`

    def __str__(self) -> str:
        return self.name


def _silence(
    message: str, *, sent: bool = True, lasting: bool = False
) -> Callable[[Answer], Answer]:
    return lambda _: TransportError(message, sent=sent, lasting=lasting)


def _status(
    status: int, body: bytes = b"", headers: Mapping[str, str] = MappingProxyType({})
) -> Callable[[Answer], Answer]:
    return lambda _: Reply(status, body, headers)


def _cut(answer: Answer) -> Answer:
    return Reply(answer.status, answer.body[:-2]) if isinstance(answer, Reply) else answer


def _spoiling(change: Callable[[list[Record]], list[Record]]) -> Callable[[Answer], Answer]:
    """Change the records of a list; other answers stay."""

    def spoil(answer: Answer) -> Answer:
        if not isinstance(answer, Reply) or answer.status != 200:
            return answer
        content = json.loads(answer.body)
        if not isinstance(content.get("data"), list):
            return answer
        return _reply(200, {**content, "data": change(content["data"])})

    return spoil


def _with_ids(identifier: str | None) -> Callable[[list[Record]], list[Record]]:
    def change(records: list[Record]) -> list[Record]:
        bare = [
            {name: value for name, value in record.items() if name not in {"id", "_id"}}
            for record in records
        ]
        return bare if identifier is None else [{"id": identifier, **record} for record in bare]

    return change


_HTML = b"<!doctype html><title>Bad gateway</title>"
_NO = b'{"success": false, "message": "no"}'

_MOVED = "http://127.0.0.1:9/elsewhere"
_NOW = "Wed, 21 Oct 2026 07:28:00 GMT"


def _limited(name: str, **headers: str) -> Fault:
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return Fault(name, _status(429, headers=named), applied=False)


def _redirect(name: str, status: int, location: str) -> Fault:
    return Fault(name, _status(status, headers={"location": location}), applied=False)


REFUSED = Fault("refused", _silence("refused", sent=False), applied=False, wire="refuse")
RESET_BEFORE = Fault("reset before", _silence("reset"), applied=False, wire="reset")
RESET_AFTER = Fault("reset after", _silence("reset"), wire="reset")
TIMED_OUT_BEFORE = Fault("timed out before", _silence("timed out"), applied=False, wire="hang")
TIMED_OUT_AFTER = Fault("timed out after", _silence("timed out"), wire="hang")
TIMED_OUT_LATE = Fault("applied late", _silence("timed out"), late=2, wire="hang")
DRIPPED = Fault("answer byte by byte", _silence("timed out"), wire="drip")
CUT_AFTER = Fault("answer cut", _cut)
TOO_LONG = Fault("Content-Length too long", _silence("ends too early"), wire="long")
TOO_SHORT = Fault("Content-Length too short", _cut, wire="short")
BOMB = Fault("gzip bomb", _silence("too large", lasting=True), wire="bomb")
ENDLESS = Fault("answer past the limit", _silence("too large", lasting=True), wire="endless")
UNREADABLE_BEFORE = Fault("answer is HTML", _status(200, _HTML), applied=False)
NO_UTF8 = Fault("answer is not UTF-8", _status(200, b'{"success": true, "data": "\xff\xfe"}'))
WRONG_SHAPE = Fault("answer of wrong shape", _status(200, b'{"success": true, "data": {"n": 3}}'))
WRONG_SHAPE_BEFORE = Fault(
    "wrong shape, not applied", _status(200, b'{"success": true, "data": 7}'), applied=False
)
BAD_REQUEST = Fault("400", _status(400, b'{"error": "bad"}'), applied=False)
UNAUTHORIZED = Fault("401", _status(401, b'{"error": "invalid token"}'), applied=False)
FORBIDDEN = Fault("403", _status(403), applied=False)
NOT_FOUND = Fault("404", _status(404, b'{"error": "unknown bot"}'), applied=False)
REQUEST_TIMED_OUT = Fault("408", _status(408), applied=False)
CONFLICT = Fault("409", _status(409, b'{"error": "conflict"}'), applied=False)
UNPROCESSABLE = Fault("422", _status(422, b'{"error": "unprocessable"}'), applied=False)
SAYS_NO = Fault("200 success: false", _status(200, _NO), applied=False)
LIMITED = _limited("429", retry_after="2")
LIMITED_BY_DATE = _limited("429 by date", retry_after=_NOW.replace(":00 ", ":03 "), date=_NOW)
LIMITED_FOR_LONG = _limited("429 for long", retry_after="3600")
LIMITED_FOR_EVER = _limited("429 huge", retry_after="9" * 40)
LIMITED_NEGATIVE = _limited("429 negative", retry_after="-5")
LIMITED_GARBAGE = _limited("429 garbage", retry_after="soon")
FAILED_BEFORE = Fault("500 before", _status(500), applied=False)
FAILED_AFTER = Fault("500 after", _status(500))
FAILED_AFTER_HIDDEN = Fault("500 after, hidden", _status(500), hidden=2)
GATEWAY_BEFORE = Fault("502 before", _status(502, _HTML), applied=False)
UNAVAILABLE = Fault("503", _status(503, _HTML, {"retry-after": "1"}), applied=False)
GATEWAY_LATE = Fault("504, applied late", _status(504, _HTML), late=2)
MOVED = _redirect("redirect, same host", 307, "/v1/elsewhere")
MOVED_AWAY = _redirect("redirect, other host", 302, _MOVED)
MOVED_ROUND = _redirect("redirect, loop", 301, "/v1/bot/42/commands")
REFUSED_AFTER = tuple(
    Fault(f"{status} after", _status(status, _NO, {"location": "/v1/done"} if status < 400 else {}))
    for status in (302, 303, 307, 400, 403, 422)
)
"""What was asked is done, and the answer refuses it."""

HIDDEN = Fault("hidden", hidden=2)
REPEATED = Fault("records repeated", _spoiling(lambda records: [*records, *records]))
WITHOUT_IDS = Fault("records without id", _spoiling(_with_ids(None)))
DOTTED_IDS = Fault("ids are ..", _spoiling(_with_ids("..")))

FAULTS = (*(value for value in [*vars().values()] if isinstance(value, Fault)), *REFUSED_AFTER)
"""All of the above."""

_NO_FAULT = Fault("none")


@dataclass(frozen=True)
class Request:
    """A request as it came, and what it did."""

    number: int  # which request of the service's life it is, from 0
    method: str  # the method
    path: str  # the path, still percent-encoded
    body: Mapping[str, Any] | None  # the decoded body
    fault: Fault | None  # what was made to go wrong

    @property
    def kind(self) -> str:
        """What it asks for: read, add, edit or delete."""
        if self.method == "POST":
            return "edit" if self.body and "id" in self.body else "add"
        return {"GET": "read", "PUT": "edit", "DELETE": "delete"}[self.method]

    @property
    def collection(self) -> str:
        """Which collection it is about."""
        return self.path.split("/")[3]


@dataclass
class _Effect:
    """Something that happens to the records, at once or later, in truth or in what is shown."""

    collection: str
    change: Callable[[list[Record]], None]
    due: int
    number: int
    record: str
    author: int = 0


@dataclass(frozen=True)
class Look:
    """One read of a collection: the texts by id, as stored in truth and as shown."""

    collection: str
    stored: Texts
    shown: Texts


def text_of(collection: str, record: Record) -> tuple[str, ...]:
    """Return the text of a record as it is compared: a field that is not there is empty."""
    return tuple([record.get(name) or "" for name in FIELDS[collection]])


def texts_by_id(collection: str, records: Iterable[Record]) -> Texts:
    """Return the texts of records by their ids, in their order."""
    return {record["id"]: text_of(collection, record) for record in records}


@dataclass
class Listing:
    """The service."""

    bot: str = "42"  # the one bot it knows
    # What goes wrong, by the number of the request.
    faults: dict[int, Fault] = field(default_factory=dict)
    # Picks a fault for a request that `faults` does not name.
    choose: Callable[[Request], Fault | None] = lambda _: None
    store: Callable[[Record], Record] = dict  # what becomes of a record's text when it is stored
    # Says why a new or changed record is answered 400; empty when it is taken.
    refuse: Callable[[str, Record, list[Record]], str] = lambda _, __, ___: ""
    # What the service drops of a collection by itself after each write.
    tidy: Callable[[str, list[Record]], None] = lambda _, __: None
    # Answers a read, given the collection and its records.
    present: Callable[[str, list[Record]], Reply] = lambda _, records: _ok(records)
    lag: int = 0  # from how many of the next reads every change is hidden
    tells: bool = False  # whether the answer to an add tells the new record
    spelling: str = "id"  # how it spells the identifier; empty for a service that shows none
    requests: list[Request] = field(default_factory=list)  # every request that came
    # What was answered, by the request's number.
    answers: list[Answer] = field(default_factory=list)
    # The id of the record that a write was about, for each write that happened.
    applied: dict[int, str] = field(default_factory=dict)
    # What was stored in truth and what was shown, for each read that was served.
    looks: dict[int, Look] = field(default_factory=dict)
    # The records of each collection, as they are in truth.
    stored: dict[str, list[Record]] = field(default_factory=lambda: {name: [] for name in FIELDS})
    # The records as a read shows them.
    shown: dict[str, list[Record]] = field(default_factory=lambda: {name: [] for name in FIELDS})
    author: int = 0  # who is asking now; kept with what is asked, also when that happens late
    # Told after each change of what is stored in truth, and whose it was.
    witness: "Callable[[Listing, int], None]" = lambda _, __: None
    used: set[str] = field(default_factory=set)  # the ids of the records that have uses
    _late: list[_Effect] = field(default_factory=list)
    _veiled: list[_Effect] = field(default_factory=list)
    _ids: int = 0

    def seed(self, collection: str, records: Iterable[Mapping[str, Any]]) -> None:
        """Put records there as they are; those without an id get one."""
        for given in records:
            record = {"id": self._new_id(), "uses": 7, **given}
            self.stored[collection].append(record)
            self.shown[collection].append(dict(record))
            self.used.update([record["id"]] if record["uses"] else [])

    def texts(self, collection: str) -> list[tuple[str, ...]]:
        """Return what is stored in truth, in its order."""
        return [text_of(collection, record) for record in self.stored[collection]]

    def ids(self, collection: str) -> list[str]:
        """Return the ids of what is stored in truth, in its order."""
        return [record["id"] for record in self.stored[collection]]

    def writes(self, since: int = 0) -> list[Request]:
        """Return the requests that would change something."""
        return [request for request in self.requests[since:] if request.method != "GET"]

    def handle(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]] = (),
        body: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Answer a request, or fail to."""
        assert not query
        self._ripen()
        asked = Request(len(self.requests), method, path, body, None)
        fault = self.faults.get(asked.number) or self.choose(asked)
        self.requests.append(Request(asked.number, method, path, body, fault))
        fault = fault or _NO_FAULT
        answer = self._serve(asked, fault) if fault.applied else _ok()
        answer = answer if fault.answer is None else fault.answer(answer)
        self.answers.append(answer)
        return answer

    def settle(self) -> None:
        """Let everything late happen, and show everything."""
        for effect in self._late:
            self._happen(effect, hidden=0)
        self._late.clear()
        self.unveil()

    def unveil(self) -> None:
        """Show everything that has happened."""
        for effect in self._veiled:
            effect.change(self.shown[effect.collection])
        self._veiled.clear()

    def _ripen(self) -> None:
        now = len(self.requests)
        for effect in [one for one in self._late if one.due <= now]:
            self._late.remove(effect)
            self._happen(effect, hidden=0)

    def _happen(self, effect: _Effect, *, hidden: int) -> None:
        before = texts_by_id(effect.collection, self.stored[effect.collection])
        effect.change(self.stored[effect.collection])
        after = texts_by_id(effect.collection, self.stored[effect.collection])
        # else it was dropped at once, or stored as it was
        if effect.record in {*before, *after} and before != after:
            self.applied[effect.number] = effect.record
        self.witness(self, effect.author)
        if hidden:
            self._veiled.append(replace(effect, due=hidden))
        else:
            effect.change(self.shown[effect.collection])

    def _serve(self, request: Request, fault: Fault) -> Answer:
        route = re.fullmatch(r"/bot/([^/]+)/(commands|announcements)(?:/([^/]+))?", request.path)
        if route is None or unquote(route[1]) != self.bot:
            return _reply(404, {"error": "unknown bot"})
        collection, identifier = route[2], unquote(route[3] or "")
        match request.method:
            case "GET":
                return self._read(request.number, collection)
            case "DELETE":
                return self._delete(collection, identifier, fault)
            case _:
                return self._write(collection, request.body or {}, fault)

    def _read(self, number: int, collection: str) -> Reply:
        self.looks[number] = Look(
            collection,
            texts_by_id(collection, self.stored[collection]),
            texts_by_id(collection, self.shown[collection]),
        )
        shown = [dict(record) for record in self.shown[collection]]
        for record in shown:
            identifier = record.pop("id")
            if self.spelling:
                record[self.spelling] = identifier
        for effect in [one for one in self._veiled if one.collection == collection]:
            effect.due -= 1
            if effect.due == 0:
                self._veiled.remove(effect)
                effect.change(self.shown[collection])
        return self.present(collection, shown)

    def _write(self, collection: str, body: Mapping[str, Any], fault: Fault) -> Reply:
        texts = {name: body[name] for name in FIELDS[collection] if name in body}
        needed = [name for name in FIELDS[collection] if name != _OPTIONAL]
        if not all(isinstance(texts.get(name), str) and texts[name] for name in needed):
            return _reply(400, {"error": "a field is missing"})
        others = [record for record in self.stored[collection] if record["id"] != body.get("id")]
        if why := self.refuse(collection, texts, others):
            return _reply(400, {"error": why})
        record = self.store(dict(texts))
        if "id" in body:
            return self._edit(collection, body["id"], record, fault)
        record["id"] = self._new_id()
        self._enter(collection, record["id"], lambda them: them.append(dict(record)), fault)
        return _ok({self.spelling or "id": record["id"]} if self.tells else None)

    def _edit(self, collection: str, identifier: str, record: Record, fault: Fault) -> Reply:
        if collection == "announcements" or identifier not in self.ids(collection):
            return _reply(404, {"error": "unknown record"})

        def change(records: list[Record]) -> None:
            for one in records:
                if one["id"] == identifier:
                    one.update(record)

        self._enter(collection, identifier, change, fault)
        return _ok()

    def _delete(self, collection: str, identifier: str, fault: Fault) -> Reply:
        if identifier not in self.ids(collection):
            return _reply(404, {"error": "unknown record"})

        def change(records: list[Record]) -> None:
            records[:] = [record for record in records if record["id"] != identifier]

        self._enter(collection, identifier, change, fault)
        return _ok()

    def _enter(
        self, collection: str, record: str, change: Callable[[list[Record]], None], fault: Fault
    ) -> None:
        def happen(records: list[Record]) -> None:
            change(records)
            self.tidy(collection, records)

        number = len(self.requests) - 1
        due = number + 1 + fault.late
        effect = _Effect(collection, happen, due, number, record, self.author)
        if fault.late:
            self._late.append(effect)
        else:
            self._happen(effect, hidden=max(fault.hidden, self.lag))

    def _new_id(self) -> str:
        self._ids += 1
        return f"r{self._ids:04}"


_BOMB = gzip.compress(bytes(48 * 2**20), 1)
_ENDLESS = b" " * (40 * 2**20)
_CLOSED_FOR = 0.4  # seconds: longer than the first wait before a next try


@dataclass
class FaultServer(SocketServer):
    """The service.

    Attributes:
        listing: What is listed, and what goes wrong with which request.
        arrived: Told of each request's number before anything is done; True swallows the request.
        answered: The same after what was asked is done, and before it is answered.
    """

    listing: Listing
    arrived: Callable[[int], bool] = lambda _: False
    answered: Callable[[int], bool] = lambda _: False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._lock = threading.Lock()

    def handle(self, exchange: Exchange) -> None:
        with self._lock:  # one after the other, as a database does it
            number = len(self.listing.requests)
            if self.arrived(number):
                exchange.close()
                return
            reply, wire = self._asked(exchange.request)
            swallowed = self.answered(number)
            refuse = self.listing.faults.get(number + 1) is REFUSED
        if swallowed:
            exchange.close()
        elif refuse:
            del self.listing.faults[number + 1]
            sending(_bytes(reply, connection="close"))(exchange)
            self.away(_CLOSED_FOR)
        else:
            _acts(wire, reply)(exchange)

    def _asked(self, request: rawserver.Request) -> tuple[Reply, str]:
        path = request.path.removeprefix("/v1")
        answered = self.listing.handle(
            request.method, path, tuple(request.query.items()), request.json
        )
        fault = self.listing.requests[-1].fault
        reply = answered if isinstance(answered, Reply) else Reply(200, b'{"success": true}')
        return reply, fault.wire if fault is not None else ""


def _bytes(reply: Reply, **headers: str) -> bytes:
    return answer(reply.body, status=reply.status, headers={**reply.headers, **headers})


def _acts(wire: str, reply: Reply) -> Act:
    match wire:
        case "reset" | "refuse":
            return resetting
        case "hang":
            return hanging
        case "drip":
            return dripping(_bytes(reply)[:20], tail=b"x")
        case "":
            return keeping(_bytes(reply))
        case _:
            return sending(_spoilt(wire, reply))


def _spoilt(wire: str, reply: Reply) -> bytes:
    length = len(reply.body)
    match wire:
        case "long":
            return _bytes(reply, **{"Content-Length": str(length + 50)})
        case "short":
            return _bytes(reply, **{"Content-Length": str(max(length - 9, 1))})
        case "bomb":
            return answer(_BOMB, headers={"Content-Encoding": "gzip"})
        case "endless":
            return answer(_ENDLESS)
        case _:
            raise AssertionError(wire)
