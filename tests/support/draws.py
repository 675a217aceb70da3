"""The cases of the model: the scene in which each fault is played, and cases that are drawn.

The scene has the same roles always, with drawn texts. Of each kind of change there is one or more:
a command stays, one of two of a name is edited, others are added twice under one name, some go; an
announcement stays, one is replaced, one goes.

Hypothesis draws what makes up any other case: its records, what the manifest makes of each, faults,
stops and acts of a second writer, so it can leave each of them out of a failing case. The texts of
a record come from one number, which is drawn, too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from commandsync.apply.outcomes import Aborted, Interrupted
from commandsync.plan.rules import DeleteLimit, SyncRules
from tests.support.cases import COLLECTIONS, FEW_READS, Act, AnyCase, Case, Met, collection_of
from tests.support.listing import DOTTED_IDS, FAULTS, FIELDS, REFUSED_AFTER, WITHOUT_IDS, Fault
from tests.support.oracle import Text, Want, alike, folded
from tests.support.runs import EVERYTHING, Kill, Stop, announcement, command
from tests.support.story import AnyStory, Story, played
from tests.support.texts import clean, grown, name, phrase, varied, word
from tests.support.ways import CUTS, Way, draw_way, manners

MODES: dict[str, dict[str, Any]] = {
    "apply": {},
    "unordered": {"unordered": True},
    "saved plan": {"saved": True},
    "told ids": {"way": Way(tells=True)},
}
"""How the runs of a case are made."""


@lru_cache(maxsize=8)
def scene(drawn_from: str = "the proof", mode: str = "apply", *, same: bool = True) -> Case:
    """Draw the scene in which nothing goes wrong, always the same of one word.

    Args:
        drawn_from: The word.
        mode: How the runs are made.
        same: Whether the second of two runs at once wants the same.
    """
    numbers = Random(drawn_from)  # noqa: S311 - a text is not a secret
    help_, afk, ban, old, older, new, newer, newest = _names(numbers, name, 8)
    first, second, bye, third = _names(numbers, phrase, 4)
    does = [_text(numbers) for _ in range(10)]
    before = (
        command(help_, does[0]),
        command(afk, does[1], f".{afk}"),
        command(afk, does[1], f"/{afk}"),
        command(ban, does[2]),
        command(old, does[3]),
        command(older, does[4]),
        announcement(first, does[5]),
        announcement(second, does[6]),
        announcement(bye, does[7]),
    )
    wanted = (
        announcement(third, does[8]),
        announcement(second, _other(numbers, does[6])),
        announcement(first, does[5]),
        command(help_, _other(numbers, does[0])),
        command(afk, does[1], f".{afk}"),
        command(afk, does[1], f"/{afk} [{_text(numbers)}]"),
        command(ban, _other(numbers, does[2])),
        command(new, does[8]),
        command(new, does[8], f".{new}"),
        command(newer, does[9]),
    )
    wants = tuple(Want(tuple(text)) for text in wanted)
    case = Case(
        number=0,
        way=Way(),
        before=tuple((f"s{n}", tuple(text)) for n, text in enumerate(before)),
        wants=wants,
        scope=COLLECTIONS,
        rules=EVERYTHING,
        other=() if same else (*wants[:-1], Want(tuple(command(newest, does[9])))),
        kept=frozenset({"s0", "s1", "s2", "s3", "s6"}),
        named=("nothing", "no operation", mode),
    )
    return replace(case, **MODES[mode])


@dataclass(frozen=True)
class Stage:
    """A service on which each fault and each stop is played, in a scene of its own.

    Attributes:
        scene: Draws the scene in which nothing goes wrong, as `scene` does.
        story: What plays it.
        modes: How the runs of a case are made.
        faults: What can go wrong with a request.
        times: How often each operation comes in a run, tries after a fault included.
        meets: Whether a fault can be told from none on an operation.
    """

    name: str
    scene: Callable[..., Any]
    story: Callable[[Any], AnyStory]
    modes: Mapping[str, Mapping[str, Any]]
    faults: Sequence[Fault]
    times: Mapping[str, int]
    meets: Callable[[Fault, str], bool]

    def prove(self, case: Any) -> AnyStory:  # noqa: ANN401 - of the service
        """Play a case to its end, and judge it."""
        return played(self.story(case))

    def met(self, operation: str, fault: Fault, nth: int, mode: str, *, stays: bool = False) -> Any:  # noqa: ANN401 - a case of the service
        """The nth request of an operation goes wrong, or all from that one on, through two runs."""
        detail = f"all from number {nth}" if stays else f"the one of number {nth}"
        trouble = Met(operation, fault, nth, stays)
        return self._named(fault.name, operation, mode, detail, met=trouble)

    def every_pair(self, faults: Sequence[Fault], mode: str, *, most: int = 9) -> Iterator[Any]:
        """Every fault with every operation, at every moment that the operation comes."""
        for operation, times in self.times.items():
            for fault in faults:
                if self.meets(fault, operation):
                    for nth in range(min(most, times)):
                        yield self.met(operation, fault, nth, mode)

    def every_stop(self, stop: Stop, mode: str, *, lands: bool) -> Iterator[Any]:
        """A run is stopped at each of its moments; what is in flight then arrives or does not."""
        row = {"Kill": "killed", "Interrupted": "interrupted", "Aborted": "aborted"}
        name = row[type(stop).__name__] + (", in flight arrives" if lands else "")
        story = self.story(self.scene(mode=mode))
        story.play()
        for moment in range(max(trial.driver.moments for trial in story.trials if trial.driver)):
            trouble: dict[str, Any] = {"stops": ((moment, stop),), "lands": lands}
            yield self._named(name, "any moment", mode, f"moment {moment}", **trouble)

    def scheduled(
        self,
        faults: dict[int, Fault],
        kills: tuple[int, ...] = (),
        flights: tuple[int, ...] = (1,),
        turns: tuple[int, ...] = (),
        *,
        same: bool = True,
        mode: str = "apply",
    ) -> Any:  # noqa: ANN401 - a case of the service
        """Faults, kills and a second run, as drawn.

        Args:
            faults: What goes wrong, by the request's number.
            kills: When runs are killed, one after the other; a late moment kills nothing.
            flights: Tenths of a second that requests take, in turn.
            turns: Who moves next, in turn: 0 the judged run, 1 the other; empty for no other.
            same: Whether the other one wants the same.
            mode: How the runs are made.
        """
        names = {number: fault.name for number, fault in faults.items()}
        row = "two runs at once" if turns else "random faults and kills"
        detail = f"{names} {kills} {flights} {turns} {same}"
        return self._named(
            row,
            "random",
            mode,
            detail,
            same=same,
            faults=tuple(faults.items()),
            stops=tuple((moment, Kill()) for moment in kills),
            flights=flights,
            turns=turns,
        )

    def _named(
        self,
        row: str,
        column: str,
        mode: str,
        detail: str,
        *,
        same: bool = True,
        **trouble: Any,  # noqa: ANN401 - parts of a case
    ) -> Any:  # noqa: ANN401 - a case of the service
        which = f"{mode}, {detail}"
        case = self.scene(f"{row} / {column} / {which}", mode, same=same)
        return replace(case, **trouble, named=(row, column, which))


def _meets(fault: Fault, operation: str) -> bool:
    return operation == "read" or not fault.name.startswith(("records ", "ids "))


PAGE_STAGE = Stage(
    name="page",
    scene=scene,
    story=Story,
    modes=MODES,
    faults=FAULTS,
    times={"read": 8, "add": 4, "edit": 5, "delete": 4, "post": 3, "withdraw": 4},
    meets=_meets,
)
"""A page: its scene has commands and announcements."""


def _names(numbers: Random, draw: Callable[[Random], str], count: int) -> list[str]:
    """Draw names none of which may be meant by another: they are what the cases go by."""
    found: list[str] = []
    while len(found) < count:
        new = clean(draw(numbers))
        pairs = [((one, ""), (new, "")) for one in found]
        if new and not any(alike(one, two) or alike(two, one) for one, two in pairs):
            found.append(new)
    return found


def _text(numbers: Random) -> str:
    return clean(phrase(numbers)) or _text(numbers)


def _other(numbers: Random, text: str) -> str:
    """Draw what an author makes of a text: it grows by a sentence, or changes in any way."""
    new = clean(grown(numbers, text) if numbers.random() < 0.4 else varied(numbers, text))
    return new if new and new != text else _other(numbers, text)


T = TypeVar("T")

SOAK = settings.get_current_profile_name() == "soak"

_NUMBERS = st.integers(0, 2**32 - 1).map(Random)
_MOMENTS = st.integers(0, 13)
_FAULTS = st.sampled_from([fault for fault in FAULTS if fault not in {WITHOUT_IDS, DOTTED_IDS}])
_STOPS: st.SearchStrategy[Stop] = st.sampled_from((Kill(), Kill(), Aborted(), Interrupted()))
_TURNS = st.lists(st.integers(0, 1), min_size=2, max_size=60).map(tuple)
_MANNERS = st.sampled_from(manners())

PARTS = range(8 if SOAK else 1)
"""The parts of the longest properties, which run at once."""


def examples(usual: int, *, soak: int) -> int:
    """Return how many examples of a property to try: usually, and in `make soak`."""
    return soak if SOAK else min(usual, settings().max_examples * usual // 100)


def every_way(_: Way) -> bool:
    """Accept every way of a service."""
    return True


@st.composite
def cases(draw: st.DrawFn, way_is: Callable[[Way], bool] = every_way) -> Case:
    """Draw a case, of services with such a way; in some of them, the service lists in pages."""
    numbers = draw(_NUMBERS)
    while not way_is(way := draw_way(numbers)):
        pass
    scope = draw(st.sampled_from((COLLECTIONS, COLLECTIONS, ("commands",), ("announcements",))))
    texts = [text for collection in scope for text in _listed(draw, collection)]
    if draw(_percent(70)):
        texts = [tuple(map(clean, way.text(text))) for text in texts]
    before = tuple((f"s{n}", text) for n, text in enumerate(texts))
    wants = [want for collection in scope for want in _wants(draw, collection, before)]
    if way.lag > FEW_READS:  # what a pin replaced would not show, and be replaced in each run
        wants = [replace(want, pin="") for want in wants]
    case = Case(
        number=draw(st.integers(0, 2**32 - 1)),
        way=way,
        before=before,
        wants=tuple(wants),
        scope=scope,
        rules=_draw_rules(draw(_NUMBERS), before, wants),
        saved=draw(_percent(20)),
        unordered=draw(_percent(20)),
        width=draw(st.sampled_from((4, 1))),
        flights=tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))),
    )
    if draw(_percent(10)):
        case = replace(case, turns=draw(_TURNS), saved=False)
    else:
        case = _with_trouble(draw, case)
    if not draw(_percent(10)):
        return case
    way = replace(case.way, manner=draw(_MANNERS), size=draw(st.sampled_from(CUTS)), lag=0)
    return replace(case, way=way, saved=False, faults=())


def every_case(_: AnyCase) -> bool:
    """Accept every case."""
    return True


def found(
    kind: str,
    prove: Callable[[Any], AnyStory],
    drawn: st.SearchStrategy[Any],
    *,
    where: Callable[[Any], bool] = every_case,
    seed: int = 7,
) -> bool:
    """Return whether a drawn case of a sort has a problem of this kind.

    The seed decides how soon it is found.
    """

    def has_it(case: AnyCase) -> bool:
        return where(case) and any(kind in problem.kind for problem in prove(case).problems)

    try:
        find(drawn, has_it, settings=_SEARCH, random=Random(seed))  # noqa: S311 - always the same
    except NoSuchExample:
        return False
    return True


_SEARCH = settings(
    max_examples=10_000,
    phases=[Phase.generate],
    database=None,
    suppress_health_check=list(HealthCheck),
)


def _percent(chance: int) -> st.SearchStrategy[bool]:
    return st.integers(0, 99).map(lambda number: number >= 100 - chance)


def _with_trouble(draw: st.DrawFn, case: Case) -> Case:
    """Add faults, acts of a second writer, stops of the first runs, two of these, or nothing."""
    kinds = draw(st.sampled_from(_TROUBLES))
    if "faults" in kinds:
        faults = tuple(draw(st.dictionaries(_MOMENTS, _FAULTS, min_size=1, max_size=3)).items())
        # what is answered with a refusal and hidden too, no read can know
        most = 0 if any(fault in REFUSED_AFTER for _, fault in faults) else FEW_READS
        way = replace(case.way, lag=min(case.way.lag, most))
        case = replace(case, faults=faults, way=way)
    if "acts" in kinds:
        acts = [_draw_act(numbers, case) for numbers in draw(_few(_NUMBERS))]
        case = replace(case, acts=tuple(acts))
    if "stops" in kinds:
        stops = draw(_few(st.tuples(st.integers(0, 29), _STOPS)))
        case = replace(case, stops=tuple(stops[:2]))
    return replace(case, lands=draw(st.booleans()))


_TROUBLES = (
    *[()] * 6,
    *[("faults",)] * 5,
    *[("acts",)] * 4,
    *[("stops",)] * 3,
    ("stops", "faults"),
    ("acts", "faults"),
)


def _few(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    return st.lists(strategy, min_size=1, max_size=3)


def _draw_act(numbers: Random, case: Case) -> Act:
    collection = numbers.choice(case.scope)
    known = [text for _, text in case.before] + [want.text for want in case.wants]
    of = [text for text in known if collection_of(text) == collection]
    text = numbers.choice(of) if of else _fresh(numbers, collection)
    if numbers.random() < 0.6:
        text = _varied(numbers, text)
    kind = numbers.choice(("add", "edit", "rename", "delete"))
    return Act(numbers.randrange(14), kind, collection, numbers.randrange(6), text)


def _listed(draw: st.DrawFn, collection: str) -> list[Text]:
    """Draw a few records, some of them variants of others, some twins."""
    texts: list[Text] = []
    for numbers in draw(st.lists(_NUMBERS, max_size=5)):
        chance = numbers.random()
        if texts and chance < 0.3:
            text = _varied(numbers, numbers.choice(texts))
        elif texts and chance < 0.36:
            text = numbers.choice(texts)
        else:
            text = _fresh(numbers, collection)
        texts.append(text)
    return texts


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


def _wants(draw: st.DrawFn, collection: str, before: tuple[tuple[str, Text], ...]) -> list[Want]:
    """Draw a manifest that means most of what is listed, and some that is not."""
    wants = []
    listed = [(one, text) for one, text in before if collection_of(text) == collection]
    for one, text in listed:
        wants += draw(st.sampled_from(_EVOLUTIONS))(draw(_NUMBERS), one, text)
    known = [text for _, text in listed] + [want.text for want in wants]
    for numbers in draw(st.lists(_NUMBERS, max_size=3)):
        near = known and numbers.random() < 0.4
        text = _varied(numbers, numbers.choice(known)) if near else _fresh(numbers, collection)
        wants.append(Want(text))
    if draw(_percent(30)):
        wants = draw(st.permutations(wants))
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
    *[lambda _, __, text: [Want(text)]] * 30,
    *[lambda numbers, _, text: [Want(_changed(numbers, text, 1, grown))]] * 12,
    *[lambda numbers, _, text: [Want(_changed(numbers, text, 0, varied))]] * 10,
    *[lambda numbers, _, text: [Want(_varied(numbers, text))]] * 16,
    *[lambda numbers, one, text: [Want(_varied(numbers, text), pin=one)]] * 5,
    *[_renamed] * 10,
    *[lambda numbers, _, text: [Want(text), Want(_varied(numbers, text))]] * 5,
    *[lambda _, __, text: [Want(text), Want(text)]] * 3,
    *[lambda _, __, ___: []] * 12,
)
"""What a manifest makes of a listed record, each as often as in real ones."""


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
    ignore = (numbers.choice(plain),) if plain and numbers.random() < 0.3 else ()
    return SyncRules(
        prune=numbers.random() < 0.7,
        ignore=ignore,
        max_deletes=numbers.choice((*limits, percent)),
        announcements=numbers.choice(("append", "mirror")),
    )
