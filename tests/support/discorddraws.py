"""The cases of the proof at Discord: the scene in which each fault is played, and drawn cases.

The scene has of each kind of change one or more: a command stays, others are edited, one of them a
group that loses a sub-command, one is renamed, some are added, some go. An Entry Point command, one
that is ignored, and a list of another server are there to be left alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any
from zlib import crc32

from hypothesis import strategies as st

from commandsync.apply.outcomes import Aborted, Interrupted
from commandsync.plan.rules import DeleteLimit, SyncRules
from tests.support.cases import FEW_READS
from tests.support.discordcases import (
    INSTALLS,
    WRITTEN,
    DiscordAct,
    DiscordCase,
    Path,
    Record,
    Wanted,
    agrees,
    calls,
    is_valid,
    key_of,
    nested,
    shown,
)
from tests.support.discordcommands import AT_LIMITS, command, edited
from tests.support.discordserver import FAULTS, SERVER, WITHOUT_IDS
from tests.support.discordstory import DiscordStory
from tests.support.draws import Stage
from tests.support.listing import REFUSED_AFTER, Fault
from tests.support.runs import EVERYTHING, Kill, Stop

MODES: Mapping[str, Mapping[str, Any]] = {
    "apply": {},
    "unordered": {"unordered": True},
    "saved plan": {"saved": True},
    "one server": {"guild": SERVER},
}
"""How the runs of a case are made."""

_STRANGE = {"type": 7, "name": "stays", "description": "Of a type that is not known."}
_ENTRY_POINT = {"type": 4, "name": "launch", "description": "Starts it.", "handler": 2}


_SCENES = 24  # more of them show nothing new, and take long to be made


def scene(drawn_from: str = "the proof", mode: str = "apply", *, same: bool = True) -> DiscordCase:
    """Draw one of the scenes in which nothing goes wrong, always the same of one word.

    Args:
        drawn_from: The word.
        mode: How the runs are made.
        same: Whether the second of two runs at once wants the same.
    """
    return _scene(crc32(drawn_from.encode()) % _SCENES, mode, same=same)


@cache
def _scene(drawn_from: int, mode: str, *, same: bool) -> DiscordCase:
    numbers = Random(drawn_from)  # noqa: S311 - a command is not a secret
    empty = DiscordCase(rules=EVERYTHING, before=(), wants=(), **MODES[mode])
    stays, texts, renamed, ignored, old, older = (
        {**command(numbers, (1,)), "name": name}
        for name in ("stays", "texts", "before", "ignored", "old", "older")
    )
    user, message = ({**command(numbers, (kind,)), "name": f"Menu {kind}"} for kind in (2, 3))
    group = {
        "name": "queue",
        "description": "The queue.",
        "options": [
            {"type": 1, "name": name, "description": f"To {name}."} for name in ("add", "drop")
        ],
    }
    fewer = {**group, "options": [*group["options"][:1], _sub(numbers, "show")]}
    news = [{**command(numbers, (1,)), "name": f"new{number}"} for number in range(2)]
    limit = {**numbers.choice([*AT_LIMITS.values()]), "name": "limit", "type": 1}
    wants = (
        Wanted(news[0]),
        Wanted(stays),
        Wanted(_other(numbers, empty, texts)),
        Wanted(fewer),
        Wanted({**_other(numbers, empty, renamed), "name": "after"}, formerly=("before",)),
        Wanted(user),
        Wanted(_other(numbers, empty, message)),
        Wanted(limit if numbers.random() < 0.1 else news[1]),
        Wanted({"type": 3, "name": "New menu"}),
    )
    return replace(
        empty,
        before=(
            *(stays, texts, group, renamed, user, message, old, older, ignored),
            *(_ENTRY_POINT, _STRANGE),
        ),
        wants=wants,
        elsewhere=({**texts, "name": "elsewhere"}, {**old, "description": "Another."}),
        other=() if same else (*wants[:-1], Wanted({"name": "newest", "description": "New."})),
        rules=replace(EVERYTHING, ignore=("ignored",)),
        named=("nothing", "no operation", mode),
    )


def _sub(numbers: Random, name: str) -> Record:
    """Draw a sub-command."""
    body = command(numbers, (1,))
    options = [option for option in body.get("options", ()) if option["type"] > 2]
    return {"type": 1, "name": name, "description": body["description"], "options": options}


def _other(numbers: Random, case: DiscordCase, body: Record) -> Record:
    """Draw another version of a command that Discord tells from it."""
    new = edited(numbers, body)
    same = agrees(shown(case, new), shown(case, body))
    return _other(numbers, case, body) if same else new


def _meets(fault: Fault, operation: str) -> bool:
    return operation == "read" or not fault.name.startswith("commands ")


DISCORD_STAGE = Stage(
    name="discord",
    scene=scene,
    story=DiscordStory,
    modes=MODES,
    faults=FAULTS,
    times={"application": 3, "read": 4, "add": 4, "edit": 5, "delete": 4},
    meets=_meets,
)
"""Discord."""

_NUMBERS = st.integers(0, 2**32 - 1).map(Random)
_FAULTS = st.sampled_from([fault for fault in FAULTS if fault is not WITHOUT_IDS])
_STOPS: st.SearchStrategy[Stop] = st.sampled_from((Kill(), Kill(), Aborted(), Interrupted()))
_TURNS = st.lists(st.integers(0, 1), min_size=2, max_size=60).map(tuple)
_MOMENTS = st.integers(0, 15)
_TROUBLES = (
    *[()] * 6,
    *[("faults",)] * 5,
    *[("acts",)] * 4,
    *[("stops",)] * 3,
    *[("drops",)] * 2,
    ("stops", "faults"),
    ("acts", "faults"),
)
_DROPPED = ("nsfw", "contexts", "choices", "description_localizations", "required", "max_value")


@st.composite
def cases(draw: st.DrawFn) -> DiscordCase:
    """Draw a case: its first commands, what the manifest makes of each, and trouble."""
    numbers = draw(_NUMBERS)
    before = _registered(draw, numbers)
    wants = [want for number, body in enumerate(before) for want in _evolved(numbers, number, body)]
    wants += _exchanged(numbers, before)
    wants += [Wanted(_fresh(each)) for each in draw(st.lists(_NUMBERS, max_size=3))]
    numbers.shuffle(wants)
    rules = _rules(numbers, before)
    case = DiscordCase(
        rules=rules,
        before=tuple(before),
        wants=tuple(_valid(wants, rules)),
        guild=numbers.choice(("", "", SERVER)),
        elsewhere=tuple(_elsewhere(numbers, before)),
        installs=numbers.choice(("both", "both", *INSTALLS)),
        saved=draw(_percent(20)),
        unordered=draw(_percent(20)),
        width=draw(st.sampled_from((4, 1))),
        flights=tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))),
        lag=numbers.choice((0, 0, 0, 1, FEW_READS)),
    )
    valid = (want for want in case.wants if is_valid(case, want.whole))
    case = replace(case, wants=tuple(valid))
    if draw(_percent(10)):
        return replace(case, turns=draw(_TURNS), saved=False, lag=0)
    return _with_trouble(draw, numbers, case)


def _with_trouble(draw: st.DrawFn, numbers: Random, case: DiscordCase) -> DiscordCase:
    kinds = draw(st.sampled_from(_TROUBLES))
    if "faults" in kinds:
        faults = tuple(draw(st.dictionaries(_MOMENTS, _FAULTS, min_size=1, max_size=3)).items())
        # what is answered with a refusal and hidden too, no read can know
        refused = any(fault in REFUSED_AFTER for _, fault in faults)
        case = replace(case, faults=faults, lag=0 if refused else case.lag)
    if "acts" in kinds:
        acts = [_act(each, case) for each in draw(st.lists(_NUMBERS, min_size=1, max_size=3))]
        case = replace(case, acts=tuple(acts), lag=0)
    if "stops" in kinds:
        stops = draw(st.lists(st.tuples(st.integers(0, 29), _STOPS), min_size=1, max_size=2))
        case = replace(case, stops=tuple(stops))
    if "drops" in kinds:
        unknown = numbers.random() < 0.3
        keys = () if unknown else tuple(numbers.sample(_DROPPED, numbers.randint(1, 2)))
        case = replace(case, drops=keys, keeps_unknown=not unknown)
    return replace(case, lands=draw(st.booleans()))


def _percent(chance: int) -> st.SearchStrategy[bool]:
    return st.integers(0, 99).map(lambda number: number >= 100 - chance)


def _fresh(numbers: Random) -> Record:
    """Draw a command: of any type, at a limit, or with keys that no document has."""
    chance = numbers.random()
    if chance < 0.1:
        body = dict(numbers.choice([*AT_LIMITS.values()]))
    elif chance < 0.25:
        body = _group(numbers)
    else:
        body = command(numbers)
    return _with_unknown(numbers, body) if numbers.random() < 0.3 else body


def _group(numbers: Random) -> Record:
    subs = [_sub(numbers, name) for name in numbers.sample(("add", "drop", "show"), 2)]
    inner = {"type": 2, "name": "of", "description": "Of it.", "options": [_sub(numbers, "all")]}
    more = [inner] if numbers.random() < 0.5 else []
    texts = {"name": numbers.choice(("queue", "config")), "description": "A group."}
    return {**texts, "options": [*subs, *more]}


def _with_unknown(numbers: Random, node: Record) -> Record:
    """Put keys into a command and into some of its parts that no document has."""
    found = {**node, f"x_{numbers.choice('ab')}": numbers.choice((1, "new", [0], {"a": True}))}
    for name in ("options", "choices"):
        if node.get(name):
            found[name] = [
                _with_unknown(numbers, each) if numbers.random() < 0.4 else each
                for each in node[name]
            ]
    return found


def _registered(draw: st.DrawFn, numbers: Random) -> list[Record]:
    """Draw the first commands, each with another type or another name."""
    bodies = [_fresh(each) for each in draw(st.lists(_NUMBERS, max_size=5))]
    if numbers.random() < 0.3:
        bodies.append(_ENTRY_POINT)
    if numbers.random() < 0.2:
        bodies.append(_STRANGE)
    if numbers.random() < 0.08:
        full = [{"type": 3, "name": f"Full {number}"} for number in range(15)]
        bodies = [body for body in bodies if body.get("type") != 3] + full
    return [*{key_of(body): body for body in bodies}.values()]


def _elsewhere(numbers: Random, before: Sequence[Record]) -> list[Record]:
    """Draw the other list: some commands are in both."""
    known = [body for body in before if body.get("type", 1) in WRITTEN]
    some = [body for body in known if numbers.random() < 0.3]
    return [*some, {"name": "elsewhere", "description": "Another."}]


def _evolved(numbers: Random, number: int, body: Record) -> Iterator[Wanted]:
    """Yield what a manifest makes of a registered command."""
    if body.get("type", 1) not in WRITTEN:
        return
    chance = numbers.random()
    new = body if chance < 0.45 else edited(numbers, body)
    pin = number if numbers.random() < 0.15 else None
    if 0.8 < chance < 0.9:
        yield _renamed(numbers, number, new)
    elif chance < 0.9:
        yield Wanted(new, pin=pin, **_apart(numbers, new))


def _exchanged(numbers: Random, before: Sequence[Record]) -> Iterator[Wanted]:
    """Yield wanted commands by which registered ones get each other's names; seldom."""
    kind = numbers.choice((1, 1, 2, 3))
    places = [place for place, body in enumerate(before) if body.get("type", 1) == kind]
    if len(places) < 2 or numbers.random() < 0.7:
        return
    some = numbers.sample(places, min(len(places), numbers.randint(2, 3)))
    names = [before[place]["name"] for place in some]
    names = [*names[1:], numbers.choice((names[0], "free"))]
    for place, name in zip(some, names, strict=True):
        yield Wanted({**before[place], "name": name}, pin=place)


