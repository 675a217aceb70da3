"""Generated cases for the model: a listing, a manifest, a service's way, and what comes between.

A case is a value, drawn from a number alone, so that one number reproduces it for ever; its parts
are tuples, so that a failing one can be made smaller by leaving parts out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random

from commandsync.apply.steps import Aborted, Interrupted
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText
from tests.support.driver import Kill, Stop
from tests.support.listing import (
    DOTTED_IDS,
    FAULTS,
    FIELDS,
    REFUSED_AFTER,
    WITHOUT_IDS,
    Fault,
    Request,
)
from tests.support.oracle import Limit, Rules, Text, Texts, Want, folded
from tests.support.partial import manners
from tests.support.runs import wanted
from tests.support.texts import clean, grown, name, phrase, varied, word
from tests.support.ways import CUTS, Way, draw_way

COLLECTIONS = tuple(FIELDS)
_FAULTS = [one for one in FAULTS if one not in {WITHOUT_IDS, DOTTED_IDS}]
_MANNERS = manners()
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


@dataclass(frozen=True)
class Case:
    """One case, generated or of the scene in which each fault is played.

    Attributes:
        number: What it was drawn from, with the seed.
        way: How the service treats what it is sent.
        before: What is listed at first, by id.
        wants: What the manifest wants, commands and announcements.
        scope: The collections that the manifest declares.
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
        other: What the second of two runs at once wants; empty for the same.
        kept: The ids that are listed at every moment.
        named: The row and the column of a table, and which case of them; empty if generated.
    """

    number: int
    way: Way
    before: tuple[tuple[str, Text], ...]
    wants: tuple[Want, ...]
    scope: tuple[str, ...]
    rules: SyncRules
    saved: bool = False
    unordered: bool = False
    width: int = 4
    faults: tuple[tuple[int, Fault], ...] = ()
    acts: tuple[Act, ...] = ()
    stops: tuple[tuple[int, Stop], ...] = ()
    lands: bool = False
    flights: tuple[int, ...] = (1,)
    turns: tuple[int, ...] = ()
    met: Met | None = None
    other: tuple[Want, ...] = ()
    kept: frozenset[str] = frozenset()
    named: tuple[str, str, str] = ("", "", "")

    def __str__(self) -> str:
        return " / ".join(self.named) if any(self.named) else f"--case {self.number}"

    @property
    def kind(self) -> str:
        """The row of a table: what kind of service, or what goes wrong."""
        if self.named[0]:
            return self.named[0]
        if self.way.manner:
            return "pages"
        return self.way.habit or self.way.rewriting or ("lags" if self.way.lag else "verbatim")

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

    @property
    def limit(self) -> Limit:
        """The guard's limit."""
        limit = self.rules.max_deletes
        if limit is None:
            return Limit()
        return Limit(limit.count, limit.percent, everything=limit.unlimited)

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


def drawn(number: int, seed: int) -> Case:
    """Draw the case of a number; in some of them, the service lists in pages."""
    case = draw_case(Random(f"{seed}/{number}"), number)  # noqa: S311 - a case is not a secret
    numbers = Random(f"{seed}/{number}/pages")  # noqa: S311 - as above
    if numbers.random() < 0.1:
        manner, size = numbers.choice(_MANNERS), numbers.choice(CUTS)
        way = replace(case.way, manner=manner, size=size, lag=0)
        return replace(case, way=way, saved=False, faults=())
    return case


