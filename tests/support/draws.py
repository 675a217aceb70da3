"""How the cases for the model are drawn: each from a number alone, which reproduces it for ever."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from commandsync.apply.outcomes import Aborted, Interrupted
from commandsync.plan.rules import DeleteLimit, SyncRules
from tests.support.cases import COLLECTIONS, FEW_READS, Act, Case, collection_of
from tests.support.driver import Kill, Stop
from tests.support.listing import DOTTED_IDS, FAULTS, FIELDS, REFUSED_AFTER, WITHOUT_IDS
from tests.support.oracle import Text, Want, folded
from tests.support.partial import manners
from tests.support.texts import clean, grown, name, phrase, varied, word
from tests.support.ways import CUTS, draw_way

_FAULTS = [one for one in FAULTS if one not in {WITHOUT_IDS, DOTTED_IDS}]
_MANNERS = manners()


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
