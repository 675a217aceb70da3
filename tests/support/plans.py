"""Plans for tests: written out by hand, and generated ones full of untrusted text.

Announcements may have a schedule; the clock of runs in this process is set to a day of it. The work
of a run is counted instead of timed: the calls of Python and of its C functions.
"""

import gc
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from types import FrameType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import strategies as st

from commandsync.diagnostics import Location, Notice
from commandsync.plan.plan import (
    Baseline,
    ListPlan,
    PossibleList,
    RecordPlan,
    Target,
    list_plan,
    make_plan,
)
from commandsync.plan.rules import DeleteLimit, SyncRules, parse_delete_limit
from commandsync.records.snapshot import Entry, Schedule, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText, Resource, Text, canonical
from commandsync.services.service import PAGE
from commandsync.sync import settings

BOT = "779641401482805289"
BASE_URL = "https://listing.example"
TARGET = Target(bot=BOT, base_url=BASE_URL, abilities=PAGE.abilities)
DEFAULT_RULES = SyncRules()

UNTRUSTED = (
    *("::set-output name=x::y", "a\n::error::b", "##[add-mask]x", "####vso[task.setvariable]x"),
    *("\x1b[31mred\x1b]0;title\x07", "evil\u202egnp.exe", "zero\u200bwidth\u2066isolate\u2069"),
    *("``` \n</details><!-- x -->", "`a` ``b`` | c \\| d"),
    *("@everyone #123 https://x.example ![i](j) [k](l)", "\r\x08back", "\ufeff\u00ad\u2028next"),
    *("%0A%25", "tail ##", "[x]"),
)


def command(
    name: str,
    description: str = "Does it.",
    *,
    syntax: str = "",
    category: str = "",
    id: str = "",  # noqa: A002 - the field's own name
    line: int = 0,
    formerly: tuple[str, ...] = (),
    uses: int | None = None,
) -> Entry:
    """Return a command; with a line it is the manifest's."""
    text = CommandText(name, description, syntax or f"/{name}", category)
    return Entry(text, id, Location("commands.yaml", line, 5) if line else None, formerly, uses)


def announcement(title: str, description: str, *, id: str = "", line: int = 0) -> Entry:  # noqa: A002 - as above
    """Return an announcement; with a line it is the manifest's."""
    location = Location("commands.yaml", line, 5) if line else None
    return Entry(AnnouncementText(title, description), id, location)


def plan_of(
    desired: Sequence[Entry] = (),
    listed: Sequence[Entry] = (),
    *,
    rules: SyncRules = DEFAULT_RULES,
    notices: Sequence[Notice] = (),
) -> RecordPlan:
    """Plan with real code; a collection is managed where the manifest has an entry of it."""
    managed = {resource_of(entry.text) for entry in desired}
    return make_plan(
        desired=_snapshot(desired, managed),
        listed=_snapshot(listed, managed),
        target=TARGET,
        rules=rules,
        manifest=["commands.yaml"],
        notices=notices,
    )


def whole(
    compared: RecordPlan,
    baseline: Baseline,
    *,
    name: str = "top.gg",
    commands: int | tuple[Entry, ...] = 1,
    digest: str = "new",
    wants_none: bool = False,
    beside: Sequence[tuple[str, RecordPlan]] = (),
) -> ListPlan:
    """Return the plan of a whole list; `commands` are those that are sent, or their number."""
    if isinstance(commands, int):
        commands = tuple(command(f"c{n}") for n in range(commands))
    return list_plan(
        compared,
        name=name,
        audience=None,
        baseline=baseline,
        commands=Snapshot({Resource.COMMAND: commands}),
        digest=digest,
        losses=(),
        wants_none=wants_none,
        beside=beside,
    )


NOTHING = Snapshot({Resource.COMMAND: ()})
SAME, CHANGED = (PossibleList(NOTHING, digest, digest) for digest in ("new", "old"))
"""Lists that may be shown: by the digest of `whole`, and by another one."""


def resource_of(text: Text) -> Resource:
    """Return the kind of a record by its text."""
    return next(resource for resource in Resource if isinstance(text, resource.text))


def _snapshot(entries: Sequence[Entry], managed: set[Resource]) -> Snapshot:
    return Snapshot(
        {
            resource: tuple(entry for entry in entries if resource_of(entry.text) is resource)
            for resource in Resource
            if resource in managed
        }
    )


def varied_plan() -> RecordPlan:
    """Return a plan with a change of each kind, limits, a refusal and warnings."""
    return plan_of(
        [
            command("help", "Shows the help menu.", line=9),
            command("clear", line=12, formerly=("purge",)),
            command("facts", line=15),
            announcement("v2", "Out.", line=20),
        ],
        [
            command("help", "Shows help.", id="1"),
            command("purge", id="2"),
            command("old", "Was here.", id="3"),
            announcement("v2", "Soon.", id="a"),
        ],
        rules=SyncRules(
            ignore=("beta-*",), max_deletes=parse_delete_limit("50%"), announcements="mirror"
        ),
        notices=[Notice("odd", "fix it", Location("commands.yaml", 2, 3)), Notice("even")],
    )