def draw_case(numbers: Random, number: int = 0) -> Case:
    """Draw a case."""
    way = draw_way(numbers)
    scope = numbers.choice((COLLECTIONS, COLLECTIONS, ("commands",), ("announcements",)))
    texts = [text for collection in scope for text in _draw_listed(numbers, collection)]
    if numbers.random() < 0.7:
        texts = [tuple(map(clean, way.text(text))) for text in texts]
    before = tuple((f"s{n}", text) for n, text in enumerate(texts))
    wants = [want for name in scope for want in _draw_wants(numbers, name, before)]
    if way.lag > FEW_READS:  # what a pin replaced would not show, and be replaced in each run
        wants = [replace(want, pin="") for want in wants]
    case = Case(
        number=number,
        way=way,
        before=before,
        wants=tuple(wants),
        scope=scope,
        rules=_draw_rules(numbers, before, wants),
        saved=numbers.random() < 0.2,
        unordered=numbers.random() < 0.2,
        width=numbers.choice((1, 4)),
        flights=tuple(numbers.randint(1, 9) for _ in range(numbers.randint(1, 4))),
    )
    case = _with_trouble(numbers, case)
    if numbers.random() < 0.1:
        turns = tuple(numbers.randrange(2) for _ in range(numbers.randint(2, 60)))
        return replace(case, turns=turns, saved=False, faults=(), acts=(), stops=())
    return case


def _with_trouble(numbers: Random, case: Case) -> Case:
    chance = numbers.random()
    faulty = 0.3 < chance < 0.55 or chance > 0.9
    faults = [(numbers.randrange(14), numbers.choice(_FAULTS)) for _ in range(_few(numbers))]
    acts = [_draw_act(numbers, case) for _ in range(_few(numbers))]
    stops = [_draw_stop(numbers) for _ in range(numbers.randint(1, 2))]
    # what is answered with a refusal and hidden too, no read can know
    most = 0 if any(fault in REFUSED_AFTER for _, fault in faults) else FEW_READS
    way = replace(case.way, lag=min(case.way.lag, most)) if faulty else case.way
    return replace(
        case,
        way=way,
        faults=tuple(dict(faults).items()) if faulty else (),
        acts=tuple(acts) if 0.55 < chance < 0.75 or chance > 0.95 else (),
        stops=tuple(stops) if 0.75 < chance < 0.95 else (),
        lands=numbers.random() < 0.5,
    )


def _few(numbers: Random) -> int:
    return numbers.choice((1, 1, 2, 3))


def _draw_stop(numbers: Random) -> tuple[int, Stop]:
    kinds: tuple[Stop, ...] = (Kill(), Kill(), Aborted(), Interrupted())
    return numbers.randrange(30), numbers.choice(kinds)


def _draw_act(numbers: Random, case: Case) -> Act:
    collection = numbers.choice(case.scope)
    known = [text for _, text in case.before] + [want.text for want in case.wants]
    of = [text for text in known if collection_of(text) == collection]
    text = numbers.choice(of) if of else _fresh(numbers, collection)
    if numbers.random() < 0.6:
        text = _varied(numbers, text)
    kind = numbers.choice(("add", "edit", "rename", "delete"))
    return Act(numbers.randrange(14), kind, collection, numbers.randrange(6), text)


def _draw_listed(numbers: Random, collection: str) -> Iterator[Text]:
    """Draw a few records, some of them variants of others, some twins."""
    texts: list[Text] = []
    for _ in range(numbers.randint(0, 5)):
        chance = numbers.random()
        if texts and chance < 0.3:
            text = _varied(numbers, numbers.choice(texts))
        elif texts and chance < 0.36:
            text = numbers.choice(texts)
        else:
            text = _fresh(numbers, collection)
        texts.append(text)
    yield from texts


def _fresh(numbers: Random, collection: str) -> Text:
    if collection == "announcements":
        return _cleaned(phrase(numbers), phrase(numbers))
    called = name(numbers)
    mark = numbers.choice(("/", ".", "!", ""))
    category = numbers.choice(("", "", word(numbers), phrase(numbers)))
    return _cleaned(called, phrase(numbers), f"{mark}{called}", category)


def _cleaned(*parts: str) -> Text:
    return tuple(clean(part) for part in parts)


def _varied(numbers: Random, text: Text) -> Text:
    """Change one field of a text, or all in the same way."""
    place = numbers.randrange(len(text))
    return (*text[:place], varied(numbers, text[place]), *text[place + 1 :])


