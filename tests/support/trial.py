"""One run of the product on a service of the model: what it planned, sent, and said."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from commandsync.apply.outcomes import Result
from commandsync.errors import ListingError, Reply, StalePlanError, TooManyDeletesError
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.plan import Plan
from tests.support.cases import Case
from tests.support.driver import Driver, Killed
from tests.support.listing import (
    DOTTED_IDS,
    FIELDS,
    REPEATED,
    WITHOUT_IDS,
    Listing,
    Request,
    text_of,
)
from tests.support.oracle import Text, Texts
from tests.support.runs import Run
from tests.support.texts import clean


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
class Trial:
    """One run.

    Attributes:
        case: The case.
        service: The service.
        begun: The number of its first request.
        ended: The number after its last one.
        plan: Its plan; None when it had none.
        result: What it said; None when it was killed or could not begin.
        refusal: Why it could not begin: `unreadable`, `refused`, `stale`, `killed`, or empty.
        quiet: Whether nothing comes between any more.
        driver: What drives it in simulated time.
    """

    case: Case
    service: Listing
    begun: int
    ended: int = 0
    plan: Plan | None = None
    result: Result | None = None
    refusal: str = ""
    quiet: bool = False
    driver: Driver | None = None

    def ran(self, run: Run) -> None:
        """Take in what a run planned and said."""
        self.plan, self.result = run.plan, run.result

    @property
    def requests(self) -> list[Request]:
        """Its requests."""
        return self.service.requests[self.begun : self.ended]

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of its plan."""
        return self.plan.changes if self.plan else ()

    @property
    def nameless(self) -> bool:
        """Whether it read records whose ids no request can name."""
        return any(one.fault in {WITHOUT_IDS, DOTTED_IDS} for one in self.requests)

    def of(self, collection: str) -> list[Change]:
        """Return the changes of one collection."""
        return [one for one in self.changes if one.resource.collection == collection]

    def writes(self, collection: str | None = None) -> list[Request]:
        """Return what would change something."""
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
    """Return the names of the fields of what is changed."""
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


ENDS = (Killed, StalePlanError, TooManyDeletesError, ListingError)


def refusal(error: BaseException) -> str:
    """Return the word of `Trial.refusal` for what a run ended with."""
    names = ("killed", "stale", "refused", "unreadable")
    return next(name for kind, name in zip(ENDS, names, strict=True) if isinstance(error, kind))
