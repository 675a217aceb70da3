"""Whatever fails, running again finishes the work: nothing lost, nothing twice, nothing untrue.

A page and Discord are proven by the same tests. `make soak` plays each fault and stop at every
moment; `make check` at a part of them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.apply.outcomes import Aborted, Interrupted
from tests.support.cases import COLLECTIONS, AnyCase
from tests.support.discorddraws import DISCORD_STAGE
from tests.support.draws import PAGE_STAGE, SOAK, Stage, examples, scene
from tests.support.listing import Fault
from tests.support.runs import Kill, Stop
from tests.support.story import Story, prove

STAGES = (PAGE_STAGE, DISCORD_STAGE)


def on_stages(
    names: str, values: Callable[[Stage], Iterable[tuple[object, ...]]]
) -> pytest.MarkDecorator:
    """Return a mark that runs a test on each stage with its own values."""
    return pytest.mark.parametrize(
        ("stage", *names.split()),
        [
            pytest.param(stage, *each, id=" / ".join([stage.name, *map(str, each)]))
            for stage in STAGES
            for each in values(stage)
        ],
    )


EVERY_FAULT = on_stages("fault", lambda stage: [(fault,) for fault in stage.faults])
EVERY_STAGE = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)


def assert_proven(stage: Stage, cases: Iterable[AnyCase]) -> None:
    found = {str(case): problems for case in cases if (problems := stage.prove(case).problems)}

    assert found == {}


@EVERY_STAGE
def test_the_scene_is_proven_in_every_mode(stage: Stage) -> None:
    assert_proven(stage, (stage.scene(mode=mode) for mode in stage.modes))


def test_without_faults_one_run_is_enough() -> None:
    story = prove(scene())
    first, second, *_ = story.trials

    assert story.problems == []
    assert first.result is not None
    assert first.result.complete
    assert first.driver is not None
    assert first.driver.most == 4
    # a replace writes twice, and reads between
    assert len(first.requests) == 2 + len(first.changes) + 2 + 2
    assert second.changes == ()


@pytest.mark.promise("no-duplicates")
@EVERY_FAULT
def test_a_fault_of_any_operation_at_any_moment_is_overcome(stage: Stage, fault: Fault) -> None:
    first = stage.faults.index(fault) % 4  # the faults share the moments
    cases = stage.every_pair([fault], "apply")
    assert_proven(stage, cases if SOAK else islice(cases, first, None, 4))


@EVERY_FAULT
def test_a_fault_of_any_operation_is_overcome_by_a_saved_plan(stage: Stage, fault: Fault) -> None:
    assert_proven(stage, stage.every_pair([fault], "saved plan", most=2 if SOAK else 1))


@on_stages(
    "operation mode",
    lambda stage: product(stage.times, [mode for mode in stage.modes if mode != "apply"]),
)
def test_a_fault_that_stays_is_overcome_when_it_ends(
    stage: Stage, operation: str, mode: str
) -> None:
    # these share the faults
    first = [*stage.times].index(operation) + 2 * [*stage.modes].index(mode)
    faults = stage.faults if SOAK else stage.faults[first % 6 :: 6]
    assert_proven(stage, (stage.met(operation, fault, 0, mode, stays=True) for fault in faults))


@on_stages("mode", lambda stage: [(mode,) for mode in stage.modes])
@pytest.mark.parametrize("lands", [False, True], ids=["in flight is lost", "in flight arrives"])
@pytest.mark.parametrize("stop", [Kill(), Aborted(), Interrupted()], ids=str)
def test_a_stop_at_any_moment_is_overcome(
    stage: Stage, stop: Stop, mode: str, *, lands: bool
) -> None:
    first = [*stage.modes].index(mode) + 4 * lands  # these share the moments
    cases = stage.every_stop(stop, mode, lands=lands)
    assert_proven(stage, cases if SOAK else islice(cases, first, None, 8))


@EVERY_STAGE
@pytest.mark.parametrize("stop", [Interrupted(), Aborted()], ids=["interrupt", "abort"])
def test_a_stopped_run_says_that_it_was(stage: Stage, stop: Stop) -> None:
    every = stage.every_stop(stop, "apply", lands=False)
    cases = list(islice(every, 0, None, 1 if SOAK else 4))
    results = [stage.prove(case).trials[0].result for case in cases]
    interrupted = [result for result in results if result is not None and result.interrupted]

    assert len(interrupted) > len(cases) / 2
    assert not any(result.complete for result in interrupted)


KILLS = st.lists(st.integers(0, 120), max_size=3).map(tuple)
FLIGHTS = st.lists(st.integers(1, 9), min_size=1, max_size=8).map(tuple)
TURNS = st.lists(st.integers(0, 1), min_size=1, max_size=60).map(tuple)


def faults_of(data: st.DataObject, stage: Stage) -> dict[int, Fault]:
    """Draw faults of a stage, by the request's number."""
    faults = st.dictionaries(st.integers(0, 40), st.sampled_from(stage.faults), max_size=6)
    return data.draw(faults)


@EVERY_STAGE
@settings(max_examples=examples(200, soak=500))
@given(data=st.data(), kills=KILLS, flights=FLIGHTS)
def test_random_faults_and_kills_are_overcome(
    stage: Stage, data: st.DataObject, kills: tuple[int, ...], flights: tuple[int, ...]
) -> None:
    mode = data.draw(st.sampled_from(sorted(stage.modes)))
    assert_proven(stage, [stage.scheduled(faults_of(data, stage), kills, flights, mode=mode)])


@EVERY_STAGE
@settings(max_examples=examples(200, soak=500))
@given(data=st.data(), kills=KILLS, flights=FLIGHTS, turns=TURNS, same=st.booleans())
def test_random_faults_kills_and_a_second_run_are_overcome(
    stage: Stage,
    data: st.DataObject,
    kills: tuple[int, ...],
    flights: tuple[int, ...],
    turns: tuple[int, ...],
    *,
    same: bool,
) -> None:
    faults = faults_of(data, stage)
    assert_proven(stage, [stage.scheduled(faults, kills[:2], flights, turns, same=same)])


@settings(max_examples=examples(200, soak=500))
@given(turns=TURNS, flights=FLIGHTS)
def test_one_of_two_runs_names_each_copy(turns: tuple[int, ...], flights: tuple[int, ...]) -> None:
    case = replace(scene(), turns=turns, flights=flights)
    story = Story(case)
    wanted = Counter(want.text for want in case.wants)

    story.run_two_at_once()

    results = [trial.result for trial in story.trials]
    left = Counter(text for name in COLLECTIONS for text in story.service.texts(name)) - wanted
    going = {text[0] for _, text in case.before} - {text[0] for text in wanted}
    doubled = {text[0] for text in left} - going  # what a run that stopped early left is no copy
    named = {
        name
        for result in results
        if result is not None
        for notice in result.notices
        if "of this run (" in notice.message
        for name in re.findall("'([^']*)'", notice.message)
    }
    assert None not in results
    assert doubled <= named
    story.play()
    assert story.problems == []