def _draw_wants(
    numbers: Random, collection: str, before: tuple[tuple[str, Text], ...]
) -> list[Want]:
    """Draw a manifest that means most of what is listed, and some that is not."""
    wants = []
    listed = [(one, text) for one, text in before if collection_of(text) == collection]
    for one, text in listed:
        wants += _EVOLUTIONS[numbers.choices(range(len(_EVOLUTIONS)), _WEIGHTS)[0]](
            numbers, one, text
        )
    known = [text for _, text in listed] + [want.text for want in wants]
    for _ in range(numbers.choice((0, 0, 1, 1, 2, 3))):
        near = known and numbers.random() < 0.4
        text = _varied(numbers, numbers.choice(known)) if near else _fresh(numbers, collection)
        wants.append(Want(text))
    if numbers.random() < 0.3:
        numbers.shuffle(wants)
    return valid(wants)


def _changed(numbers: Random, text: Text, place: int, how: Callable[[Random, str], str]) -> Text:
    return (*text[:place], clean(how(numbers, text[place])) or text[place], *text[place + 1 :])


def _renamed(numbers: Random, one: str, text: Text) -> list[Want]:
    """Rename a command, in its name alone or in its syntax too; an announcement has no former."""
    called = numbers.choice((name(numbers), varied(numbers, text[0])))
    new = (clean(called), *text[1:])
    if len(text) == len(FIELDS["announcements"]) or numbers.random() < 0.3:
        return [Want(new, pin=one if numbers.random() < 0.3 else "")]
    former = varied(numbers, text[0]) if numbers.random() < 0.2 else text[0]
    return [Want(new, formerly=(former,))]


_EVOLUTIONS: tuple[Callable[[Random, str, Text], list[Want]], ...] = (
    lambda _, __, text: [Want(text)],
    lambda numbers, _, text: [Want(_changed(numbers, text, 1, grown))],
    lambda numbers, _, text: [Want(_changed(numbers, text, 0, varied))],
    lambda numbers, _, text: [Want(_varied(numbers, text))],
    lambda numbers, one, text: [Want(_varied(numbers, text), pin=one)],
    _renamed,
    lambda numbers, _, text: [Want(text), Want(_varied(numbers, text))],
    lambda _, __, text: [Want(text), Want(text)],
    lambda _, __, ___: [],
)
_WEIGHTS = (30, 12, 10, 16, 5, 10, 5, 3, 12)


def valid(wants: list[Want]) -> list[Want]:
    """Leave out what no manifest may hold: equal commands, a live former name, a pin twice."""
    names = {want.text[0] for want in wants}
    pins: set[str] = set()
    found: dict[object, Want] = {}
    for want in wants:
        pin = "" if want.pin in pins else want.pin
        pins.add(pin)
        formerly = tuple(old for old in want.formerly if old not in names)
        if all(want.text[: 3 if len(want.text) > 2 else 2]):
            twin = len(found) if collection_of(want.text) == "announcements" else want.text
            found.setdefault(twin, Want(want.text, pin, formerly))
    return list(found.values())


def _draw_rules(
    numbers: Random, before: tuple[tuple[str, Text], ...], wants: list[Want]
) -> SyncRules:
    limits = (None, None, DeleteLimit(), DeleteLimit(), DeleteLimit(count=numbers.randint(0, 4)))
    percent = DeleteLimit(percent=float(numbers.randint(0, 100)))
    alive = {folded(want.text[0])[:20] for want in wants}
    pinned = {want.pin for want in wants if collection_of(want.text) == "announcements"}
    names = {want.text[0].casefold() for want in wants}  # none of which a manifest may ignore
    plain = [
        text[0]
        for one, text in before
        if one not in pinned
        and not set("*?[\n") & set(text[0])
        and folded(text[0])[:20] not in alive
        and text[0].casefold() not in names
    ]
    ignore = (numbers.choice(plain),) if plain and numbers.random() < 0.15 else ()
    return SyncRules(
        prune=numbers.random() < 0.85,
        ignore=ignore,
        max_deletes=numbers.choice((*limits, percent)),
        announcements=numbers.choice(("append", "mirror")),
    )
