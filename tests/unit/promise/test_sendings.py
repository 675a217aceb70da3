"""Lists that cannot be read, through any events of a repository: what is said of them is true.

`make soak` plays 2,000 sequences. Each broken way is caught by them.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from commandsync.action import deployments
from commandsync.plan.plan import ListPlan
from commandsync.sync import statefile
from commandsync.sync.statefile import Delivery, Remembered
from tests.support.sendings import BrokenError, World, play

SEQUENCES = 200
MANY = 2_000


def played(count: int, change: Callable[[World], object] = lambda _: None) -> int:
    return sum(play(seed, change=change).done for seed in range(count))


@pytest.mark.promise("sent-lists")
def test_whatever_happens_what_is_said_of_a_list_is_true() -> None:
    done = played(SEQUENCES)

    assert done > SEQUENCES  # not only refusals


@pytest.mark.soak
def test_many_more_sequences_are_true() -> None:
    assert played(MANY) > MANY


Mutant = Callable[[ExitStack, World], object]
_TRUE = statefile.remembered


def remembering(change: Callable[[Remembered, World], Remembered]) -> Mutant:
    """Return a mutant of what is remembered."""

    def mutate(patches: ExitStack, world: World) -> None:
        def remembered(all_of: Any, **which: str) -> Remembered:  # noqa: ANN401 - deliveries
            return change(_TRUE(all_of, **which), world)

        patches.enter_context(patch.object(deployments, "remembered", remembered))

    return mutate


def ordered(key: Callable[[Delivery, World], object]) -> Mutant:
    """Return a mutant that takes another order for that of the numbers."""

    def mutate(patches: ExitStack, world: World) -> None:
        def remembered(all_of: Any, **which: str) -> Remembered:  # noqa: ANN401 - deliveries
            known = [*all_of]
            by_key = sorted(known, key=lambda each: key(each, world))  # type: ignore[arg-type,return-value]  # any order
            places = [
                replace(each, number=place, began=place * 10, ended=place * 10 + 1)
                for place, each in enumerate(by_key)
            ]
            return _TRUE(places, **which)

        patches.enter_context(patch.object(deployments, "remembered", remembered))

    return mutate


def only_the_last(known: Remembered, _world: World) -> Remembered:
    sending = [each for each in known.possible if not each.is_sent][:1]
    sent = [each for each in known.possible if each.is_sent]
    return replace(known, possible=(*sending, *sent))


def token_ignored(patches: ExitStack, _world: World) -> None:
    patches.enter_context(patch.object(statefile, "token_digest", lambda *_: "same"))


def skipped(patches: ExitStack, _world: World) -> None:
    patches.enter_context(patch.object(ListPlan, "writes", ListPlan.pending))


def inactive_failed(patches: ExitStack, _world: World) -> None:
    true = deployments.Deployments._statuses  # noqa: SLF001 - the mutant is here

    def statuses(store: Any, number: int) -> Any:  # noqa: ANN401 - as the method
        states = true(store, number)
        return [("failure" if state == "inactive" else state, at) for state, at in states]

    patches.enter_context(patch.object(deployments.Deployments, "_statuses", statuses))


def refusals_recorded(_patches: ExitStack, world: World) -> None:
    world.records_refusals = True


MUTANTS: dict[str, Mutant] = {
    "newest by commit": ordered(lambda each, _: each.commit),
    "newest by a clock": ordered(lambda each, world: world.clocks.get(each.number, 0)),
    "a refusal is recorded": refusals_recorded,
    "only the last `sending` counts": remembering(only_the_last),
    "the token is ignored": token_ignored,
    "the send is skipped": skipped,
    "`inactive` is read as a failure": inactive_failed,
}


@pytest.mark.parametrize("name", MUTANTS)
def test_each_broken_way_is_caught(name: str) -> None:
    with ExitStack() as patches, pytest.raises(BrokenError):
        played(SEQUENCES, lambda world: MUTANTS[name](patches, world))
