"""Cases for the model: a listing, a manifest, a service's way, and what comes between.

A case is a value. `draws.py` has the strategy that generates cases, `scene.py` the cases in which
every fault comes at every moment.
"""

from dataclasses import dataclass, replace

from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText
from tests.support.driver import Stop
from tests.support.listing import FIELDS, Fault, Listing, Request
from tests.support.oracle import Limit, Rules, Text, Texts, Want
from tests.support.runs import wanted
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


@dataclass(frozen=True)
class Case:
    """One case, generated or of the scene in which each fault is played.

    Attributes:
        number: What the lists beside the page are drawn from.
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
        return " / ".join(self.named) if any(self.named) else f"{self.kind}, {self.trouble}"

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
