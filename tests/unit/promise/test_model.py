"""Generated manifests, listings and services, against an independent model: a part of them.

`make faults` plays the rest. `python -m tests.faults --case N` tells the story of one.
"""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.draws import draw_case, drawn
from tests.support.story import prove, told

SEED = 20_260_701
SOME = 40
PARTS = 10


@pytest.mark.promise("planned-changes-only", "verified-exit")
@pytest.mark.parametrize("part", range(PARTS))
def test_every_invariant_holds_in_generated_cases(part: int) -> None:
    stories = [prove(drawn(number, SEED)) for number in range(part * SOME, (part + 1) * SOME)]
    wrong = {f"--case {one.case.number}": found for one in stories if (found := one.problems)}

    assert wrong == {}


@settings(max_examples=100)
@given(st.randoms(use_true_random=False))
def test_every_invariant_holds_in_drawn_cases(numbers: Random) -> None:
    story = prove(draw_case(numbers))

    assert not story.problems, told(story)
