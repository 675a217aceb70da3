"""Whatever fails, running again finishes the work: nothing lost, nothing twice, nothing untrue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.apply.steps import Aborted, Interrupted
from tests.support.driver import Driver, Kill
from tests.support.listing import FAULTS, Fault, Listing
from tests.support.proof import (
    MODES,
    OPERATIONS,
    SCENE,
    Case,
    Schedule,
    Stage,
    every_pair,
    interleaved,
    moments_of,
    on_all,
    prove,
    scheduled,
    stopped_at,
    texts_of,
)
from tests.support.runs import sync

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.driver import Stop

EVERY_FAULT = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
EVERY_MODE = pytest.mark.parametrize("mode", MODES)
OTHER_MODES = pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "apply"])


def assert_proven(cases: Iterable[Case]) -> None:
    found = {str(case): verdict.problems for case in cases if (verdict := prove(case)).problems}

    assert found == {}


def test_without_faults_one_run_is_enough() -> None:
    stage = Stage(Listing())

    run = stage.run()

    assert run is not None
    assert run.result.complete
    assert run.driver.most == 4
    # a replace writes twice, and reads between
    assert len(stage.service.requests) == 2 + len(run.plan.changes) + 2 + 2
    assert stage.converge() == 0
    assert stage.problems == []


@EVERY_FAULT
def test_a_fault_of_any_operation_at_any_moment_is_overcome(fault: Fault) -> None:
    assert_proven(every_pair([fault], "apply"))


@EVERY_FAULT
def test_a_fault_of_any_operation_is_overcome_by_a_saved_plan(fault: Fault) -> None:
    assert_proven(every_pair([fault], "saved plan", most=2))


@OTHER_MODES
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_fault_that_stays_is_overcome_when_it_ends(operation: str, mode: str) -> None:
    assert_proven(on_all(operation, fault, 0, mode) for fault in FAULTS)


@EVERY_MODE
@pytest.mark.parametrize("lands", [False, True], ids=["in flight is lost", "in flight arrives"])
@pytest.mark.parametrize("stop", [Kill(), Aborted(), Interrupted()], ids=str)
def test_a_stop_at_any_moment_is_reported_and_overcome(
    stop: Stop, mode: str, *, lands: bool
) -> None:
    moments = range(moments_of(mode))

    assert_proven(stopped_at(moment, stop, mode, lands=lands) for moment in moments)


@pytest.mark.parametrize("stop", [Interrupted(), Aborted()], ids=["interrupt", "abort"])
def test_a_stopped_run_says_that_it_was(stop: Stop) -> None:
    met = 0
    for moment in range(moments_of("apply")):
        stage = Stage(Listing())
        run = stage.run(Driver(stage.service, stops={moment: stop}))
        if run is not None:
            met += run.result.interrupted
            assert not (run.result.interrupted and run.result.complete)

    assert met > moments_of("apply") / 2


FAULTY = st.dictionaries(st.integers(0, 40), st.sampled_from(FAULTS), max_size=6)
FLIGHTS = st.lists(st.integers(1, 9), min_size=1, max_size=8).map(tuple)
TURNS = st.lists(st.integers(0, 1), min_size=1, max_size=60).map(tuple)


@settings(max_examples=200)
@given(
    faults=FAULTY,
    kills=st.lists(st.integers(0, 120), max_size=3).map(tuple),
    flights=FLIGHTS,
    mode=st.sampled_from(sorted(MODES)),
)
def test_random_faults_and_kills_are_overcome(
    faults: dict[int, Fault], kills: tuple[int, ...], flights: tuple[int, ...], mode: str
) -> None:
    assert_proven([scheduled(Schedule(faults, kills, flights), mode)])


@settings(max_examples=200)
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
    assert_proven([scheduled(Schedule(faults, kills, flights, turns, same), "apply")])


@settings(max_examples=200)
@given(turns=TURNS, flights=FLIGHTS)
def test_of_two_runs_at_once_one_names_every_copy_that_the_race_made(
    turns: tuple[int, ...], flights: tuple[int, ...]
) -> None:
    stage = Stage(Listing())
    durations = iter([*flights] * 1000)

    both = interleaved(stage, turns, SCENE.desired, lambda: next(durations) / 10)

    runs = [run for run in both if run is not None]
    doubled = {text[0] for text in texts_of(stage.service) - SCENE.wanted}
    named = {
        name
        for run in runs
        for notice in run.result.notices
        if "what this run added" in notice.message
        for name in re.findall("'([^']*)'", notice.message)
    }
    assert len(runs) == 2
    assert doubled - SCENE.going <= named  # what a run that stopped early left there is no copy
    sync(stage.service, SCENE.desired)
    assert texts_of(stage.service) == SCENE.wanted
    assert stage.converge() == 0
    assert stage.problems == []
