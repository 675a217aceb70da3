"""A case of the model, and one run of the product in it.

A case is a value: a listing, a manifest, a service's way, and what comes between. `draws.py`
generates cases. A `Trial` is one run on the service: what it planned, sent, and said.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from commandsync.apply.outcomes import Result
from commandsync.errors import (
    ListingError,
    ManifestError,
    Reply,
    StalePlanError,
    TooManyDeletesError,
)
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.plan import RecordPlan
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText
from tests.support.listing import (
    DOTTED_IDS,
    FIELDS,
    REPEATED,
    WITHOUT_IDS,
    Fault,
    Listing,
    Request,
    text_of,
)
from tests.support.oracle import Limit, Rules, Text, Texts, Want
from tests.support.runs import Driver, Killed, Run, Stop, wanted
from tests.support.texts import clean
from tests.support.ways import Way

COLLECTIONS = tuple(FIELDS)
FEW_READS = 2
"""What a service hides for so many reads, or fewer, a run still gets to see."""


@dataclass(frozen=True)
class Act:
    """What a second writer does just before a request is served.

    Attributes:
        at: The request's number.
        kind: `add`, `edit`, `rename` or `delete`.
        collection: Where.
        nth: Which record, counted round.
        text: What it writes.
    """

    at: int
    kind: str
    collection: str
    nth: int
    text: Text


@dataclass(frozen=True)
class Met:
    """A fault that requests of one operation meet.

    Attributes:
        operation: One of `OPERATIONS`.
        fault: What goes wrong.
        nth: With which of these requests, from 0.
        stays: Whether it goes wrong with all of them from that one on.
    """

    operation: str
    fault: Fault
    nth: int
    stays: bool = False

    def meets(self, nth: int) -> bool:
        """Whether it goes wrong with the nth request of the operation."""
        return nth >= self.nth if self.stays else nth == self.nth


OPERATIONS = ("read", "add", "edit", "delete", "post", "withdraw")
"""What a request does: post and withdraw are an announcement's add and delete."""


def operation_of(request: Request) -> str:
    """Return the operation of a request."""
    names = {"add": "post", "delete": "withdraw"}
    is_post = request.collection == "announcements"
    return names.get(request.kind, request.kind) if is_post else request.kind


@dataclass(frozen=True, kw_only=True)
class AnyCase:
    """One case of any service, generated or of the scene in which each fault is played.

    Attributes:
        rules: The manifest's policy.
        saved: Whether a plan is saved at first, and each run applies that one.
        unordered: Whether adds are sent concurrently.
        width: How many requests may be in flight.
        faults: What goes wrong, by the request's number.
        acts: What a second writer does.
        stops: How each of the first runs is stopped, at which moment; one without a stop is None.
        lands: Whether what is in flight at a stop arrives.
        flights: Tenths of a second that requests take, in turn.
        turns: Who moves next of two first runs at once, in turn; empty for one at a time.
        met: What goes wrong with one operation.
        named: The row and the column of a table, and which case of them; empty if generated.
    """

    rules: SyncRules
    saved: bool = False
    unordered: bool = False
    width: int = 4
    faults: tuple[tuple[int, Fault], ...] = ()
    acts: tuple[Any, ...] = ()
    stops: tuple[tuple[int, Stop], ...] = ()
    lands: bool = False
    flights: tuple[int, ...] = (1,)
    turns: tuple[int, ...] = ()
    met: Met | None = None
    named: tuple[str, str, str] = ("", "", "")

    def __str__(self) -> str:
        return " / ".join(self.named) if any(self.named) else f"{self.kind}, {self.trouble}"

    @property
    def kind(self) -> str:
        """The row of a table: what kind of service, or what goes wrong."""
        return self.named[0]

    @property
    def trouble(self) -> str:
        """The column of a table: what comes between, or with which operation."""
        if self.named[1]:
            return self.named[1]
        parts = {
            "faults": self.faults,
            "second writer": self.acts,
            "stops": self.stops,
            "two runs": self.turns,
        }
        return " + ".join(name for name, some in parts.items() if some) or "nothing"

    @property
    def limit(self) -> Limit:
        """The guard's limit."""
        limit = self.rules.max_deletes
        if limit is None:
            return Limit()
        return Limit(limit.count, limit.percent, everything=limit.unlimited)


