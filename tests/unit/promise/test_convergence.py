"""Whatever fails, running again finishes the work: nothing lost, nothing twice, nothing untrue.

`make soak` plays each fault and stop at every moment; `make check` at a part of them.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.apply.outcomes import Aborted, Interrupted
from tests.support.cases import COLLECTIONS, OPERATIONS, Case
from tests.support.draws import MODES, SOAK, every_pair, every_stop, examples, met, scene, scheduled
from tests.support.listing import FAULTS, Fault
from tests.support.runs import Kill, Stop
from tests.support.story import Story, prove

EVERY_FAULT = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
EVERY_MODE = pytest.mark.parametrize("mode", MODES)
OTHER_MODES = pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "apply"])


def assert_proven(cases: Iterable[Case]) -> None:
    found = {str(case): problems for case in cases if (problems := prove(case).problems)}

    assert found == {}


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
def test_a_fault_of_any_operation_at_any_moment_is_overcome(fault: Fault) -> None:
    first = FAULTS.index(fault) % 4  # the faults share the moments
    cases = every_pair([fault], "apply")
    assert_proven(cases if SOAK else islice(cases, first, None, 4))


@EVERY_FAULT
def test_a_fault_of_any_operation_is_overcome_by_a_saved_plan(fault: Fault) -> None:
    assert_proven(every_pair([fault], "saved plan", most=2 if SOAK else 1))


@OTHER_MODES
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_fault_that_stays_is_overcome_when_it_ends(operation: str, mode: str) -> None:
    first = OPERATIONS.index(operation) + 2 * list(MODES).index(mode)  # these share the faults
    faults = FAULTS if SOAK else FAULTS[first % 6 :: 6]
    assert_proven(met(operation, fault, 0, mode, stays=True) for fault in faults)


@EVERY_MODE
@pytest.mark.parametrize("lands", [False, True], ids=["in flight is lost", "in flight arrives"])
@pytest.mark.parametrize("stop", [Kill(), Aborted(), Interrupted()], ids=str)
def test_a_stop_at_any_moment_is_overcome(stop: Stop, mode: str, *, lands: bool) -> None:
    first = list(MODES).index(mode) + 4 * lands  # these share the moments
    cases = every_stop(stop, mode, lands=lands)
    assert_proven(cases if SOAK else islice(cases, first, None, 8))


@pytest.mark.parametrize("stop", [Interrupted(), Aborted()], ids=["interrupt", "abort"])
def test_a_stopped_run_says_that_it_was(stop: Stop) -> None:
    cases = list(islice(every_stop(stop, "apply", lands=False), 0, None, 1 if SOAK else 4))
    results = [prove(case).trials[0].result for case in cases]
    interrupted = [result for result in results if result is not None and result.interrupted]

    assert len(interrupted) > len(cases) / 2
    assert not any(result.complete for result in interrupted)


FAULTY = st.dictionaries(st.integers(0, 40), st.sampled_from(FAULTS), max_size=6)
FLIGHTS = st.lists(st.integers(1, 9), min_size=1, max_size=8).map(tuple)
TURNS = st.lists(st.integers(0, 1), min_size=1, max_size=60).map(tuple)


@settings(max_examples=examples(200, soak=500))
@given(
    faults=FAULTY,
    kills=st.lists(st.integers(0, 120), max_size=3).map(tuple),
    flights=FLIGHTS,
    mode=st.sampled_from(sorted(MODES)),
)
def test_random_faults_and_kills_are_overcome(
    faults: dict[int, Fault], kills: tuple[int, ...], flights: tuple[int, ...], mode: str
) -> None:
    assert_proven([scheduled(faults, kills, flights, mode=mode)])


@settings(max_examples=examples(200, soak=500))
@given(
    faults=FAULTY,
    kills=st.lists(st.integers(0, 120), max_size=2).map(tuple),
    flights=FLIGHTS,
    turns=TURNS,
    same=st.booleans(),
)
def test_random_faults_kills_and_a_second_run_are_overcome(
    faults: dict[int, Fault],
    kills: tuple[int, ...],
    flights: tuple[int, ...],
    turns: tuple[int, ...],
    *,
    same: bool,
) -> None:
    assert_proven([scheduled(faults, kills, flights, turns, same=same)])


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
        if "what this run added" in notice.message
        for name in re.findall("'([^']*)'", notice.message)
    }
    assert None not in results
    assert doubled <= named
    story.play()
    assert story.problems == []
