"""The scene in which each fault is played: the same roles always, their texts drawn.

Of each kind of change there is one or more: a command stays, one of two of a name is edited, others
are added twice under one name, some go; an announcement stays, one is replaced, one goes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Any

from tests.support.cases import COLLECTIONS, OPERATIONS, Case, Met
from tests.support.driver import Kill, Stop
from tests.support.listing import Fault
from tests.support.oracle import Want, alike
from tests.support.runs import EVERYTHING, announcement, command
from tests.support.story import Story
from tests.support.texts import clean, grown, name, phrase, varied
from tests.support.ways import Way

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


def _named(
    row: str,
    column: str,
    mode: str,
    detail: str,
    *,
    same: bool = True,
    **trouble: Any,  # noqa: ANN401 - parts of a case
) -> Case:
    which = f"{mode}, {detail}"
    case = scene(f"{row} / {column} / {which}", mode, same=same)
    return replace(case, **trouble, named=(row, column, which))


def met(operation: str, fault: Fault, nth: int, mode: str, *, stays: bool = False) -> Case:
    """The nth request of an operation goes wrong, or all from that one on, through two runs."""
    detail = f"all from number {nth}" if stays else f"the one of number {nth}"
    return _named(fault.name, operation, mode, detail, met=Met(operation, fault, nth, stays))


def every_pair(faults: Sequence[Fault], mode: str, *, most: int = 9) -> Iterator[Case]:
    """Every fault with every operation, at every moment that the operation comes."""
    for operation in OPERATIONS:
        for fault in faults:
            if meets(fault, operation):
                for nth in range(min(most, _TIMES[operation])):
                    yield met(operation, fault, nth, mode)


def meets(fault: Fault, operation: str) -> bool:
    """Whether a fault can be told from none on this operation."""
    return operation == "read" or not fault.name.startswith(("records ", "ids "))


_TIMES = {"read": 8, "add": 4, "edit": 5, "delete": 4, "post": 3, "withdraw": 4}
"""How often each operation comes in a run, tries after a fault included."""


def every_stop(stop: Stop, mode: str, *, lands: bool) -> Iterator[Case]:
    """A run is stopped at each of its moments; what is in flight then arrives or does not."""
    row = {"Kill": "killed", "Interrupted": "interrupted", "Aborted": "aborted"}
    name = row[type(stop).__name__] + (", in flight arrives" if lands else "")
    story = Story(scene(mode=mode))
    story.play()
    for moment in range(max(trial.driver.moments for trial in story.trials if trial.driver)):
        trouble: dict[str, Any] = {"stops": ((moment, stop),), "lands": lands}
        yield _named(name, "any moment", mode, f"moment {moment}", **trouble)


def scheduled(
    faults: dict[int, Fault],
    kills: tuple[int, ...] = (),
    flights: tuple[int, ...] = (1,),
    turns: tuple[int, ...] = (),
    *,
    same: bool = True,
    mode: str = "apply",
) -> Case:
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
    return _named(
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