def _renamed(numbers: Random, number: int, body: Record) -> Wanted:
    other = {**command(numbers, (body.get("type", 1),))}
    new = {**body, "name": other["name"]}
    if numbers.random() < 0.3:
        return Wanted(new, pin=number)
    return Wanted(new, formerly=(body["name"],))


def _apart(numbers: Random, body: Record) -> dict[str, Any]:
    """Draw texts of entries that differ from those of the object."""
    found: dict[str, Any] = {}
    if body.get("type", 1) != 1:
        return found
    if numbers.random() < 0.2:
        found["description"] = f"Text {numbers.randrange(9)}."
    paths: list[Path] = [path for path in calls(body) if len(path) > 1]
    if paths and numbers.random() < 0.5:
        some = numbers.sample(paths, numbers.randint(1, min(3, len(paths))))
        found["texts"] = {path: f"Sub {numbers.randrange(9)}." for path in some}
    return found


def _valid(wants: Sequence[Wanted], rules: SyncRules) -> list[Wanted]:
    """Leave out what no manifest may have.

    That is a name twice, a live former name, a pin twice, and an entry whose name is ignored.
    """
    found: dict[object, Wanted] = {}
    names = {want.body["name"] for want in wants}
    pins: set[int] = set()
    for want in wants:
        body = _unignored(rules, want.body, (want.body["name"],))
        if body is None:
            continue
        texts = {path: text for path, text in want.texts.items() if path in {*calls(body)}}
        formerly = tuple(name for name in want.formerly if name not in names)
        pin = None if want.pin in pins else want.pin
        pins |= set() if pin is None else {pin}
        kept = replace(want, body=body, pin=pin, formerly=formerly, texts=texts)
        found.setdefault(want.key, kept)
    return [*found.values()]