@dataclass(frozen=True, kw_only=True)
class Case(AnyCase):
    """One case of a page.

    Attributes:
        number: What the lists beside the page are drawn from.
        way: How the service treats what it is sent.
        before: What is listed at first, by id.
        wants: What the manifest wants, commands and announcements.
        scope: The collections that the manifest declares.
        other: What the second of two runs at once wants; empty for the same.
        kept: The ids that are listed at every moment.
    """

    number: int
    way: Way
    before: tuple[tuple[str, Text], ...]
    wants: tuple[Want, ...]
    scope: tuple[str, ...]
    acts: tuple[Act, ...] = ()
    other: tuple[Want, ...] = ()
    kept: frozenset[str] = frozenset()

    @property
    def kind(self) -> str:
        """The row of a table: what kind of service, or what goes wrong."""
        if self.named[0]:
            return self.named[0]
        if self.way.manner:
            return "pages"
        return self.way.habit or self.way.rewriting or ("lags" if self.way.lag else "verbatim")

    @property
    def desired(self) -> Snapshot:
        """The manifest's side, as the product takes it."""
        entries = {collection: self._entries(collection) for collection in self.scope}
        return wanted(entries.get("commands"), entries.get("announcements"))

    @property
    def rival(self) -> Snapshot:
        """What the second of two runs at once wants."""
        return replace(self, wants=self.other).desired if self.other else self.desired

    @property
    def watched(self) -> bool:
        """Whether a record that is too many or too few, even for a moment, is the runs' doing."""
        keeps = self.way.keeps_texts and self.way.keeps_records and self.way.lag <= FEW_READS
        return keeps and not self.acts and not any(want.pin for want in self.wants)

    def wants_of(self, collection: str) -> list[Want]:
        """Return what is wanted of one collection."""
        return [want for want in self.wants if collection_of(want.text) == collection]

    def due_of(self, collection: str, listed: Texts) -> list[Want]:
        """Return what has to be listed: a replaced announcement has lost the id that is pinned.

        An entry that an ignored record is meant by is left alone.
        """
        wants = self.rules_of(collection).managed(self.wants_of(collection), listed)
        replaces = collection == "announcements" and self.rules.announcements == "mirror"
        return [Want(want.text) for want in wants] if replaces else wants

    def rules_of(self, collection: str) -> Rules:
        """Return what holds for one collection."""
        managed = collection == "commands" or self.rules.announcements == "mirror"
        return Rules(self.rules.prune and managed, managed, self.rules.ignore)

    def _entries(self, collection: str) -> list[Entry]:
        kind = CommandText if collection == "commands" else AnnouncementText
        return [
            Entry(kind(*want.text), id=want.pin, formerly=want.formerly)
            for want in self.wants_of(collection)
        ]


def collection_of(text: Text) -> str:
    """Return the collection that a text is of."""
    return next(name for name, names in FIELDS.items() if len(names) == len(text))


def do(act: Act, service: Listing) -> None:
    """Do what the second writer does, at once and for all to see."""
    service.unveil()  # to change a record is to see it
    names = FIELDS[act.collection]
    record = dict(zip(names, act.text, strict=True))
    if act.kind == "add":
        service.seed(act.collection, [record])
        return
    ids = service.ids(act.collection)
    if not ids:
        return
    one = ids[act.nth % len(ids)]
    change = {names[0]: record[names[0]]} if act.kind == "rename" else record
    for records in (service.stored[act.collection], service.shown[act.collection]):
        if act.kind == "delete":
            records[:] = [it for it in records if it["id"] != one]
        for it in records:
            if it["id"] == one:
                it.update(change)