texts = st.one_of(
    st.sampled_from(UNTRUSTED),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.text("ab \n`|:#[\u200d\ufe0f😀é", max_size=200),
).map(canonical)
names = st.one_of(st.sampled_from(["help", "play", "afk"]), texts.filter(bool))
locations = st.builds(Location, texts, st.integers(1, 99), st.integers(1, 99))
commands = st.builds(CommandText, names, texts, texts, texts)
announcements = st.builds(AnnouncementText, names, texts)


moments = st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 3), timezones=st.just(UTC)).map(  # noqa: DTZ001 - the zone is added
    lambda moment: moment.replace(microsecond=0)
)
_HOUR = timedelta(hours=1)
schedules = (
    st.builds(Schedule, publish=moments)
    | st.builds(Schedule, until=moments)
    | moments.map(lambda moment: Schedule(publish=moment, until=moment + _HOUR))
)


def _wanted(
    kinds: st.SearchStrategy[Any], schedule: st.SearchStrategy[Any]
) -> st.SearchStrategy[Entry]:
    places = st.none() | locations
    return st.builds(Entry, kinds, location=places, schedule=schedule)


@st.composite
def plans(draw: st.DrawFn) -> RecordPlan:
    """Draw plans of every kind of change, full of untrusted text."""
    desired: dict[Resource, tuple[Entry, ...]] = {}
    listed: dict[Resource, tuple[Entry, ...]] = {}
    for resource, kinds in ((Resource.COMMAND, commands), (Resource.ANNOUNCEMENT, announcements)):
        if not draw(st.booleans()):
            continue
        schedule = st.none() | schedules if PAGE.abilities[resource].posts else st.none()
        desired[resource] = tuple(draw(st.lists(_wanted(kinds, schedule), max_size=4)))
        ids = draw(st.lists(st.text("abc.", min_size=3), max_size=4, unique=True))
        records: st.SearchStrategy[Text] = kinds
        if desired[resource]:
            records |= st.sampled_from([entry.text for entry in desired[resource]])
        listed[resource] = tuple(
            draw(st.builds(Entry, records, id=st.just(f"{id_}x"))) for id_ in ids
        )
    limits = st.none() | st.builds(DeleteLimit, count=st.integers(0, 9)) | st.just(DeleteLimit())
    rules = st.builds(
        SyncRules,
        prune=st.booleans(),
        ignore=st.lists(st.sampled_from(["a*", "::*"])).map(tuple),
        max_deletes=limits | st.builds(DeleteLimit, percent=st.sampled_from([0.0, 12.5, 30.0])),
        announcements=st.sampled_from(["append", "mirror"]),
    )
    notices = st.lists(st.builds(Notice, texts, texts, st.none() | locations), max_size=2)
    return make_plan(
        desired=Snapshot(desired),
        listed=Snapshot(listed),
        target=Target(bot=draw(texts.filter(bool)), base_url=BASE_URL, abilities=PAGE.abilities),
        rules=draw(rules),
        now=draw(moments),
        manifest=draw(st.lists(texts, max_size=2)),
        notices=draw(notices),
    )


@st.composite
def edits(draw: st.DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    """Draw one edit of a JSON document: a value changed, a key or item left out, a key added."""
    edited: dict[str, Any] = deepcopy(document)
    holders = list(_holders(edited))
    at = draw(st.sampled_from(holders))
    key = draw(st.sampled_from(list(at) if isinstance(at, dict) else list(range(len(at)))))
    how = draw(st.sampled_from(["change", "remove", "add"]))
    if how == "remove":
        del at[key]
    elif how == "change":
        at[key] = draw(_values.filter(lambda value: json.dumps(value) != json.dumps(at[key])))
    elif isinstance(at, dict):
        at[draw(texts.filter(lambda name: name not in at))] = draw(_values)
    else:
        at.append(draw(_values))
    return edited


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | texts | st.sampled_from(["all", "1", "0%"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=3,
)


def _holders(value: object) -> Iterator[Any]:
    """Yield every object and list of a document that holds something."""
    if isinstance(value, dict | list) and value:
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _holders(inner)


_FIRST = datetime(2026, 12, 1, 18, tzinfo=UTC)


def day(number: int) -> datetime:
    """Return 18:00 UTC of a day of December 2026, the first being 1."""
    return _FIRST + timedelta(days=number - 1)


def post(
    title: str,
    text: str = "Out.",
    *,
    publish: int | None = None,
    until: int | None = None,
    id: str = "",  # noqa: A002 - the field's own name
) -> Entry:
    """Return an announcement of the manifest, with the days of its schedule."""
    schedule = Schedule(
        publish=None if publish is None else day(publish),
        until=None if until is None else day(until),
    )
    return Entry(
        AnnouncementText(title, text),
        id,
        Location("commands.yaml", 3, 5),
        schedule=None if schedule == Schedule() else schedule,
    )


def posted(title: str, text: str = "Out.", *, id: str) -> Entry:  # noqa: A002 - as above
    """Return a listed announcement."""
    return Entry(AnnouncementText(title, text), id)


def set_clock(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let runs in this process begin at 18:00 UTC of a day of December 2026.

    It replaces the clock in the one place where a run reads it.
    """
    monkeypatch.setattr(settings, "datetime", SimpleNamespace(now=lambda _zone: day(number)))


def calls_of(work: Callable[[], object]) -> int:
    """Return how many calls some work makes in this thread."""
    calls = 0

    def count(_frame: FrameType, event: str, _value: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    gc.disable()  # a collection calls back, whenever it comes
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return calls