def _unignored(rules: SyncRules, node: Record, path: Path) -> Record | None:
    """Return a command without what is ignored; None if nothing is left."""
    inner = nested(node)
    if rules.ignores(path[0]) or (not inner and rules.ignores(" ".join(path))):
        return None
    found = [_unignored(rules, each, (*path, each["name"])) for each in inner]
    options = [each for each in found if each is not None]
    return ({**node, "options": options} if options else None) if inner else node


def _rules(numbers: Random, before: Sequence[Record]) -> SyncRules:
    names = [body["name"] for body in before]
    subs = [" ".join(path) for body in before for path in calls(body) if nested(body)]
    ignore = numbers.sample([*names, *subs], 1) if names and numbers.random() < 0.4 else []
    limits = (None, DeleteLimit(), DeleteLimit(), DeleteLimit(count=numbers.randint(0, 4)))
    return SyncRules(
        prune=numbers.random() < 0.7, ignore=tuple(ignore), max_deletes=numbers.choice(limits)
    )


def _act(numbers: Random, case: DiscordCase) -> DiscordAct:
    known = [*case.before, *(want.body for want in case.wants)] or [_fresh(numbers)]
    body = numbers.choice([numbers.choice(known), _fresh(numbers)])
    method = numbers.choice(("POST", "PATCH", "rename", "DELETE", "PUT"))
    return DiscordAct(numbers.randrange(14), method, numbers.randrange(6), body)