class Problem(NamedTuple):
    """Something that must not be: its kind, for counting, and what it is."""

    kind: str
    words: str


class View(NamedTuple):
    """A read that came through: its request's number, what was stored in truth, what was shown."""

    number: int
    stored: Texts
    shown: Texts


@dataclass
class AnyTrial:
    """One run.

    Attributes:
        case: The case.
        service: The service.
        begun: The number of its first request.
        ended: The number after its last one.
        plan: Its plan; None when it had none.
        result: What it said; None when it was killed or could not begin.
        refusal: Why it could not begin: one of the words of `ENDS`, or empty.
        why: The same in the words of the product.
        quiet: Whether nothing comes between any more.
        driver: What drives it in simulated time.
    """

    case: Any
    service: Any
    begun: int
    ended: int = 0
    plan: RecordPlan | None = None
    result: Result | None = None
    refusal: str = ""
    why: str = ""
    quiet: bool = False
    driver: Driver | None = None

    def ran(self, run: Run) -> None:
        """Take in what a run planned and said."""
        self.plan, self.result = run.plan, run.result

    @property
    def requests(self) -> list[Any]:
        """Its requests."""
        requests: list[Any] = self.service.requests[self.begun : self.ended]
        return requests

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of its plan."""
        return self.plan.changes if self.plan else ()


@dataclass
class Trial(AnyTrial):
    """One run on a page."""

    case: Case
    service: Listing

    @property
    def nameless(self) -> bool:
        """Whether it read records whose ids no request can name."""
        return any(one.fault in {WITHOUT_IDS, DOTTED_IDS} for one in self.requests)

    def of(self, collection: str) -> list[Change]:
        """Return the changes of one collection."""
        return [one for one in self.changes if one.resource.collection == collection]

    def writes(self, collection: str | None = None) -> list[Request]:
        """Return the requests that change the listing, of one collection or of all."""
        return [
            one
            for one in self.requests
            if one.method != "GET" and collection in {None, one.collection}
        ]

    def views(self, collection: str) -> list[View]:
        """Return the reads of a collection whose answers came through as they were."""
        return [
            View(one.number, cleaned(look.stored), cleaned(look.shown))
            for one in self.requests
            if one.method == "GET" and self.untouched(one)
            if (look := self.service.looks.get(one.number)) and look.collection == collection
            if not self.case.way.cuts(len(look.shown))
        ]

    def first(self, collection: str) -> View | None:
        """Return the read that the plan was made from, or held against."""
        return next(iter(self.views(collection)), None)

    def last(self, collection: str) -> View | None:
        """Return the last read that a run had to look at: nothing was written after it.

        A run that was interrupted looks at nothing any more, and believes what was answered.
        """
        if self.result is not None and self.result.interrupted:
            return None
        views = self.views(collection)
        writes = self.writes()
        late = views and writes and writes[-1].number > views[-1].number
        return views[-1] if views and not late else None

    def untouched(self, request: Request) -> bool:
        """Whether the answer to a request came through, with every text as the service gave it."""
        fault = request.fault
        return fault is None or fault.answer is None or fault in {REPEATED, WITHOUT_IDS, DOTTED_IDS}

    def acknowledged(self, request: Request) -> bool:
        """Whether a request was answered with a success that can be read, or was of no need."""
        answer = self.service.answers[request.number]
        if not isinstance(answer, Reply) or answer.status != 200:
            gone = isinstance(answer, Reply) and answer.status == 404
            return gone and request.kind == "delete"
        try:
            return json.loads(answer.body)["success"] is True
        except (ValueError, KeyError):
            return False

    def happened(self, request: Request) -> bool:
        """Whether a write reached what is stored, be it late."""
        return request.number in self.service.applied

    def may_be_done(self, request: Request) -> bool:
        """Whether a write that no read shows may be called done.

        On a service that keeps what it is sent, only an interrupted run may believe an answer.
        """
        interrupted = self.result is not None and self.result.interrupted
        believes = interrupted or not self.case.watched
        return self.happened(request) or (believes and self.acknowledged(request))

    def posts(self, text: Text) -> list[Request]:
        """Return the requests that add this very text."""
        return [one for one in self.requests if one.kind == "add" and sent_text(one) == text]

    def about(self, identifier: str, *, kind: str) -> list[Request]:
        """Return the edits or deletes of one record."""
        return [one for one in self.requests if one.kind == kind and sent_id(one) == identifier]

    def adds(self) -> Counter[Text]:
        """Return how often the plan adds each text."""
        return Counter(tuple(one.after) for one in self.changes if isinstance(one, Add | Replace))


def cleaned(texts: Texts) -> Texts:
    return {one: tuple(map(clean, text)) for one, text in texts.items()}


def sent_text(request: Request) -> Text:
    """Return the text that an add or an edit carries."""
    return text_of(request.collection, dict(request.body or {}))


def sent_id(request: Request) -> str:
    """Return the id of the record that an edit or a delete is about."""
    return str((request.body or {}).get("id") or request.path.rsplit("/", 1)[1])


def names_of(change: Change) -> tuple[str, ...]:
    """Return the names of the fields of a record that is changed."""
    return FIELDS[change.resource.collection]


def story_of(trial: Trial) -> Iterator[str]:
    """Tell a run: its plan, its requests with their answers, and what it said."""
    yield f"  plan: {trial.refusal or 'made'}"
    for change in trial.changes:
        yield f"    {_told(change)}"
    for request in trial.requests:
        answer = trial.service.answers[request.number]
        said = _read(answer) if isinstance(answer, Reply) else f"no answer: {answer}"
        fault = f"   [{request.fault.name}]" if request.fault else ""
        body = dict(request.body) if request.body else ""
        yield f"    #{request.number} {request.method} {request.path} {body}{fault}"
        yield f"        -> {said}"
    if trial.result is None:
        return
    result = trial.result
    for one in result.settled:
        yield f"  {one.outcome.upper()}: {_told(one.change)} {one.error}"
    for settled in result.rewritten:
        ways = "; ".join(f"{one.field} {one.how}" for one in settled.rewrites)
        yield f"  DIFFERS: {_told(settled.change)}: {ways}"
    yield from (f"  NOTICE: {one.message}" for one in result.notices)
    yield (
        f"  complete={result.complete} verified={result.verified} touched={result.touched} "
        f"stopped={result.stopped!r}"
    )


def _read(answer: Reply) -> str:
    try:
        data = json.loads(answer.body).get("data")
    except ValueError:
        return f"{answer.status} {answer.body[:80]!r}"
    if not isinstance(data, list):
        return f"{answer.status} {answer.body[:200].decode()}"
    shown = [
        " | ".join(f"{value}" for key, value in record.items() if key != "uses") for record in data
    ]
    return "\n           ".join([f"{answer.status}, {len(data)} records", *shown])


def _told(change: Change) -> str:
    match change:
        case Add():
            return f"add {tuple(change.after)}"
        case Edit() | Replace():
            return f"{change.action} {change.id}: {tuple(change.before)} -> {tuple(change.after)}"
        case Delete():
            return f"delete {change.id}: {tuple(change.before)}"


ENDS: dict[type[BaseException], str] = {
    Killed: "killed",
    StalePlanError: "stale",
    TooManyDeletesError: "refused",
    ManifestError: "invalid",
    ListingError: "unreadable",
}
"""How a run may end before it says anything, and the words for it."""


def refusal(error: BaseException) -> str:
    """Return the word of `ENDS` for the end of a run."""
    return next(word for kind, word in ENDS.items() if isinstance(error, kind))
